// The region of a pad may compute values that nothing reads: the pad is one op then.
// RUN: ckpt-runner %s --repeat=1 --verify | FileCheck %s
// CHECK: results: bit-equal to the program as written
func.func @main(%x: tensor<4xf32>, %a: tensor<1x4x1xi8>, %b: tensor<1x1x1xi8>, %c: tensor<4x1xi32>) -> tensor<6xf32> {
  %z = arith.constant 0.0 : f32
  %p = tensor.pad %x low[1] high[1] {
  ^bb0(%i: index):
    %m = linalg.batch_reduce_matmul ins(%a, %b : tensor<1x4x1xi8>, tensor<1x1x1xi8>) outs(%c : tensor<4x1xi32>) -> tensor<4x1xi32>
    tensor.yield %z : f32
  } : tensor<4xf32> to tensor<6xf32>
  return %p : tensor<6xf32>
}
