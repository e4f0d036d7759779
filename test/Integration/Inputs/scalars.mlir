// What depends on numbers that are known only at run time: a slice of x at i, and
// back into y, a branch, and a count. Results are returned in other shapes.
func.func @step(%x: tensor<6x4xf32>, %y: tensor<6x4xf32>, %i: tensor<i32>)
    -> (tensor<2x4xf32>, tensor<24xf32>, tensor<4x6xf32>, tensor<4xf32>) {
  %zero = arith.constant 0 : index
  %four = arith.constant 4 : index
  %element = tensor.extract %i[] : tensor<i32>
  %index = arith.index_cast %element : i32 to index
  %low = arith.maxsi %index, %zero : index
  %at = arith.minsi %low, %four : index
  %slice = tensor.extract_slice %x[%at, 0] [2, 4] [1, 1] : tensor<6x4xf32> to tensor<2x4xf32>
  %new = math.exp %slice : tensor<2x4xf32>
  %put = tensor.insert_slice %new into %y[%at, 0] [2, 4] [1, 1] : tensor<2x4xf32> into tensor<6x4xf32>
  %flat = tensor.collapse_shape %put [[0, 1]] : tensor<6x4xf32> into tensor<24xf32>
  %argument = tensor.collapse_shape %x [[0, 1]] : tensor<6x4xf32> into tensor<24xf32>
  %shown = tensor.expand_shape %argument [[0, 1]] output_shape [4, 6] : tensor<24xf32> into tensor<4x6xf32>
  %first = tensor.extract_slice %new[0, 0] [1, 4] [1, 1] : tensor<2x4xf32> to tensor<4xf32>
  %big = arith.cmpi sgt, %at, %four : index
  %chosen = scf.if %big -> (tensor<4xf32>) {
    %minus = arith.negf %first : tensor<4xf32>
    scf.yield %minus : tensor<4xf32>
  } else {
    %sine = math.sin %first : tensor<4xf32>
    scf.yield %sine : tensor<4xf32>
  }
  return %new, %flat, %shown, %chosen : tensor<2x4xf32>, tensor<24xf32>, tensor<4x6xf32>, tensor<4xf32>
}
