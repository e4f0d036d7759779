// Tools that know LLVM's dialect alone read the result: casts carry nothing of another.
// RUN: ckpt-opt %s --ckpt-plan=quiet=true --ckpt-apply-plan --ckpt-lower-to-cpu-pipeline --mlir-print-debuginfo=false | FileCheck %s
// CHECK: llvm.fptrunc %{{[0-9]+}} : f32 to f16
func.func @main(%a: tensor<4xbf16>, %b: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf16>) {
  %0 = arith.extf %a : tensor<4xbf16> to tensor<4xf32>
  %1 = arith.truncf %b : tensor<4xf32> to tensor<4xf16>
  return %0, %1 : tensor<4xf32>, tensor<4xf16>
}
