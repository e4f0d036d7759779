func.func @main(%a: tensor<33x48xf32>, %b: tensor<48x40xf32>) -> tensor<33x40xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<33x40xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<33x40xf32>) -> tensor<33x40xf32>
  %c = linalg.matmul ins(%a, %b : tensor<33x48xf32>, tensor<48x40xf32>) outs(%init : tensor<33x40xf32>) -> tensor<33x40xf32>
  return %c : tensor<33x40xf32>
}
