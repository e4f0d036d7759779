// Functions that others make up, and ops with several results: results 0 and 1,
// 2 and 3, ... are the same.
func.func @main(%x: tensor<64xf32>, %n: tensor<64xi32>) -> (tensor<6xi1>, tensor<6xi1>, tensor<6xi1>, tensor<6xi1>, tensor<6xi1>, tensor<6xi1>, tensor<6xi1>, tensor<6xi1>, tensor<6xi1>, tensor<6xi1>, tensor<64xi32>, tensor<64xi32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xi32>, tensor<64xi32>, tensor<64xi32>, tensor<64xi32>, tensor<64xi1>, tensor<64xi1>, tensor<5xi32>, tensor<5xi32>, tensor<5xbf16>, tensor<5xbf16>, tensor<2xf16>, tensor<2xf16>, tensor<6xi64>, tensor<6xi64>, tensor<6xi64>, tensor<6xi64>, tensor<6xi64>, tensor<6xi64>) {
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
  // Each exact sum lies beside the middle of two numbers. f32 does not hold it,
  // nor does f64 that of the first ones.
  %sevens = arith.constant dense<[7.0, 7.0, -7.0, 7.0, 1.0]> : tensor<5xbf16>
  %factors = arith.constant dense<[37.0, 37.0, 37.0, 37.0, 0x7F80]> : tensor<5xbf16>
  %summands = arith.constant dense<[-1.0e-18, 1.0e-18, 1.0e-18, 0.0, 1.0]> : tensor<5xbf16>
  %fused = math.fma %sevens, %factors, %summands : tensor<5xbf16>
  %fused1 = arith.constant dense<[258.0, 260.0, -258.0, 260.0, 0x7F80]> : tensor<5xbf16>
  %elevens = arith.constant dense<[121.0, 121.0]> : tensor<2xf16>
  %seventeens = arith.constant dense<[17.0, 17.0]> : tensor<2xf16>
  %littles = arith.constant dense<[9.5367431640625e-7, 0.0]> : tensor<2xf16>
  %halfFused = math.fma %elevens, %seventeens, %littles : tensor<2xf16>
  %halfFused1 = arith.constant dense<[2058.0, 2056.0]> : tensor<2xf16>

  %longs = arith.constant dense<[9223372036854775807, -1, -9223372036854775808, 3037000500, 7, -123456789012345678]> : tensor<6xi64>
  %others = arith.constant dense<[9223372036854775807, -1, 9223372036854775807, -3037000501, 1152921504606846976, 987654321987654321]> : tensor<6xi64>
  %signedLow, %signedHigh = arith.mulsi_extended %longs, %others : tensor<6xi64>
  %signedHigh1 = arith.constant dense<[4611686018427387903, 0, -4611686018427387904, -1, 0, -6609981184730618]> : tensor<6xi64>
  %unsignedLow, %unsignedHigh = arith.mului_extended %longs, %others : tensor<6xi64>
  %unsignedHigh1 = arith.constant dense<[4611686018427387903, -2, 4611686018427387903, 3037000499, 0, 981044340802923703]> : tensor<6xi64>
  %odd = arith.trunci %longs : tensor<6xi64> to tensor<6xi40>
  %oddOthers = arith.trunci %others : tensor<6xi64> to tensor<6xi40>
  %oddLow, %oddHigh = arith.mulsi_extended %odd, %oddOthers : tensor<6xi40>
  %oddWide = arith.extsi %oddHigh : tensor<6xi40> to tensor<6xi64>
  %oddWide1 = arith.constant dense<[0, 0, 0, -8388609, 0, -121201759823]> : tensor<6xi64>
  return %isnan, %areNaN, %isinf, %areInfinite, %isfinite, %areFinite, %isnormal, %areNormal, %isnormalHalf, %areNormal, %powers, %n5, %cubes, %alike, %sine, %sine1, %cosine, %cosine1, %clamped, %between, %lower, %lower1, %upper, %upper1, %overflow, %overflow1, %fractions, %whole, %fused, %fused1, %halfFused, %halfFused1, %signedHigh, %signedHigh1, %unsignedHigh, %unsignedHigh1, %oddWide, %oddWide1 : tensor<6xi1>, tensor<6xi1>, tensor<6xi1>, tensor<6xi1>, tensor<6xi1>, tensor<6xi1>, tensor<6xi1>, tensor<6xi1>, tensor<6xi1>, tensor<6xi1>, tensor<64xi32>, tensor<64xi32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xi32>, tensor<64xi32>, tensor<64xi32>, tensor<64xi32>, tensor<64xi1>, tensor<64xi1>, tensor<5xi32>, tensor<5xi32>, tensor<5xbf16>, tensor<5xbf16>, tensor<2xf16>, tensor<2xf16>, tensor<6xi64>, tensor<6xi64>, tensor<6xi64>, tensor<6xi64>, tensor<6xi64>, tensor<6xi64>
}
