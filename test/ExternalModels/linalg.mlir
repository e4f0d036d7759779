// Every kind of structured op, as the planner sees it.
// RUN: ckpt-opt %s --split-input-file --allow-unregistered-dialect --ckpt-print-problem=prepare=false -o /dev/null | FileCheck %s

// A fill is written into its readers; a matmul's operands stand in memory and
// its init does not have to.
// CHECK: op 0 fusible results=2 name="linalg.fill"
// CHECK-NEXT: op 1 contraction reads=0:any:memory,1:any:memory,2:pointwise:destination results=3 flops=240 compute=1200 name="linalg.matmul"
func.func @matmul(%a: tensor<4x5xf32>, %b: tensor<5x6xf32>) -> tensor<4x6xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<4x6xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<4x6xf32>) -> tensor<4x6xf32>
  %0 = linalg.matmul ins(%a, %b : tensor<4x5xf32>, tensor<5x6xf32>) outs(%init : tensor<4x6xf32>) -> tensor<4x6xf32>
  return %0 : tensor<4x6xf32>
}

// -----

// CHECK: op 0 contraction reads=0:any:memory,1:any:memory,2:pointwise:destination {{.*}} flops=480 {{.*}} name="linalg.batch_matmul"
func.func @batch_matmul(%a: tensor<2x4x5xf32>, %b: tensor<2x5x6xf32>, %c: tensor<2x4x6xf32>) -> tensor<2x4x6xf32> {
  %0 = linalg.batch_matmul ins(%a, %b : tensor<2x4x5xf32>, tensor<2x5x6xf32>) outs(%c : tensor<2x4x6xf32>) -> tensor<2x4x6xf32>
  return %0 : tensor<2x4x6xf32>
}

// -----

// 2 per multiply-add: 1*3*3*8 results of 2*2*4 products each.
// CHECK: op 0 contraction reads=0:any:memory,1:any:memory,2:pointwise:destination {{.*}} flops=2304 {{.*}} name="linalg.conv_2d_nhwc_hwcf"
func.func @convolution(%x: tensor<1x4x4x4xf32>, %w: tensor<2x2x4x8xf32>, %y: tensor<1x3x3x8xf32>) -> tensor<1x3x3x8xf32> {
  %0 = linalg.conv_2d_nhwc_hwcf ins(%x, %w : tensor<1x4x4x4xf32>, tensor<2x2x4x8xf32>) outs(%y : tensor<1x3x3x8xf32>) -> tensor<1x3x3x8xf32>
  return %0 : tensor<1x3x3x8xf32>
}

// -----

