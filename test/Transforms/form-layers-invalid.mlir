// RUN: ckpt-opt %s --ckpt-form-layers --verify-diagnostics
// RUN: not ckpt-opt %models/mlp.mlir "--ckpt-form-layers=pattern=(h" 2>&1 | FileCheck %s

// CHECK: error: expected 'pattern' to be a regular expression, but got '(h': parentheses not balanced
// CHECK-NOT: {{.}}

func.func private @declared(tensor<4xf32>) -> tensor<4xf32>

// expected-error @+1 {{expected one block, but got 2}}
func.func @blocks(%x: tensor<4xf32>) -> tensor<4xf32> {
  cf.br ^bb1
^bb1:
  return %x : tensor<4xf32>
}

// expected-error @+1 {{expected a function that was not planned yet, but it holds kernels}}
func.func @planned(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = ckpt.kernel(%a = %x : tensor<4xf32>) slots [-1 : 16] {
    %1 = math.exp %a : tensor<4xf32>
    ckpt.yield %1 : tensor<4xf32>
  } -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
