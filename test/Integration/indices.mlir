// Arguments and results of type index are integers of 64 bits in files.
// RUN: ckpt-runner %s --repeat=1 --range=arg000:3:9 --verify --outputs=%t.cpu.npz | FileCheck %s --check-prefix=VERIFY
// RUN: %python %S/../Inputs/check_pairs.py %t.cpu.npz | FileCheck %s
// RUN: ckpt-runner %s --device=emulator --repeat=1 --range=arg000:3:9 --outputs=%t.emulator.npz
// RUN: cmp %t.cpu.npz %t.emulator.npz

// VERIFY: results: bit-equal to the program as written
// CHECK: 1 pairs are the same
func.func @main(%places: tensor<5xindex>) -> (tensor<5xindex>, tensor<5xi64>) {
  %0 = arith.muli %places, %places : tensor<5xindex>
  %1 = arith.index_cast %places : tensor<5xindex> to tensor<5xi64>
  %2 = arith.muli %1, %1 : tensor<5xi64>
  return %0, %2 : tensor<5xindex>, tensor<5xi64>
}
