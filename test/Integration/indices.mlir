// Arguments and results of type index are integers of 64 bits in files. What goes
// through a narrow integer keeps its lowest bits only.
// RUN: ckpt-runner %s --repeat=1 --range=arg000:3:9 --verify --outputs=%t.cpu.npz | FileCheck %s --check-prefix=VERIFY
// RUN: %python %S/../Inputs/check_pairs.py %t.cpu.npz | FileCheck %s
// RUN: ckpt-runner %s --device=emulator --repeat=1 --range=arg000:3:9 --outputs=%t.emulator.npz
// RUN: cmp %t.cpu.npz %t.emulator.npz

// VERIFY: results: bit-equal to the program as written
// CHECK: 3 pairs are the same
!indices = tensor<5xindex>
func.func @main(%places: !indices) -> (!indices, tensor<5xi64>, !indices, !indices, !indices, !indices) {
  %0 = arith.muli %places, %places : !indices
  %1 = arith.index_cast %places : !indices to tensor<5xi64>
  %2 = arith.muli %1, %1 : tensor<5xi64>
  %100 = arith.constant dense<100> : !indices
  %far = arith.muli %places, %100 : !indices
  %3 = arith.index_castui %far : !indices to tensor<5xi8>
  %4 = arith.index_castui %3 : tensor<5xi8> to !indices
  %255 = arith.constant dense<255> : !indices
  %5 = arith.andi %far, %255 : !indices
  %6 = arith.index_cast %far : !indices to tensor<5xi8>
  %7 = arith.index_cast %6 : tensor<5xi8> to !indices
  %56 = arith.constant dense<56> : !indices
  %8 = arith.shli %far, %56 : !indices
  %9 = arith.shrsi %8, %56 : !indices
  return %0, %2, %4, %5, %7, %9 : !indices, tensor<5xi64>, !indices, !indices, !indices, !indices
}
