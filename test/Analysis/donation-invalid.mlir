// RUN: ckpt-opt %s --split-input-file --verify-diagnostics --ckpt-plan=quiet=true

// expected-error @+1 {{argument 0 of 'number' is donated to result 1, but the function has 1 results}}
func.func @number(%x: tensor<4xf32> {ckpt.donated = 1}) -> tensor<4xf32> {
  %0 = math.exp %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// expected-error @+1 {{argument 0 of 'size' is donated to result 0, but that is 'tensor<4xf64>', which does not have the bytes of 'tensor<4xf32>'}}
func.func @size(%x: tensor<4xf32> {tf.aliasing_output = 0 : i32}) -> tensor<4xf64> {
  %0 = arith.extf %x : tensor<4xf32> to tensor<4xf64>
  return %0 : tensor<4xf64>
}

// -----

// expected-error @+1 {{argument 1 of 'twice' is donated to result 0, as another argument is}}
func.func @twice(%x: tensor<4xf32> {ckpt.donated = 0}, %y: tensor<4xf32> {ckpt.donated = 0}) -> tensor<4xf32> {
  %0 = arith.addf %x, %y : tensor<4xf32>
  return %0 : tensor<4xf32>
}
