// A weight that four layers read. Its gradient is a sum of four products, each of
// which is turned; partial sums lie in the buffer of the new weight.
func.func @step(%w: tensor<48x48xf32>, %h0: tensor<32x48xf32>, %y: tensor<32x48xf32>) -> tensor<48x48xf32> {
  %zero = arith.constant 0.0 : f32
  %rate = arith.constant dense<1.0e-4> : tensor<48x48xf32>
  %state = tensor.empty() : tensor<32x48xf32>
  %turned = tensor.empty() : tensor<48x32xf32>
  %square = tensor.empty() : tensor<48x48xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%state : tensor<32x48xf32>) -> tensor<32x48xf32>
  %none = linalg.fill ins(%zero : f32) outs(%square : tensor<48x48xf32>) -> tensor<48x48xf32>
  %wt = linalg.transpose ins(%w : tensor<48x48xf32>) outs(%square : tensor<48x48xf32>) permutation = [1, 0]
  %p1 = linalg.matmul ins(%h0, %w : tensor<32x48xf32>, tensor<48x48xf32>) outs(%zeros : tensor<32x48xf32>) -> tensor<32x48xf32>
  %h1 = math.tanh %p1 : tensor<32x48xf32>
  %p2 = linalg.matmul ins(%h1, %w : tensor<32x48xf32>, tensor<48x48xf32>) outs(%zeros : tensor<32x48xf32>) -> tensor<32x48xf32>
  %h2 = math.tanh %p2 : tensor<32x48xf32>
  %p3 = linalg.matmul ins(%h2, %w : tensor<32x48xf32>, tensor<48x48xf32>) outs(%zeros : tensor<32x48xf32>) -> tensor<32x48xf32>
  %h3 = math.tanh %p3 : tensor<32x48xf32>
  %p4 = linalg.matmul ins(%h3, %w : tensor<32x48xf32>, tensor<48x48xf32>) outs(%zeros : tensor<32x48xf32>) -> tensor<32x48xf32>
  %d4 = arith.subf %p4, %y : tensor<32x48xf32>
  %t4 = linalg.transpose ins(%d4 : tensor<32x48xf32>) outs(%turned : tensor<48x32xf32>) permutation = [1, 0]
  %q4 = linalg.matmul ins(%t4, %h3 : tensor<48x32xf32>, tensor<32x48xf32>) outs(%none : tensor<48x48xf32>) -> tensor<48x48xf32>
  %g4 = linalg.transpose ins(%q4 : tensor<48x48xf32>) outs(%square : tensor<48x48xf32>) permutation = [1, 0]
  %b4 = linalg.matmul ins(%d4, %wt : tensor<32x48xf32>, tensor<48x48xf32>) outs(%zeros : tensor<32x48xf32>) -> tensor<32x48xf32>
  %s4 = arith.mulf %h3, %h3 : tensor<32x48xf32>
  %e4 = arith.mulf %b4, %s4 : tensor<32x48xf32>
  %d3 = arith.subf %b4, %e4 : tensor<32x48xf32>
  %t3 = linalg.transpose ins(%d3 : tensor<32x48xf32>) outs(%turned : tensor<48x32xf32>) permutation = [1, 0]
  %q3 = linalg.matmul ins(%t3, %h2 : tensor<48x32xf32>, tensor<32x48xf32>) outs(%none : tensor<48x48xf32>) -> tensor<48x48xf32>
  %g3 = linalg.transpose ins(%q3 : tensor<48x48xf32>) outs(%square : tensor<48x48xf32>) permutation = [1, 0]
  %sum3 = arith.addf %g4, %g3 : tensor<48x48xf32>
  %b3 = linalg.matmul ins(%d3, %wt : tensor<32x48xf32>, tensor<48x48xf32>) outs(%zeros : tensor<32x48xf32>) -> tensor<32x48xf32>
  %s3 = arith.mulf %h2, %h2 : tensor<32x48xf32>
  %e3 = arith.mulf %b3, %s3 : tensor<32x48xf32>
  %d2 = arith.subf %b3, %e3 : tensor<32x48xf32>
  %t2 = linalg.transpose ins(%d2 : tensor<32x48xf32>) outs(%turned : tensor<48x32xf32>) permutation = [1, 0]
  %q2 = linalg.matmul ins(%t2, %h1 : tensor<48x32xf32>, tensor<32x48xf32>) outs(%none : tensor<48x48xf32>) -> tensor<48x48xf32>
  %g2 = linalg.transpose ins(%q2 : tensor<48x48xf32>) outs(%square : tensor<48x48xf32>) permutation = [1, 0]
  %sum2 = arith.addf %sum3, %g2 : tensor<48x48xf32>
  %b2 = linalg.matmul ins(%d2, %wt : tensor<32x48xf32>, tensor<48x48xf32>) outs(%zeros : tensor<32x48xf32>) -> tensor<32x48xf32>
  %s2 = arith.mulf %h1, %h1 : tensor<32x48xf32>
  %e2 = arith.mulf %b2, %s2 : tensor<32x48xf32>
  %d1 = arith.subf %b2, %e2 : tensor<32x48xf32>
  %t1 = linalg.transpose ins(%d1 : tensor<32x48xf32>) outs(%turned : tensor<48x32xf32>) permutation = [1, 0]
  %q1 = linalg.matmul ins(%t1, %h0 : tensor<48x32xf32>, tensor<32x48xf32>) outs(%none : tensor<48x48xf32>) -> tensor<48x48xf32>
  %g1 = linalg.transpose ins(%q1 : tensor<48x48xf32>) outs(%square : tensor<48x48xf32>) permutation = [1, 0]
  %sum1 = arith.addf %sum2, %g1 : tensor<48x48xf32>
  %scaled = arith.mulf %sum1, %rate : tensor<48x48xf32>
  %new = arith.subf %w, %scaled : tensor<48x48xf32>
  return %new : tensor<48x48xf32>
}
