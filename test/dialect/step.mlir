!m = tensor<64x64xf32>
func.func @step(%x: !m, %w1: !m, %w2: !m, %w3: !m) -> (!m, !m) {
  %zero = arith.constant dense<0.0> : !m
  %none = tensor.empty() : !m
  %z1 = linalg.matmul ins(%x, %w1 : !m, !m) outs(%zero : !m) -> !m
  %h1 = act.silu %z1 : !m
  %z2 = linalg.matmul ins(%h1, %w2 : !m, !m) outs(%zero : !m) -> !m
  %h2 = act.silu %z2 : !m
  %z3 = linalg.matmul ins(%h2, %w3 : !m, !m) outs(%zero : !m) -> !m
  %d3 = math.tanh %z3 : !m
  %h2t = linalg.transpose ins(%h2 : !m) outs(%none : !m) permutation = [1, 0]
  %g3 = linalg.matmul ins(%h2t, %d3 : !m, !m) outs(%zero : !m) -> !m
  %w3t = linalg.transpose ins(%w3 : !m) outs(%none : !m) permutation = [1, 0]
  %d2 = linalg.matmul ins(%d3, %w3t : !m, !m) outs(%zero : !m) -> !m
  %h1t = linalg.transpose ins(%h1 : !m) outs(%none : !m) permutation = [1, 0]
  %g2 = linalg.matmul ins(%h1t, %d2 : !m, !m) outs(%zero : !m) -> !m
  return %g2, %g3 : !m, !m
}
