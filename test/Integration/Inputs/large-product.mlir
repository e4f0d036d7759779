// 128 squares of 128 x 128 results: kernels of warpgroups share 96 KiB.
func.func @step(%x: tensor<2048x8xbf16>, %y: tensor<8x1024xbf16>) -> tensor<2048x1024xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2048x1024xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<2048x1024xf32>) -> tensor<2048x1024xf32>
  %c = linalg.matmul ins(%x, %y : tensor<2048x8xbf16>, tensor<8x1024xbf16>) outs(%i : tensor<2048x1024xf32>) -> tensor<2048x1024xf32>
  return %c : tensor<2048x1024xf32>
}
