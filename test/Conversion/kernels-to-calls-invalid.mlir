// Functions of kernels that have no lowering, and what is said of them.
// RUN: ckpt-opt %s --split-input-file --verify-diagnostics --ckpt-kernels-to-calls

func.func @other(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = ckpt.kernel(%a = %x : tensor<4xf32>) slots [0 : 16] {
    %1 = math.exp %a : tensor<4xf32>
    ckpt.yield %1 : tensor<4xf32>
  } -> tensor<4xf32>
  // expected-error@+1 {{expected only 'ckpt.kernel' and constants in a function of kernels, but got 'math.exp'}}
  %2 = math.exp %0 : tensor<4xf32>
  return %2 : tensor<4xf32>
}

// -----

func.func @nowhere(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{'ckpt.kernel' op expected result 0, which has no place in the arena, to be returned}}
  %0 = ckpt.kernel(%a = %x : tensor<4xf32>) slots [-1 : 16] {
    %1 = math.exp %a : tensor<4xf32>
    ckpt.yield %1 : tensor<4xf32>
  } -> tensor<4xf32>
  return %x : tensor<4xf32>
}
