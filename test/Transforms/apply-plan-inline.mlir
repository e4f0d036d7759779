// The places of a planned function mean something in its own arena only: it is
// not inlined into its callers.
// RUN: ckpt-opt %s --ckpt-plan="func=step quiet=true" --ckpt-apply-plan -inline | FileCheck %s

// CHECK-LABEL: func.func @step
// CHECK: ckpt.kernel
func.func @step(%x: tensor<4x4xf32>, %init: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = math.exp %x : tensor<4x4xf32>
  %1 = linalg.matmul ins(%0, %x : tensor<4x4xf32>, tensor<4x4xf32>)
      outs(%init : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %1 : tensor<4x4xf32>
}

// CHECK-LABEL: func.func @caller
// CHECK-NEXT: call @step
// CHECK-NEXT: return
func.func @caller(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = call @step(%x, %x) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}
