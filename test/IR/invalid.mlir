// Each verifier constraint, by its label in the op's description.
// RUN: ckpt-opt %s --split-input-file --verify-diagnostics

// layer C1
func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{'ckpt.layer' op expected the body to yield 1 values of the result types, but got 0}}
  %0 = ckpt.layer "a" -> tensor<4xf32> {
    ckpt.yield // expected-note {{yielded here}}
  }
  return
}

// -----

// layer C2
func.func @f() {
  // expected-error @+1 {{'ckpt.layer' op expected 'activation_bytes' not to be negative, but got -1}}
  ckpt.layer "a" attributes {activation_bytes = -1 : i64} {
  }
  return
}

// -----

// kernel C1
func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{'ckpt.kernel' op expected one offset and one size per result, but got 2 and 2 for 1 results}}
  %0 = ckpt.kernel(%a = %x : tensor<4xf32>) slots [0 : 16, 256 : 16] {
    ckpt.yield %a : tensor<4xf32>
  } -> tensor<4xf32>
  return
}

// -----

// kernel C2
func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{'ckpt.kernel' op expected offsets to be -1 or a multiple of 256, but got 8}}
  %0 = ckpt.kernel(%a = %x : tensor<4xf32>) slots [8 : 16] {
    ckpt.yield %a : tensor<4xf32>
  } -> tensor<4xf32>
  return
}

// -----

// kernel C2
func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{'ckpt.kernel' op expected sizes not to be negative, but got -16}}
  %0 = ckpt.kernel(%a = %x : tensor<4xf32>) slots [0 : -16] {
    ckpt.yield %a : tensor<4xf32>
  } -> tensor<4xf32>
  return
}

// -----

// kernel C3
func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{'ckpt.kernel' op expected one block argument per input, of its type, but got 0 for 1 inputs}}
  "ckpt.kernel"(%x) <{bytes = array<i64>, layer = "", offsets = array<i64>, operandSegmentSizes = array<i32: 1, 0>, recompute = false, workspace_bytes = 0 : i64, workspace_offset = -1 : i64}> ({
    "ckpt.yield"() : () -> ()
  }) : (tensor<4xf32>) -> ()
  return
}

// -----

// kernel C3
func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{'ckpt.kernel' op expected the body to yield 1 values of the result types, but got 1}}
  %0 = ckpt.kernel(%a = %x : tensor<4xf32>) slots [0 : 16] {
    ckpt.yield %a : tensor<4xf32> // expected-note {{yielded here}}
  } -> tensor<8xf32>
  return
}

// -----

// kernel C4
func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{'ckpt.kernel' op expected 'after' only with 'recompute'}}
  %0 = ckpt.kernel(%a = %x : tensor<4xf32>) after (%x : tensor<4xf32>) slots [0 : 16] {
    ckpt.yield %a : tensor<4xf32>
  } -> tensor<4xf32>
  return
}

// -----

// kernel C5
func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{'ckpt.kernel' op expected a workspace of positive size at a multiple of 256, or none at -1, but got 16 bytes at 8}}
  %0 = ckpt.kernel(%a = %x : tensor<4xf32>) slots [0 : 16] workspace [8 : 16] {
    ckpt.yield %a : tensor<4xf32>
  } -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{'math.exp' op expected 'ckpt.decision' to be a '#ckpt.decision', but got "save"}}
  %0 = math.exp %x {ckpt.decision = "save"} : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{'math.exp' op unknown attribute 'ckpt.desicion' of the ckpt dialect}}
  %0 = math.exp %x {ckpt.desicion = "save"} : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{'ckpt.yield' op expects parent op to be one of 'ckpt.layer, ckpt.kernel'}}
  ckpt.yield %x : tensor<4xf32>
}

// -----

// expected-error @+1 {{'func.func' op expected 'ckpt.arena_bytes' to be an integer, at least 0, but got -1 : i64}}
func.func @f() attributes {ckpt.arena_bytes = -1 : i64} {
  return
}

// -----

func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{'arith.negf' op expected 'ckpt.rolled' to be a unit attribute of a loop, but got unit}}
  %y = arith.negf %x {ckpt.rolled} : tensor<4xf32>
  return %y : tensor<4xf32>
}
