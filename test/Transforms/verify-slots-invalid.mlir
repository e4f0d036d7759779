// Every way in which places can be wrong, each refused at its kernel.
// RUN: ckpt-opt %s --ckpt-verify-slots --split-input-file --verify-diagnostics

// Two values that live at the same time overlap.
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32>
    attributes {ckpt.arena_bytes = 512 : i64} {
  // expected-note @+1 {{which is result 0 at [0, 300)}}
  %0 = ckpt.kernel(%a0 = %x : tensor<4xf32>) slots [0 : 300] {
    %e = math.exp %a0 : tensor<4xf32>
    ckpt.yield %e : tensor<4xf32>
  } -> tensor<4xf32>
  // expected-error @+1 {{result 0 at [256, 272) overlaps a value that is still needed}}
  %1 = ckpt.kernel(%a0 = %x : tensor<4xf32>) slots [256 : 16] {
    %e = math.exp %a0 : tensor<4xf32>
    ckpt.yield %e : tensor<4xf32>
  } -> tensor<4xf32>
  %2 = ckpt.kernel(%a0 = %0 : tensor<4xf32>, %a1 = %1 : tensor<4xf32>) slots [-1 : 16] {
    %e = math.exp %a0 : tensor<4xf32>
    ckpt.yield %e : tensor<4xf32>
  } -> tensor<4xf32>
  return %2 : tensor<4xf32>
}

// -----

