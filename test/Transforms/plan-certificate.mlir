// A certificate of the pass is about the problem that the printer prints.
// RUN: rm -rf %t && mkdir %t
// RUN: ckpt-opt %models/gpt2-tiny.mlir --ckpt-plan="budget=50% quiet=true certificate=%t/tiny.json" -o %t/planned.mlir
// RUN: ckpt-opt %models/gpt2-tiny.mlir --ckpt-print-problem -o %t/unused.mlir > %t/tiny.problem
// RUN: ckpt-plan --check=%t/tiny.json %t/tiny.problem | FileCheck %s
// CHECK: verified

// RUN: not ckpt-opt %models/gpt2-tiny.mlir --ckpt-form-layers --ckpt-plan="strategy=full quiet=true certificate=%t/full.json" -o /dev/null 2>&1 | FileCheck %s --check-prefix=FULL
// FULL: error: a certificate is about the program alone, but the strategy adds demands of its own
