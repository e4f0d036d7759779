// A constant in a resource of the file has the numbers of the same constant in
// the program, whatever its type, also inside a loop.
// RUN: ckpt-runner %s --repeat=1 --range=arg000:3:4 --verify --outputs=%t.cpu.npz | FileCheck %s --check-prefix=VERIFY
// RUN: %python %S/../Inputs/check_pairs.py %t.cpu.npz | FileCheck %s
// RUN: ckpt-runner %s --device=emulator --repeat=1 --range=arg000:3:4 --outputs=%t.emulator.npz
// RUN: cmp %t.cpu.npz %t.emulator.npz

// VERIFY: results: bit-equal to the program as written
// CHECK: 7 pairs are the same

func.func private @looped(%rows: tensor<i32>, %bits: tensor<3xi1>, %steps: tensor<3xi4>, %numbers: tensor<3xbf16>) -> tensor<3xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %start = arith.constant dense<0.5> : tensor<3xf32>
  %n = tensor.extract %rows[] : tensor<i32>
  %count = arith.index_cast %n : i32 to index
  %0 = scf.for %i = %zero to %count step %one iter_args(%sum = %start) -> tensor<3xf32> {
    %bit = tensor.extract %bits[%i] : tensor<3xi1>
    %step = tensor.extract %steps[%i] : tensor<3xi4>
    %1 = arith.sitofp %step : i4 to f32
    %2 = tensor.splat %1 : tensor<3xf32>
    %3 = arith.extf %numbers : tensor<3xbf16> to tensor<3xf32>
    %4 = arith.addf %sum, %3 : tensor<3xf32>
    %5 = arith.mulf %4, %2 : tensor<3xf32>
    %6 = arith.select %bit, %5, %sum : tensor<3xf32>
    scf.yield %6 : tensor<3xf32>
  }
  return %0 : tensor<3xf32>
}

func.func @main(%rows: tensor<i32>) -> (tensor<3xi1>, tensor<3xi1>, tensor<3xi4>, tensor<3xi4>, tensor<2xi24>, tensor<2xi24>, tensor<3xf32>, tensor<3xf32>, tensor<2xf8E4M3FN>, tensor<2xf8E4M3FN>, tensor<2xf32>, tensor<2xf32>, tensor<3xf32>, tensor<3xf32>) {
  %0 = arith.constant dense_resource<bits> : tensor<3xi1>
  %1 = arith.constant dense<[true, false, true]> : tensor<3xi1>
  %2 = arith.constant dense_resource<steps> : tensor<3xi4>
  %3 = arith.constant dense<[-1, 2, 7]> : tensor<3xi4>
  %4 = arith.constant dense_resource<wide> : tensor<2xi24>
  %5 = arith.constant dense<[-2, 65537]> : tensor<2xi24>
  %6 = arith.constant dense_resource<halves> : tensor<3xbf16>
  %7 = arith.constant dense<[1.0, 2.0, -8.0]> : tensor<3xbf16>
  %8 = arith.extf %6 : tensor<3xbf16> to tensor<3xf32>
  %9 = arith.extf %7 : tensor<3xbf16> to tensor<3xf32>
  %10 = arith.constant dense_resource<bytes> : tensor<2xf8E4M3FN>
  %11 = arith.constant dense<[1.0, 2.0]> : tensor<2xf8E4M3FN>
  %12 = arith.constant dense_resource<floats> : tensor<2xf32>
  %13 = arith.constant dense<[1.0, -2.0]> : tensor<2xf32>
  %14 = call @looped(%rows, %0, %2, %6) : (tensor<i32>, tensor<3xi1>, tensor<3xi4>, tensor<3xbf16>) -> tensor<3xf32>
  %15 = call @looped(%rows, %1, %3, %7) : (tensor<i32>, tensor<3xi1>, tensor<3xi4>, tensor<3xbf16>) -> tensor<3xf32>
  return %0, %1, %2, %3, %4, %5, %8, %9, %10, %11, %12, %13, %14, %15 : tensor<3xi1>, tensor<3xi1>, tensor<3xi4>, tensor<3xi4>, tensor<2xi24>, tensor<2xi24>, tensor<3xf32>, tensor<3xf32>, tensor<2xf8E4M3FN>, tensor<2xf8E4M3FN>, tensor<2xf32>, tensor<2xf32>, tensor<3xf32>, tensor<3xf32>
}

{-#
  dialect_resources: {
    builtin: {
      bits: "0x01000000010001",
      steps: "0x01000000ff0207",
      wide: "0x04000000feffffff01000100",
      halves: "0x02000000803f004000c1",
      bytes: "0x010000003840",
      floats: "0x040000000000803f000000c0"
    }
  }
#-}
