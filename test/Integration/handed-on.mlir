// Conditions of loops hand on values that they make, in any order. The places
// of these values come back after passes that take them out of the loop.
// RUN: rm -rf %t && mkdir %t
// RUN: ckpt-runner %s --repeat=1 --range=arg001:3:4 --outputs=%t/cpu.npz
// RUN: %python %S/../Inputs/check_pairs.py %t/cpu.npz | FileCheck %s
// RUN: ckpt-runner %s --device=emulator --repeat=1 --range=arg001:3:4 --outputs=%t/emulator.npz
// RUN: cmp %t/cpu.npz %t/emulator.npz
// RUN: ckpt-opt %s --ckpt-plan=quiet=true --ckpt-apply-plan --canonicalize --cse > %t/rewritten.mlir
// RUN: ckpt-runner %t/rewritten.mlir --repeat=1 --range=arg001:3:4 --outputs=%t/rewritten.npz
// RUN: cmp %t/cpu.npz %t/rewritten.npz
// RUN: ckpt-runner %t/rewritten.mlir --device=emulator --repeat=1 --range=arg001:3:4 --outputs=%t/rewritten-emulator.npz
// RUN: cmp %t/cpu.npz %t/rewritten-emulator.npz

// CHECK: 3 pairs are the same
func.func @step(%x: tensor<8xf32>, %times: tensor<i32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<f32>, tensor<f32>, tensor<8xf32>, tensor<8xf32>) {
  %n = tensor.extract %times[] : tensor<i32>
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %twice = arith.addf %x, %x : tensor<8xf32>
  // What the condition makes takes the place of what it does not hand on.
  %made:2 = scf.while (%k = %zero, %a = %x) : (i32, tensor<8xf32>) -> (tensor<8xf32>, i32) {
    %e = arith.addf %a, %a : tensor<8xf32>
    %more = arith.cmpi slt, %k, %n : i32
    scf.condition(%more) %e, %k : tensor<8xf32>, i32
  } do {
  ^bb0(%e: tensor<8xf32>, %k: i32):
    %a = math.sin %e : tensor<8xf32>
    %next = arith.addi %k, %one : i32
    scf.yield %next, %a : i32, tensor<8xf32>
  }
  %plain:2 = scf.while (%k = %zero, %e = %twice) : (i32, tensor<8xf32>) -> (i32, tensor<8xf32>) {
    %more = arith.cmpi slt, %k, %n : i32
    scf.condition(%more) %k, %e : i32, tensor<8xf32>
  } do {
  ^bb0(%k: i32, %e: tensor<8xf32>):
    %a = math.sin %e : tensor<8xf32>
    %2 = arith.addf %a, %a : tensor<8xf32>
    %next = arith.addi %k, %one : i32
    scf.yield %next, %2 : i32, tensor<8xf32>
  }
  // A value of another shape than all that the loop carries, and a number.
  %maximum:4 = scf.while (%k = %zero, %a = %x) : (i32, tensor<8xf32>) -> (f32, tensor<f32>, tensor<8xf32>, i32) {
    %low = arith.constant dense<-1.0> : tensor<f32>
    %top = linalg.reduce { arith.maximumf } ins(%a : tensor<8xf32>) outs(%low : tensor<f32>) dimensions = [0]
    %element = tensor.extract %top[] : tensor<f32>
    %more = arith.cmpi slt, %k, %n : i32
    scf.condition(%more) %element, %top, %a, %k : f32, tensor<f32>, tensor<8xf32>, i32
  } do {
  ^bb0(%element: f32, %top: tensor<f32>, %a: tensor<8xf32>, %k: i32):
    %next = arith.addi %k, %one : i32
    %c = tensor.splat %element : tensor<8xf32>
    %b = arith.subf %a, %c : tensor<8xf32>
    scf.yield %next, %b : i32, tensor<8xf32>
  }
  %number = tensor.from_elements %maximum#0 : tensor<f32>
  // The same value twice.
  %both:3 = scf.while (%a = %x, %k = %zero) : (tensor<8xf32>, i32) -> (tensor<8xf32>, tensor<8xf32>, i32) {
    %e = arith.addf %a, %a : tensor<8xf32>
    %more = arith.cmpi slt, %k, %n : i32
    scf.condition(%more) %e, %e, %k : tensor<8xf32>, tensor<8xf32>, i32
  } do {
  ^bb0(%e: tensor<8xf32>, %f: tensor<8xf32>, %k: i32):
    %next = arith.addi %k, %one : i32
    %a = math.sin %f : tensor<8xf32>
    scf.yield %a, %next : tensor<8xf32>, i32
  }
  return %made#0, %plain#1, %number, %maximum#1, %both#0, %both#1 : tensor<8xf32>, tensor<8xf32>, tensor<f32>, tensor<f32>, tensor<8xf32>, tensor<8xf32>
}
