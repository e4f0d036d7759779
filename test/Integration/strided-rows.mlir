// Slices of one row by another stride than one, read and written in a loop: the
// stride of one row says nothing.
// RUN: ckpt-runner %s --repeat=1 --verify --range=arg002:2:3 | FileCheck %s
// RUN: ckpt-runner %s --repeat=1 --verify --range=arg002:2:3 --device=emulator | FileCheck %s
// CHECK: results: bit-equal to the program as written
func.func @main(%x: tensor<1x3x2xf32>, %y: tensor<1x1xf32>, %n: tensor<i32>) -> tensor<1x3x2xf32> {
  %first = tensor.extract %n[] : tensor<i32>
  %one = arith.constant 1 : i32
  %zero = arith.constant 0 : i32
  %r:2 = scf.while (%i = %first, %s = %x) : (i32, tensor<1x3x2xf32>) -> (i32, tensor<1x3x2xf32>) {
    %more = arith.cmpi ne, %i, %zero : i32
    scf.condition(%more) %i, %s : i32, tensor<1x3x2xf32>
  } do {
  ^bb0(%i: i32, %s: tensor<1x3x2xf32>):
    %row = arith.index_cast %i : i32 to index
    %old = tensor.extract_slice %s[0, %row, 0] [1, 1, 1] [3, 2, 5] : tensor<1x3x2xf32> to tensor<1x1xf32>
    %sum = arith.addf %old, %y : tensor<1x1xf32>
    %new = tensor.insert_slice %sum into %s[0, %row, 1] [1, 1, 1] [3, 1, 1] : tensor<1x1xf32> into tensor<1x3x2xf32>
    %less = arith.subi %i, %one : i32
    scf.yield %less, %new : i32, tensor<1x3x2xf32>
  }
  return %r#1 : tensor<1x3x2xf32>
}
