// What ckpt plans and rewrites, ckpt verifies: the first round makes the product
// twice in a row, once for the result and once for the tanh behind it.
// RUN: ckpt-opt --ckpt-plan="quiet=true budget=1024B time-limit=0" --ckpt-apply-plan %s -o %t.mlir
// RUN: ckpt-opt --ckpt-verify=original=%s %t.mlir -o /dev/null

func.func @main(%w: tensor<32x8xf32>, %u: tensor<8x32xf32>, %x: tensor<32x32xf32>, %g: tensor<32x8xf32>) -> (tensor<32x8xf32>, tensor<32x32xf32>) {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<32x8xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<32x8xf32>) -> tensor<32x8xf32>
  %y = linalg.matmul ins(%x, %w : tensor<32x32xf32>, tensor<32x8xf32>) outs(%f : tensor<32x8xf32>) -> tensor<32x8xf32>
  %a = math.tanh %y : tensor<32x8xf32>
  %e2 = tensor.empty() : tensor<32x32xf32>
  %f2 = linalg.fill ins(%z : f32) outs(%e2 : tensor<32x32xf32>) -> tensor<32x32xf32>
  %m = linalg.matmul ins(%a, %u : tensor<32x8xf32>, tensor<8x32xf32>) outs(%f2 : tensor<32x32xf32>) -> tensor<32x32xf32>
  %n = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>] ins(%g, %w : tensor<32x8xf32>, tensor<32x8xf32>) outs(%f2 : tensor<32x32xf32>) -> tensor<32x32xf32>
  %o = arith.mulf %n, %x : tensor<32x32xf32>
  %p = math.tanh %m : tensor<32x32xf32>
  %s = arith.subf %o, %p : tensor<32x32xf32>
  return %y, %s : tensor<32x8xf32>, tensor<32x32xf32>
}
