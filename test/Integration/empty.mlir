// Tensors without elements: strides of 0, grids of no blocks, sums of nothing.
// A product over nothing is its init. As written, they stand in the arena.
// RUN: ckpt-runner --verify %s | FileCheck %s
// RUN: ckpt-runner --verify --device=emulator %s | FileCheck %s
// CHECK: results: bit-equal to the program as written
func.func @main(%a: tensor<4x0xf32>, %b: tensor<0x5xf32>, %c: tensor<5x0xf32>, %d: tensor<0x16x4xf32>, %e: tensor<0x4xf32>)
    -> (tensor<4x5xf32>, tensor<5x0xf32>, tensor<0x5xf32>, tensor<5xf32>, tensor<16x4xf32>) {
  %half = arith.constant 0.5 : f32
  %e0 = tensor.empty() : tensor<4x5xf32>
  %e1 = tensor.empty() : tensor<5x0xf32>
  %e2 = tensor.empty() : tensor<0x5xf32>
  %e3 = tensor.empty() : tensor<5xf32>
  %f0 = linalg.fill ins(%half : f32) outs(%e0 : tensor<4x5xf32>) -> tensor<4x5xf32>
  %f3 = linalg.fill ins(%half : f32) outs(%e3 : tensor<5xf32>) -> tensor<5xf32>
  %0 = linalg.matmul ins(%a, %b : tensor<4x0xf32>, tensor<0x5xf32>) outs(%f0 : tensor<4x5xf32>) -> tensor<4x5xf32>
  %1 = linalg.negf ins(%c : tensor<5x0xf32>) outs(%e1 : tensor<5x0xf32>) -> tensor<5x0xf32>
  %none = arith.constant dense<> : tensor<0x5xf32>
  %exp = math.exp %b : tensor<0x5xf32>
  %added = arith.addf %exp, %none : tensor<0x5xf32>
  %2 = linalg.negf ins(%added : tensor<0x5xf32>) outs(%e2 : tensor<0x5xf32>) -> tensor<0x5xf32>
  %3 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%c : tensor<5x0xf32>) outs(%f3 : tensor<5xf32>) {
  ^bb0(%x: f32, %sum: f32):
    %4 = arith.addf %sum, %x : f32
    linalg.yield %4 : f32
  } -> tensor<5xf32>
  // A sum over two loops, one of them empty.
  %zero = arith.constant 0.0 : f32
  %e5 = tensor.empty() : tensor<16x4xf32>
  %f5 = linalg.fill ins(%zero : f32) outs(%e5 : tensor<16x4xf32>) -> tensor<16x4xf32>
  %5 = linalg.generic {indexing_maps = [affine_map<(i, j, k, l) -> (j, i, l)>, affine_map<(i, j, k, l) -> (j, k)>, affine_map<(i, j, k, l) -> (i, k)>],
      iterator_types = ["parallel", "reduction", "parallel", "reduction"]}
      ins(%d, %e : tensor<0x16x4xf32>, tensor<0x4xf32>) outs(%f5 : tensor<16x4xf32>) {
  ^bb0(%x: f32, %y: f32, %sum: f32):
    %6 = arith.mulf %x, %y : f32
    %7 = arith.addf %sum, %6 : f32
    linalg.yield %7 : f32
  } -> tensor<16x4xf32>
  return %0, %1, %2, %3, %5 : tensor<4x5xf32>, tensor<5x0xf32>, tensor<0x5xf32>, tensor<5xf32>, tensor<16x4xf32>
}
