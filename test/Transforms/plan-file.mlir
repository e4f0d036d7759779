// A plan in a file: saved, replayed to the same program, refused for another.
// RUN: rm -rf %t && mkdir %t
// RUN: ckpt-opt %s --ckpt-plan="budget=100% quiet=true save-plan=%t/step.plan" -o %t/planned.mlir
// RUN: FileCheck %s --input-file=%t/step.plan --check-prefix=FILE
// RUN: ckpt-opt %s --ckpt-plan=plan-file=%t/step.plan -o %t/replayed.mlir 2>&1 | FileCheck %s --check-prefix=REPLAY
// RUN: diff %t/planned.mlir %t/replayed.mlir
// RUN: ckpt-opt %t/replayed.mlir --ckpt-apply-plan --ckpt-verify=original=%s -o /dev/null

// FILE: plan="step"
// FILE-NEXT: budget=
// FILE-NEXT: time=
// FILE-NEXT: flops=
// FILE-NEXT: extra-flops=
// FILE-NEXT: values=
// FILE-NEXT: kernels={{[0-9]+$}}
// FILE-NEXT: op 0 {{save|recompute|inline}} hash={{[0-9a-f]+}} name="
// FILE: return hash=
// FILE-NEXT: arena=
// FILE-COUNT-2: kernel ops=

// REPLAY: ckpt: @step: replayed {{.*}}step.plan', arena

// Another program is refused at the op.
// RUN: sed -e 's/math.tanh/math.absf/' %s > %t/other.mlir
// RUN: not ckpt-opt %t/other.mlir --ckpt-plan=plan-file=%t/step.plan 2>&1 | FileCheck %s --check-prefix=OTHER
// OTHER: error: the plan of 'step' was made for another body: op number 2 is the first that differs; plan again
// OTHER-NEXT: math.absf

// So is a file that is no plan, that ends early, or that was edited.
// RUN: echo garbage > %t/garbage.plan
// RUN: not ckpt-opt %s --ckpt-plan=plan-file=%t/garbage.plan 2>&1 | FileCheck %s --check-prefix=GARBAGE
// GARBAGE: garbage.plan' is no plan: line 1: expected 'plan="FUNCTION"', but got 'garbage'
// RUN: not ckpt-opt %s --ckpt-plan=plan-file=%t/planned.mlir 2>&1 | FileCheck %s --check-prefix=PROGRAM
// PROGRAM: planned.mlir' is no plan: line 1: 
// RUN: head -n 5 %t/step.plan > %t/figures.plan
// RUN: not ckpt-opt %s --ckpt-plan=plan-file=%t/figures.plan 2>&1 | FileCheck %s --check-prefix=FIGURES
// FIGURES: is no plan: line 5: expected a figure, 'op' or 'return hash=', but got the end of the file
// RUN: sed -e '$d' %t/step.plan > %t/kernels.plan
// RUN: not ckpt-opt %s --ckpt-plan=plan-file=%t/kernels.plan 2>&1 | FileCheck %s --check-prefix=COUNT
// COUNT: is no plan: line {{[0-9]+}}: the file ends after {{[0-9]+}} kernels of {{[0-9]+}}
// RUN: sed -e 's/^op 1 .* hash/op 1 inline hash/' %t/step.plan > %t/edited.plan
// RUN: not ckpt-opt %s --ckpt-plan=plan-file=%t/edited.plan 2>&1 | FileCheck %s --check-prefix=EDITED
// EDITED: error: the plan says that op number 1 is inlined, but by its kernels it is saved
// RUN: sed -e 's/^arena=.*/arena=256/' %t/step.plan > %t/small.plan
// RUN: not ckpt-opt %s --ckpt-plan=plan-file=%t/small.plan 2>&1 | FileCheck %s --check-prefix=SMALL
// SMALL: error: the plan breaks a rule:
// RUN: sed -e '/^budget=/d; s/^arena=.*/arena=2000000000000/' %t/step.plan > %t/large.plan
// RUN: not ckpt-opt %s --ckpt-plan=plan-file=%t/large.plan 2>&1 | FileCheck %s --check-prefix=LARGE
// LARGE: error: expected the plan's arena to take at most 1099511627776 bytes, but got 2000000000000
// RUN: sed -e 's/^extra-flops=.*/extra-flops=9223372036854775807/' %t/step.plan > %t/extra.plan
// RUN: not ckpt-opt %s --ckpt-plan=plan-file=%t/extra.plan 2>&1 | FileCheck %s --check-prefix=EXTRA
// EXTRA: error: the plan says 'extra-flops=9223372036854775807', but by its kernels it is {{[0-9]+$}}
// RUN: sed -e 's/^flops=.*/flops=7/' %t/step.plan > %t/flops.plan
// RUN: not ckpt-opt %s --ckpt-plan=plan-file=%t/flops.plan 2>&1 | FileCheck %s --check-prefix=FLOPS
// FLOPS: error: the plan says 'flops=7', but by its kernels it is {{[0-9]+$}}
// RUN: sed -e 's/^budget=.*/budget=256/' %t/step.plan > %t/budget.plan
// RUN: not ckpt-opt %s --ckpt-plan=plan-file=%t/budget.plan 2>&1 | FileCheck %s --check-prefix=BUDGET
// BUDGET: is no plan: line {{[0-9]+}}: expected an arena within the budget of 256 bytes, but got {{[0-9]+$}}
// RUN: sed -e 's/^values=.*/values=99/' %t/step.plan > %t/values.plan
// RUN: not ckpt-opt %s --ckpt-plan=plan-file=%t/values.plan 2>&1 | FileCheck %s --check-prefix=VALUES
// VALUES: error: expected a plan of {{[0-9]+}} values, but got one of 99

// The time is that of one device; the plan is right on each.
// RUN: ckpt-opt %s --ckpt-plan="plan-file=%t/step.plan quiet=true device=h100" 2>&1 -o /dev/null | FileCheck %s --check-prefix=DEVICE
// DEVICE: warning: the plan says 'time={{[0-9]+}}', but on this device it is {{[0-9]+}}; 'device' says for which one it is
// RUN: ckpt-opt %s --ckpt-plan="plan-file=%t/step.plan quiet=true" -o /dev/null 2>&1 | count 0

// RUN: not ckpt-opt %s --ckpt-plan=plan-file=%t/none.plan 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: none.plan' cannot be read
// RUN: not ckpt-opt %s --ckpt-plan="budget=50% plan-file=%t/step.plan" 2>&1 | FileCheck %s --check-prefix=BOTH
// BOTH: error: 'plan-file' replays a plan as it is and takes no 'budget'

func.func @step(%x: tensor<64x64xf32>, %w: tensor<64x64xf32>) -> (tensor<64x64xf32>, tensor<64x64xf32>) {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<64x64xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<64x64xf32>) -> tensor<64x64xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<64x64xf32>, tensor<64x64xf32>) outs(%init : tensor<64x64xf32>) -> tensor<64x64xf32>
  %1 = math.tanh %0 : tensor<64x64xf32>
  %2 = linalg.matmul ins(%1, %w : tensor<64x64xf32>, tensor<64x64xf32>) outs(%init : tensor<64x64xf32>) -> tensor<64x64xf32>
  %3 = linalg.matmul ins(%2, %1 : tensor<64x64xf32>, tensor<64x64xf32>) outs(%init : tensor<64x64xf32>) -> tensor<64x64xf32>
  %4 = arith.mulf %3, %0 : tensor<64x64xf32>
  return %2, %4 : tensor<64x64xf32>, tensor<64x64xf32>
}
