// `custom` by a transform-dialect script: attention is recomputed, embeddings
// are saved, and a missing script or sequence is an error.
// RUN: ckpt-opt --ckpt-plan="strategy=custom policy-script=%S/Inputs/policy.mlir" %s 2>&1 >/dev/null | FileCheck %s
// RUN: not ckpt-opt --ckpt-plan="strategy=custom policy-script=%t.none" %s 2>&1 | FileCheck --check-prefix=NONE %s
// RUN: not ckpt-opt --ckpt-plan="strategy=custom policy-script=%s" %s 2>&1 | FileCheck --check-prefix=SEQUENCE %s

// CHECK: layers recomputed: 1; saved: 0
// NONE: policy-script.mlir.tmp.none
// SEQUENCE: ckpt_policy
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = ckpt.layer "wte" kind <embedding> -> tensor<4xf32> {
    %y = math.exp %x : tensor<4xf32>
    ckpt.yield %y : tensor<4xf32>
  }
  %1 = ckpt.layer "h/0/attn" kind <attention> -> tensor<4xf32> {
    %y = math.exp %0 : tensor<4xf32>
    ckpt.yield %y : tensor<4xf32>
  }
  return %1 : tensor<4xf32>
}
