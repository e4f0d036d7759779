// Upstream's bufferization does not know that the result of a switch may lie
// where a case found it; `scf.if` does the same here, in pairs of results.
// RUN: rm -rf %t && mkdir %t
// RUN: ckpt-runner %s --repeat=1 --range=arg002:2:3 --outputs=%t/cpu.npz
// RUN: %python %S/../Inputs/check_pairs.py %t/cpu.npz | FileCheck %s
// RUN: ckpt-runner %s --device=emulator --repeat=1 --range=arg002:2:3 --outputs=%t/emulator.npz
// RUN: cmp %t/cpu.npz %t/emulator.npz

// CHECK: 1 pairs are the same
func.func @step(%x: tensor<8xf32>, %y: tensor<8xf32>, %times: tensor<i32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %n = tensor.extract %times[] : tensor<i32>
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %r:3 = scf.while (%k = %zero, %a = %x, %b = %x) : (i32, tensor<8xf32>, tensor<8xf32>) -> (i32, tensor<8xf32>, tensor<8xf32>) {
    %more = arith.cmpi slt, %k, %n : i32
    scf.condition(%more) %k, %a, %b : i32, tensor<8xf32>, tensor<8xf32>
  } do {
  ^bb0(%k: i32, %a: tensor<8xf32>, %b: tensor<8xf32>):
    %next = arith.addi %k, %one : i32
    %i = arith.index_cast %k : i32 to index
    %sw = scf.index_switch %i -> tensor<8xf32>
    case 7 {
      scf.yield %y : tensor<8xf32>
    }
    default {
      %only = scf.index_switch %i -> tensor<8xf32>
      default {
        scf.yield %a : tensor<8xf32>
      }
      scf.yield %only : tensor<8xf32>
    }
    %t = arith.addf %a, %sw : tensor<8xf32>
    %u = arith.mulf %t, %sw : tensor<8xf32>
    %c7 = arith.constant 7 : i32
    %is = arith.cmpi eq, %k, %c7 : i32
    %if = scf.if %is -> tensor<8xf32> {
      scf.yield %y : tensor<8xf32>
    } else {
      scf.yield %b : tensor<8xf32>
    }
    %v = arith.addf %b, %if : tensor<8xf32>
    %w = arith.mulf %v, %if : tensor<8xf32>
    scf.yield %next, %u, %w : i32, tensor<8xf32>, tensor<8xf32>
  }
  return %r#1, %r#2 : tensor<8xf32>, tensor<8xf32>
}
