// Two kernels at one place, without operands, whose bodies MLIR's own passes
// make equal: they stay two, as other values lie there in between.
// RUN: ckpt-opt %s --ckpt-plan="fusion=false prepare=false quiet=true" --ckpt-apply-plan -o %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: ckpt-opt %t.mlir -canonicalize -cse -o %t.simple.mlir
// RUN: FileCheck %s --input-file=%t.simple.mlir
// RUN: ckpt-opt %t.simple.mlir --ckpt-verify-slots -o /dev/null

// CHECK: ckpt.kernel() slots [0 : 256]
// CHECK: ckpt.kernel() slots [0 : 256] attributes {ckpt.turn = 1 : i32}
func.func @step(%a: tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64xf32>
  %first = tensor.splat %zero : tensor<64xf32>
  %x = linalg.max ins(%first, %a : tensor<64xf32>, tensor<64xf32>) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  %y = linalg.exp ins(%x : tensor<64xf32>) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  %second = arith.constant dense<0.0> : tensor<64xf32>
  %z = linalg.min ins(%second, %y : tensor<64xf32>, tensor<64xf32>) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  return %y, %z : tensor<64xf32>, tensor<64xf32>
}
