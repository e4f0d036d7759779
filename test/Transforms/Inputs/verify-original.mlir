// What verify.mlir and verify-invalid.mlir compare with.
func.func private @draw() -> tensor<4xf32>
func.func private @log(tensor<4xf32>)

func.func @step(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = ckpt.layer "h/0" -> tensor<4xf32> {
    %e = math.exp %x : tensor<4xf32>
    ckpt.yield %e : tensor<4xf32>
  }
  %1 = arith.mulf %0, %y : tensor<4xf32>
  %2 = arith.subf %1, %0 : tensor<4xf32>
  return %1, %2 : tensor<4xf32>, tensor<4xf32>
}

func.func @effects(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = call @draw() : () -> tensor<4xf32>
  %1 = arith.addf %0, %x : tensor<4xf32>
  call @log(%1) : (tensor<4xf32>) -> ()
  %2 = call @draw() : () -> tensor<4xf32>
  %3 = arith.addf %1, %2 : tensor<4xf32>
  return %3 : tensor<4xf32>
}

func.func @once(%x: tensor<4xf32>, %t: index, %d: tensor<2x?xf32>) -> tensor<2x?xf32> {
  %0 = linalg.pack %x inner_dims_pos = [0] inner_tiles = [%t] into %d : tensor<4xf32> -> tensor<2x?xf32>
  return %0 : tensor<2x?xf32>
}

func.func @reversed(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = math.exp %x : tensor<4x4xf32>
  %empty = tensor.empty() : tensor<4x4xf32>
  %1 = linalg.transpose ins(%0 : tensor<4x4xf32>) outs(%empty : tensor<4x4xf32>) permutation = [1, 0]
  %2 = math.tanh %1 : tensor<4x4xf32>
  %3 = math.absf %2 : tensor<4x4xf32>
  return %3 : tensor<4x4xf32>
}

func.func @product(%x: tensor<4x4xf32>, %y: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = linalg.matmul ins(%x, %y : tensor<4x4xf32>, tensor<4x4xf32>) outs(%y : tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = math.exp %0 : tensor<4x4xf32>
  %3 = arith.mulf %1, %0 : tensor<4x4xf32>
  return %3 : tensor<4x4xf32>
}
