// Sums of products of signed by unsigned bytes, of which LLVM's instruction for
// them adds up a quarter: 16 products of -3 and 120, and 40 of them.
// RUN: ckpt-runner %s --repeat=1 --range=arg000:-3:-2 --range=arg001:120:121 --range=arg002:-3:-2 --range=arg003:120:121 --outputs=%t.npz
// RUN: ckpt-runner %s --repeat=1 --range=arg000:-3:-2 --range=arg001:120:121 --range=arg002:-3:-2 --range=arg003:120:121 --device=emulator --outputs=%t.gpu.npz
// RUN: cmp %t.npz %t.gpu.npz
// RUN: %python -c "import zipfile, sys; z = zipfile.ZipFile(sys.argv[1]); print([int.from_bytes(z.read(n)[-4:], 'little', signed=True) for n in sorted(z.namelist())])" %t.npz | FileCheck %s
// CHECK: [-5760, -14400]

func.func @main(%a: tensor<16xi8>, %b: tensor<16xi8>, %c: tensor<40xi8>, %d: tensor<40xi8>) -> (tensor<i32>, tensor<i32>) {
  %zero = arith.constant dense<0> : tensor<i32>
  %0 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>], iterator_types = ["reduction"]} ins(%a, %b : tensor<16xi8>, tensor<16xi8>) outs(%zero : tensor<i32>) {
  ^bb0(%x: i8, %y: i8, %sum: i32):
    %s = arith.extsi %x : i8 to i32
    %u = arith.extui %y : i8 to i32
    %p = arith.muli %s, %u : i32
    %t = arith.addi %sum, %p : i32
    linalg.yield %t : i32
  } -> tensor<i32>
  %1 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>], iterator_types = ["reduction"]} ins(%c, %d : tensor<40xi8>, tensor<40xi8>) outs(%zero : tensor<i32>) {
  ^bb0(%x: i8, %y: i8, %sum: i32):
    %s = arith.extsi %x : i8 to i32
    %u = arith.extui %y : i8 to i32
    %p = arith.muli %s, %u : i32
    %t = arith.addi %sum, %p : i32
    linalg.yield %t : i32
  } -> tensor<i32>
  return %0, %1 : tensor<i32>, tensor<i32>
}
