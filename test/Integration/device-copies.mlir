// What a step on a device needs beside kernels: constants in the device code,
// copies of what no kernel writes, and kernels with nothing to do.
// RUN: ckpt-execute %s | FileCheck %s

// CHECK: returned: ok
func.func @returned(%x: tensor<5xf32>) -> (tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<3xi32>) {
  %0 = ckpt.kernel(%a = %x : tensor<5xf32>) slots [-1 : 20] {
    %1 = arith.addf %a, %a : tensor<5xf32>
    ckpt.yield %1 : tensor<5xf32>
  } -> tensor<5xf32>
  %constant = arith.constant dense<[3, 1, 2]> : tensor<3xi32>
  return %x, %0, %0, %constant : tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<3xi32>
}

// Two kernels that differ in their constants only.
// CHECK: constants: ok
func.func @constants(%x: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>) {
  %c = arith.constant dense<[3.0, 1.0, 2.0]> : tensor<3xf32>
  %d = arith.constant dense<[5.0, 4.0, 6.0]> : tensor<3xf32>
  %0 = ckpt.kernel(%a = %x : tensor<3xf32>, %b = %c : tensor<3xf32>) slots [-1 : 12] {
    %1 = arith.mulf %a, %b : tensor<3xf32>
    ckpt.yield %1 : tensor<3xf32>
  } -> tensor<3xf32>
  %2 = ckpt.kernel(%a = %x : tensor<3xf32>, %b = %d : tensor<3xf32>) slots [-1 : 12] {
    %1 = arith.mulf %a, %b : tensor<3xf32>
    ckpt.yield %1 : tensor<3xf32>
  } -> tensor<3xf32>
  return %0, %2 : tensor<3xf32>, tensor<3xf32>
}

// CHECK: empty: ok
func.func @empty(%x: tensor<0x3xf32>, %y: tensor<4xf32>) -> (tensor<0x3xf32>, tensor<4xf32>) {
  %0 = ckpt.kernel(%a = %x : tensor<0x3xf32>) slots [-1 : 0] {
    %1 = math.exp %a : tensor<0x3xf32>
    ckpt.yield %1 : tensor<0x3xf32>
  } -> tensor<0x3xf32>
  %2 = ckpt.kernel(%a = %y : tensor<4xf32>) slots [-1 : 16] {
    %1 = math.exp %a : tensor<4xf32>
    ckpt.yield %1 : tensor<4xf32>
  } -> tensor<4xf32>
  return %0, %2 : tensor<0x3xf32>, tensor<4xf32>
}
