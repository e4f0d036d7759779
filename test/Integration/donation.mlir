// Results lie in donated arguments where the plan writes them late enough, and
// the runner passes one buffer as both.
// DEFINE: %{function} =
// DEFINE: %{options} =
// DEFINE: %{run} = ckpt-runner %s --repeat=2 --verify --func=%{function} --plan-options="%{options}" --report=%t.json
// DEFINE: %{rewrite} = ckpt-opt %s --ckpt-plan="func=%{function} quiet=true %{options}" --ckpt-apply-plan
// DEFINE: %{prove} = ckpt-opt --ckpt-verify-slots --ckpt-verify=original=%s -o /dev/null

// DEFINE: %{judge} = ckpt-opt %t.mlir --mlir-print-op-generic --mlir-print-debuginfo -o %t.generic.mlir && %python %S/../Inputs/check_kernels.py %t.generic.mlir --original=%t.original.mlir

// RUN: ckpt-opt %s --mlir-print-op-generic --mlir-print-debuginfo -o %t.original.mlir

// CHECK: results: bit-equal to the program as written

// As JAX marks them: one by number, one by type.
// REDEFINE: %{function} = momentum
// RUN: %{run} | FileCheck %s
// RUN: FileCheck %s --check-prefix=BYTES --input-file=%t.json
// BYTES-DAG: "argument_bytes": 9216
// BYTES-DAG: "result_bytes": 8192
// BYTES-DAG: "donated_bytes": 8192
// RUN: %{run} --device=emulator | FileCheck %s
// RUN: %{rewrite} -o %t.mlir
// RUN: %{prove} %t.mlir
// RUN: FileCheck %s --check-prefix=MOMENTUM --input-file=%t.mlir
// MOMENTUM: func @momentum(%{{.*}}: tensor<32x32xf32> {ckpt.donated = 0 : i64, tf.aliasing_output = 0 : i32}
// MOMENTUM-SAME: tensor<32x32xf32> {ckpt.donated = 1 : i64, jax.buffer_donor = true}
// RUN: ckpt-opt %s --ckpt-plan="func=momentum" -o /dev/null 2>&1 | FileCheck %s --check-prefix=REPORT
// REPORT: the caller's: arguments 9.0 KiB, results 8.0 KiB, of these 8.0 KiB in donated arguments; with the arena
func.func @momentum(%w: tensor<32x32xf32> {tf.aliasing_output = 0 : i32}, %m: tensor<32x32xf32> {jax.buffer_donor = true}, %x: tensor<8x32xf32>) -> (tensor<32x32xf32>, tensor<32x32xf32>) {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x32xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<8x32xf32>) -> tensor<8x32xf32>
  %h = linalg.matmul ins(%x, %w : tensor<8x32xf32>, tensor<32x32xf32>) outs(%f : tensor<8x32xf32>) -> tensor<8x32xf32>
  %we = tensor.empty() : tensor<32x32xf32>
  %wf = linalg.fill ins(%z : f32) outs(%we : tensor<32x32xf32>) -> tensor<32x32xf32>
  %te = tensor.empty() : tensor<32x8xf32>
  %xt = linalg.transpose ins(%x : tensor<8x32xf32>) outs(%te : tensor<32x8xf32>) permutation = [1, 0]
  %g = linalg.matmul ins(%xt, %h : tensor<32x8xf32>, tensor<8x32xf32>) outs(%wf : tensor<32x32xf32>) -> tensor<32x32xf32>
  %m2 = linalg.add ins(%m, %g : tensor<32x32xf32>, tensor<32x32xf32>) outs(%we : tensor<32x32xf32>) -> tensor<32x32xf32>
  %w2 = linalg.sub ins(%w, %m2 : tensor<32x32xf32>, tensor<32x32xf32>) outs(%we : tensor<32x32xf32>) -> tensor<32x32xf32>
  return %w2, %m2 : tensor<32x32xf32>, tensor<32x32xf32>
}

// By our attribute, by the option, and not twice: a result has one argument.
// REDEFINE: %{function} = options
// REDEFINE: %{options} = donate=0,2
// RUN: %{run} | FileCheck %s
// RUN: %{run} --device=emulator | FileCheck %s
// RUN: %{rewrite} -o %t.mlir
// RUN: %{prove} %t.mlir
// RUN: FileCheck %s --check-prefix=OPTIONS --input-file=%t.mlir
// OPTIONS: func @options(%{{.*}}: tensor<64xf32> {ckpt.donated = 0 : i64}
// OPTIONS-SAME: tensor<64xf32> {ckpt.donated = 1 : i64}
func.func @options(%a: tensor<64xf32>, %b: tensor<64xf32> {ckpt.donated = 1}, %c: tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
  %0 = arith.addf %a, %c : tensor<64xf32>
  %1 = arith.mulf %b, %c : tensor<64xf32>
  return %0, %1 : tensor<64xf32>, tensor<64xf32>
}

