// Nothing that rounds is left out, though upstream folds it: an integer beyond 53 bits in f64
// and then in f32, log(exp(z)), (z + w) - w. A value that goes through integers, where nothing
// folds, has the same bits.
// RUN: ckpt-runner %s --repeat=1 --range=arg000:0:1000 --range=arg001:0:1 --range=arg002:0:1 --outputs=%t.cpu.npz
// RUN: %python %S/../Inputs/check_pairs.py %t.cpu.npz | FileCheck %s
// RUN: ckpt-runner %s --device=emulator --repeat=1 --range=arg000:0:1000 --range=arg001:0:1 --range=arg002:0:1 --outputs=%t.emulator.npz
// RUN: cmp %t.cpu.npz %t.emulator.npz
// CHECK: 3 pairs are the same
#id = affine_map<(d0) -> (d0)>
!singles = tensor<16xf32>
func.func @main(%n: tensor<16xi64>, %zero64: tensor<16xi64>, %zero32: tensor<16xi32>, %x: !singles, %y: !singles) -> (!singles, !singles, !singles, !singles, !singles, !singles) {
  %e = tensor.empty() : !singles
  // 2^62 + 2^38 + 1 and more, beside the middle of two numbers in f32.
  %middle = arith.constant 4611686293305294849 : i64
  %0:2 = linalg.generic {indexing_maps = [#id, #id, #id, #id], iterator_types = ["parallel"]} ins(%n, %zero64 : tensor<16xi64>, tensor<16xi64>) outs(%e, %e : !singles, !singles) {
  ^bb0(%i: i64, %zero: i64, %o: f32, %p: f32):
    %1 = arith.addi %i, %middle : i64
    %2 = arith.sitofp %1 : i64 to f64
    %3 = arith.truncf %2 : f64 to f32
    %4 = arith.bitcast %2 : f64 to i64
    %5 = arith.xori %4, %zero : i64
    %6 = arith.bitcast %5 : i64 to f64
    %7 = arith.truncf %6 : f64 to f32
    linalg.yield %3, %7 : f32, f32
  } -> (!singles, !singles)
  %eight = arith.constant 8.0 : f32
  %far = arith.constant 1.0e4 : f32
  %8:4 = linalg.generic {indexing_maps = [#id, #id, #id, #id, #id, #id, #id], iterator_types = ["parallel"]} ins(%x, %y, %zero32 : !singles, !singles, tensor<16xi32>) outs(%e, %e, %e, %e : !singles, !singles, !singles, !singles) {
  ^bb0(%re: f32, %im: f32, %zero: i32, %o: f32, %p: f32, %q: f32, %r: f32):
    %wide = arith.mulf %im, %eight : f32
    %z = complex.create %re, %wide : complex<f32>
    %exp = complex.exp %z : complex<f32>
    %log = complex.log %exp : complex<f32>
    %angle = complex.im %log : complex<f32>
    %1 = complex.re %exp : complex<f32>
    %2 = arith.bitcast %1 : f32 to i32
    %3 = arith.xori %2, %zero : i32
    %4 = arith.bitcast %3 : i32 to f32
    %5 = complex.im %exp : complex<f32>
    %6 = complex.create %4, %5 : complex<f32>
    %7 = complex.log %6 : complex<f32>
    %9 = complex.im %7 : complex<f32>
    %w = complex.create %far, %far : complex<f32>
    %sum = complex.add %z, %w : complex<f32>
    %back = complex.sub %sum, %w : complex<f32>
    %10 = complex.re %back : complex<f32>
    %11 = complex.re %sum : complex<f32>
    %12 = arith.bitcast %11 : f32 to i32
    %13 = arith.xori %12, %zero : i32
    %14 = arith.bitcast %13 : i32 to f32
    %15 = arith.subf %14, %far : f32
    linalg.yield %angle, %9, %10, %15 : f32, f32, f32, f32
  } -> (!singles, !singles, !singles, !singles)
  return %0#0, %0#1, %8#0, %8#1, %8#2, %8#3 : !singles, !singles, !singles, !singles, !singles, !singles
}
