// A result of a generic op that nothing reads goes away, unless a read one
// needs its running value.
// RUN: ckpt-opt %s --ckpt-prepare --mlir-print-debuginfo=false -o %t.mlir
// RUN: FileCheck %s < %t.mlir
// RUN: ckpt-opt %t.mlir --ckpt-prepare --mlir-print-debuginfo=false | diff %t.mlir -
// RUN: ckpt-runner %s --budget=100% --verify | FileCheck %s --check-prefix=RAN

// RAN: prepared: 2 ops without unread results
// RAN: results: bit-equal

#rows = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>

// CHECK-LABEL: func.func @step
func.func @step(%x: tensor<16x64xf32>) -> (tensor<16xf32>, tensor<16xf32>, tensor<16xf32>) {
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
  return %max#0, %sum#2, %scaled#1 : tensor<16xf32>, tensor<16xf32>, tensor<16xf32>
}
