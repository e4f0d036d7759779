// A planned function becomes kernels: which, in which order, and where their
// results lie. Then what happens when the planned file was edited.
// RUN: ckpt-opt %s --ckpt-plan="func=step quiet" -o %t.mlir
// RUN: ckpt-opt %t.mlir --ckpt-apply-plan --ckpt-verify-slots --mlir-print-debuginfo=false | FileCheck %s

// An edited decision is obeyed by a new schedule: the second run of the first
// layer waits for the gradient that is read beside it.
// RUN: sed -e 's/\(math.tanh.*decision<\)save/\1recompute/' %t.mlir > %t.recompute.mlir
// RUN: ckpt-opt %t.recompute.mlir --ckpt-apply-plan --ckpt-verify-slots --mlir-print-debuginfo=false 2>%t.err | FileCheck --check-prefix=AGAIN %s
// RUN: FileCheck --check-prefix=ARENA2 %s < %t.err

// Another body is refused at the first op that differs.
// RUN: sed -e 's/math.sqrt/math.sin/' %t.mlir > %t.op.mlir
// RUN: not ckpt-opt %t.op.mlir --ckpt-apply-plan 2>&1 | FileCheck --check-prefix=OP %s
// RUN: sed -e 's/return %\([0-9]*\), %\([0-9]*\) :/return %\2, %\1 :/' %t.mlir > %t.returned.mlir
// RUN: not ckpt-opt %t.returned.mlir --ckpt-apply-plan 2>&1 | FileCheck --check-prefix=RETURNED %s

// A schedule that was edited by hand is judged by the simulator.
// RUN: sed -e 's/4 : 0 at 16384/4 : 0 at 0/' %t.mlir > %t.place.mlir
// RUN: not ckpt-opt %t.place.mlir --ckpt-apply-plan 2>&1 | FileCheck --check-prefix=PLACE %s
// RUN: sed -e 's/4 : 0 at 16384/4 : 3 at 16384/' %t.mlir > %t.result.mlir
// RUN: not ckpt-opt %t.result.mlir --ckpt-apply-plan 2>&1 | FileCheck --check-prefix=RESULT %s
// RUN: sed -e 's/ arena [0-9]* / arena 9223372036854775807 /' %t.mlir > %t.arena.mlir
// RUN: not ckpt-opt %t.arena.mlir --ckpt-apply-plan 2>&1 | FileCheck --check-prefix=LARGE %s

// Decisions alone are enough; what nobody planned or decided stays as it is.
// RUN: ckpt-opt %s --ckpt-apply-plan --mlir-print-debuginfo=false 2>%t.err | FileCheck --check-prefix=INLINE %s
// RUN: FileCheck --check-prefix=ARENA2 %s < %t.err
// RUN: sed -e 's/decision<inline>/decision<save>/' %s > %t.save.mlir
// RUN: ckpt-opt %t.save.mlir --ckpt-apply-plan --mlir-print-debuginfo=false 2>%t.err | FileCheck --check-prefix=SAVE %s
// RUN: FileCheck --check-prefix=ARENA3 %s < %t.err

// CHECK-LABEL: func.func @step
// CHECK-SAME: %[[X:[^:]*]]: tensor<64x64xf32>, %[[W0:[^:]*]]: tensor<64x64xf32>, %[[W1:[^:]*]]: tensor<64x64xf32>
// CHECK-SAME: attributes {ckpt.arena_bytes = 32768 : i64, no_inline}
// CHECK-NEXT: %[[B:.*]] = ckpt.kernel(%{{.*}} = %[[X]] : tensor<64x64xf32>, %{{.*}} = %[[W0]] : tensor<64x64xf32>) slots [0 : 16384] layer "layer/0" {
// CHECK: linalg.matmul
// CHECK-NEXT: %[[TANH:.*]] = math.tanh
// CHECK-NEXT: ckpt.yield %[[TANH]] : tensor<64x64xf32>
// CHECK-NEXT: } -> tensor<64x64xf32>
// CHECK-NEXT: %[[CD:.*]]:2 = ckpt.kernel(%{{.*}} = %[[W1]] : tensor<64x64xf32>, %{{.*}} = %[[B]] : tensor<64x64xf32>) slots [-1 : 16384, 16384 : 16384] layer "layer/1" {
// CHECK: linalg.matmul
// CHECK-NEXT: math.sqrt
// CHECK-NEXT: ckpt.yield
// CHECK-NEXT: } -> tensor<64x64xf32>, tensor<64x64xf32>
// CHECK-NEXT: %[[H:.*]] = ckpt.kernel({{.*}} = %[[B]] : tensor<64x64xf32>, %{{.*}} = %[[CD]]#1 : tensor<64x64xf32>) slots [0 : 16384] layer "layer/1" {
// CHECK: linalg.matmul
// CHECK-NEXT: arith.mulf
// CHECK-NEXT: ckpt.yield
// CHECK-NEXT: } -> tensor<64x64xf32>
// CHECK-NEXT: %[[I:.*]] = ckpt.kernel(%{{.*}} = %[[X]] : tensor<64x64xf32>, %{{.*}} = %[[H]] : tensor<64x64xf32>) slots [-1 : 16384] layer "layer/0" {
// CHECK-NOT: recompute
// CHECK-NOT: ckpt.decision
// CHECK: return %[[I]], %[[CD]]#0

