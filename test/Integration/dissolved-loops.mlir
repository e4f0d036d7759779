// Passes behind the rewriting find out that loops run once or change nothing,
// and choose between cases. Kernels keep their results.
// RUN: rm -rf %t && mkdir %t
// RUN: ckpt-runner %s --repeat=1 --outputs=%t/planned.npz
// RUN: ckpt-opt %s --ckpt-plan=quiet=true --ckpt-apply-plan --canonicalize --cse > %t/rewritten.mlir
// RUN: FileCheck %s < %t/rewritten.mlir
// RUN: ckpt-runner %t/rewritten.mlir --repeat=1 --outputs=%t/rewritten.npz
// RUN: cmp %t/planned.npz %t/rewritten.npz
// RUN: ckpt-runner %t/rewritten.mlir --device=emulator --repeat=1 --outputs=%t/emulator.npz
// RUN: cmp %t/planned.npz %t/emulator.npz

// CHECK-NOT: scf.for
// CHECK-NOT: scf.while
// CHECK-NOT: scf.index_switch
func.func @step(%x: tensor<16x16xf32> {ckpt.donated}, %y: tensor<16x16xf32> {ckpt.donated}, %v: tensor<16xf32>, %n: tensor<i32>)
    -> (tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<16xf32>, tensor<16x16xf32>, tensor<16x8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %i0 = arith.constant 0 : i32
  %count = tensor.extract %n[] : tensor<i32>
  // The results would lie over what their kernels still read.
  %once = scf.for %i = %c0 to %c1 step %c1 iter_args(%a = %x) -> tensor<16x16xf32> {
    %e = tensor.empty() : tensor<16x16xf32>
    %t = linalg.transpose ins(%a : tensor<16x16xf32>) outs(%e : tensor<16x16xf32>) permutation = [1, 0]
    scf.yield %t : tensor<16x16xf32>
  } {ckpt.rolled}
  %whole = scf.forall (%i) in (1) shared_outs(%o = %y) -> tensor<16x16xf32> {
    %e = tensor.empty() : tensor<16x16xf32>
    %t = linalg.transpose ins(%o : tensor<16x16xf32>) outs(%e : tensor<16x16xf32>) permutation = [1, 0]
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %t into %o[%i, 0] [16, 16] [1, 1] : tensor<16x16xf32> into tensor<16x16xf32>
    }
  }
  // Two results of different shapes.
  %z = math.absf %once : tensor<16x16xf32>
  %kept:3 = scf.while (%k = %i0, %a = %z, %b = %v) : (i32, tensor<16x16xf32>, tensor<16xf32>) -> (i32, tensor<16x16xf32>, tensor<16xf32>) {
    %more = arith.cmpi slt, %k, %count : i32
    scf.condition(%more) %k, %a, %b : i32, tensor<16x16xf32>, tensor<16xf32>
  } do {
  ^bb0(%k: i32, %a: tensor<16x16xf32>, %b: tensor<16xf32>):
    %one = arith.constant 1 : i32
    %next = arith.addi %k, %one : i32
    scf.yield %next, %a, %b : i32, tensor<16x16xf32>, tensor<16xf32>
  }
  // Several matmuls.
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  %zeros = arith.constant dense<0.0> : tensor<16x8xf32>
  %part = tensor.extract_slice %whole[0, 0] [16, 8] [1, 1] : tensor<16x16xf32> to tensor<16x8xf32>
  %side:2 = scf.index_switch %c1 -> tensor<16x16xf32>, tensor<16x8xf32>
  case 1 {
    %p = linalg.matmul ins(%once, %whole : tensor<16x16xf32>, tensor<16x16xf32>) outs(%zero : tensor<16x16xf32>) -> tensor<16x16xf32>
    %q = linalg.matmul ins(%p, %part : tensor<16x16xf32>, tensor<16x8xf32>) outs(%zeros : tensor<16x8xf32>) -> tensor<16x8xf32>
    scf.yield %p, %q : tensor<16x16xf32>, tensor<16x8xf32>
  }
  default {
    scf.yield %zero, %zeros : tensor<16x16xf32>, tensor<16x8xf32>
  }
  return %once, %whole, %kept#1, %kept#2, %side#0, %side#1 : tensor<16x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>, tensor<16xf32>, tensor<16x16xf32>, tensor<16x8xf32>
}
