// What kernels cannot be made of is said at its place.

// RUN: ckpt-opt %s --ckpt-plan="quiet=true prepare=false" --ckpt-apply-plan \
// RUN:   --ckpt-lower-to-cpu-pipeline --split-input-file --verify-diagnostics
// RUN: ckpt-opt %s --ckpt-plan="quiet=true prepare=false" --ckpt-apply-plan \
// RUN:   --ckpt-lower-to-nvvm-pipeline=chip=sm_90a --split-input-file \
// RUN:   --verify-diagnostics

func.func @main(%x: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %empty = tensor.empty() : tensor<4x6xf32>
  // expected-error @below {{expected ops that work element by element, but got 'linalg.softmax': write it as 'linalg.generic' ops}}
  %result = linalg.softmax dimension(1)
      ins(%x : tensor<4x6xf32>) outs(%empty : tensor<4x6xf32>)
      -> tensor<4x6xf32>
  return %result : tensor<4x6xf32>
}

// -----

func.func @main(%x: tensor<4x6xf32>) -> tensor<4x6xf32> {
  // expected-error @below {{expected no call in a step: inline it first, with --inline}}
  %result = func.call @other(%x) : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return %result : tensor<4x6xf32>
}

func.func private @other(tensor<4x6xf32>) -> tensor<4x6xf32>
