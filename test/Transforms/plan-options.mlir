// What the options of --ckpt-plan change, beside budgets and strategies.
// RUN: ckpt-opt --ckpt-plan %s -o /dev/null 2>&1 | FileCheck --check-prefix=DEFAULT %s
// RUN: ckpt-opt --ckpt-plan=fusion=false %s 2>%t | FileCheck --check-prefix=UNFUSED %s
// RUN: FileCheck --check-prefix=UNFUSED-REPORT %s < %t
// RUN: ckpt-opt --ckpt-plan="reorder=false quiet" --ckpt-apply-plan %s | FileCheck --check-prefix=INORDER %s
// RUN: ckpt-opt --ckpt-plan=strategy=as-written %s -o /dev/null 2>&1 | FileCheck --check-prefix=WRITTEN %s

// With the caller's 80 KiB beside an arena of 32 KiB, to the byte.
// RUN: ckpt-opt --ckpt-plan="count-arguments budget=114688B" %s -o /dev/null 2>&1 | FileCheck --check-prefix=COUNTED %s
// RUN: not ckpt-opt --ckpt-plan="count-arguments budget=81920B time-limit=0" %s 2>&1 | FileCheck --check-prefix=TOO-MUCH %s

// The times, and with them nothing else here, belong to the device.
// RUN: ckpt-opt --ckpt-plan=device=a100 %s -o /dev/null 2>&1 | FileCheck --check-prefix=GPU %s
// RUN: ckpt-opt --ckpt-plan=device=h100 %s -o /dev/null 2>&1 | FileCheck --check-prefix=GPU %s
// RUN: ckpt-opt --ckpt-plan=device=h200 %s -o /dev/null 2>&1 | FileCheck --check-prefix=GPU %s
// RUN: ckpt-opt --ckpt-plan=device=b200 %s -o /dev/null 2>&1 | FileCheck --check-prefix=GPU %s
// RUN: ckpt-opt --ckpt-plan=device=l40s %s -o /dev/null 2>&1 | FileCheck --check-prefix=GPU %s
// RUN: ckpt-opt --ckpt-plan=device=rtx4090 %s -o /dev/null 2>&1 | FileCheck --check-prefix=GPU %s

// Options in the file count unless the command line names a strategy or budget.
// RUN: sed -e 's/) {$/) attributes {ckpt.strategy = "strategy=as-written"} {/' %s > %t.mlir
// RUN: ckpt-opt --ckpt-plan %t.mlir -o /dev/null 2>&1 | FileCheck --check-prefix=WRITTEN %s
// RUN: ckpt-opt --ckpt-plan=strategy=none %t.mlir -o /dev/null 2>&1 | FileCheck --check-prefix=DEFAULT %s
// RUN: ckpt-opt --ckpt-plan=budget=1 %t.mlir -o /dev/null 2>&1 | FileCheck --check-prefix=BUDGET %s
// RUN: sed -e 's/strategy=as-written/magic=1/' %t.mlir > %t.magic.mlir
// RUN: not ckpt-opt --ckpt-plan %t.magic.mlir 2>&1 | FileCheck --check-prefix=MAGIC %s
// RUN: sed -e 's/"strategy=as-written"/3/' %t.mlir > %t.number.mlir
// RUN: not ckpt-opt --ckpt-plan %t.number.mlir 2>&1 | FileCheck --check-prefix=NUMBER %s

// DEFAULT: 8 ops in 4 kernels; strategy: none,
// DEFAULT: baseline {{ *}}32.0 KiB {{.*}} 0.023 ms
// BUDGET: 8 ops in 4 kernels; strategy: budget, 1,024.0 KiB
// WRITTEN: 8 ops in 8 kernels; strategy: as written, one kernel per op
// COUNTED: strategy: budget, 112.0 KiB
// TOO-MUCH: error: {{.*}}a budget of 80.0 KiB (81920 bytes)
// TOO-MUCH-SAME: 98304 bytes{{.*}}; arguments and results count, with 81920 bytes
// GPU: 8 ops in 4 kernels
// GPU: baseline {{ *}}32.0 KiB {{.*}} 0.008 ms
// MAGIC: error: in 'ckpt.strategy': {{.*}}no such option magic
// NUMBER: expected 'ckpt.strategy' to be a string, but got 3 : i64

// One op per kernel, in program order.
// UNFUSED: kernels [{ops [0] {{[^}]*}}}, {ops [1] {{[^}]*}}}, {ops [2] {{[^}]*}}}, {ops [3]
// UNFUSED-REPORT: 8 ops in 8 kernels; strategy: none,

// INORDER: math.tanh
// INORDER: math.exp
// INORDER: arith.mulf
// INORDER: linalg.matmul
// INORDER-NEXT: ckpt.yield
// INORDER: return
func.func @step(%x: tensor<64x64xf32>, %w0: tensor<64x64xf32>, %w1: tensor<64x64xf32>)
    -> (tensor<64x64xf32>, tensor<64x64xf32>) {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<64x64xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<64x64xf32>) -> tensor<64x64xf32>
  %a = linalg.matmul ins(%x, %w0 : tensor<64x64xf32>, tensor<64x64xf32>)
      outs(%init : tensor<64x64xf32>) -> tensor<64x64xf32>
  %b = math.tanh %a : tensor<64x64xf32>
  %c = linalg.matmul ins(%b, %w1 : tensor<64x64xf32>, tensor<64x64xf32>)
      outs(%init : tensor<64x64xf32>) -> tensor<64x64xf32>
  %d = math.exp %c : tensor<64x64xf32>
  %g = linalg.matmul ins(%d, %w1 : tensor<64x64xf32>, tensor<64x64xf32>)
      outs(%init : tensor<64x64xf32>) -> tensor<64x64xf32>
  %h = arith.mulf %g, %b : tensor<64x64xf32>
  %i = linalg.matmul ins(%x, %h : tensor<64x64xf32>, tensor<64x64xf32>)
      outs(%init : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %i, %c : tensor<64x64xf32>, tensor<64x64xf32>
}
