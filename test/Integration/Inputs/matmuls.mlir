// Matmuls as a library takes them: sides of primes, operands through views,
// batches with one stride and with two (heads inside rows), narrow elements,
// a convolution of one pixel, and one with something fused to it. Also a copy,
// of an argument that is returned.
func.func @main(%a: tensor<67x53xf32>, %b: tensor<53x41xf32>, %ta: tensor<53x67xf32>, %tb: tensor<41x53xf32>,
                %la: tensor<3x17x20xf32>, %lb: tensor<3x20x33xf32>,
                %x: tensor<2x20x96xf32>, %image: tensor<2x7x7x8xf32>, %filter: tensor<1x1x8x24xf32>,
                %n: tensor<72x56xbf16>, %m: tensor<56x40xbf16>, %h: tensor<40x56xf16>, %g: tensor<35x56xf16>)
    -> (tensor<67x41xf32>, tensor<67x41xf32>, tensor<3x17x33xf32>, tensor<6x20x20xf32>,
        tensor<2x7x7x24xf32>, tensor<72x40xbf16>, tensor<72x40xf32>, tensor<35x40xf16>, tensor<67x41xf32>, tensor<67x67xf32>, tensor<67x53xf32>) {
  %zero = arith.constant 0.0 : f32
  %zero_b = arith.constant 0.0 : bf16
  %zero_h = arith.constant 0.0 : f16
  %e0 = tensor.empty() : tensor<67x41xf32>
  %f0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<67x41xf32>) -> tensor<67x41xf32>
  %plain = linalg.matmul ins(%a, %b : tensor<67x53xf32>, tensor<53x41xf32>) outs(%f0 : tensor<67x41xf32>) -> tensor<67x41xf32>

  %et = tensor.empty() : tensor<67x53xf32>
  %at = linalg.transpose ins(%ta : tensor<53x67xf32>) outs(%et : tensor<67x53xf32>) permutation = [1, 0]
  %eu = tensor.empty() : tensor<53x41xf32>
  %bt = linalg.transpose ins(%tb : tensor<41x53xf32>) outs(%eu : tensor<53x41xf32>) permutation = [1, 0]
  %turned = linalg.matmul ins(%at, %bt : tensor<67x53xf32>, tensor<53x41xf32>) outs(%f0 : tensor<67x41xf32>) -> tensor<67x41xf32>

  %e1 = tensor.empty() : tensor<3x17x33xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<3x17x33xf32>) -> tensor<3x17x33xf32>
  %batch = linalg.batch_matmul ins(%la, %lb : tensor<3x17x20xf32>, tensor<3x20x33xf32>) outs(%f1 : tensor<3x17x33xf32>) -> tensor<3x17x33xf32>

  // Queries and keys: heads of 16 out of rows of 96.
  %q0 = tensor.extract_slice %x[0, 0, 0] [2, 20, 48] [1, 1, 1] : tensor<2x20x96xf32> to tensor<2x20x48xf32>
  %k0 = tensor.extract_slice %x[0, 0, 48] [2, 20, 48] [1, 1, 1] : tensor<2x20x96xf32> to tensor<2x20x48xf32>
  %q1 = tensor.expand_shape %q0 [[0], [1], [2, 3]] output_shape [2, 20, 3, 16] : tensor<2x20x48xf32> into tensor<2x20x3x16xf32>
  %k1 = tensor.expand_shape %k0 [[0], [1], [2, 3]] output_shape [2, 20, 3, 16] : tensor<2x20x48xf32> into tensor<2x20x3x16xf32>
  %eq = tensor.empty() : tensor<2x3x20x16xf32>
  %q2 = linalg.transpose ins(%q1 : tensor<2x20x3x16xf32>) outs(%eq : tensor<2x3x20x16xf32>) permutation = [0, 2, 1, 3]
  %ek = tensor.empty() : tensor<2x3x16x20xf32>
  %k2 = linalg.transpose ins(%k1 : tensor<2x20x3x16xf32>) outs(%ek : tensor<2x3x16x20xf32>) permutation = [0, 2, 3, 1]
  %q3 = tensor.collapse_shape %q2 [[0, 1], [2], [3]] : tensor<2x3x20x16xf32> into tensor<6x20x16xf32>
  %k3 = tensor.collapse_shape %k2 [[0, 1], [2], [3]] : tensor<2x3x16x20xf32> into tensor<6x16x20xf32>
  %e2 = tensor.empty() : tensor<6x20x20xf32>
  %f2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<6x20x20xf32>) -> tensor<6x20x20xf32>
  %heads = linalg.batch_matmul ins(%q3, %k3 : tensor<6x20x16xf32>, tensor<6x16x20xf32>) outs(%f2 : tensor<6x20x20xf32>) -> tensor<6x20x20xf32>

  %e3 = tensor.empty() : tensor<2x7x7x24xf32>
  %f3 = linalg.fill ins(%zero : f32) outs(%e3 : tensor<2x7x7x24xf32>) -> tensor<2x7x7x24xf32>
  %pixel = linalg.conv_2d_nhwc_hwcf ins(%image, %filter : tensor<2x7x7x8xf32>, tensor<1x1x8x24xf32>) outs(%f3 : tensor<2x7x7x24xf32>) -> tensor<2x7x7x24xf32>

  %e4 = tensor.empty() : tensor<72x40xbf16>
  %f4 = linalg.fill ins(%zero_b : bf16) outs(%e4 : tensor<72x40xbf16>) -> tensor<72x40xbf16>
  %narrow = linalg.matmul ins(%n, %m : tensor<72x56xbf16>, tensor<56x40xbf16>) outs(%f4 : tensor<72x40xbf16>) -> tensor<72x40xbf16>
  %e5 = tensor.empty() : tensor<72x40xf32>
  %f5 = linalg.fill ins(%zero : f32) outs(%e5 : tensor<72x40xf32>) -> tensor<72x40xf32>
  %wide = linalg.matmul ins(%n, %m : tensor<72x56xbf16>, tensor<56x40xbf16>) outs(%f5 : tensor<72x40xf32>) -> tensor<72x40xf32>
  %eh = tensor.empty() : tensor<56x40xf16>
  %ht = linalg.transpose ins(%h : tensor<40x56xf16>) outs(%eh : tensor<56x40xf16>) permutation = [1, 0]
  %e6 = tensor.empty() : tensor<35x40xf16>
  %f6 = linalg.fill ins(%zero_h : f16) outs(%e6 : tensor<35x40xf16>) -> tensor<35x40xf16>
  %half = linalg.matmul ins(%g, %ht : tensor<35x56xf16>, tensor<56x40xf16>) outs(%f6 : tensor<35x40xf16>) -> tensor<35x40xf16>

  %sum = linalg.matmul ins(%a, %b : tensor<67x53xf32>, tensor<53x41xf32>) outs(%f0 : tensor<67x41xf32>) -> tensor<67x41xf32>
  %fused = math.absf %sum : tensor<67x41xf32>

  // Both operands are the same tensor.
  %ea = tensor.empty() : tensor<53x67xf32>
  %aa = linalg.transpose ins(%a : tensor<67x53xf32>) outs(%ea : tensor<53x67xf32>) permutation = [1, 0]
  %e7 = tensor.empty() : tensor<67x67xf32>
  %f7 = linalg.fill ins(%zero : f32) outs(%e7 : tensor<67x67xf32>) -> tensor<67x67xf32>
  %square = linalg.matmul ins(%a, %aa : tensor<67x53xf32>, tensor<53x67xf32>) outs(%f7 : tensor<67x67xf32>) -> tensor<67x67xf32>
  return %plain, %turned, %batch, %heads, %pixel, %narrow, %wide, %half, %fused, %square, %a : tensor<67x41xf32>, tensor<67x41xf32>, tensor<3x17x33xf32>, tensor<6x20x20xf32>,
        tensor<2x7x7x24xf32>, tensor<72x40xbf16>, tensor<72x40xf32>, tensor<35x40xf16>, tensor<67x41xf32>, tensor<67x67xf32>, tensor<67x53xf32>
}
