// Functions that others make up, and ops with several results: results 0 and 1,
// 2 and 3, ... are the same.
func.func @main(%x: tensor<64xf32>, %n: tensor<64xi32>) -> (tensor<6xi1>, tensor<6xi1>, tensor<6xi1>, tensor<6xi1>, tensor<6xi1>, tensor<6xi1>, tensor<6xi1>, tensor<6xi1>, tensor<6xi1>, tensor<6xi1>, tensor<64xi32>, tensor<64xi32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xi32>, tensor<64xi32>, tensor<64xi32>, tensor<64xi32>, tensor<64xi1>, tensor<64xi1>, tensor<5xi32>, tensor<5xi32>) {
  // 1, infinity, minus infinity, NaN, 0, a subnormal number.
  %kinds = arith.constant dense<[1.0, 0x7F800000, 0xFF800000, 0x7FC00000, 0.0, 1.0e-40]> : tensor<6xf32>
  %halves = arith.constant dense<[1.0, 0x7C00, 0xFC00, 0x7E00, 0.0, 1.0e-6]> : tensor<6xf16>
  %areNaN = arith.constant dense<[false, false, false, true, false, false]> : tensor<6xi1>
  %areInfinite = arith.constant dense<[false, true, true, false, false, false]> : tensor<6xi1>
  %areFinite = arith.constant dense<[true, false, false, false, true, true]> : tensor<6xi1>
  %areNormal = arith.constant dense<[true, false, false, false, false, false]> : tensor<6xi1>
  %isnan = math.isnan %kinds : tensor<6xf32>
  %isinf = math.isinf %kinds : tensor<6xf32>
  %isfinite = math.isfinite %kinds : tensor<6xf32>
  %isnormal = math.isnormal %kinds : tensor<6xf32>
  // Of its own type: the last one is a normal number of f32.
  %isnormalHalf = math.isnormal %halves : tensor<6xf16>

  %five = arith.constant dense<5> : tensor<64xi32>
  %powers = math.ipowi %n, %five : tensor<64xi32>
  %n2 = arith.muli %n, %n : tensor<64xi32>
  %n4 = arith.muli %n2, %n2 : tensor<64xi32>
  %n5 = arith.muli %n4, %n : tensor<64xi32>
  %bases = arith.constant dense<[2, 1, -1, -1, 7]> : tensor<5xi32>
  %negatives = arith.constant dense<[-1, -3, -3, -4, 0]> : tensor<5xi32>
  %fractions = math.ipowi %bases, %negatives : tensor<5xi32>
  %whole = arith.constant dense<[0, 1, -1, 1, 1]> : tensor<5xi32>

  %three = arith.constant dense<3> : tensor<64xi32>
  %threeFloat = arith.constant dense<3.0> : tensor<64xf32>
  %cubes = math.fpowi %x, %three : tensor<64xf32>, tensor<64xi32>
  %alike = math.powf %x, %threeFloat : tensor<64xf32>

  %sine, %cosine = math.sincos %x : tensor<64xf32>
  %sine1 = math.sin %x : tensor<64xf32>
  %cosine1 = math.cos %x : tensor<64xf32>

  %low = arith.constant dense<-0.01> : tensor<64xf32>
  %high = arith.constant dense<0.02> : tensor<64xf32>
  %clamped = math.clampf %x to [%low, %high] : tensor<64xf32>
  %atLeast = arith.maximumf %x, %low : tensor<64xf32>
  %between = arith.minimumf %atLeast, %high : tensor<64xf32>

  %big = arith.constant dense<123456789> : tensor<64xi32>
  %product = arith.muli %n, %big : tensor<64xi32>
  %lower, %upper = arith.mulsi_extended %product, %product : tensor<64xi32>
  %wide = arith.extsi %product : tensor<64xi32> to tensor<64xi64>
  %square = arith.muli %wide, %wide : tensor<64xi64>
  %bits = arith.constant dense<32> : tensor<64xi64>
  %above = arith.shrsi %square, %bits : tensor<64xi64>
  %lower1 = arith.trunci %square : tensor<64xi64> to tensor<64xi32>
  %upper1 = arith.trunci %above : tensor<64xi64> to tensor<64xi32>

  %sum, %overflow = arith.addui_extended %product, %product : tensor<64xi32>, tensor<64xi1>
  %zero = arith.constant dense<0> : tensor<64xi32>
  %overflow1 = arith.cmpi slt, %product, %zero : tensor<64xi32>
  return %isnan, %areNaN, %isinf, %areInfinite, %isfinite, %areFinite, %isnormal, %areNormal, %isnormalHalf, %areNormal, %powers, %n5, %cubes, %alike, %sine, %sine1, %cosine, %cosine1, %clamped, %between, %lower, %lower1, %upper, %upper1, %overflow, %overflow1, %fractions, %whole : tensor<6xi1>, tensor<6xi1>, tensor<6xi1>, tensor<6xi1>, tensor<6xi1>, tensor<6xi1>, tensor<6xi1>, tensor<6xi1>, tensor<6xi1>, tensor<6xi1>, tensor<64xi32>, tensor<64xi32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xi32>, tensor<64xi32>, tensor<64xi32>, tensor<64xi32>, tensor<64xi1>, tensor<64xi1>, tensor<5xi32>, tensor<5xi32>
}
