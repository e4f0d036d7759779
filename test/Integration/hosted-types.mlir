// A value lies in the buffer of a result of another type before that result is
// there: both take the same bytes.

// RUN: ckpt-opt --ckpt-kernels-to-calls %s | FileCheck %s
// RUN: ckpt-runner %s --repeat=1 --range=arg000:1:4 --outputs=%t.npz
// RUN: %python %S/../Inputs/check_pairs.py %t.npz | FileCheck %s --check-prefix=SAME
// SAME: 1 pairs are the same

// CHECK: func.func @main({{.*}}: memref<16xi8>
func.func @main(%x: tensor<4xi32>) -> (tensor<4xf32>, tensor<4xf32>) attributes {ckpt.arena_bytes = 0 : i64} {
  %0 = ckpt.kernel(%a = %x : tensor<4xi32>) slots [0 of 0 : 16] {
    %1 = arith.addi %a, %a : tensor<4xi32>
    ckpt.yield %1 : tensor<4xi32>
  } -> tensor<4xi32>
  %2 = ckpt.kernel(%a = %x : tensor<4xi32>, %b = %0 : tensor<4xi32>) slots [-1 : 16] {
    %3 = arith.subi %b, %a : tensor<4xi32>
    %4 = arith.sitofp %3 : tensor<4xi32> to tensor<4xf32>
    ckpt.yield %4 : tensor<4xf32>
  } -> tensor<4xf32>
  %5 = ckpt.kernel(%a = %2 : tensor<4xf32>) slots [-1 : 16] {
    %6 = arith.negf %a : tensor<4xf32>
    %7 = arith.negf %6 : tensor<4xf32>
    ckpt.yield %7 : tensor<4xf32>
  } -> tensor<4xf32>
  return %5, %2 : tensor<4xf32>, tensor<4xf32>
}
