// The sign of a bf16 that is read as bits and is also moved as it is. LLVM
// before version 23 took it for zero in scalar code (BfloatsToIntegers.cpp). No
// conversion of LLVM may be left in bf16.
//
// RUN: ckpt-runner %s --func=expected --repeat=1 --outputs=%t.expected.npz
// RUN: ckpt-runner %s --func=signs --repeat=1 --outputs=%t.cpu.npz
// RUN: cmp %t.cpu.npz %t.expected.npz
// RUN: ckpt-runner %s --func=signs --repeat=1 --outputs=%t.emulator.npz --device=emulator
// RUN: cmp %t.emulator.npz %t.expected.npz
// RUN: ckpt-runner %s --func=wide --repeat=1 --outputs=%t.wide.npz
// RUN: %python %S/../Inputs/check_pairs.py %t.wide.npz

#scalar = affine_map<(d0) -> ()>
#same = affine_map<(d0) -> (d0)>
#select = {indexing_maps = [#scalar, #same, #same, #same], iterator_types = ["parallel"]}

func.func @signs(%condition: tensor<i1>, %x: tensor<8xbf16>, %y: tensor<8xbf16>) -> (tensor<8xbf16>, tensor<8xbf16>) {
  %type = tensor.empty() : tensor<8xbf16>
  %moved = linalg.generic #select
      ins(%condition, %x, %y : tensor<i1>, tensor<8xbf16>, tensor<8xbf16>) outs(%type : tensor<8xbf16>) {
  ^bb0(%c: i1, %a: bf16, %b: bf16, %out: bf16):
    %either = arith.select %c, %a, %b : bf16
    linalg.yield %either : bf16
  } -> tensor<8xbf16>
  %signed = math.copysign %x, %y : tensor<8xbf16>
  return %moved, %signed : tensor<8xbf16>, tensor<8xbf16>
}

func.func @expected(%condition: tensor<i1>, %x: tensor<8xbf16>, %y: tensor<8xbf16>) -> (tensor<8xbf16>, tensor<8xbf16>) {
  %type = tensor.empty() : tensor<8xbf16>
  %moved = linalg.generic #select
      ins(%condition, %x, %y : tensor<i1>, tensor<8xbf16>, tensor<8xbf16>) outs(%type : tensor<8xbf16>) {
  ^bb0(%c: i1, %a: bf16, %b: bf16, %out: bf16):
    %either = arith.select %c, %a, %b : bf16
    linalg.yield %either : bf16
  } -> tensor<8xbf16>
  %zero = arith.constant dense<0.0> : tensor<8xbf16>
  %isNegative = arith.cmpf olt, %y, %zero : tensor<8xbf16>
  %high = math.absf %x : tensor<8xbf16>
  %low = arith.negf %high : tensor<8xbf16>
  %signed = arith.select %isNegative, %low, %high : tensor<8xi1>, tensor<8xbf16>
  return %moved, %signed : tensor<8xbf16>, tensor<8xbf16>
}

func.func @wide(%x: tensor<8xbf16>) -> (tensor<8xf64>, tensor<8xf64>) {
  %double = arith.extf %x : tensor<8xbf16> to tensor<8xf64>
  %single = arith.extf %x : tensor<8xbf16> to tensor<8xf32>
  %again = arith.extf %single : tensor<8xf32> to tensor<8xf64>
  return %double, %again : tensor<8xf64>, tensor<8xf64>
}
