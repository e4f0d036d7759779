// Named ops on narrow floats inside a loop that stays one op.
// RUN: ckpt-runner %s --repeat=1 --verify --range=arg003:2:3 | FileCheck %s
// RUN: ckpt-runner %s --repeat=1 --verify --range=arg003:2:3 --device=emulator | FileCheck %s
// CHECK: results: bit-equal to the program as written
func.func @main(%x: tensor<2xf32>, %v: tensor<2xbf16>, %m: tensor<2x2xbf16>, %n: tensor<i32>) -> tensor<2xf32> {
  %first = tensor.extract %n[] : tensor<i32>
  %one = arith.constant 1 : i32
  %zero = arith.constant 0 : i32
  %r:2 = scf.while (%i = %first, %s = %x) : (i32, tensor<2xf32>) -> (i32, tensor<2xf32>) {
    %more = arith.cmpi ne, %i, %zero : i32
    scf.condition(%more) %i, %s : i32, tensor<2xf32>
  } do {
  ^bb0(%i: i32, %s: tensor<2xf32>):
    %p = linalg.vecmat ins(%v, %m : tensor<2xbf16>, tensor<2x2xbf16>) outs(%s : tensor<2xf32>) -> tensor<2xf32>
    %less = arith.subi %i, %one : i32
    scf.yield %less, %p : i32, tensor<2xf32>
  }
  return %r#1 : tensor<2xf32>
}
