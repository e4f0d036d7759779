// Rewrites that are wrong; the error stands at the op, with a note at the
// original, which is in another file.
// RUN: not ckpt-opt %s --split-input-file --ckpt-verify="original=%S/Inputs/verify-original.mlir prepare=false" 2>&1 | FileCheck %s
// RUN: ckpt-opt %s --split-input-file --verify-diagnostics=only-expected --ckpt-verify="original=%S/Inputs/verify-original.mlir prepare=false"

// CHECK: verify-original.mlir:10:8: note: the original
// Operands in another order: no algebra.
func.func @step(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
    attributes {ckpt.arena_bytes = 256 : i64} {
  %0 = ckpt.kernel(%a = %x : tensor<4xf32>) slots [0 : 16] {
    %e = math.exp %a : tensor<4xf32>
    ckpt.yield %e : tensor<4xf32>
  } -> tensor<4xf32>
  %1 = ckpt.kernel(%a = %0 : tensor<4xf32>, %b = %y : tensor<4xf32>) slots [-1 : 16] {
    // expected-error @+1 {{'arith.mulf' in kernel 1: operand 0 of this op is argument 1, in the original it is result 0 of op 0 ('math.exp')}}
    %m = arith.mulf %b, %a : tensor<4xf32>
    ckpt.yield %m : tensor<4xf32>
  } -> tensor<4xf32>
  %2 = ckpt.kernel(%a = %x : tensor<4xf32>) after (%1 : tensor<4xf32>) slots [0 : 16] recompute {
    %e = math.exp %a : tensor<4xf32>
    ckpt.yield %e : tensor<4xf32>
  } -> tensor<4xf32>
  %3 = ckpt.kernel(%a = %1 : tensor<4xf32>, %b = %2 : tensor<4xf32>) slots [-1 : 16] {
    %s = arith.subf %a, %b : tensor<4xf32>
    ckpt.yield %s : tensor<4xf32>
  } -> tensor<4xf32>
  return %1, %3 : tensor<4xf32>, tensor<4xf32>
}

// -----

// An attribute.
func.func @step(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
    attributes {ckpt.arena_bytes = 256 : i64} {
  %0 = ckpt.kernel(%a = %x : tensor<4xf32>) slots [0 : 16] {
    %e = math.exp %a : tensor<4xf32>
    ckpt.yield %e : tensor<4xf32>
  } -> tensor<4xf32>
  %1 = ckpt.kernel(%a = %0 : tensor<4xf32>, %b = %y : tensor<4xf32>) slots [-1 : 16] {
    %m = arith.mulf %a, %b : tensor<4xf32>
    ckpt.yield %m : tensor<4xf32>
  } -> tensor<4xf32>
  %2 = ckpt.kernel(%a = %x : tensor<4xf32>) after (%1 : tensor<4xf32>) slots [0 : 16] recompute {
    %e = math.exp %a : tensor<4xf32>
    ckpt.yield %e : tensor<4xf32>
  } -> tensor<4xf32>
  %3 = ckpt.kernel(%a = %1 : tensor<4xf32>, %b = %2 : tensor<4xf32>) slots [-1 : 16] {
    // expected-error @+1 {{'arith.subf' in kernel 3: attribute 'fastmath' of this op is not that of the original}}
    %s = arith.subf %a, %b fastmath<fast> : tensor<4xf32>
    ckpt.yield %s : tensor<4xf32>
  } -> tensor<4xf32>
  return %1, %3 : tensor<4xf32>, tensor<4xf32>
}

// -----

// Results in another order.
func.func @step(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
    attributes {ckpt.arena_bytes = 256 : i64} {
  %0 = ckpt.kernel(%a = %x : tensor<4xf32>) slots [0 : 16] {
    %e = math.exp %a : tensor<4xf32>
    ckpt.yield %e : tensor<4xf32>
  } -> tensor<4xf32>
  %1 = ckpt.kernel(%a = %0 : tensor<4xf32>, %b = %y : tensor<4xf32>) slots [-1 : 16] {
    %m = arith.mulf %a, %b : tensor<4xf32>
    ckpt.yield %m : tensor<4xf32>
  } -> tensor<4xf32>
  %2 = ckpt.kernel(%a = %x : tensor<4xf32>) after (%1 : tensor<4xf32>) slots [0 : 16] recompute {
    %e = math.exp %a : tensor<4xf32>
    ckpt.yield %e : tensor<4xf32>
  } -> tensor<4xf32>
  %3 = ckpt.kernel(%a = %1 : tensor<4xf32>, %b = %2 : tensor<4xf32>) slots [-1 : 16] {
    %s = arith.subf %a, %b : tensor<4xf32>
    ckpt.yield %s : tensor<4xf32>
  } -> tensor<4xf32>
  // expected-error @+1 {{result 0 of 'step' is result 0 of op 2 ('arith.subf'), in the original it is result 0 of op 1 ('arith.mulf')}}
  return %3, %1 : tensor<4xf32>, tensor<4xf32>
}

// -----

// An op that the original does not have.
func.func @step(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
    attributes {ckpt.arena_bytes = 256 : i64} {
  %0 = ckpt.kernel(%a = %x : tensor<4xf32>) slots [0 : 16] {
    %e = math.exp %a : tensor<4xf32>
    ckpt.yield %e : tensor<4xf32>
  } -> tensor<4xf32>
  %1 = ckpt.kernel(%a = %0 : tensor<4xf32>, %b = %y : tensor<4xf32>) slots [-1 : 16] {
    %m = arith.mulf %a, %b : tensor<4xf32>
    ckpt.yield %m : tensor<4xf32>
  } -> tensor<4xf32>
  %2 = ckpt.kernel(%a = %x : tensor<4xf32>) after (%1 : tensor<4xf32>) slots [0 : 16] recompute {
    %e = math.exp %a : tensor<4xf32>
    ckpt.yield %e : tensor<4xf32>
  } -> tensor<4xf32>
  %3 = ckpt.kernel(%a = %1 : tensor<4xf32>, %b = %2 : tensor<4xf32>) slots [-1 : 16] {
    // expected-error @+1 {{the original has no 'arith.maximumf'}}
    %s = arith.maximumf %a, %b : tensor<4xf32>
    ckpt.yield %s : tensor<4xf32>
  } -> tensor<4xf32>
  return %1, %3 : tensor<4xf32>, tensor<4xf32>
}

// -----

// Effects in another order.
func.func private @draw() -> tensor<4xf32>
func.func private @log(tensor<4xf32>)
func.func @effects(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = call @draw() : () -> tensor<4xf32>
  %1 = arith.addf %0, %x : tensor<4xf32>
  // expected-error @+1 {{'func.call': this op has effects, but is not in its place among the ops with effects, or runs again}}
  %2 = call @draw() : () -> tensor<4xf32>
  call @log(%1) : (tensor<4xf32>) -> ()
  %3 = arith.addf %1, %2 : tensor<4xf32>
  return %3 : tensor<4xf32>
}

// -----

// An effect that comes again.
func.func private @draw() -> tensor<4xf32>
func.func private @log(tensor<4xf32>)
func.func @effects(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = call @draw() : () -> tensor<4xf32>
  %1 = arith.addf %0, %x : tensor<4xf32>
  call @log(%1) : (tensor<4xf32>) -> ()
  // expected-error @+1 {{'func.call': this op has effects, but is not in its place among the ops with effects, or runs again}}
  call @log(%1) : (tensor<4xf32>) -> ()
  %2 = call @draw() : () -> tensor<4xf32>
  %3 = arith.addf %1, %2 : tensor<4xf32>
  return %3 : tensor<4xf32>
}

// -----

// A recomputation that waits for nothing.
func.func @step(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
    attributes {ckpt.arena_bytes = 256 : i64} {
  %0 = ckpt.kernel(%a = %x : tensor<4xf32>) slots [0 : 16] {
    %e = math.exp %a : tensor<4xf32>
    ckpt.yield %e : tensor<4xf32>
  } -> tensor<4xf32>
  %1 = ckpt.kernel(%a = %0 : tensor<4xf32>, %b = %y : tensor<4xf32>) slots [-1 : 16] {
    %m = arith.mulf %a, %b : tensor<4xf32>
    ckpt.yield %m : tensor<4xf32>
  } -> tensor<4xf32>
  // expected-error @+1 {{expected a recomputation to wait for a value younger than its original}}
  %2 = ckpt.kernel(%a = %x : tensor<4xf32>) slots [0 : 16] recompute {
    %e = math.exp %a : tensor<4xf32>
    ckpt.yield %e : tensor<4xf32>
  } -> tensor<4xf32>
  %3 = ckpt.kernel(%a = %1 : tensor<4xf32>, %b = %2 : tensor<4xf32>) slots [-1 : 16] {
    %s = arith.subf %a, %b : tensor<4xf32>
    ckpt.yield %s : tensor<4xf32>
  } -> tensor<4xf32>
  return %1, %3 : tensor<4xf32>, tensor<4xf32>
}

// -----

// A recomputation that is not marked.
func.func @step(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
    attributes {ckpt.arena_bytes = 256 : i64} {
  %0 = ckpt.kernel(%a = %x : tensor<4xf32>) slots [0 : 16] {
    %e = math.exp %a : tensor<4xf32>
    ckpt.yield %e : tensor<4xf32>
  } -> tensor<4xf32>
  %1 = ckpt.kernel(%a = %0 : tensor<4xf32>, %b = %y : tensor<4xf32>) slots [-1 : 16] {
    %m = arith.mulf %a, %b : tensor<4xf32>
    ckpt.yield %m : tensor<4xf32>
  } -> tensor<4xf32>
  // expected-error @+1 {{makes a value of an earlier kernel again, but is not marked as a recomputation}}
  %2 = ckpt.kernel(%a = %x : tensor<4xf32>) slots [0 : 16] {
    %e = math.exp %a : tensor<4xf32>
    ckpt.yield %e : tensor<4xf32>
  } -> tensor<4xf32>
  %3 = ckpt.kernel(%a = %1 : tensor<4xf32>, %b = %2 : tensor<4xf32>) slots [-1 : 16] {
    %s = arith.subf %a, %b : tensor<4xf32>
    ckpt.yield %s : tensor<4xf32>
  } -> tensor<4xf32>
  return %1, %3 : tensor<4xf32>, tensor<4xf32>
}

// -----

// A mark without a reason.
func.func @step(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
    attributes {ckpt.arena_bytes = 256 : i64} {
  %0 = ckpt.kernel(%a = %x : tensor<4xf32>) slots [0 : 16] {
    %e = math.exp %a : tensor<4xf32>
    ckpt.yield %e : tensor<4xf32>
  } -> tensor<4xf32>
  // expected-error @+1 {{is marked as a recomputation, but makes nothing again}}
  %1 = ckpt.kernel(%a = %0 : tensor<4xf32>, %b = %y : tensor<4xf32>) after (%0 : tensor<4xf32>) slots [-1 : 16] recompute {
    %m = arith.mulf %a, %b : tensor<4xf32>
    ckpt.yield %m : tensor<4xf32>
  } -> tensor<4xf32>
  %2 = ckpt.kernel(%a = %x : tensor<4xf32>) after (%1 : tensor<4xf32>) slots [0 : 16] recompute {
    %e = math.exp %a : tensor<4xf32>
    ckpt.yield %e : tensor<4xf32>
  } -> tensor<4xf32>
  %3 = ckpt.kernel(%a = %1 : tensor<4xf32>, %b = %2 : tensor<4xf32>) slots [-1 : 16] {
    %s = arith.subf %a, %b : tensor<4xf32>
    ckpt.yield %s : tensor<4xf32>
  } -> tensor<4xf32>
  return %1, %3 : tensor<4xf32>, tensor<4xf32>
}

// -----

// Places are checked too.
func.func @step(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
    attributes {ckpt.arena_bytes = 256 : i64} {
  %0 = ckpt.kernel(%a = %x : tensor<4xf32>) slots [0 : 16] {
    %e = math.exp %a : tensor<4xf32>
    ckpt.yield %e : tensor<4xf32>
  } -> tensor<4xf32>
  // expected-error @+1 {{the workspace at [0, 256) overlaps a value that is still needed}}
  %1 = ckpt.kernel(%a = %0 : tensor<4xf32>, %b = %y : tensor<4xf32>) slots [-1 : 16] workspace [0 : 256] {
    %m = arith.mulf %a, %b : tensor<4xf32>
    ckpt.yield %m : tensor<4xf32>
  } -> tensor<4xf32>
  %2 = ckpt.kernel(%a = %x : tensor<4xf32>) after (%1 : tensor<4xf32>) slots [0 : 16] recompute {
    %e = math.exp %a : tensor<4xf32>
    ckpt.yield %e : tensor<4xf32>
  } -> tensor<4xf32>
  %3 = ckpt.kernel(%a = %1 : tensor<4xf32>, %b = %2 : tensor<4xf32>) slots [-1 : 16] {
    %s = arith.subf %a, %b : tensor<4xf32>
    ckpt.yield %s : tensor<4xf32>
  } -> tensor<4xf32>
  return %1, %3 : tensor<4xf32>, tensor<4xf32>
}

// -----

// What may trap runs only once.
func.func @once(%x: tensor<4xf32>, %t: index, %d: tensor<2x?xf32>) -> tensor<2x?xf32> {
  %0 = linalg.pack %x inner_dims_pos = [0] inner_tiles = [%t] into %d : tensor<4xf32> -> tensor<2x?xf32>
  // expected-error @+1 {{'linalg.pack' runs again, but may run only once}}
  %1 = linalg.pack %x inner_dims_pos = [0] inner_tiles = [%t] into %d : tensor<4xf32> -> tensor<2x?xf32>
  return %1 : tensor<2x?xf32>
}

// -----

// An effect that is gone.
func.func private @draw() -> tensor<4xf32>
func.func private @log(tensor<4xf32>)
// expected-error @+1 {{'func.call' has effects, but does not run in 'effects'}}
func.func @effects(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = call @draw() : () -> tensor<4xf32>
  %1 = arith.addf %0, %x : tensor<4xf32>
  call @log(%1) : (tensor<4xf32>) -> ()
  return %1 : tensor<4xf32>
}

// -----

// Another type.
// expected-error @+1 {{'step' is a '(tensor<4xf32>) -> tensor<4xf32>', in the original it is a '(tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)'}}
func.func @step(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

// A function that the original calls by this name and that is another.
// expected-error @+1 {{'log' is not that of the original}}
func.func private @log(tensor<8xf32>)

// -----

// A function that is new.
// expected-error @+1 {{the original has no such 'func.func'}}
func.func @other(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

// A result over an input whose elements are read in another order.
func.func @reversed(%x: tensor<4x4xf32>) -> tensor<4x4xf32>
    attributes {ckpt.arena_bytes = 256 : i64} {
  // expected-note @+1 {{which is made here}}
  %0 = ckpt.kernel(%a = %x : tensor<4x4xf32>) slots [0 : 64] {
    %e = math.exp %a : tensor<4x4xf32>
    ckpt.yield %e : tensor<4x4xf32>
  } -> tensor<4x4xf32>
  // expected-error @+1 {{result 0 is written over input 0, of which other elements are still to be read}}
  %1 = ckpt.kernel(%a = %0 : tensor<4x4xf32>) slots [0 : 64] {
    %empty = tensor.empty() : tensor<4x4xf32>
    %t = linalg.transpose ins(%a : tensor<4x4xf32>) outs(%empty : tensor<4x4xf32>) permutation = [1, 0]
    %e = math.tanh %t : tensor<4x4xf32>
    ckpt.yield %e : tensor<4x4xf32>
  } -> tensor<4x4xf32>
  %2 = ckpt.kernel(%a = %1 : tensor<4x4xf32>) slots [-1 : 64] {
    %e = math.absf %a : tensor<4x4xf32>
    ckpt.yield %e : tensor<4x4xf32>
  } -> tensor<4x4xf32>
  return %2 : tensor<4x4xf32>
}

// -----

// A product that CSE would merge with the first one.
func.func @product(%x: tensor<4x4xf32>, %y: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = linalg.matmul ins(%x, %y : tensor<4x4xf32>, tensor<4x4xf32>) outs(%y : tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = math.exp %0 : tensor<4x4xf32>
  // expected-error @+1 {{runs again, but no barrier keeps it apart from its first run}}
  %2 = linalg.matmul ins(%x, %y : tensor<4x4xf32>, tensor<4x4xf32>) outs(%y : tensor<4x4xf32>) -> tensor<4x4xf32>
  %3 = arith.mulf %1, %2 : tensor<4x4xf32>
  return %3 : tensor<4x4xf32>
}

// -----

// A barrier that could move up to the first product.
func.func @product(%x: tensor<4x4xf32>, %y: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = linalg.matmul ins(%x, %y : tensor<4x4xf32>, tensor<4x4xf32>) outs(%y : tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = math.exp %0 : tensor<4x4xf32>
  %b = ckpt.barrier %x : tensor<4x4xf32>
  // expected-error @+1 {{runs again behind a barrier that waits for nothing that is made after its first run}}
  %2 = linalg.matmul ins(%b, %y : tensor<4x4xf32>, tensor<4x4xf32>) outs(%y : tensor<4x4xf32>) -> tensor<4x4xf32>
  %3 = arith.mulf %1, %2 : tensor<4x4xf32>
  return %3 : tensor<4x4xf32>
}
