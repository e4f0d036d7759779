// A loop with two large results, of which one is read again at the end.
#row = affine_map<(d0) -> (d0)>
#rows = affine_map<(d0, d1) -> (d0, d1)>
#scalar = affine_map<(d0, d1) -> ()>

func.func @main(%x: tensor<64x1024xf32>, %up: tensor<1024x4096xf32>,
                %down: tensor<4096x1024xf32>) -> (tensor<f32>, tensor<f32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %half = arith.constant 0.5 : f32
  %zero = arith.constant dense<0.0> : tensor<f32>
  %zeroRow = arith.constant dense<0.0> : tensor<1024xf32>
  %zeroRows = arith.constant dense<0.0> : tensor<64x1024xf32>
  %zeroHidden = arith.constant dense<0.0> : tensor<64x4096xf32>
  %last, %states, %squares = scf.for %i = %c0 to %c64 step %c1
      iter_args(%state = %zeroRow, %all = %zeroRows, %allSquares = %zeroRows)
      -> (tensor<1024xf32>, tensor<64x1024xf32>, tensor<64x1024xf32>) {
    %slice = tensor.extract_slice %x[%i, 0] [1, 1024] [1, 1]
        : tensor<64x1024xf32> to tensor<1024xf32>
    %empty = tensor.empty() : tensor<1024xf32>
    %next = linalg.generic {indexing_maps = [#row, #row, #row],
                            iterator_types = ["parallel"]}
        ins(%state, %slice : tensor<1024xf32>, tensor<1024xf32>)
        outs(%empty : tensor<1024xf32>) {
    ^bb0(%a: f32, %b: f32, %out: f32):
      %0 = arith.mulf %a, %half : f32
      %1 = arith.addf %0, %b : f32
      linalg.yield %1 : f32
    } -> tensor<1024xf32>
    %square = linalg.generic {indexing_maps = [#row, #row],
                              iterator_types = ["parallel"]}
        ins(%next : tensor<1024xf32>) outs(%empty : tensor<1024xf32>) {
    ^bb0(%a: f32, %out: f32):
      %0 = arith.mulf %a, %a : f32
      linalg.yield %0 : f32
    } -> tensor<1024xf32>
    %withNext = tensor.insert_slice %next into %all[%i, 0] [1, 1024] [1, 1]
        : tensor<1024xf32> into tensor<64x1024xf32>
    %withSquare = tensor.insert_slice %square into %allSquares[%i, 0] [1, 1024] [1, 1]
        : tensor<1024xf32> into tensor<64x1024xf32>
    scf.yield %next, %withNext, %withSquare
        : tensor<1024xf32>, tensor<64x1024xf32>, tensor<64x1024xf32>
  }
  %energy = linalg.generic {indexing_maps = [#rows, #scalar],
                            iterator_types = ["reduction", "reduction"]}
      ins(%squares : tensor<64x1024xf32>) outs(%zero : tensor<f32>) {
  ^bb0(%a: f32, %sum: f32):
    %0 = arith.addf %sum, %a : f32
    linalg.yield %0 : f32
  } -> tensor<f32>
  %hidden = linalg.matmul
      ins(%states, %up : tensor<64x1024xf32>, tensor<1024x4096xf32>)
      outs(%zeroHidden : tensor<64x4096xf32>) -> tensor<64x4096xf32>
  %made = linalg.matmul
      ins(%hidden, %down : tensor<64x4096xf32>, tensor<4096x1024xf32>)
      outs(%zeroRows : tensor<64x1024xf32>) -> tensor<64x1024xf32>
  %likeness = linalg.generic {indexing_maps = [#rows, #rows, #scalar],
                              iterator_types = ["reduction", "reduction"]}
      ins(%states, %made : tensor<64x1024xf32>, tensor<64x1024xf32>)
      outs(%zero : tensor<f32>) {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %sum, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<f32>
  return %energy, %likeness : tensor<f32>, tensor<f32>
}