// Beyond the arena.
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32>
    attributes {ckpt.arena_bytes = 512 : i64} {
  // expected-error @+1 {{result 0 at [512, 528) ends beyond the arena of 512 bytes}}
  %0 = ckpt.kernel(%a0 = %x : tensor<4xf32>) slots [512 : 16] {
    %e = math.exp %a0 : tensor<4xf32>
    ckpt.yield %e : tensor<4xf32>
  } -> tensor<4xf32>
  %1 = ckpt.kernel(%a0 = %0 : tensor<4xf32>) slots [-1 : 16] {
    %e = math.exp %a0 : tensor<4xf32>
    ckpt.yield %e : tensor<4xf32>
  } -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

// A workspace beyond the arena.
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32>
    attributes {ckpt.arena_bytes = 512 : i64} {
  // expected-error @+1 {{the workspace at [512, 768) ends beyond the arena of 512 bytes}}
  %0 = ckpt.kernel(%a0 = %x : tensor<4xf32>) slots [-1 : 16] workspace [512 : 256] {
    %e = math.exp %a0 : tensor<4xf32>
    ckpt.yield %e : tensor<4xf32>
  } -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// No word about the arena.
// expected-error @+1 {{expected 'ckpt.arena_bytes' on a function with kernels}}
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = ckpt.kernel(%a0 = %x : tensor<4xf32>) slots [0 : 16] {
    %e = math.exp %a0 : tensor<4xf32>
    ckpt.yield %e : tensor<4xf32>
  } -> tensor<4xf32>
  %1 = ckpt.kernel(%a0 = %0 : tensor<4xf32>) slots [-1 : 16] {
    %e = math.exp %a0 : tensor<4xf32>
    ckpt.yield %e : tensor<4xf32>
  } -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

// Taking over an input that lives on.
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32>
    attributes {ckpt.arena_bytes = 512 : i64} {
  // expected-note @+1 {{which is result 0 at [0, 16)}}
  %0 = ckpt.kernel(%a0 = %x : tensor<4xf32>) slots [0 : 16] {
    %e = math.exp %a0 : tensor<4xf32>
    ckpt.yield %e : tensor<4xf32>
  } -> tensor<4xf32>
  // expected-error @+1 {{result 0 at [0, 16) overlaps a value that is still needed}}
  %1 = ckpt.kernel(%a0 = %0 : tensor<4xf32>) slots [0 : 16] {
    %e = math.exp %a0 : tensor<4xf32>
    ckpt.yield %e : tensor<4xf32>
  } -> tensor<4xf32>
  %2 = ckpt.kernel(%a0 = %0 : tensor<4xf32>, %a1 = %1 : tensor<4xf32>) slots [-1 : 16] {
    %e = math.exp %a0 : tensor<4xf32>
    ckpt.yield %e : tensor<4xf32>
  } -> tensor<4xf32>
  return %2 : tensor<4xf32>
}

// -----

// Taking over what is no input but an `after` value.
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32>
    attributes {ckpt.arena_bytes = 512 : i64} {
  // expected-note @+1 {{which is result 0 at [0, 16)}}
  %0 = ckpt.kernel(%a0 = %x : tensor<4xf32>) slots [0 : 16] {
    %e = math.exp %a0 : tensor<4xf32>
    ckpt.yield %e : tensor<4xf32>
  } -> tensor<4xf32>
  // expected-error @+1 {{result 0 at [0, 16) overlaps a value that is still needed}}
  %1 = ckpt.kernel(%a0 = %x : tensor<4xf32>) after (%0 : tensor<4xf32>) slots [0 : 16] recompute {
    %e = math.exp %a0 : tensor<4xf32>
    ckpt.yield %e : tensor<4xf32>
  } -> tensor<4xf32>
  %2 = ckpt.kernel(%a0 = %1 : tensor<4xf32>) slots [-1 : 16] {
    %e = math.exp %a0 : tensor<4xf32>
    ckpt.yield %e : tensor<4xf32>
  } -> tensor<4xf32>
  return %2 : tensor<4xf32>
}

// -----

// One place taken over twice.
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32>
    attributes {ckpt.arena_bytes = 512 : i64} {
  // expected-note @+1 {{which is result 0 at [0, 16)}}
  %0 = ckpt.kernel(%a0 = %x : tensor<4xf32>) slots [0 : 16] {
    %e = math.exp %a0 : tensor<4xf32>
    ckpt.yield %e : tensor<4xf32>
  } -> tensor<4xf32>
  // expected-error @+1 {{result 1 at [0, 16) overlaps a value that is still needed}}
  %1:2 = ckpt.kernel(%a0 = %0 : tensor<4xf32>) slots [0 : 16, 0 : 16] {
    %e = math.exp %a0 : tensor<4xf32>
    ckpt.yield %e, %e : tensor<4xf32>, tensor<4xf32>
  } -> tensor<4xf32>, tensor<4xf32>
  %2 = ckpt.kernel(%a0 = %1#0 : tensor<4xf32>, %a1 = %1#1 : tensor<4xf32>) slots [-1 : 16] {
    %e = math.exp %a0 : tensor<4xf32>
    ckpt.yield %e : tensor<4xf32>
  } -> tensor<4xf32>
  return %2 : tensor<4xf32>
}

// -----

// The rest of a place whose beginning is taken over.
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32>
    attributes {ckpt.arena_bytes = 512 : i64} {
  // expected-note @+1 {{which is result 0 at [0, 512)}}
  %0 = ckpt.kernel(%a0 = %x : tensor<4xf32>) slots [0 : 512] {
    %e = math.exp %a0 : tensor<4xf32>
    ckpt.yield %e : tensor<4xf32>
  } -> tensor<4xf32>
  // expected-error @+1 {{result 1 at [256, 272) overlaps a value that is still needed}}
  %1:2 = ckpt.kernel(%a0 = %0 : tensor<4xf32>) slots [0 : 16, 256 : 16] {
    %e = math.exp %a0 : tensor<4xf32>
    ckpt.yield %e, %e : tensor<4xf32>, tensor<4xf32>
  } -> tensor<4xf32>, tensor<4xf32>
  %2 = ckpt.kernel(%a0 = %1#0 : tensor<4xf32>, %a1 = %1#1 : tensor<4xf32>) slots [-1 : 16] {
    %e = math.exp %a0 : tensor<4xf32>
    ckpt.yield %e : tensor<4xf32>
  } -> tensor<4xf32>
  return %2 : tensor<4xf32>
}

// -----

// Taking over the place of an input, but beginning behind it.
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32>
    attributes {ckpt.arena_bytes = 512 : i64} {
  // expected-note @+1 {{which is result 0 at [0, 512)}}
  %0 = ckpt.kernel(%a0 = %x : tensor<4xf32>) slots [0 : 512] {
    %e = math.exp %a0 : tensor<4xf32>
    ckpt.yield %e : tensor<4xf32>
  } -> tensor<4xf32>
  // expected-error @+1 {{result 0 at [256, 272) overlaps a value that is still needed}}
  %1 = ckpt.kernel(%a0 = %0 : tensor<4xf32>) slots [256 : 16] {
    %e = math.exp %a0 : tensor<4xf32>
    ckpt.yield %e : tensor<4xf32>
  } -> tensor<4xf32>
  %2 = ckpt.kernel(%a0 = %1 : tensor<4xf32>) slots [-1 : 16] {
    %e = math.exp %a0 : tensor<4xf32>
    ckpt.yield %e : tensor<4xf32>
  } -> tensor<4xf32>
  return %2 : tensor<4xf32>
}

// -----

// Taking over a smaller input.
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32>
    attributes {ckpt.arena_bytes = 512 : i64} {
  // expected-note @+1 {{which is result 0 at [0, 16)}}
  %0 = ckpt.kernel(%a0 = %x : tensor<4xf32>) slots [0 : 16] {
    %e = math.exp %a0 : tensor<4xf32>
    ckpt.yield %e : tensor<4xf32>
  } -> tensor<4xf32>
  // expected-error @+1 {{result 0 at [0, 17) overlaps a value that is still needed}}
  %1 = ckpt.kernel(%a0 = %0 : tensor<4xf32>) slots [0 : 17] {
    %e = math.exp %a0 : tensor<4xf32>
    ckpt.yield %e : tensor<4xf32>
  } -> tensor<4xf32>
  %2 = ckpt.kernel(%a0 = %1 : tensor<4xf32>) slots [-1 : 16] {
    %e = math.exp %a0 : tensor<4xf32>
    ckpt.yield %e : tensor<4xf32>
  } -> tensor<4xf32>
  return %2 : tensor<4xf32>
}

// -----

// A workspace over an input, which the kernel reads.
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32>
    attributes {ckpt.arena_bytes = 512 : i64} {
  // expected-note @+1 {{which is result 0 at [0, 16)}}
  %0 = ckpt.kernel(%a0 = %x : tensor<4xf32>) slots [0 : 16] {
    %e = math.exp %a0 : tensor<4xf32>
    ckpt.yield %e : tensor<4xf32>
  } -> tensor<4xf32>
  // expected-error @+1 {{the workspace at [0, 256) overlaps a value that is still needed}}
  %1 = ckpt.kernel(%a0 = %0 : tensor<4xf32>) slots [-1 : 16] workspace [0 : 256] {
    %e = math.exp %a0 : tensor<4xf32>
    ckpt.yield %e : tensor<4xf32>
  } -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

// A value lives as long as what is a view of it.
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32>
    attributes {ckpt.arena_bytes = 512 : i64} {
  // expected-note @+1 {{which is result 0 at [0, 16)}}
  %0 = ckpt.kernel(%a0 = %x : tensor<4xf32>) slots [0 : 16] {
    %e = math.exp %a0 : tensor<4xf32>
    ckpt.yield %e : tensor<4xf32>
  } -> tensor<4xf32>
  %view = tensor.expand_shape %0 [[0, 1]] output_shape [2, 2] : tensor<4xf32> into tensor<2x2xf32>
  // expected-error @+1 {{result 0 at [0, 16) overlaps a value that is still needed}}
  %1 = ckpt.kernel(%a0 = %x : tensor<4xf32>) slots [0 : 16] {
    %e = math.exp %a0 : tensor<4xf32>
    ckpt.yield %e : tensor<4xf32>
  } -> tensor<4xf32>
  %2 = ckpt.kernel(%a0 = %view : tensor<2x2xf32>, %a1 = %1 : tensor<4xf32>) slots [-1 : 16] {
    %e = math.exp %a1 : tensor<4xf32>
    ckpt.yield %e : tensor<4xf32>
  } -> tensor<4xf32>
  return %2 : tensor<4xf32>
}

// -----

// A value in the buffer of a result that is written before it is read.
func.func @f(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
    attributes {ckpt.arena_bytes = 512 : i64} {
  // expected-note @+1 {{which is result 0 at [0, 16) of the buffer of result 0 of the function}}
  %0 = ckpt.kernel(%a0 = %x : tensor<4xf32>) slots [0 of 0 : 16] {
    %e = math.exp %a0 : tensor<4xf32>
    ckpt.yield %e : tensor<4xf32>
  } -> tensor<4xf32>
  // expected-error @+1 {{result 0 at [0, 16) of the buffer of result 0 of the function overlaps a value that is still needed}}
  %1 = ckpt.kernel(%a0 = %x : tensor<4xf32>) slots [-1 : 16] {
    %e = math.sin %a0 : tensor<4xf32>
    ckpt.yield %e : tensor<4xf32>
  } -> tensor<4xf32>
  %2 = ckpt.kernel(%a0 = %0 : tensor<4xf32>) slots [-1 : 16] {
    %e = math.exp %a0 : tensor<4xf32>
    ckpt.yield %e : tensor<4xf32>
  } -> tensor<4xf32>
  return %1, %2 : tensor<4xf32>, tensor<4xf32>
}

// -----

// In the buffer of a result that the function does not have.
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32>
    attributes {ckpt.arena_bytes = 512 : i64} {
  // expected-error @+1 {{result 0 at [0, 16) of the buffer of result 1 of the function, which does not exist or is smaller}}
  %0 = ckpt.kernel(%a0 = %x : tensor<4xf32>) slots [0 of 1 : 16] {
    %e = math.exp %a0 : tensor<4xf32>
    ckpt.yield %e : tensor<4xf32>
  } -> tensor<4xf32>
  %1 = ckpt.kernel(%a0 = %0 : tensor<4xf32>) slots [-1 : 16] {
    %e = math.exp %a0 : tensor<4xf32>
    ckpt.yield %e : tensor<4xf32>
  } -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

// A stretch of a value keeps all of it.
func.func @f(%x: tensor<8xf32>) -> tensor<4xf32>
    attributes {ckpt.arena_bytes = 512 : i64} {
  // expected-note @+1 {{which is result 0 at [0, 32)}}
  %0 = ckpt.kernel(%a0 = %x : tensor<8xf32>) slots [0 : 32] {
    %e = math.exp %a0 : tensor<8xf32>
    ckpt.yield %e : tensor<8xf32>
  } -> tensor<8xf32>
  %half = tensor.extract_slice %0[4] [4] [1] : tensor<8xf32> to tensor<4xf32>
  // expected-error @+1 {{result 0 at [0, 32) overlaps a value that is still needed}}
  %1 = ckpt.kernel(%a0 = %x : tensor<8xf32>) slots [0 : 32] {
    %e = math.exp %a0 : tensor<8xf32>
    ckpt.yield %e : tensor<8xf32>
  } -> tensor<8xf32>
  %2 = ckpt.kernel(%a0 = %half : tensor<4xf32>) slots [-1 : 16] {
    %e = math.exp %a0 : tensor<4xf32>
    ckpt.yield %e : tensor<4xf32>
  } -> tensor<4xf32>
  return %2 : tensor<4xf32>
}

// -----

// A value in a part that is written before it is read.
func.func @f(%x: tensor<4xf32>) -> tensor<8xf32>
    attributes {ckpt.arena_bytes = 512 : i64} {
  // expected-note @+1 {{which is result 0 at [0, 16) of the buffer of result 1 of the function}}
  %0 = ckpt.kernel(%a0 = %x : tensor<4xf32>) slots [0 of 1 : 16] {
    %e = math.exp %a0 : tensor<4xf32>
    ckpt.yield %e : tensor<4xf32>
  } -> tensor<4xf32>
  // expected-error @+1 {{result 0 at [0, 16) of the buffer of result 1 of the function overlaps a value that is still needed}}
  %1 = ckpt.kernel(%a0 = %x : tensor<4xf32>) slots [-1 : 16] {
    %e = math.sin %a0 : tensor<4xf32>
    ckpt.yield %e : tensor<4xf32>
  } -> tensor<4xf32>
  %2 = ckpt.kernel(%a0 = %0 : tensor<4xf32>) slots [-1 : 16] {
    %e = math.exp %a0 : tensor<4xf32>
    ckpt.yield %e : tensor<4xf32>
  } -> tensor<4xf32>
  %3 = tensor.concat dim(0) %2, %1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>
  return %3 : tensor<8xf32>
}

// -----

// A donated argument is read after the result is written.
// expected-note @+1 {{which is argument 0 at [0, 16) of the buffer of result 0 of the function}}
func.func @f(%x: tensor<4xf32> {ckpt.donated = 0}) -> (tensor<4xf32>, tensor<4xf32>)
    attributes {ckpt.arena_bytes = 0 : i64} {
  // expected-error @+1 {{result 0 at [0, 16) of the buffer of result 0 of the function overlaps a value that is still needed}}
  %0 = ckpt.kernel(%a0 = %x : tensor<4xf32>) slots [-1 : 16] {
    %e = math.exp %a0 : tensor<4xf32>
    ckpt.yield %e : tensor<4xf32>
  } -> tensor<4xf32>
  %1 = ckpt.kernel(%a0 = %x : tensor<4xf32>) slots [-1 : 16] {
    %e = math.sin %a0 : tensor<4xf32>
    ckpt.yield %e : tensor<4xf32>
  } -> tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// -----

// expected-error @+1 {{argument 0 is donated to result 0 of the function, which is no single value as large, or another argument is}}
func.func @f(%x: tensor<4xf32> {ckpt.donated = 0}) -> tensor<8xf32>
    attributes {ckpt.arena_bytes = 0 : i64} {
  %0 = ckpt.kernel(%a0 = %x : tensor<4xf32>) slots [-1 : 32] {
    %c = tensor.concat dim(0) %a0, %a0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>
    ckpt.yield %c : tensor<8xf32>
  } -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// The end is no number of 64 bits.
func.func @overflow(%x: tensor<4xf32>) -> tensor<4xf32>
    attributes {ckpt.arena_bytes = 512 : i64} {
  // expected-error @+1 {{result 0 at [9223372036854775552, 9223372036854775807) ends beyond the arena of 512 bytes}}
  %0 = ckpt.kernel(%a = %x : tensor<4xf32>) slots [9223372036854775552 : 256] {
    %e = math.exp %a : tensor<4xf32>
    ckpt.yield %e : tensor<4xf32>
  } -> tensor<4xf32>
  %1 = ckpt.kernel(%a = %0 : tensor<4xf32>) slots [-1 : 16] {
    %e = math.exp %a : tensor<4xf32>
    ckpt.yield %e : tensor<4xf32>
  } -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

// expected-error @+1 {{expected an arena of at most 1099511627776 bytes, but got 1099511628032}}
func.func @huge(%x: tensor<4xf32>) -> tensor<4xf32>
    attributes {ckpt.arena_bytes = 1099511628032 : i64} {
  return %x : tensor<4xf32>
}

// -----

// A slot that is too small for its elements.
func.func @small(%x: tensor<4xf32>) -> tensor<4xf32>
    attributes {ckpt.arena_bytes = 512 : i64} {
  // expected-error @+1 {{result 0 at [0, 8) has no place for 16 bytes}}
  %0 = ckpt.kernel(%a = %x : tensor<4xf32>) slots [0 : 8] {
    %e = math.exp %a : tensor<4xf32>
    ckpt.yield %e : tensor<4xf32>
  } -> tensor<4xf32>
  %1 = ckpt.kernel(%a = %0 : tensor<4xf32>) slots [-1 : 16] {
    %e = math.exp %a : tensor<4xf32>
    ckpt.yield %e : tensor<4xf32>
  } -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
