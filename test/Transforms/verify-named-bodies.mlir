// The text of a named op has no body. What preparation shares between bodies
// after it unrolled a loop must not differ from what a reader of the text sees.
// RUN: ckpt-opt %s --ckpt-plan=quiet=true --ckpt-apply-plan -o %t.mlir
// RUN: ckpt-opt %t.mlir --ckpt-verify=original=%s -o %t.same

// One body holds equal constants, the other one that stands outside as well.
func.func @main(%x: tensor<4x2xf32>, %s: tensor<f32>)
    -> (tensor<4x2xf32>, tensor<4x2xf32>, tensor<f32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %seed = arith.constant 7 : i32
  %low = arith.constant 0.0 : f64
  %high = arith.constant 1.0 : f64
  %one = arith.constant 1.0 : f32
  %e = tensor.empty() : tensor<4x2xf32>
  %noise = linalg.fill_rng_2d ins(%low, %high, %seed : f64, f64, i32)
      outs(%e : tensor<4x2xf32>) -> tensor<4x2xf32>
  %inverse = linalg.reciprocal ins(%x : tensor<4x2xf32>)
      outs(%e : tensor<4x2xf32>) -> tensor<4x2xf32>
  %loop = scf.for %i = %c0 to %c2 step %c1 iter_args(%v = %s) -> tensor<f32> {
    %element = tensor.extract %v[] : tensor<f32>
    %sum = arith.addf %element, %one : f32
    %next = tensor.from_elements %sum : tensor<f32>
    scf.yield %next : tensor<f32>
  }
  return %noise, %inverse, %loop
      : tensor<4x2xf32>, tensor<4x2xf32>, tensor<f32>
}
