// A loop with a known number of iterations whose slices grow stays one op.
// RUN: rm -rf %t && mkdir %t
// RUN: ckpt-opt %s --ckpt-prepare | FileCheck %s --check-prefix=PREPARED
// RUN: ckpt-runner %s --repeat=1 --outputs=%t/cpu.npz
// RUN: %python %S/../Inputs/check_pairs.py %t/cpu.npz | FileCheck %s
// RUN: ckpt-runner %s --device=emulator --repeat=1 --outputs=%t/emulator.npz
// RUN: cmp %t/cpu.npz %t/emulator.npz

// PREPARED: scf.for
// CHECK: 1 pairs are the same
func.func @step(%x: tensor<6xf32>) -> (tensor<f32>, tensor<f32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c6 = arith.constant 6 : index
  %low = arith.constant dense<-1.0e9> : tensor<f32>
  %prefixes = scf.for %i = %c0 to %c6 step %c1 iter_args(%sum = %low) -> tensor<f32> {
    %size = arith.addi %i, %c1 : index
    %prefix = tensor.extract_slice %x[0] [%size] [1] : tensor<6xf32> to tensor<?xf32>
    %r = linalg.reduce { arith.maximumf } ins(%prefix : tensor<?xf32>) outs(%sum : tensor<f32>) dimensions = [0]
    scf.yield %r : tensor<f32>
  }
  %all = linalg.reduce { arith.maximumf } ins(%x : tensor<6xf32>) outs(%low : tensor<f32>) dimensions = [0]
  return %prefixes, %all : tensor<f32>, tensor<f32>
}
