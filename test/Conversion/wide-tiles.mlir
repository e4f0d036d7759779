// A tile has 6 x 64 sums where the left operand lies along its rows and leaves
// the nearest cache, 8 x 32 where it lies along the steps.
// RUN: ckpt-opt %s --ckpt-kernels-to-calls --ckpt-emit-kernels=lanes=16 --mlir-print-debuginfo=false | FileCheck %s

// CHECK-LABEL: func.func private @kernel_0_linalg_matmul
// CHECK-COUNT-24: math.fma
// CHECK-NOT: math.fma
// CHECK-LABEL: func.func private @kernel_1_linalg_matmul
// CHECK-COUNT-16: math.fma
// CHECK-NOT: math.fma
func.func @along_rows(%x: tensor<256x96xf32>, %y: tensor<256x128xf32>) -> tensor<96x128xf32> {
  %r = ckpt.kernel(%a = %x : tensor<256x96xf32>, %b = %y : tensor<256x128xf32>) slots [-1 : 49152] {
    %z = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<96x128xf32>
    %f = linalg.fill ins(%z : f32) outs(%e : tensor<96x128xf32>) -> tensor<96x128xf32>
    %0 = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%a, %b : tensor<256x96xf32>, tensor<256x128xf32>) outs(%f : tensor<96x128xf32>) -> tensor<96x128xf32>
    ckpt.yield %0 : tensor<96x128xf32>
  } -> tensor<96x128xf32>
  return %r : tensor<96x128xf32>
}

func.func @along_steps(%x: tensor<96x256xf32>, %y: tensor<256x128xf32>) -> tensor<96x128xf32> {
  %r = ckpt.kernel(%a = %x : tensor<96x256xf32>, %b = %y : tensor<256x128xf32>) slots [-1 : 49152] {
    %z = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<96x128xf32>
    %f = linalg.fill ins(%z : f32) outs(%e : tensor<96x128xf32>) -> tensor<96x128xf32>
    %0 = linalg.matmul ins(%a, %b : tensor<96x256xf32>, tensor<256x128xf32>) outs(%f : tensor<96x128xf32>) -> tensor<96x128xf32>
    ckpt.yield %0 : tensor<96x128xf32>
  } -> tensor<96x128xf32>
  return %r : tensor<96x128xf32>
}
