// Loops that would take too many ops stay one op, with a remark.
// RUN: ckpt-opt %s --ckpt-prepare="unroll-limit=5" --mlir-print-debuginfo=false --verify-diagnostics | FileCheck %s

// CHECK-LABEL: @limit
// CHECK-COUNT-2: math.exp
// CHECK: scf.for
// CHECK-NEXT: math.tanh
// expected-remark @+1 {{prepared: 1 loop unrolled}}
func.func @limit(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %r = scf.for %i = %c0 to %c2 step %c1 iter_args(%a = %x) -> tensor<4xf32> {
    %y = math.exp %a : tensor<4xf32>
    scf.yield %y : tensor<4xf32>
  }
  // expected-remark @+1 {{expected at most 3 ops from unrolled loops, but got 4 from 4 iterations; the loop stays one op ('unroll-limit')}}
  %s = scf.for %i = %c0 to %c4 step %c1 iter_args(%a = %r) -> tensor<4xf32> {
    %y = math.tanh %a : tensor<4xf32>
    scf.yield %y : tensor<4xf32>
  }
  return %s : tensor<4xf32>
}
