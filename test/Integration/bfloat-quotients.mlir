// Every bf16 by 64 others on a GPU: zeros, subnormal numbers, infinities and
// quotients that are any of these. Bits of NaNs are left out.
//
// RUN: ckpt-runner %s --repeat=1 --outputs=%t.cpu.npz
// RUN: ckpt-runner %s --repeat=1 --outputs=%t.emulator.npz --device=emulator
// RUN: cmp %t.cpu.npz %t.emulator.npz

#rows = affine_map<(d0, d1) -> (d0)>
#columns = affine_map<(d0, d1) -> (d1)>
#same = affine_map<(d0, d1) -> (d0, d1)>
#along = affine_map<(d0) -> (d0)>

func.func @main() -> tensor<64x65536xbf16> {
  %numbers = tensor.empty() : tensor<65536xbf16>
  %dividends = linalg.generic {indexing_maps = [#along], iterator_types = ["parallel"]} outs(%numbers : tensor<65536xbf16>) {
  ^bb0(%out: bf16):
    %i = linalg.index 0 : index
    %bits = arith.index_cast %i : index to i16
    %number = arith.bitcast %bits : i16 to bf16
    linalg.yield %number : bf16
  } -> tensor<65536xbf16>
  %few = tensor.empty() : tensor<64xbf16>
  // Of both signs, from subnormal ones to the largest.
  %divisors = linalg.generic {indexing_maps = [#along], iterator_types = ["parallel"]} outs(%few : tensor<64xbf16>) {
  ^bb0(%out: bf16):
    %i = linalg.index 0 : index
    %number = arith.index_cast %i : index to i16
    %factor = arith.constant 1049 : i16
    %bits = arith.muli %number, %factor : i16
    %divisor = arith.bitcast %bits : i16 to bf16
    linalg.yield %divisor : bf16
  } -> tensor<64xbf16>
  %type = tensor.empty() : tensor<64x65536xbf16>
  %quotients = linalg.generic {indexing_maps = [#columns, #rows, #same], iterator_types = ["parallel", "parallel"]}
      ins(%dividends, %divisors : tensor<65536xbf16>, tensor<64xbf16>) outs(%type : tensor<64x65536xbf16>) {
  ^bb0(%dividend: bf16, %divisor: bf16, %out: bf16):
    %quotient = arith.divf %dividend, %divisor : bf16
    %isNaN = arith.cmpf uno, %quotient, %quotient : bf16
    %zero = arith.constant 0.0 : bf16
    %number = arith.select %isNaN, %zero, %quotient : bf16
    linalg.yield %number : bf16
  } -> tensor<64x65536xbf16>
  return %quotients : tensor<64x65536xbf16>
}
