// Of two zeros, -0 is the smaller one, in every order, also of a reduction:
// results 0 and 1, 2 and 3, ... are the same. %x is positive.
func.func @main(%x: tensor<5x8xf32>) -> (tensor<5x8xi32>, tensor<5x8xi32>, tensor<5x8xi32>, tensor<5x8xi32>, tensor<5x8xi32>, tensor<5x8xi32>, tensor<5x8xi32>, tensor<5x8xi32>, tensor<5x8xi32>, tensor<5x8xi32>, tensor<5x8xi32>, tensor<5x8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>) {
  %zero = arith.constant dense<0.0> : tensor<5x8xf32>
  %minusZero = arith.constant dense<-0.0> : tensor<5x8xf32>
  %bits = arith.constant dense<0> : tensor<5x8xi32>
  %minusBits = arith.constant dense<0x80000000> : tensor<5x8xi32>
  %plus = arith.mulf %x, %zero : tensor<5x8xf32>
  %minus = arith.mulf %x, %minusZero : tensor<5x8xf32>
  %nan = arith.divf %plus, %plus : tensor<5x8xf32>

  %maximum = arith.maximumf %plus, %minus : tensor<5x8xf32>
  %maximumBits = arith.bitcast %maximum : tensor<5x8xf32> to tensor<5x8xi32>
  %relu = arith.maximumf %zero, %minus : tensor<5x8xf32>
  %reluBits = arith.bitcast %relu : tensor<5x8xf32> to tensor<5x8xi32>
  %minimum = arith.minimumf %minus, %plus : tensor<5x8xf32>
  %minimumBits = arith.bitcast %minimum : tensor<5x8xf32> to tensor<5x8xi32>
  %capped = arith.minimumf %minus, %zero : tensor<5x8xf32>
  %cappedBits = arith.bitcast %capped : tensor<5x8xf32> to tensor<5x8xi32>
  %quiet = arith.maxnumf %nan, %minus : tensor<5x8xf32>
  %quietMinimum = arith.minnumf %quiet, %plus : tensor<5x8xf32>
  %quietBits = arith.bitcast %quietMinimum : tensor<5x8xf32> to tensor<5x8xi32>
  %loud = arith.maximumf %minus, %nan : tensor<5x8xf32>
  %isNaN = arith.cmpf uno, %loud, %loud : tensor<5x8xf32>
  %loudBits = arith.select %isNaN, %minusBits, %bits : tensor<5x8xi1>, tensor<5x8xi32>

  // The first row and the last one differ in their signs.
  %rows = tensor.extract_slice %plus[0, 0] [2, 8] [1, 1] : tensor<5x8xf32> to tensor<2x8xf32>
  %first = tensor.insert_slice %rows into %minus[0, 0] [2, 8] [1, 1] : tensor<2x8xf32> into tensor<5x8xf32>
  %last = tensor.insert_slice %rows into %minus[3, 0] [2, 8] [1, 1] : tensor<2x8xf32> into tensor<5x8xf32>
  %low = arith.constant 0xFF800000 : f32
  %empty = tensor.empty() : tensor<8xf32>
  %init = linalg.fill ins(%low : f32) outs(%empty : tensor<8xf32>) -> tensor<8xf32>
  %ofFirst = linalg.reduce { arith.maximumf } ins(%first : tensor<5x8xf32>) outs(%init : tensor<8xf32>) dimensions = [0]
  %ofFirstBits = arith.bitcast %ofFirst : tensor<8xf32> to tensor<8xi32>
  %ofLast = linalg.reduce { arith.maxnumf } ins(%last : tensor<5x8xf32>) outs(%init : tensor<8xf32>) dimensions = [0]
  %ofLastBits = arith.bitcast %ofLast : tensor<8xf32> to tensor<8xi32>
  %rowBits = arith.constant dense<0> : tensor<8xi32>
  return %maximumBits, %bits, %reluBits, %bits, %minimumBits, %minusBits, %cappedBits, %minusBits, %quietBits, %minusBits, %loudBits, %minusBits, %ofFirstBits, %rowBits, %ofLastBits, %rowBits : tensor<5x8xi32>, tensor<5x8xi32>, tensor<5x8xi32>, tensor<5x8xi32>, tensor<5x8xi32>, tensor<5x8xi32>, tensor<5x8xi32>, tensor<5x8xi32>, tensor<5x8xi32>, tensor<5x8xi32>, tensor<5x8xi32>, tensor<5x8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>
}
