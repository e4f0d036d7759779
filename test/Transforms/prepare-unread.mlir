// A result of a generic op that nothing reads goes away, unless a read one
// needs its running value. A reduction that is read as one slice makes no more
// than that, if at least an eighth of it is unread.
// RUN: ckpt-opt %s --ckpt-prepare --mlir-print-debuginfo=false -o %t.mlir
// RUN: FileCheck %s < %t.mlir
// RUN: ckpt-opt %t.mlir --ckpt-prepare --mlir-print-debuginfo=false | diff %t.mlir -
// RUN: ckpt-runner %s --prepare=false --repeat=1 --outputs=%t.npz
// RUN: ckpt-runner %s --repeat=1 --expected=%t.npz --rtol=1e-6 | FileCheck %s --check-prefix=RAN

// RAN: prepared: 5 ops without their unread parts

#rows = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>

// CHECK-LABEL: func.func @step
func.func @step(%x: tensor<16x64xf32>, %w: tensor<64x24xf32>, %image: tensor<1x2x9x9xf32>, %by: tensor<3x2x4x4xf32>, %where: i64)
    -> (tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<4x8xf32>, tensor<1x3x3x3xf32>, tensor<4x64xf32>, tensor<12xf32>, tensor<15x64xf32>, tensor<4x64xf32>) {
  %minus = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0.0 : f32
  %none = arith.constant 0 : i64
  %empty = tensor.empty() : tensor<16xf32>
  %places = tensor.empty() : tensor<16xi64>
  %low = linalg.fill ins(%minus : f32) outs(%empty : tensor<16xf32>) -> tensor<16xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<16xf32>) -> tensor<16xf32>
  %first = linalg.fill ins(%none : i64) outs(%places : tensor<16xi64>) -> tensor<16xi64>

  // The place of a maximum, also where equal elements count for the first.
  // CHECK: %[[MAX:.*]] = linalg.generic
  // CHECK-SAME: ins(%{{[^,]*}} : tensor<16x64xf32>) outs(%{{[^,]*}} : tensor<16xf32>)
  // CHECK-NEXT: ^bb0(%[[IN:.*]]: f32, %[[OUT:.*]]: f32):
  // CHECK-NEXT: %[[M:.*]] = arith.maximumf %[[IN]], %[[OUT]]
  // CHECK-NEXT: linalg.yield %[[M]]
  %max:2 = linalg.generic {indexing_maps = [#rows, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<16x64xf32>) outs(%low, %first : tensor<16xf32>, tensor<16xi64>) {
  ^bb0(%in: f32, %out: f32, %place: i64):
    %j = linalg.index 1 : index
    %here = arith.index_cast %j : index to i64
    %greater = arith.cmpf ogt, %in, %out : f32
    %equal = arith.cmpf oeq, %in, %out : f32
    %less = arith.minsi %here, %place : i64
    %tied = arith.select %equal, %less, %place : i64
    %next = arith.select %greater, %here, %tied : i64
    %m = arith.maximumf %in, %out : f32
    linalg.yield %m, %next : f32, i64
  } -> (tensor<16xf32>, tensor<16xi64>)

  // Two unread results that only need each other.
  // CHECK: linalg.generic
  // CHECK-SAME: outs(%{{[^,]*}} : tensor<16xf32>)
  %sum:3 = linalg.generic {indexing_maps = [#rows, #row, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<16x64xf32>) outs(%zeros, %zeros, %zeros : tensor<16xf32>, tensor<16xf32>, tensor<16xf32>) {
  ^bb0(%in: f32, %a: f32, %b: f32, %out: f32):
    %c = arith.addf %a, %b : f32
    %d = arith.mulf %in, %a : f32
    %s = arith.addf %in, %out : f32
    linalg.yield %c, %d, %s : f32, f32, f32
  } -> (tensor<16xf32>, tensor<16xf32>, tensor<16xf32>)

  // The running maximum scales a sum that is read: both stay.
  // CHECK: linalg.generic
  // CHECK-SAME: outs(%{{[^,]*}}, %{{[^,]*}} : tensor<16xf32>, tensor<16xf32>)
  %scaled:2 = linalg.generic {indexing_maps = [#rows, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<16x64xf32>) outs(%low, %zeros : tensor<16xf32>, tensor<16xf32>) {
  ^bb0(%in: f32, %out: f32, %running: f32):
    %m = arith.maximumf %in, %out : f32
    %scale = arith.subf %out, %m : f32
    %factor = math.exp %scale : f32
    %term = arith.mulf %running, %factor : f32
    %s = arith.addf %term, %in : f32
    linalg.yield %m, %s : f32, f32
  } -> (tensor<16xf32>, tensor<16xf32>)

  // Rows and columns of a product; the init is one value.
  // CHECK-DAG: %[[ROWS:.*]] = tensor.extract_slice %{{.*}}[2, 0] [4, 64] [1, 1]
  // CHECK-DAG: %[[COLUMNS:.*]] = tensor.extract_slice %{{.*}}[0, 16] [64, 8] [1, 1]
  // CHECK: linalg.matmul ins(%[[ROWS]], %[[COLUMNS]] : tensor<4x64xf32>, tensor<64x8xf32>) outs(%{{.*}} : tensor<4x8xf32>)
  %square = tensor.empty() : tensor<16x24xf32>
  %nothing = linalg.fill ins(%zero : f32) outs(%square : tensor<16x24xf32>) -> tensor<16x24xf32>
  %product = linalg.matmul ins(%x, %w : tensor<16x64xf32>, tensor<64x24xf32>) outs(%nothing : tensor<16x24xf32>) -> tensor<16x24xf32>
  %corner = tensor.extract_slice %product[2, 16] [4, 8] [1, 1] : tensor<16x24xf32> to tensor<4x8xf32>

  // PyTorch's gradient of a filter with strides: a row and a column too many.
  // CHECK: %[[WINDOWS:.*]] = tensor.extract_slice %{{.*}}[0, 0, 0, 0] [1, 2, 9, 9]
  // CHECK: linalg.conv_2d_nchw_fchw {{.*}} ins(%[[WINDOWS]], %{{.*}} : tensor<1x2x9x9xf32>, tensor<3x2x4x4xf32>) outs(%{{.*}} : tensor<1x3x3x3xf32>)
  %padded = tensor.pad %image low[0, 0, 1, 1] high[0, 0, 0, 0] {
  ^bb0(%i0: index, %i1: index, %i2: index, %i3: index):
    tensor.yield %zero : f32
  } : tensor<1x2x9x9xf32> to tensor<1x2x10x10xf32>
  %filter = tensor.empty() : tensor<1x3x4x4xf32>
  %start = linalg.fill ins(%zero : f32) outs(%filter : tensor<1x3x4x4xf32>) -> tensor<1x3x4x4xf32>
  %gradient = linalg.conv_2d_nchw_fchw {dilations = dense<2> : vector<2xi64>, strides = dense<1> : vector<2xi64>}
      ins(%padded, %by : tensor<1x2x10x10xf32>, tensor<3x2x4x4xf32>) outs(%start : tensor<1x3x4x4xf32>) -> tensor<1x3x4x4xf32>
  %fewer = tensor.extract_slice %gradient[0, 0, 0, 0] [1, 3, 3, 4] [1, 1, 1, 1] : tensor<1x3x4x4xf32> to tensor<1x3x3x4xf32>
  %read = tensor.extract_slice %fewer[0, 0, 0, 0] [1, 3, 3, 3] [1, 1, 1, 1] : tensor<1x3x3x4xf32> to tensor<1x3x3x3xf32>

  // Two readers: all of it is made once.
  // CHECK: %[[ALL:.*]] = linalg.matmul {{.*}} outs(%{{.*}} : tensor<16x64xf32>)
  // CHECK: tensor.extract_slice %[[ALL]]
  %wide = tensor.empty() : tensor<16x64xf32>
  %clear = linalg.fill ins(%zero : f32) outs(%wide : tensor<16x64xf32>) -> tensor<16x64xf32>
  %left = tensor.extract_slice %x[0, 0] [16, 16] [1, 1] : tensor<16x64xf32> to tensor<16x16xf32>
  %twice = linalg.matmul ins(%left, %x : tensor<16x16xf32>, tensor<16x64xf32>) outs(%clear : tensor<16x64xf32>) -> tensor<16x64xf32>
  %some = tensor.extract_slice %twice[3, 0] [4, 64] [1, 1] : tensor<16x64xf32> to tensor<4x64xf32>
  %others = tensor.extract_slice %twice[1, 0] [12, 64] [1, 1] : tensor<16x64xf32> to tensor<12x64xf32>

  // Too little is unread.
  // CHECK: linalg.matmul {{.*}} outs(%{{.*}} : tensor<16x64xf32>)
  // CHECK-NEXT: tensor.extract_slice %{{.*}}[0, 0] [15, 64]
  %nearly = linalg.matmul ins(%left, %x : tensor<16x16xf32>, tensor<16x64xf32>) outs(%clear : tensor<16x64xf32>) -> tensor<16x64xf32>
  %tokens = tensor.extract_slice %nearly[0, 0] [15, 64] [1, 1] : tensor<16x64xf32> to tensor<15x64xf32>

  // An offset that the run knows.
  // CHECK: linalg.matmul {{.*}} outs(%{{.*}} : tensor<16x64xf32>)
  // CHECK: tensor.extract_slice %{{.*}}[%{{.*}}, 0] [4, 64]
  %moving = linalg.matmul ins(%left, %x : tensor<16x16xf32>, tensor<16x64xf32>) outs(%clear : tensor<16x64xf32>) -> tensor<16x64xf32>
  %at = arith.index_cast %where : i64 to index
  %moved = tensor.extract_slice %moving[%at, 0] [4, 64] [1, 1] : tensor<16x64xf32> to tensor<4x64xf32>

  // A body that knows its place stays.
  // CHECK: linalg.generic
  // CHECK-SAME: ins(%{{.*}} : tensor<16x64xf32>)
  // CHECK-NEXT: ^bb0
  // CHECK-NEXT: linalg.index 0
  %sums = linalg.generic {indexing_maps = [#rows, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<16x64xf32>) outs(%zeros : tensor<16xf32>) {
  ^bb0(%in: f32, %out: f32):
    %i = linalg.index 0 : index
    %number = arith.index_cast %i : index to i64
    %times = arith.sitofp %number : i64 to f32
    %t = arith.mulf %in, %times : f32
    %s = arith.addf %t, %out : f32
    linalg.yield %s : f32
  } -> tensor<16xf32>
  %later = tensor.extract_slice %sums[3] [12] [1] : tensor<16xf32> to tensor<12xf32>
  %first_of = tensor.extract_slice %others[0, 0] [12, 1] [1, 1] : tensor<12x64xf32> to tensor<12xf32>
  %both = arith.addf %later, %first_of : tensor<12xf32>
  return %max#0, %sum#2, %scaled#1, %corner, %read, %some, %both, %tokens, %moved
      : tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<4x8xf32>, tensor<1x3x3x3xf32>, tensor<4x64xf32>, tensor<12xf32>, tensor<15x64xf32>, tensor<4x64xf32>
}
