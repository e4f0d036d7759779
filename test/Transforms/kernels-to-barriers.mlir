// Kernels are dissolved. A barrier stands where a recomputation reads its
// inputs and nowhere else, and is enough to keep the recomputation.
// RUN: ckpt-opt %s --ckpt-kernels-to-barriers --mlir-print-debuginfo=false | FileCheck %s
// RUN: ckpt-opt %s --ckpt-kernels-to-barriers --cse --canonicalize --loop-invariant-code-motion --cse --mlir-print-debuginfo=false | FileCheck %s

// CHECK-LABEL: func.func @step
// CHECK-SAME: (%[[X:.*]]: tensor<4xf32>, %[[W:.*]]: tensor<4xf32>)
// CHECK-NOT: ckpt.arena_bytes
// CHECK-NEXT: %[[A:.*]] = math.exp %[[X]]
// CHECK-NEXT: %[[B:.*]] = arith.mulf %[[A]], %[[W]]
// CHECK-NEXT: %[[C:.*]] = math.tanh %[[B]]
// CHECK-NEXT: %[[AGAIN:.*]]:2 = ckpt.barrier %[[X]], %[[W]] after(%[[C]] : tensor<4xf32>)
// CHECK-NEXT: %[[A2:.*]] = math.exp %[[AGAIN]]#0
// CHECK-NEXT: %[[B2:.*]] = arith.mulf %[[A2]], %[[AGAIN]]#1
// CHECK-NEXT: %[[D:.*]] = arith.mulf %[[B2]], %[[C]]
// CHECK-NEXT: return %[[D]], %[[A2]]
func.func @step(%x: tensor<4xf32>, %w: tensor<4xf32>)
    -> (tensor<4xf32>, tensor<4xf32>) attributes {ckpt.arena_bytes = 512 : i64} {
  %b = ckpt.kernel(%i = %x : tensor<4xf32>, %j = %w : tensor<4xf32>) slots [0 : 16] {
    %0 = math.exp %i : tensor<4xf32>
    %1 = arith.mulf %0, %j : tensor<4xf32>
    ckpt.yield %1 : tensor<4xf32>
  } -> tensor<4xf32>
  %c = ckpt.kernel(%i = %b : tensor<4xf32>) slots [256 : 16] {
    %0 = math.tanh %i : tensor<4xf32>
    ckpt.yield %0 : tensor<4xf32>
  } -> tensor<4xf32>
  %again:2 = ckpt.kernel(%i = %x : tensor<4xf32>, %j = %w : tensor<4xf32>)
      after (%c : tensor<4xf32>) slots [-1 : 16, 0 : 16] recompute {
    %0 = math.exp %i : tensor<4xf32>
    %1 = arith.mulf %0, %j : tensor<4xf32>
    ckpt.yield %0, %1 : tensor<4xf32>, tensor<4xf32>
  } -> tensor<4xf32>, tensor<4xf32>
  %d = ckpt.kernel(%i = %again#1 : tensor<4xf32>, %j = %c : tensor<4xf32>) slots [-1 : 16] {
    %0 = arith.mulf %i, %j : tensor<4xf32>
    ckpt.yield %0 : tensor<4xf32>
  } -> tensor<4xf32>
  return %d, %again#0 : tensor<4xf32>, tensor<4xf32>
}

// A kernel that only yields what it reads, and one without inputs: a constant
// may be merged with its original.
// CHECK-LABEL: func.func @nothing_to_wait_for
// CHECK-NOT: ckpt.barrier
// CHECK: return
func.func @nothing_to_wait_for(%x: tensor<4xf32>)
    -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %a = ckpt.kernel(%i = %x : tensor<4xf32>) slots [-1 : 16] {
    ckpt.yield %i : tensor<4xf32>
  } -> tensor<4xf32>
  %b = ckpt.kernel() slots [-1 : 16] {
    %0 = arith.constant dense<1.0> : tensor<4xf32>
    ckpt.yield %0 : tensor<4xf32>
  } -> tensor<4xf32>
  %c = ckpt.kernel() after (%b : tensor<4xf32>) slots [-1 : 16] recompute {
    %0 = arith.constant dense<1.0> : tensor<4xf32>
    ckpt.yield %0 : tensor<4xf32>
  } -> tensor<4xf32>
  return %a, %b, %c : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
