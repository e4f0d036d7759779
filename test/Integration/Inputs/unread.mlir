// A sum that overwrites an argument and ignores a product.
#map = affine_map<(d0, d1) -> (d0, d1)>
func.func @main(%a: tensor<4x4xf32>, %b: tensor<4x4xf32>)
    -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<4x4xf32>
  %fill = linalg.fill ins(%zero : f32) outs(%empty : tensor<4x4xf32>)
      -> tensor<4x4xf32>
  %product = linalg.matmul
      ins(%a, %b : tensor<4x4xf32>, tensor<4x4xf32>)
      outs(%fill : tensor<4x4xf32>) -> tensor<4x4xf32>
  %sum = linalg.generic
      {indexing_maps = [#map, #map, #map],
       iterator_types = ["parallel", "parallel"]}
      ins(%a, %product : tensor<4x4xf32>, tensor<4x4xf32>)
      outs(%b : tensor<4x4xf32>) {
  ^bb0(%x: f32, %ignored: f32, %old: f32):
    %twice = arith.addf %x, %x : f32
    linalg.yield %twice : f32
  } -> tensor<4x4xf32>
  return %sum, %product : tensor<4x4xf32>, tensor<4x4xf32>
}
