// strategy=custom by a transform-dialect script: its pins decide.
// RUN: ckpt-opt %s --ckpt-plan="strategy=custom policy-script=%S/Inputs/policy.mlir" 2>%t.err | FileCheck %s
// RUN: FileCheck %s --check-prefix=REPORT < %t.err
// RUN: not ckpt-opt %s --ckpt-plan="strategy=custom policy-script=%t.none.mlir" 2>&1 | FileCheck %s --check-prefix=MISSING
// RUN: not ckpt-opt %s --ckpt-plan="strategy=custom policy-script=%s" 2>&1 | FileCheck %s --check-prefix=EMPTY
// RUN: not ckpt-opt %s --ckpt-plan=strategy=custom 2>&1 | FileCheck %s --check-prefix=NEITHER

// CHECK: "wte" kind <embedding> pin <save> decision <save>
// CHECK: "h/0/attn" kind <attention> pin <recompute> decision <recompute>
// CHECK: "h/0/mlp" kind <ffn> decision <save>
// REPORT: strategy: custom '{{.*}}policy.mlir', 1 of 3 layers
// MISSING: error: could not read the policy script '{{.*}}.none.mlir'
// EMPTY: error: expected a 'transform.named_sequence' called 'ckpt_policy', but there is none
// NEITHER: error: strategy 'custom' needs 'policy' or 'policy-script'
func.func @chain(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = ckpt.layer "wte" kind <embedding> -> tensor<4xf32> {
    %y = math.exp %x : tensor<4xf32>
    ckpt.yield %y : tensor<4xf32>
  }
  %1 = ckpt.layer "h/0/attn" kind <attention> -> tensor<4xf32> {
    %y = math.exp %0 : tensor<4xf32>
    ckpt.yield %y : tensor<4xf32>
  }
  %2 = ckpt.layer "h/0/mlp" kind <ffn> -> tensor<4xf32> {
    %y = math.exp %1 : tensor<4xf32>
    ckpt.yield %y : tensor<4xf32>
  }
  return %2 : tensor<4xf32>
}
