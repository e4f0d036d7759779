// Ops that write a part of an output that they do not read: the other elements
// stay. The output is a constant of narrow integers, and a value in a loop and
// in a branch that stay one op.
// RUN: ckpt-runner %s --repeat=1 --range=arg000:0:5 --range=arg001:1:4 --outputs=%t.npz
// RUN: ckpt-runner %s --repeat=1 --range=arg000:0:5 --range=arg001:1:4 --device=emulator --outputs=%t.gpu.npz
// RUN: cmp %t.npz %t.gpu.npz
// RUN: %python -c "import zipfile, sys; z = zipfile.ZipFile(sys.argv[1]); a = [z.read('out00%%d.npy' %% i)[-12:] for i in range(1, 4)]; print([(list(x[:4]), list(x[8:])) for x in a])" %t.npz | FileCheck %s
// CHECK: [([1, 2, 3, 4], [255, 254, 253, 252]), ([9, 9, 9, 9], [9, 9, 9, 9]), ([9, 9, 9, 9], [9, 9, 9, 9])]

#id = affine_map<(d0) -> (d0)>
#row = affine_map<(d0) -> (1, d0)>
func.func @main(%v: tensor<4xi8>, %n: tensor<i32>)
    -> (tensor<4xi8>, tensor<3x4xi4>, tensor<3x4xi8>, tensor<3x4xi8>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %e = tensor.empty() : tensor<4xi8>
  %c = arith.constant dense<[[1, 2, 3, 4], [5, 6, 7, -8], [-1, -2, -3, -4]]> : tensor<3x4xi4>
  %r:2 = linalg.generic
      {indexing_maps = [#id, #id, #row], iterator_types = ["parallel"]}
      ins(%v : tensor<4xi8>) outs(%e, %c : tensor<4xi8>, tensor<3x4xi4>) {
  ^bb0(%a: i8, %o: i8, %p: i4):
    %b = arith.trunci %a : i8 to i4
    linalg.yield %a, %b : i8, i4
  } -> (tensor<4xi8>, tensor<3x4xi4>)
  %nine = arith.constant dense<9> : tensor<3x4xi8>
  %times = tensor.extract %n[] : tensor<i32>
  %end = arith.index_cast %times : i32 to index
  %l = scf.for %i = %c0 to %end step %c1 iter_args(%s = %nine) -> tensor<3x4xi8> {
    %w = linalg.generic
        {indexing_maps = [#id, #row], iterator_types = ["parallel"]}
        ins(%v : tensor<4xi8>) outs(%nine : tensor<3x4xi8>) {
    ^bb0(%a: i8, %p: i8):
      linalg.yield %a : i8
    } -> tensor<3x4xi8>
    %m = arith.maxsi %w, %s : tensor<3x4xi8>
    scf.yield %m : tensor<3x4xi8>
  }
  %q = arith.cmpi sgt, %end, %c0 : index
  %t = scf.if %q -> tensor<3x4xi8> {
    %w = linalg.generic
        {indexing_maps = [#id, #row], iterator_types = ["parallel"]}
        ins(%v : tensor<4xi8>) outs(%nine : tensor<3x4xi8>) {
    ^bb0(%a: i8, %p: i8):
      linalg.yield %a : i8
    } -> tensor<3x4xi8>
    scf.yield %w : tensor<3x4xi8>
  } else {
    %w = math.absi %l : tensor<3x4xi8>
    scf.yield %w : tensor<3x4xi8>
  }
  return %r#0, %r#1, %l, %t : tensor<4xi8>, tensor<3x4xi4>, tensor<3x4xi8>, tensor<3x4xi8>
}
