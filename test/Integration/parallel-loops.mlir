// Sums of loops that the program calls parallel: in order, whatever the threads.
// RUN: ckpt-runner %s --verify --repeat=1 --range=arg001:3:4 --outputs=%t.one.npz | FileCheck %s
// RUN: ckpt-runner %s --verify --repeat=1 --range=arg001:3:4 --threads=2 --outputs=%t.two.npz | FileCheck %s
// RUN: ckpt-runner %s --verify --repeat=1 --range=arg001:3:4 --device=emulator --outputs=%t.gpu.npz | FileCheck %s
// RUN: cmp %t.one.npz %t.two.npz
// RUN: cmp %t.one.npz %t.gpu.npz
// CHECK: results: bit-equal

func.func @main(%v: tensor<5x7xf32>, %w: tensor<i32>, %u: tensor<5xf16>) -> (tensor<f32>, tensor<f32>, tensor<f32>, tensor<f16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c5 = arith.constant 5 : index
  %c7 = arith.constant 7 : index
  %z = arith.constant 0.5 : f32
  %n = tensor.extract %w[] : tensor<i32>
  %n1 = arith.index_cast %n : i32 to index
  %r:2 = scf.parallel (%i, %j) = (%c1, %c0) to (%c5, %c7) step (%c2, %c2) init (%z, %z) -> (f32, f32) {
    %x = tensor.extract %v[%i, %j] : tensor<5x7xf32>
    scf.reduce(%x, %x : f32, f32) {
    ^bb0(%a: f32, %b: f32):
      %s = arith.addf %a, %b : f32
      scf.reduce.return %s : f32
    }, {
    ^bb0(%a: f32, %b: f32):
      %s = arith.maximumf %a, %b : f32
      scf.reduce.return %s : f32
    }
  }
  %f = tensor.from_elements %r#0 : tensor<f32>
  %g = tensor.from_elements %r#1 : tensor<f32>
  %h = scf.for %k = %c0 to %n1 step %c1 iter_args(%acc = %f) -> tensor<f32> {
    %q = scf.parallel (%i) = (%c0) to (%c5) step (%c1) init (%z) -> (f32) {
      %x = tensor.extract %v[%i, %k] : tensor<5x7xf32>
      %y = tensor.extract %acc[] : tensor<f32>
      %p = arith.mulf %x, %y : f32
      scf.reduce(%p : f32) {
      ^bb0(%a: f32, %b: f32):
        %s = arith.addf %a, %b : f32
        scf.reduce.return %s : f32
      }
    }
    %t = tensor.from_elements %q : tensor<f32>
    scf.yield %t : tensor<f32>
  }
  %zero = arith.constant 0.0 : f16
  %small = scf.parallel (%i) = (%c0) to (%c5) step (%c1) init (%zero) -> f16 {
    %x = tensor.extract %u[%i] : tensor<5xf16>
    scf.reduce(%x : f16) {
    ^bb0(%a: f16, %b: f16):
      %s = arith.addf %a, %b : f16
      scf.reduce.return %s : f16
    }
  }
  %l = tensor.from_elements %small : tensor<f16>
  return %f, %g, %h, %l : tensor<f32>, tensor<f32>, tensor<f32>, tensor<f16>
}
