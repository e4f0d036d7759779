// Arrays of floats of 8 bits as ml_dtypes and numpy write them, and as the
// runner writes them itself.
// RUN: rm -rf %t && mkdir %t
// RUN: %python -c "import zipfile, sys; z = zipfile.ZipFile(sys.argv[1], 'w'); [z.writestr('arg00%%d.npy' %% i, b'\x93NUMPY\x01\x00\x76\x00' + ('{%%r: %%r, %%r: False, %%r: (4,), }' %% ('descr', t, 'fortran_order', 'shape')).ljust(117).encode() + b'\n' + bytes([0x00, 0x34, 0x3c, 0xbc])) for i, t in enumerate(['<f1', '|V1'])]; z.close()" %t/inputs.npz
// RUN: ckpt-runner %s --repeat=1 --inputs=%t/inputs.npz --outputs=%t/outputs.npz
// RUN: ckpt-runner %s --repeat=1 --inputs=%t/inputs.npz --expected=%t/outputs.npz --rtol=0 --atol=0 | FileCheck %s
// CHECK: expected: met
func.func @step(%a: tensor<4xf8E5M2>, %b: tensor<4xf8E4M3FN>)
    -> (tensor<4xf8E5M2>, tensor<4xf8E4M3FN>) {
  %x = arith.negf %a : tensor<4xf8E5M2>
  %y = arith.addf %b, %b : tensor<4xf8E4M3FN>
  return %x, %y : tensor<4xf8E5M2>, tensor<4xf8E4M3FN>
}
