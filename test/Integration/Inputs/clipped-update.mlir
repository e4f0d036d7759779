// Two layers whose gradients are scaled by the norm of both before they change a
// moment and a weight each: both wait for the last of them.
func.func @step(%w1: tensor<48x48xf32>, %w2: tensor<48x48xf32>, %m1: tensor<48x48xf32>, %m2: tensor<48x48xf32>, %x: tensor<48x48xf32>, %y: tensor<48x48xf32>) -> (tensor<48x48xf32>, tensor<48x48xf32>, tensor<48x48xf32>, tensor<48x48xf32>) {
  %zero = arith.constant 0.0 : f32
  %rate = arith.constant dense<1.0e-2> : tensor<48x48xf32>
  %decay = arith.constant dense<0.9> : tensor<48x48xf32>
  %square = tensor.empty() : tensor<48x48xf32>
  %scalar = tensor.empty() : tensor<f32>
  %none = linalg.fill ins(%zero : f32) outs(%square : tensor<48x48xf32>) -> tensor<48x48xf32>
  %nothing = linalg.fill ins(%zero : f32) outs(%scalar : tensor<f32>) -> tensor<f32>
  %p1 = linalg.matmul ins(%x, %w1 : tensor<48x48xf32>, tensor<48x48xf32>) outs(%none : tensor<48x48xf32>) -> tensor<48x48xf32>
  %h1 = math.tanh %p1 : tensor<48x48xf32>
  %p2 = linalg.matmul ins(%h1, %w2 : tensor<48x48xf32>, tensor<48x48xf32>) outs(%none : tensor<48x48xf32>) -> tensor<48x48xf32>
  %d2 = arith.subf %p2, %y : tensor<48x48xf32>
  %g2 = linalg.matmul ins(%h1, %d2 : tensor<48x48xf32>, tensor<48x48xf32>) outs(%none : tensor<48x48xf32>) -> tensor<48x48xf32>
  %b2 = linalg.matmul ins(%d2, %w2 : tensor<48x48xf32>, tensor<48x48xf32>) outs(%none : tensor<48x48xf32>) -> tensor<48x48xf32>
  %s1 = arith.mulf %h1, %h1 : tensor<48x48xf32>
  %e1 = arith.mulf %b2, %s1 : tensor<48x48xf32>
  %d1 = arith.subf %b2, %e1 : tensor<48x48xf32>
  %g1 = linalg.matmul ins(%x, %d1 : tensor<48x48xf32>, tensor<48x48xf32>) outs(%none : tensor<48x48xf32>) -> tensor<48x48xf32>
  %q1 = arith.mulf %g1, %g1 : tensor<48x48xf32>
  %q2 = arith.mulf %g2, %g2 : tensor<48x48xf32>
  %n1 = linalg.reduce ins(%q1 : tensor<48x48xf32>) outs(%nothing : tensor<f32>) dimensions = [0, 1]
    (%in: f32, %out: f32) { %sum = arith.addf %in, %out : f32 linalg.yield %sum : f32 }
  %n2 = linalg.reduce ins(%q2 : tensor<48x48xf32>) outs(%nothing : tensor<f32>) dimensions = [0, 1]
    (%in: f32, %out: f32) { %sum = arith.addf %in, %out : f32 linalg.yield %sum : f32 }
  %n = arith.addf %n1, %n2 : tensor<f32>
  %r = math.rsqrt %n : tensor<f32>
  %scale = linalg.broadcast ins(%r : tensor<f32>) outs(%square : tensor<48x48xf32>) dimensions = [0, 1]
  %c1 = arith.mulf %g1, %scale : tensor<48x48xf32>
  %c2 = arith.mulf %g2, %scale : tensor<48x48xf32>
  %k1 = arith.mulf %m1, %decay : tensor<48x48xf32>
  %k2 = arith.mulf %m2, %decay : tensor<48x48xf32>
  %newm1 = arith.addf %k1, %c1 : tensor<48x48xf32>
  %newm2 = arith.addf %k2, %c2 : tensor<48x48xf32>
  %u1 = arith.mulf %newm1, %rate : tensor<48x48xf32>
  %u2 = arith.mulf %newm2, %rate : tensor<48x48xf32>
  %neww1 = arith.subf %w1, %u1 : tensor<48x48xf32>
  %neww2 = arith.subf %w2, %u2 : tensor<48x48xf32>
  return %neww1, %neww2, %newm1, %newm2 : tensor<48x48xf32>, tensor<48x48xf32>, tensor<48x48xf32>, tensor<48x48xf32>
}
