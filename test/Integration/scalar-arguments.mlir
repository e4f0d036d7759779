// Scalars of the caller are arrays of rank 0, of a step as of its kernels.
// RUN: ckpt-runner %s --verify --repeat=1 --range=arg000:2:3 --outputs=%t.step.npz | FileCheck %s
// RUN: ckpt-runner %s --verify --repeat=1 --range=arg000:2:3 --device=emulator | FileCheck %s
// RUN: ckpt-opt %s --ckpt-plan=quiet=true --ckpt-apply-plan -o %t.mlir
// RUN: ckpt-runner %t.mlir --repeat=1 --range=arg000:2:3 --outputs=%t.kernels.npz
// RUN: cmp %t.step.npz %t.kernels.npz
// RUN: ckpt-runner %t.mlir --repeat=1 --range=arg000:2:3 --device=emulator --outputs=%t.gpu.npz
// RUN: cmp %t.step.npz %t.gpu.npz
// CHECK: results: bit-equal
func.func @main(%s: f32, %x: tensor<4xf32>, %b: i1, %n: index, %unused: i4) -> (tensor<4xf32>, tensor<f32>, tensor<4xf32>) {
  %t = tensor.splat %s : tensor<4xf32>
  %y = arith.mulf %t, %x : tensor<4xf32>
  %q = arith.select %b, %y, %x : tensor<4xf32>
  %e = tensor.extract %y[%n] : tensor<4xf32>
  %z = arith.addf %e, %s : f32
  %r = tensor.from_elements %z : tensor<f32>
  return %y, %r, %q : tensor<4xf32>, tensor<f32>, tensor<4xf32>
}
