// Reductions in a loop that stays one op read numbers of the loop in their
// bodies: its counter, and what an iteration computes of it.
// RUN: rm -rf %t && mkdir %t
// RUN: ckpt-runner %s --repeat=1 --range=arg001:3:4 --outputs=%t/cpu.npz
// RUN: %python %S/../Inputs/check_pairs.py %t/cpu.npz | FileCheck %s
// RUN: ckpt-runner %s --device=emulator --repeat=1 --range=arg001:3:4 --outputs=%t/emulator.npz
// RUN: cmp %t/cpu.npz %t/emulator.npz

// CHECK: 1 pairs are the same
#all = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#one = affine_map<(d0, d1) -> ()>
func.func @step(%x: tensor<5x40xf32>, %times: tensor<i32>) -> (tensor<5xf32>, tensor<5xf32>) {
  %n = tensor.extract %times[] : tensor<i32>
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %start = arith.constant dense<0.0> : tensor<5xf32>
  %r:3 = scf.while (%k = %zero, %a = %start, %b = %start) : (i32, tensor<5xf32>, tensor<5xf32>) -> (i32, tensor<5xf32>, tensor<5xf32>) {
    %more = arith.cmpi slt, %k, %n : i32
    scf.condition(%more) %k, %a, %b : i32, tensor<5xf32>, tensor<5xf32>
  } do {
  ^bb0(%k: i32, %a: tensor<5xf32>, %b: tensor<5xf32>):
    %zero_index = arith.constant 0 : index
    %first = tensor.extract %a[%zero_index] : tensor<5xf32>
    %captured = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<5x40xf32>) outs(%a : tensor<5xf32>) {
    ^bb0(%in: f32, %out: f32):
      %f = arith.sitofp %k : i32 to f32
      %p = arith.mulf %in, %f : f32
      %q = arith.maximumf %p, %first : f32
      %s = arith.addf %out, %q : f32
      linalg.yield %s : f32
    } -> tensor<5xf32>
    %number = tensor.from_elements %k : tensor<i32>
    %element = tensor.from_elements %first : tensor<f32>
    %given = linalg.generic {indexing_maps = [#all, #one, #one, #row], iterator_types = ["parallel", "reduction"]} ins(%x, %number, %element : tensor<5x40xf32>, tensor<i32>, tensor<f32>) outs(%b : tensor<5xf32>) {
    ^bb0(%in: f32, %j: i32, %e: f32, %out: f32):
      %f = arith.sitofp %j : i32 to f32
      %p = arith.mulf %in, %f : f32
      %q = arith.maximumf %p, %e : f32
      %s = arith.addf %out, %q : f32
      linalg.yield %s : f32
    } -> tensor<5xf32>
    %next = arith.addi %k, %one : i32
    scf.yield %next, %captured, %given : i32, tensor<5xf32>, tensor<5xf32>
  }
  return %r#1, %r#2 : tensor<5xf32>, tensor<5xf32>
}
