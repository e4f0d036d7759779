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

// -----

// The end is no number of 64 bits.
func.func @overflow(%x: tensor<4xf32>) -> tensor<4xf32>
    attributes {ckpt.arena_bytes = 512 : i64} {
  // expected-error @+1 {{expected all slots to end within the arena of 512 bytes}}
  %0 = ckpt.kernel(%a = %x : tensor<4xf32>) slots [9223372036854775552 : 256] {
    %e = math.exp %a : tensor<4xf32>
    ckpt.yield %e : tensor<4xf32>
  } -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @far(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{expected all slots to end within the arena of 1099511627776 bytes}}
  %0 = ckpt.kernel(%a = %x : tensor<4xf32>) slots [1099511627776 : 256] {
    %e = math.exp %a : tensor<4xf32>
    ckpt.yield %e : tensor<4xf32>
  } -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