// The weight is read after the new one is made; a transposed copy is written
// elsewhere; the third is also returned as it is.
// REDEFINE: %{function} = needed
// REDEFINE: %{options} = donate=all
// RUN: %{run} | FileCheck %s
// RUN: %{run} --device=emulator | FileCheck %s
// RUN: %{rewrite} | FileCheck %s --check-prefix=NEEDED
// NEEDED: func @needed(
// NEEDED-NOT: ckpt.donated
// NEEDED: return
func.func @needed(%w: tensor<16x16xf32>, %v: tensor<8x8xf32>, %u: tensor<4xf32>)
    -> (tensor<16x16xf32>, tensor<16x16xf32>, tensor<8x8xf32>, tensor<4xf32>, tensor<4xf32>) {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<16x16xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<16x16xf32>) -> tensor<16x16xf32>
  %0 = linalg.matmul ins(%w, %w : tensor<16x16xf32>, tensor<16x16xf32>) outs(%f : tensor<16x16xf32>) -> tensor<16x16xf32>
  %1 = linalg.matmul ins(%0, %w : tensor<16x16xf32>, tensor<16x16xf32>) outs(%f : tensor<16x16xf32>) -> tensor<16x16xf32>
  %te = tensor.empty() : tensor<8x8xf32>
  %t = linalg.transpose ins(%v : tensor<8x8xf32>) outs(%te : tensor<8x8xf32>) permutation = [1, 0]
  %2 = math.exp %t : tensor<8x8xf32>
  %3 = math.exp %u : tensor<4xf32>
  return %0, %1, %2, %3, %u : tensor<16x16xf32>, tensor<16x16xf32>, tensor<8x8xf32>, tensor<4xf32>, tensor<4xf32>
}

// The product that makes the gradient of a layer makes its new weight, too. It
// runs after the product that reads the old one for the layer before, if the
// budget has room for that.
// REDEFINE: %{function} = layers
// REDEFINE: %{options} = budget=12288B
// RUN: %{run} | FileCheck %s
// RUN: %{run} --device=emulator | FileCheck %s
// RUN: %{rewrite} -o %t.mlir
// RUN: %{prove} %t.mlir
// RUN: FileCheck %s --check-prefix=TWO --input-file=%t.mlir
// TWO: func @layers(%{{.*}}: tensor<32x32xf32> {ckpt.donated = 0 : i64,
// TWO-SAME: tensor<32x32xf32> {ckpt.donated = 1 : i64,
func.func @layers(%w1: tensor<32x32xf32> {jax.buffer_donor = true}, %w2: tensor<32x32xf32> {jax.buffer_donor = true}, %x: tensor<32x32xf32>) -> (tensor<32x32xf32>, tensor<32x32xf32>) {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<32x32xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<32x32xf32>) -> tensor<32x32xf32>
  %h1 = linalg.matmul ins(%x, %w1 : tensor<32x32xf32>, tensor<32x32xf32>) outs(%f : tensor<32x32xf32>) -> tensor<32x32xf32>
  %a1 = math.tanh %h1 : tensor<32x32xf32>
  %y = linalg.matmul ins(%a1, %w2 : tensor<32x32xf32>, tensor<32x32xf32>) outs(%f : tensor<32x32xf32>) -> tensor<32x32xf32>
  %at = linalg.transpose ins(%a1 : tensor<32x32xf32>) outs(%e : tensor<32x32xf32>) permutation = [1, 0]
  %g2 = linalg.matmul ins(%at, %y : tensor<32x32xf32>, tensor<32x32xf32>) outs(%f : tensor<32x32xf32>) -> tensor<32x32xf32>
  %n2 = linalg.sub ins(%w2, %g2 : tensor<32x32xf32>, tensor<32x32xf32>) outs(%e : tensor<32x32xf32>) -> tensor<32x32xf32>
  %wt = linalg.transpose ins(%w2 : tensor<32x32xf32>) outs(%e : tensor<32x32xf32>) permutation = [1, 0]
  %d1 = linalg.matmul ins(%y, %wt : tensor<32x32xf32>, tensor<32x32xf32>) outs(%f : tensor<32x32xf32>) -> tensor<32x32xf32>
  %xt = linalg.transpose ins(%x : tensor<32x32xf32>) outs(%e : tensor<32x32xf32>) permutation = [1, 0]
  %g1 = linalg.matmul ins(%xt, %d1 : tensor<32x32xf32>, tensor<32x32xf32>) outs(%f : tensor<32x32xf32>) -> tensor<32x32xf32>
  %n1 = linalg.sub ins(%w1, %g1 : tensor<32x32xf32>, tensor<32x32xf32>) outs(%e : tensor<32x32xf32>) -> tensor<32x32xf32>
  return %n1, %n2 : tensor<32x32xf32>, tensor<32x32xf32>
}