// A matmul of narrow numbers with a wide sum is a contraction still, and runs
// at the rate of what it multiplies. The cast in the body is not counted.
// CHECK: op 0 contraction reads=0:any:memory,1:any:memory,2:pointwise:destination {{.*}} flops=240 {{.*}} name="linalg.generic"
#lhs = affine_map<(i, j, k) -> (i, k)>
#rhs = affine_map<(i, j, k) -> (k, j)>
#out = affine_map<(i, j, k) -> (i, j)>
func.func @mixed_matmul(%a: tensor<4x5xbf16>, %b: tensor<5x6xbf16>, %c: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %0 = linalg.generic {indexing_maps = [#lhs, #rhs, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<4x5xbf16>, tensor<5x6xbf16>) outs(%c : tensor<4x6xf32>) {
  ^bb0(%x: bf16, %y: bf16, %z: f32):
    %1 = arith.extf %x : bf16 to f32
    %2 = arith.extf %y : bf16 to f32
    %3 = arith.mulf %1, %2 : f32
    %4 = arith.addf %z, %3 : f32
    linalg.yield %4 : f32
  } -> tensor<4x6xf32>
  return %0 : tensor<4x6xf32>
}

// -----

// Pooling has the maps of a convolution, but takes its input inside.
// CHECK: op 0 reduction reads=0:any,2:pointwise:destination {{.*}} flops=144 {{.*}} name="linalg.pooling_nhwc_sum"
func.func @pooling(%x: tensor<1x4x4x4xf32>, %window: tensor<2x2xf32>, %y: tensor<1x3x3x4xf32>) -> tensor<1x3x3x4xf32> {
  %0 = linalg.pooling_nhwc_sum ins(%x, %window : tensor<1x4x4x4xf32>, tensor<2x2xf32>) outs(%y : tensor<1x3x3x4xf32>) -> tensor<1x3x3x4xf32>
  return %0 : tensor<1x3x3x4xf32>
}

// -----

// CHECK: op 0 reduction reads=0:any,1:pointwise:destination results=2 flops=20 {{.*}} name="linalg.reduce"
func.func @reduce(%x: tensor<4x5xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %0 = linalg.reduce {arith.addf} ins(%x : tensor<4x5xf32>) outs(%y : tensor<4xf32>) dimensions = [1]
  return %0 : tensor<4xf32>
}

// -----

// Two results: destination k belongs to result k.
// CHECK: op 0 reduction reads=0:any,1:pointwise:destination,2:pointwise:destination results=3,4
#row = affine_map<(i, j) -> (i, j)>
#sum = affine_map<(i, j) -> (i)>
func.func @two_results(%x: tensor<4x5xf32>, %y: tensor<4xf32>, %z: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0:2 = linalg.generic {indexing_maps = [#row, #sum, #sum], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<4x5xf32>) outs(%y, %z : tensor<4xf32>, tensor<4xf32>) {
  ^bb0(%a: f32, %s: f32, %m: f32):
    %1 = arith.addf %s, %a : f32
    %2 = arith.maximumf %m, %a : f32
    linalg.yield %1, %2 : f32, f32
  } -> (tensor<4xf32>, tensor<4xf32>)
  return %0#0, %0#1 : tensor<4xf32>, tensor<4xf32>
}

// -----

// The first init is undefined, so the second is no destination of result 0.
// CHECK: op 0 reduction reads=0:any,1:pointwise results=2,3
#row = affine_map<(i, j) -> (i, j)>
#sum = affine_map<(i, j) -> (i)>
func.func @undefined_init(%x: tensor<4x5xf32>, %z: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %y = tensor.empty() : tensor<4xf32>
  %0:2 = linalg.generic {indexing_maps = [#row, #sum, #sum], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<4x5xf32>) outs(%y, %z : tensor<4xf32>, tensor<4xf32>) {
  ^bb0(%a: f32, %s: f32, %m: f32):
    %2 = arith.maximumf %m, %a : f32
    linalg.yield %a, %2 : f32, f32
  } -> (tensor<4xf32>, tensor<4xf32>)
  return %0#0, %0#1 : tensor<4xf32>, tensor<4xf32>
}

// -----

// CHECK: op 0 view reads=0:permute results=1 name="linalg.transpose"
func.func @transpose(%x: tensor<4x5xf32>) -> tensor<5x4xf32> {
  %empty = tensor.empty() : tensor<5x4xf32>
  %0 = linalg.transpose ins(%x : tensor<4x5xf32>) outs(%empty : tensor<5x4xf32>) permutation = [1, 0]
  %1 = arith.negf %0 : tensor<5x4xf32>
  return %1 : tensor<5x4xf32>
}

// -----

// CHECK: op 0 view reads=0:permute results=1 name="linalg.generic"
// Moving a dimension of size 1 moves nothing in memory, but renames.
// CHECK: op 1 view reads=1:permute
#in = affine_map<(i, j, k) -> (k, i, j)>
#out = affine_map<(i, j, k) -> (i, j, k)>
#unit = affine_map<(i, j, k) -> (i, k, j)>
func.func @permute(%x: tensor<4x5x1xf32>) -> tensor<5x4x1xf32> {
  %empty = tensor.empty() : tensor<5x1x4xf32>
  %0 = linalg.generic {indexing_maps = [#in, #out], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x : tensor<4x5x1xf32>) outs(%empty : tensor<5x1x4xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  } -> tensor<5x1x4xf32>
  %empty1 = tensor.empty() : tensor<5x4x1xf32>
  %1 = linalg.generic {indexing_maps = [#unit, #out], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%0 : tensor<5x1x4xf32>) outs(%empty1 : tensor<5x4x1xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  } -> tensor<5x4x1xf32>
  %2 = arith.negf %1 : tensor<5x4x1xf32>
  return %2 : tensor<5x4x1xf32>
}

// -----

// A copy renames nothing.
// CHECK: op 0 view reads=0:reshape results=1 name="linalg.copy"
func.func @copy(%x: tensor<4x5xf32>) -> tensor<4x5xf32> {
  %empty = tensor.empty() : tensor<4x5xf32>
  %0 = linalg.copy ins(%x : tensor<4x5xf32>) outs(%empty : tensor<4x5xf32>) -> tensor<4x5xf32>
  %1 = arith.negf %0 : tensor<4x5xf32>
  return %1 : tensor<4x5xf32>
}

// -----

// CHECK: op 0 fusible reads=0:any results=1 name="linalg.broadcast"
// CHECK: op 1 fusible reads=1:pointwise {{.*}} flops=20 {{.*}} name="linalg.map"
func.func @broadcast_and_map(%x: tensor<5xf32>) -> tensor<4x5xf32> {
  %empty = tensor.empty() : tensor<4x5xf32>
  %0 = linalg.broadcast ins(%x : tensor<5xf32>) outs(%empty : tensor<4x5xf32>) dimensions = [0]
  %1 = linalg.map {math.exp} ins(%0 : tensor<4x5xf32>) outs(%empty : tensor<4x5xf32>)
  return %1 : tensor<4x5xf32>
}

// -----

// One op reads its inputs point by point, in another order, and repeatedly, and
// updates its init. Index 0 of a dimension of size 1 is point by point too.
// CHECK: op 0 fusible reads=0:pointwise,1:any,2:any,3:pointwise,4:pointwise:destination results=5 flops=64
#same = affine_map<(i, j) -> (i, j)>
#swap = affine_map<(i, j) -> (j, i)>
#one = affine_map<(i, j) -> (i)>
#unit = affine_map<(i, j) -> (i, j)>
func.func @accesses(%a: tensor<4x4xf32>, %b: tensor<4x4xf32>, %c: tensor<4xf32>, %d: tensor<4x4xi1>, %e: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = linalg.generic {indexing_maps = [#same, #swap, #one, #unit, #same], iterator_types = ["parallel", "parallel"]}
      ins(%a, %b, %c, %d : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4xf32>, tensor<4x4xi1>) outs(%e : tensor<4x4xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32, %w: i1, %u: f32):
    %1 = arith.addf %x, %y : f32
    %2 = arith.addf %1, %z : f32
    %3 = arith.select %w, %1, %2 : f32
    %4 = arith.addf %3, %u : f32
    linalg.yield %4 : f32
  } -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// -----

// CHECK: op 0 fusible reads=0:pointwise results=1
#unit = affine_map<(i, j) -> (0, j)>
#same = affine_map<(i, j) -> (i, j)>
func.func @unit_dimension(%a: tensor<1x4xf32>) -> tensor<1x4xf32> {
  %empty = tensor.empty() : tensor<1x4xf32>
  %0 = linalg.generic {indexing_maps = [#unit, #same], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<1x4xf32>) outs(%empty : tensor<1x4xf32>) {
  ^bb0(%x: f32, %u: f32):
    %1 = arith.negf %x : f32
    linalg.yield %1 : f32
  } -> tensor<1x4xf32>
  return %0 : tensor<1x4xf32>
}

// -----

// A gather: one element of the table is read for each extraction, or computed
// then; neither table nor indices have to stand in memory. Scalars that the body
// captures are read unless they are constants.
// CHECK: op 1 fusible reads=1:any,0:gather,0:gather,3:any results=4
#index = affine_map<(i, j) -> (i)>
#same = affine_map<(i, j) -> (i, j)>
func.func @gather(%table: tensor<100x8xf32>, %ids: tensor<4xi32>, %scale: f32) -> tensor<4x8xf32> {
  %half = arith.mulf %scale, %scale : f32
  %limit = arith.constant 99 : index
  %empty = tensor.empty() : tensor<4x8xf32>
  %0 = linalg.generic {indexing_maps = [#index, #same], iterator_types = ["parallel", "parallel"]}
      ins(%ids : tensor<4xi32>) outs(%empty : tensor<4x8xf32>) {
  ^bb0(%id: i32, %u: f32):
    %1 = arith.index_cast %id : i32 to index
    %2 = arith.minsi %1, %limit : index
    %3 = linalg.index 1 : index
    %4 = tensor.extract %table[%2, %3] : tensor<100x8xf32>
    %5 = tensor.extract %table[%limit, %3] : tensor<100x8xf32>
    %6 = arith.addf %4, %5 : f32
    %7 = arith.mulf %6, %half : f32
    linalg.yield %7 : f32
  } -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// -----

// Results in different orders cannot be made one by one.
// CHECK: op 0 opaque reads=0:any:contiguous results=1,2
#same = affine_map<(i, j) -> (i, j)>
#swap = affine_map<(i, j) -> (j, i)>
func.func @two_orders(%a: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %empty = tensor.empty() : tensor<4x4xf32>
  %0:2 = linalg.generic {indexing_maps = [#same, #same, #swap], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<4x4xf32>) outs(%empty, %empty : tensor<4x4xf32>, tensor<4x4xf32>) {
  ^bb0(%x: f32, %u: f32, %v: f32):
    %1 = arith.negf %x : f32
    linalg.yield %1, %1 : f32, f32
  } -> (tensor<4x4xf32>, tensor<4x4xf32>)
  return %0#0, %0#1 : tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

// A body with effects runs exactly once.
// CHECK: op 0 opaque reads=0:any:contiguous results=1 {{.*}}once effects
#same = affine_map<(i) -> (i)>
func.func @effects(%a: tensor<4xf32>) -> tensor<4xf32> {
  %empty = tensor.empty() : tensor<4xf32>
  %0 = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel"]}
      ins(%a : tensor<4xf32>) outs(%empty : tensor<4xf32>) {
  ^bb0(%x: f32, %u: f32):
    "other.log"(%x) : (f32) -> ()
    linalg.yield %x : f32
  } -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
