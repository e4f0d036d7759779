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

// -----

// What is undefined still has to be returned: its own kernel makes any bits, in
// the shape that is returned or in one that is only reshaped.
// CHECK-LABEL: func.func @undefined
// CHECK: %[[Y:.*]] = ckpt.kernel({{.*}}) slots [-1 : 16]
// CHECK: math.exp
// CHECK: %[[E:.*]] = ckpt.kernel() slots [-1 : 24]
// CHECK-NEXT: %[[OWN:.*]] = tensor.empty() : tensor<2x3xf32>
// CHECK-NEXT: ckpt.yield %[[OWN]]
// CHECK: %[[T:.*]] = ckpt.kernel() slots [-1 : 24]
// CHECK-NEXT: tensor.empty() : tensor<3x2xf32>
// CHECK: %[[S:.*]] = tensor.collapse_shape %[[E]]
// CHECK: return %[[Y]], %[[E]], %[[S]], %[[T]], %[[E]]
func.func @undefined(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<2x3xf32>,
    tensor<6xf32>, tensor<3x2xf32>, tensor<2x3xf32>) {
  %e = tensor.empty() : tensor<2x3xf32>
  %y = math.exp %x : tensor<4xf32>
  %s = tensor.collapse_shape %e [[0, 1]] : tensor<2x3xf32> into tensor<6xf32>
  %i = tensor.empty() : tensor<3x2xf32>
  %t = linalg.transpose ins(%e : tensor<2x3xf32>) outs(%i : tensor<3x2xf32>) permutation = [1, 0]
  return %y, %e, %s, %t, %e : tensor<4xf32>, tensor<2x3xf32>, tensor<6xf32>,
      tensor<3x2xf32>, tensor<2x3xf32>
}
