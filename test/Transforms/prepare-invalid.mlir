// Steps that have no form for the planner, at the op that is the reason.
// RUN: ckpt-opt %s --split-input-file --verify-diagnostics --ckpt-prepare=func=step

func.func private @print(tensor<4xf32>)
func.func @step(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{expected a function that can be inlined, but 'print' has no body}}
  call @print(%x) : (tensor<4xf32>) -> ()
  return %x : tensor<4xf32>
}

// -----

func.func private @even(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = call @odd(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
func.func private @odd(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{expected a function that can be inlined, but 'even' calls itself}}
  %y = call @even(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
func.func @step(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = call @even(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

func.func @step(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{expected a function that can be inlined, but 'step' calls itself}}
  %y = call @step(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

func.func private @apart(%x: tensor<4xf32>) -> tensor<4xf32> attributes {no_inline} {
  return %x : tensor<4xf32>
}
func.func @step(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{expected a function that can be inlined, but 'apart' is marked 'no_inline'}}
  %y = call @apart(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

func.func private @blocks(%x: tensor<4xf32>) -> tensor<4xf32> {
  cf.br ^bb1
^bb1:
  return %x : tensor<4xf32>
}
func.func @step(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{expected a function that can be inlined, but 'blocks' has 2 blocks instead of one}}
  %y = call @blocks(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

ml_program.global private mutable @seed(dense<0> : tensor<i64>) : tensor<i64>
func.func @step(%x: tensor<i64>) -> tensor<i64> {
  // expected-error @+1 {{expected a step without state, but @seed can change: make it an argument and a result}}
  %s = ml_program.global_load @seed : tensor<i64>
  ml_program.global_store @seed = %x : tensor<i64>
  return %s : tensor<i64>
}

// -----

ml_program.global private @w(#ml_program.extern<tensor<2xf32>>) : tensor<2xf32>
func.func @step() -> tensor<2xf32> {
  // expected-error @+1 {{expected the elements of global @w in this file, but they are not}}
  %w = ml_program.global_load_const @w : tensor<2xf32>
  return %w : tensor<2xf32>
}