// ARENA2: remark: a schedule was derived from the decisions; its arena takes 32768 bytes
// AGAIN-LABEL: func.func @step
// AGAIN-SAME: %[[X:[^:]*]]: tensor<64x64xf32>, %[[W0:[^:]*]]: tensor<64x64xf32>, %[[W1:[^:]*]]: tensor<64x64xf32>
// AGAIN: ckpt.kernel(%{{.*}} = %[[X]] : tensor<64x64xf32>, %{{.*}} = %[[W0]] : tensor<64x64xf32>) slots [16384 : 16384] layer "layer/0" {
// AGAIN: math.tanh
// AGAIN: %[[CD:.*]]:2 = ckpt.kernel(
// AGAIN: %[[B:.*]] = ckpt.kernel(%{{.*}} = %[[X]] : tensor<64x64xf32>, %{{.*}} = %[[W0]] : tensor<64x64xf32>) after (%[[CD]]#0 : tensor<64x64xf32>) slots [16384 : 16384] layer "layer/0" recompute {
// AGAIN: math.tanh
// AGAIN: ckpt.kernel(%{{.*}} = %[[W1]] : tensor<64x64xf32>, %{{.*}} = %[[B]] : tensor<64x64xf32>, %{{.*}} = %[[CD]]#1 : tensor<64x64xf32>) slots [16384 : 16384] layer "layer/1" {
// AGAIN: arith.mulf
// AGAIN: ckpt.yield

// OP: error: {{.*}}the plan of 'step' was made for another body: op number 4 is the first that differs; plan again
// RETURNED: error: {{.*}}the plan of 'step' was made for another body, which had more ops or returned something else; plan again
// PLACE: error: {{.*}}the plan breaks a rule:
// RESULT: error: {{.*}}the plan names result 3 of op 4, which does not exist
// LARGE: error: expected the plan's arena to take at most 1099511627776 bytes, but got 9223372036854775807

func.func @step(%x: tensor<64x64xf32>, %w0: tensor<64x64xf32>, %w1: tensor<64x64xf32>)
    -> (tensor<64x64xf32>, tensor<64x64xf32>) {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<64x64xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<64x64xf32>) -> tensor<64x64xf32>
  %a = linalg.matmul ins(%x, %w0 : tensor<64x64xf32>, tensor<64x64xf32>)
      outs(%init : tensor<64x64xf32>) -> tensor<64x64xf32> loc("layer/0/dot")
  %b = math.tanh %a : tensor<64x64xf32> loc("layer/0/tanh")
  %c = linalg.matmul ins(%b, %w1 : tensor<64x64xf32>, tensor<64x64xf32>)
      outs(%init : tensor<64x64xf32>) -> tensor<64x64xf32> loc("layer/1/dot")
  %d = math.sqrt %c : tensor<64x64xf32> loc("layer/1/sqrt")
  %g = linalg.matmul ins(%d, %w1 : tensor<64x64xf32>, tensor<64x64xf32>)
      outs(%init : tensor<64x64xf32>) -> tensor<64x64xf32> loc("transpose(jvp(layer/1))/dot")
  %h = arith.mulf %g, %b : tensor<64x64xf32> loc("transpose(jvp(layer/0))/mul")
  %i = linalg.matmul ins(%x, %h : tensor<64x64xf32>, tensor<64x64xf32>)
      outs(%init : tensor<64x64xf32>) -> tensor<64x64xf32> loc("transpose(jvp(layer/0))/dot")
  return %i, %c : tensor<64x64xf32>, tensor<64x64xf32>
}

// INLINE-LABEL: func.func @step
// INLINE-NOT: ckpt.kernel
// INLINE-LABEL: func.func @decided
// INLINE: ckpt.kernel
// INLINE-NOT: math.exp
// INLINE: ckpt.kernel
// INLINE: math.exp
// INLINE: ckpt.kernel
// INLINE: math.exp
// INLINE: return

// ARENA3: remark: a schedule was derived from the decisions; its arena takes 49152 bytes
// SAVE-LABEL: func.func @decided
// SAVE: ckpt.kernel
// SAVE: math.exp
// SAVE: ckpt.kernel
// SAVE-NOT: math.exp
// SAVE: return
func.func @decided(%x: tensor<64x64xf32>, %w: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %empty = tensor.empty() : tensor<64x64xf32>
  %c = linalg.matmul ins(%x, %w : tensor<64x64xf32>, tensor<64x64xf32>)
      outs(%empty : tensor<64x64xf32>) -> tensor<64x64xf32>
  %e = math.exp %c {ckpt.decision = #ckpt.decision<inline>} : tensor<64x64xf32>
  %p = linalg.matmul ins(%c, %w : tensor<64x64xf32>, tensor<64x64xf32>)
      outs(%empty : tensor<64x64xf32>) -> tensor<64x64xf32>
  %q = arith.mulf %p, %e : tensor<64x64xf32>
  %r = linalg.matmul ins(%q, %w : tensor<64x64xf32>, tensor<64x64xf32>)
      outs(%empty : tensor<64x64xf32>) -> tensor<64x64xf32>
  %s = arith.mulf %r, %e : tensor<64x64xf32>
  return %s : tensor<64x64xf32>
}
