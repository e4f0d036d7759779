// The advice for quantized types leads to a step that runs.
// RUN: not ckpt-runner %s 2>&1 | sed -n "s/.*first, with \(.*\)/\1/p" > %t.rsp
// RUN: ckpt-opt %s @%t.rsp -o %t.mlir
// RUN: ckpt-runner %t.mlir --verify --repeat=1 | FileCheck %s
// CHECK: results: bit-equal to the program as written
!q = !quant.uniform<i8:f32, 0.5:3>
func.func @step(%a: tensor<4xi8>, %b: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xi8>) {
  %quantized = quant.scast %a : tensor<4xi8> to tensor<4x!q>
  %x = quant.dcast %quantized : tensor<4x!q> to tensor<4xf32>
  %y = arith.mulf %x, %b : tensor<4xf32>
  %z = quant.qcast %y : tensor<4xf32> to tensor<4x!q>
  %bytes = quant.scast %z : tensor<4x!q> to tensor<4xi8>
  return %y, %bytes : tensor<4xf32>, tensor<4xi8>
}
