// A constant of complex numbers, in the step and in a loop that stays one op.
// RUN: ckpt-runner %s --repeat=1 --verify --range=arg000:2:3 --outputs=%t.npz
// RUN: ckpt-runner %s --repeat=1 --range=arg000:2:3 --device=emulator --outputs=%t.gpu.npz
// RUN: cmp %t.npz %t.gpu.npz
// RUN: %python -c "import zipfile, struct, sys; z = zipfile.ZipFile(sys.argv[1]); print([struct.unpack('3d', z.read('out00%%d.npy' %% i)[-24:]) for i in range(3)])" %t.npz | FileCheck %s
// CHECK: [(1.0, 0.5, -3.0), (2.0, -1.0, 0.0), (3.0, 1.5, -9.0)]

#id = affine_map<(d0) -> (d0)>
func.func @step(%n: index) -> (tensor<3xf64>, tensor<3xf64>, tensor<3xf64>) {
  %table = arith.constant dense<[(1.0, 2.0), (0.5, -1.0), (-3.0, 0.0)]> : tensor<3xcomplex<f64>>
  %e = tensor.empty() : tensor<3xf64>
  %parts:2 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%table : tensor<3xcomplex<f64>>) outs(%e, %e : tensor<3xf64>, tensor<3xf64>) {
  ^bb0(%z: complex<f64>, %a: f64, %b: f64):
    %re = complex.re %z : complex<f64>
    %im = complex.im %z : complex<f64>
    linalg.yield %re, %im : f64, f64
  } -> (tensor<3xf64>, tensor<3xf64>)
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%x = %parts#0) -> tensor<3xf64> {
    %again = arith.constant dense<[(1.0, 0.0), (0.5, -2.0), (-3.0, 0.0)]> : tensor<3xcomplex<f64>>
    %y = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
        ins(%x, %again : tensor<3xf64>, tensor<3xcomplex<f64>>) outs(%e : tensor<3xf64>) {
    ^bb0(%a: f64, %z: complex<f64>, %b: f64):
      %re = complex.re %z : complex<f64>
      %s = arith.addf %a, %re : f64
      linalg.yield %s : f64
    } -> tensor<3xf64>
    scf.yield %y : tensor<3xf64>
  }
  return %parts#0, %parts#1, %sum : tensor<3xf64>, tensor<3xf64>, tensor<3xf64>
}
