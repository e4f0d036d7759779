// An index that is a sum of two loops, one of them over one element, of inputs
// that are longer than what is read.
// RUN: ckpt-runner %s --verify --repeat=1 --outputs=%t.npz | FileCheck %s
// RUN: ckpt-runner %s --verify --repeat=1 --device=emulator | FileCheck %s
// RUN: %python -c "import zipfile, sys; z = zipfile.ZipFile(sys.argv[1]); sys.exit(z.read('out000.npy') != z.read('out001.npy'))" %t.npz
// CHECK: results: bit-equal

#sum = affine_map<(d0, d1) -> (d1 + d0 * 2, d0)>
func.func @main(%x: tensor<8x1xf32>, %d: tensor<2x7x1xf32>)
    -> (tensor<2x7x1xf32>, tensor<2x7x1xf32>) {
  %y = linalg.generic
      {indexing_maps = [#sum, affine_map<(d0, d1) -> (0, d1, d0)>],
       iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<8x1xf32>) outs(%d : tensor<2x7x1xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %a, %o : f32
    linalg.yield %s : f32
  } -> tensor<2x7x1xf32>
  %part = tensor.extract_slice %x[0, 0] [7, 1] [1, 1] : tensor<8x1xf32> to tensor<7x1xf32>
  %first = tensor.extract_slice %d[0, 0, 0] [1, 7, 1] [1, 1, 1] : tensor<2x7x1xf32> to tensor<7x1xf32>
  %sum = arith.addf %part, %first : tensor<7x1xf32>
  %z = tensor.insert_slice %sum into %d[0, 0, 0] [1, 7, 1] [1, 1, 1] : tensor<7x1xf32> into tensor<2x7x1xf32>
  return %y, %z : tensor<2x7x1xf32>, tensor<2x7x1xf32>
}
