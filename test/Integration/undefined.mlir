// Results of which nobody defined the bits: the same in every run, since who
// compares runs would take others for a defect.
// RUN: ckpt-runner --verify %s | FileCheck %s
// RUN: ckpt-runner --verify --device=emulator %s | FileCheck %s
// RUN: ckpt-opt %s --ckpt-plan=quiet=true --ckpt-apply-plan -o %t.mlir
// RUN: ckpt-opt %t.mlir --ckpt-verify=original=%s -o /dev/null
// CHECK: results: bit-equal to the program as written
func.func @main(%a: tensor<3x3xf32>)
    -> (tensor<3x3xf32>, tensor<3x4xf32>, tensor<12xf32>, tensor<4x3xf32>,
        tensor<3x3xf32>, tensor<5xi1>, tensor<0x3xbf16>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x3xf32>
  %init = tensor.empty() : tensor<3x4xf32>
  %transposed = linalg.transpose ins(%e : tensor<4x3xf32>) outs(%init : tensor<3x4xf32>) permutation = [1, 0]
  %flat = tensor.collapse_shape %e [[0, 1]] : tensor<4x3xf32> into tensor<12xf32>
  // Also a destination that is overwritten.
  %out = tensor.empty() : tensor<3x3xf32>
  %fill = linalg.fill ins(%zero : f32) outs(%out : tensor<3x3xf32>) -> tensor<3x3xf32>
  %product = linalg.matmul ins(%a, %a : tensor<3x3xf32>, tensor<3x3xf32>) outs(%fill : tensor<3x3xf32>) -> tensor<3x3xf32>
  %bits = tensor.empty() : tensor<5xi1>
  %none = tensor.empty() : tensor<0x3xbf16>
  return %product, %transposed, %flat, %e, %out, %bits, %none : tensor<3x3xf32>,
      tensor<3x4xf32>, tensor<12xf32>, tensor<4x3xf32>, tensor<3x3xf32>,
      tensor<5xi1>, tensor<0x3xbf16>
}
