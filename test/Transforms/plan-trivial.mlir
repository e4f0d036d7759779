// Functions with nothing to plan: no op at all, an argument that is returned, a
// value that is returned twice.
// RUN: ckpt-opt --split-input-file --ckpt-plan="budget=1 quiet" --ckpt-apply-plan --ckpt-verify-slots --mlir-print-debuginfo=false %s | FileCheck %s

// CHECK-LABEL: func.func @empty() attributes {ckpt.arena_bytes = 0 : i64
// CHECK-NEXT: return
func.func @empty() {
  return
}

// -----

// CHECK-LABEL: func.func @argument
// CHECK-SAME: (%[[X:.*]]: tensor<4xf32>)
// CHECK-NEXT: return %[[X]]
func.func @argument(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

// CHECK-LABEL: func.func @twice
// CHECK: %[[Y:.*]] = ckpt.kernel({{.*}}) slots [-1 : 16]
// CHECK: return %[[Y]], %[[Y]]
func.func @twice(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %y = math.exp %x : tensor<4xf32>
  return %y, %y : tensor<4xf32>, tensor<4xf32>
}
