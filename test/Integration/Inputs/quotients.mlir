// Quotients by one or two, chosen by a comparison: of constants, and of values
// that nobody knows. Results 0 and 1, 2 and 3, ... are the same. %x is from -2 to
// 2, and 0 in the first row.
func.func @main(%x: tensor<5x8xf32>) -> (tensor<5x8xi32>, tensor<5x8xi32>, tensor<5x8xi32>, tensor<5x8xi32>, tensor<5x8xi16>, tensor<5x8xi16>) {
  %zero = arith.constant dense<0.0> : tensor<5x8xf32>
  %one = arith.constant dense<1.0> : tensor<5x8xf32>
  %two = arith.constant dense<2.0> : tensor<5x8xf32>
  %least = arith.constant dense<0x00000003> : tensor<5x8xf32>
  %firstRow = arith.constant dense<0.0> : tensor<1x8xf32>
  %some = tensor.insert_slice %firstRow into %x[0, 0] [1, 8] [1, 1] : tensor<1x8xf32> into tensor<5x8xf32>
  %nothing = arith.mulf %x, %zero : tensor<5x8xf32>
  %unknownOne = arith.addf %one, %nothing : tensor<5x8xf32>
  %unknownTwo = arith.addf %two, %nothing : tensor<5x8xf32>
  %isLarge = arith.cmpf ogt, %x, %one : tensor<5x8xf32>
  %known = arith.select %isLarge, %one, %two : tensor<5x8xi1>, tensor<5x8xf32>
  %unknown = arith.select %isLarge, %unknownOne, %unknownTwo : tensor<5x8xi1>, tensor<5x8xf32>
  %quotient = arith.divf %some, %known : tensor<5x8xf32>
  %expected = arith.divf %some, %unknown : tensor<5x8xf32>
  %bits = arith.bitcast %quotient : tensor<5x8xf32> to tensor<5x8xi32>
  %expectedBits = arith.bitcast %expected : tensor<5x8xf32> to tensor<5x8xi32>

  // Half of a subnormal number is rounded.
  %small = arith.mulf %some, %least : tensor<5x8xf32>
  %smallQuotient = arith.divf %small, %known : tensor<5x8xf32>
  %smallExpected = arith.divf %small, %unknown : tensor<5x8xf32>
  %smallBits = arith.bitcast %smallQuotient : tensor<5x8xf32> to tensor<5x8xi32>
  %smallExpectedBits = arith.bitcast %smallExpected : tensor<5x8xf32> to tensor<5x8xi32>

  %narrow = arith.truncf %some : tensor<5x8xf32> to tensor<5x8xbf16>
  %narrowOne = arith.constant dense<1.0> : tensor<5x8xbf16>
  %narrowTwo = arith.constant dense<2.0> : tensor<5x8xbf16>
  %narrowKnown = arith.select %isLarge, %narrowOne, %narrowTwo : tensor<5x8xi1>, tensor<5x8xbf16>
  %narrowUnknown = arith.truncf %unknown : tensor<5x8xf32> to tensor<5x8xbf16>
  %narrowQuotient = arith.divf %narrow, %narrowKnown : tensor<5x8xbf16>
  %narrowExpected = arith.divf %narrow, %narrowUnknown : tensor<5x8xbf16>
  %narrowBits = arith.bitcast %narrowQuotient : tensor<5x8xbf16> to tensor<5x8xi16>
  %narrowExpectedBits = arith.bitcast %narrowExpected : tensor<5x8xbf16> to tensor<5x8xi16>
  return %bits, %expectedBits, %smallBits, %smallExpectedBits, %narrowBits, %narrowExpectedBits : tensor<5x8xi32>, tensor<5x8xi32>, tensor<5x8xi32>, tensor<5x8xi32>, tensor<5x8xi16>, tensor<5x8xi16>
}
