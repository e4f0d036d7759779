// Slices with steps and fewer dimensions than their source, in a loop whose
// number of iterations only the run knows.

// RUN: ckpt-runner %s --verify --repeat=1 | FileCheck %s
// RUN: ckpt-runner %s --verify --repeat=1 --device=emulator | FileCheck %s
// CHECK: results: bit-equal

func.func @main(%n: tensor<i64>, %d: tensor<1x1x33x1x1xi64>, %s: tensor<6x1x1xi64>) -> tensor<1x1x33x1x1xi64> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %three = arith.constant 3 : i64
  %given = tensor.extract %n[] : tensor<i64>
  %few = arith.andi %given, %three : i64
  %end = arith.index_cast %few : i64 to index
  %r = scf.for %i = %zero to %end step %one iter_args(%x = %d) -> tensor<1x1x33x1x1xi64> {
    %part = tensor.extract_slice %x[0, 0, 1, 0, 0] [1, 1, 6, 1, 1] [1, 1, 3, 1, 1] : tensor<1x1x33x1x1xi64> to tensor<6x1x1xi64>
    %sum = arith.addi %part, %s : tensor<6x1x1xi64>
    %next = tensor.insert_slice %sum into %x[0, 0, 0, 0, 0] [1, 1, 6, 1, 1] [1, 2, 2, 1, 1] : tensor<6x1x1xi64> into tensor<1x1x33x1x1xi64>
    scf.yield %next : tensor<1x1x33x1x1xi64>
  }
  return %r : tensor<1x1x33x1x1xi64>
}
