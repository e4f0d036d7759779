// Kernels are dissolved, and a chain of barriers holds the planned order: a
// kernel reads through a barrier that waits for the results of the one before.
// No pass merges the recomputation with what it repeats.
// RUN: ckpt-opt %s --ckpt-kernels-to-barriers --mlir-print-debuginfo=false | FileCheck %s
// RUN: ckpt-opt %s --ckpt-kernels-to-barriers --cse --canonicalize --loop-invariant-code-motion --cse --mlir-print-debuginfo=false | FileCheck %s

// Other compilers know barriers of their own, which take neither arguments nor
// results nor constants of the function.
// RUN: ckpt-opt %s --ckpt-kernels-to-barriers=form=util --mlir-print-debuginfo=false | FileCheck %s --check-prefix=FOREIGN '-D$DIALECT=util'
// RUN: ckpt-opt %s --ckpt-kernels-to-barriers=form=stablehlo --mlir-print-debuginfo=false | FileCheck %s --check-prefix=FOREIGN '-D$DIALECT=stablehlo'

// RUN: not ckpt-opt %s --ckpt-kernels-to-barriers=form=xla -o /dev/null 2>&1 | FileCheck %s --check-prefix=FORM
// FORM: error: expected 'form' to be one of ckpt, stablehlo, util, but got 'xla'

// CHECK-LABEL: func.func @step
// CHECK-SAME: (%[[X:.*]]: tensor<4xf32>, %[[W:.*]]: tensor<4xf32>)
// CHECK-NOT: ckpt.arena_bytes
// CHECK-NEXT: %[[A:.*]] = math.exp %[[X]]
// CHECK-NEXT: %[[B:.*]] = arith.mulf %[[A]], %[[W]]
// CHECK-NEXT: %[[NEXT:.*]] = ckpt.barrier %[[B]] :
// CHECK-NEXT: %[[C:.*]] = math.tanh %[[NEXT]]
// CHECK-NEXT: %[[AGAIN:.*]]:2 = ckpt.barrier %[[X]], %[[W]] after(%[[C]] : tensor<4xf32>)
// CHECK-NEXT: %[[A2:.*]] = math.exp %[[AGAIN]]#0
// CHECK-NEXT: %[[B2:.*]] = arith.mulf %[[A2]], %[[AGAIN]]#1
// CHECK-NEXT: %[[LAST:.*]]:2 = ckpt.barrier %[[B2]], %[[C]] after(%[[A2]] : tensor<4xf32>)
// CHECK-NEXT: %[[D:.*]] = arith.mulf %[[LAST]]#0, %[[LAST]]#1
// CHECK-NEXT: return %[[D]], %[[A2]]

// FOREIGN-LABEL: func.func @step
// FOREIGN: %[[B:.*]] = arith.mulf
// FOREIGN-NEXT: %[[NEXT:.*]] = "[[$DIALECT]].optimization_barrier"(%[[B]]) : (tensor<4xf32>) -> tensor<4xf32>
// FOREIGN-NEXT: %[[C:.*]] = math.tanh %[[NEXT]]
// FOREIGN-NEXT: math.exp
// FOREIGN-NEXT: %[[B2:.*]] = arith.mulf
// FOREIGN-NEXT: %[[LAST:.*]]:2 = "[[$DIALECT]].optimization_barrier"(%[[B2]], %[[C]])
// FOREIGN-NEXT: arith.mulf %[[LAST]]#0, %[[LAST]]#1
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

// A kernel without inputs may run at any place: the next barrier waits for its
// result and for those before.
// CHECK-LABEL: func.func @any_place
// CHECK-SAME: (%[[X:.*]]: tensor<4xf32>)
// CHECK-DAG: %[[A:.*]] = math.exp %[[X]]
// CHECK-DAG: %[[B:.*]] = arith.constant
// CHECK: %[[Y:.*]] = ckpt.barrier %[[X]] after(%[[A]], %[[B]] : tensor<4xf32>, tensor<4xf32>)
// CHECK-NEXT: %[[C:.*]] = math.tanh %[[Y]]
// CHECK-NEXT: return
func.func @any_place(%x: tensor<4xf32>)
    -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %a = ckpt.kernel(%i = %x : tensor<4xf32>) slots [-1 : 16] {
    %0 = math.exp %i : tensor<4xf32>
    ckpt.yield %0 : tensor<4xf32>
  } -> tensor<4xf32>
  %b = ckpt.kernel() slots [-1 : 16] {
    %0 = arith.constant dense<1.0> : tensor<4xf32>
    ckpt.yield %0 : tensor<4xf32>
  } -> tensor<4xf32>
  %c = ckpt.kernel(%i = %x : tensor<4xf32>) slots [-1 : 16] {
    %0 = math.tanh %i : tensor<4xf32>
    ckpt.yield %0 : tensor<4xf32>
  } -> tensor<4xf32>
  return %a, %b, %c : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
