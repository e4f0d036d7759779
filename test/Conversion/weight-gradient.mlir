// A weight's gradient with more rows than columns is made as its transpose on
// CPUs with vectors of 64 bytes: the epilogue works in vectors along the rows of
// the tiles, which squares of transposed sums fill, and the lines that it
// writes are asked for before the last tile is added up.
// RUN: ckpt-opt %s --ckpt-kernels-to-calls --ckpt-emit-kernels="lanes=16" --mlir-print-debuginfo=false | FileCheck %s --implicit-check-not=vector.gather --implicit-check-not=vector.scatter
// RUN: ckpt-opt %s --ckpt-kernels-to-calls --ckpt-emit-kernels="lanes=8" --mlir-print-debuginfo=false | FileCheck %s --check-prefix=NARROW

// CHECK-LABEL: func.func private @kernel_0_linalg_matmul
// CHECK: memref.prefetch
// CHECK: math.fma
// CHECK: vector.shuffle {{.*}} : vector<16xf32>, vector<16xf32>
// CHECK: %[[SUM:.*]] = vector.load {{.*}} : memref<16x16xf32>
// CHECK: %[[OLD:.*]] = vector.load {{.*}} : memref<4096xf32>
// CHECK: %[[NEW:.*]] = arith.subf %[[OLD]], %[[SUM]]
// CHECK: vector.store %[[NEW]], {{.*}} : memref<4096xf32>
// NARROW-LABEL: func.func private @kernel_0_linalg_matmul
// NARROW-NOT: vector.shuffle
// NARROW: memref.prefetch
// NARROW: math.fma
func.func @update(%x: tensor<64x128xf32>, %y: tensor<64x32xf32>, %w: tensor<128x32xf32>) -> tensor<128x32xf32> {
  %r = ckpt.kernel(%a = %x : tensor<64x128xf32>, %b = %y : tensor<64x32xf32>, %old = %w : tensor<128x32xf32>) slots [-1 : 16384] {
    %z = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<128x32xf32>
    %f = linalg.fill ins(%z : f32) outs(%e : tensor<128x32xf32>) -> tensor<128x32xf32>
    %0 = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%a, %b : tensor<64x128xf32>, tensor<64x32xf32>) outs(%f : tensor<128x32xf32>) -> tensor<128x32xf32>
    %1 = linalg.sub ins(%old, %0 : tensor<128x32xf32>, tensor<128x32xf32>) outs(%e : tensor<128x32xf32>) -> tensor<128x32xf32>
    ckpt.yield %1 : tensor<128x32xf32>
  } -> tensor<128x32xf32>
  return %r : tensor<128x32xf32>
}

// The transpose of a gradient updates the weight.
// CHECK-LABEL: func.func private @kernel_1_linalg_matmul
// CHECK: vector.shuffle {{.*}} : vector<16xf32>, vector<16xf32>
// CHECK: arith.subf {{.*}} : vector<16xf32>
// NARROW-LABEL: func.func private @kernel_1_linalg_matmul
func.func @update_transposed(%x: tensor<64x32xf32>, %y: tensor<64x128xf32>, %w: tensor<128x32xf32>) -> tensor<128x32xf32> {
  %r = ckpt.kernel(%a = %x : tensor<64x32xf32>, %b = %y : tensor<64x128xf32>, %old = %w : tensor<128x32xf32>) slots [-1 : 16384] {
    %z = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<32x128xf32>
    %f = linalg.fill ins(%z : f32) outs(%e : tensor<32x128xf32>) -> tensor<32x128xf32>
    %0 = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%a, %b : tensor<64x32xf32>, tensor<64x128xf32>) outs(%f : tensor<32x128xf32>) -> tensor<32x128xf32>
    %g = tensor.empty() : tensor<128x32xf32>
    %1 = linalg.transpose ins(%0 : tensor<32x128xf32>) outs(%g : tensor<128x32xf32>) permutation = [1, 0]
    %2 = linalg.sub ins(%old, %1 : tensor<128x32xf32>, tensor<128x32xf32>) outs(%g : tensor<128x32xf32>) -> tensor<128x32xf32>
    ckpt.yield %2 : tensor<128x32xf32>
  } -> tensor<128x32xf32>
  return %r : tensor<128x32xf32>
}
