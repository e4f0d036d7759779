// Reductions of much to little: in chunks, on a GPU by a thread each.
// RUN: ckpt-execute %s | FileCheck %s

// 32 chunks of 16 running results.
// CHECK: all_8192: ok
func.func @all_8192(%x0: tensor<8192xf32>) -> (tensor<f32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<8192xf32>) slots [-1 : 4] {
    %c = arith.constant 0.5 : f32
    %e = tensor.empty() : tensor<f32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<f32>) -> tensor<f32>
    %0 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>], iterator_types = ["reduction"]} ins(%a0 : tensor<8192xf32>) outs(%f : tensor<f32>) {
    ^bb0(%i: f32, %o: f32):
      %s = arith.addf %o, %i : f32
      linalg.yield %s : f32
    } -> tensor<f32>
    ckpt.yield %0 : tensor<f32>
  } -> tensor<f32>
  return %r1 : tensor<f32>
}
// Half a granule more than 32: none.
// CHECK: all_520: ok
func.func @all_520(%x0: tensor<520xf32>) -> (tensor<f32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<520xf32>) slots [-1 : 4] {
    %c = arith.constant 0.5 : f32
    %e = tensor.empty() : tensor<f32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<f32>) -> tensor<f32>
    %0 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>], iterator_types = ["reduction"]} ins(%a0 : tensor<520xf32>) outs(%f : tensor<f32>) {
    ^bb0(%i: f32, %o: f32):
      %s = arith.addf %o, %i : f32
      linalg.yield %s : f32
    } -> tensor<f32>
    ckpt.yield %0 : tensor<f32>
  } -> tensor<f32>
  return %r1 : tensor<f32>
}
// CHECK: all_prime_8191: ok
func.func @all_prime_8191(%x0: tensor<8191xf32>) -> (tensor<f32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<8191xf32>) slots [-1 : 4] {
    %c = arith.constant 0.5 : f32
    %e = tensor.empty() : tensor<f32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<f32>) -> tensor<f32>
    %0 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>], iterator_types = ["reduction"]} ins(%a0 : tensor<8191xf32>) outs(%f : tensor<f32>) {
    ^bb0(%i: f32, %o: f32):
      %s = arith.addf %o, %i : f32
      linalg.yield %s : f32
    } -> tensor<f32>
    ckpt.yield %0 : tensor<f32>
  } -> tensor<f32>
  return %r1 : tensor<f32>
}
// Chunks of an outer dimension.
// CHECK: all_24x40x64: ok
func.func @all_24x40x64(%x0: tensor<24x40x64xf32>) -> (tensor<f32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<24x40x64xf32>) slots [-1 : 4] {
    %c = arith.constant 0.5 : f32
    %e = tensor.empty() : tensor<f32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<f32>) -> tensor<f32>
    %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> ()>], iterator_types = ["reduction", "reduction", "reduction"]} ins(%a0 : tensor<24x40x64xf32>) outs(%f : tensor<f32>) {
    ^bb0(%i: f32, %o: f32):
      %s = arith.addf %o, %i : f32
      linalg.yield %s : f32
    } -> tensor<f32>
    ckpt.yield %0 : tensor<f32>
  } -> tensor<f32>
  return %r1 : tensor<f32>
}
// CHECK: few_rows_3x4096: ok
func.func @few_rows_3x4096(%x0: tensor<3x4096xf32>) -> (tensor<3xf32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<3x4096xf32>) slots [-1 : 4] {
    %c = arith.constant 0.5 : f32
    %e = tensor.empty() : tensor<3xf32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<3xf32>) -> tensor<3xf32>
    %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%a0 : tensor<3x4096xf32>) outs(%f : tensor<3xf32>) {
    ^bb0(%i: f32, %o: f32):
      %s = arith.addf %o, %i : f32
      linalg.yield %s : f32
    } -> tensor<3xf32>
    ckpt.yield %0 : tensor<3xf32>
  } -> tensor<3xf32>
  return %r1 : tensor<3xf32>
}
// Images: rows of 19 running into 16 results, chunks of 2.
// CHECK: channels_6x7x8x19: ok
func.func @channels_6x7x8x19(%x0: tensor<6x7x8x19xf32>) -> (tensor<7xf32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<6x7x8x19xf32>) slots [-1 : 4] {
    %c = arith.constant 0.5 : f32
    %e = tensor.empty() : tensor<7xf32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<7xf32>) -> tensor<7xf32>
    %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d1)>], iterator_types = ["reduction", "parallel", "reduction", "reduction"]} ins(%a0 : tensor<6x7x8x19xf32>) outs(%f : tensor<7xf32>) {
    ^bb0(%i: f32, %o: f32):
      %s = arith.addf %o, %i : f32
      linalg.yield %s : f32
    } -> tensor<7xf32>
    ckpt.yield %0 : tensor<7xf32>
  } -> tensor<7xf32>
  return %r1 : tensor<7xf32>
}
// Chains: neighbouring outputs in lanes.
// CHECK: columns_512x48: ok
func.func @columns_512x48(%x0: tensor<512x48xf32>) -> (tensor<48xf32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<512x48xf32>) slots [-1 : 4] {
    %c = arith.constant 0.5 : f32
    %e = tensor.empty() : tensor<48xf32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<48xf32>) -> tensor<48xf32>
    %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>], iterator_types = ["reduction", "parallel"]} ins(%a0 : tensor<512x48xf32>) outs(%f : tensor<48xf32>) {
    ^bb0(%i: f32, %o: f32):
      %s = arith.addf %o, %i : f32
      linalg.yield %s : f32
    } -> tensor<48xf32>
    ckpt.yield %0 : tensor<48xf32>
  } -> tensor<48xf32>
  return %r1 : tensor<48xf32>
}
// CHECK: columns_96x5: ok
func.func @columns_96x5(%x0: tensor<96x5xf32>) -> (tensor<5xf32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<96x5xf32>) slots [-1 : 4] {
    %c = arith.constant 0.5 : f32
    %e = tensor.empty() : tensor<5xf32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<5xf32>) -> tensor<5xf32>
    %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>], iterator_types = ["reduction", "parallel"]} ins(%a0 : tensor<96x5xf32>) outs(%f : tensor<5xf32>) {
    ^bb0(%i: f32, %o: f32):
      %s = arith.addf %o, %i : f32
      linalg.yield %s : f32
    } -> tensor<5xf32>
    ckpt.yield %0 : tensor<5xf32>
  } -> tensor<5xf32>
  return %r1 : tensor<5xf32>
}
// CHECK: columns_1000x17: ok
func.func @columns_1000x17(%x0: tensor<1000x17xf32>) -> (tensor<17xf32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<1000x17xf32>) slots [-1 : 4] {
    %c = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<17xf32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<17xf32>) -> tensor<17xf32>
    %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>], iterator_types = ["reduction", "parallel"]} ins(%a0 : tensor<1000x17xf32>) outs(%f : tensor<17xf32>) {
    ^bb0(%i: f32, %o: f32):
      %b = math.exp %i : f32
      %s = arith.addf %o, %b : f32
      linalg.yield %s : f32
    } -> tensor<17xf32>
    ckpt.yield %0 : tensor<17xf32>
  } -> tensor<17xf32>
  return %r1 : tensor<17xf32>
}
// CHECK: columns_prime_997x3: ok
func.func @columns_prime_997x3(%x0: tensor<997x3xf32>) -> (tensor<3xf32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<997x3xf32>) slots [-1 : 4] {
    %c = arith.constant 0.5 : f32
    %e = tensor.empty() : tensor<3xf32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<3xf32>) -> tensor<3xf32>
    %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>], iterator_types = ["reduction", "parallel"]} ins(%a0 : tensor<997x3xf32>) outs(%f : tensor<3xf32>) {
    ^bb0(%i: f32, %o: f32):
      %s = arith.addf %o, %i : f32
      linalg.yield %s : f32
    } -> tensor<3xf32>
    ckpt.yield %0 : tensor<3xf32>
  } -> tensor<3xf32>
  return %r1 : tensor<3xf32>
}
// CHECK: columns_two_64x6x7: ok
func.func @columns_two_64x6x7(%x0: tensor<64x6x7xf32>) -> (tensor<7xf32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<64x6x7xf32>) slots [-1 : 4] {
    %c = arith.constant 0.5 : f32
    %e = tensor.empty() : tensor<7xf32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<7xf32>) -> tensor<7xf32>
    %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d2)>], iterator_types = ["reduction", "reduction", "parallel"]} ins(%a0 : tensor<64x6x7xf32>) outs(%f : tensor<7xf32>) {
    ^bb0(%i: f32, %o: f32):
      %s = arith.addf %o, %i : f32
      linalg.yield %s : f32
    } -> tensor<7xf32>
    ckpt.yield %0 : tensor<7xf32>
  } -> tensor<7xf32>
  return %r1 : tensor<7xf32>
}
// CHECK: columns_max_256x9: ok
func.func @columns_max_256x9(%x0: tensor<256x9xf32>) -> (tensor<9xf32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<256x9xf32>) slots [-1 : 4] {
    %c = arith.constant -1.0 : f32
    %e = tensor.empty() : tensor<9xf32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<9xf32>) -> tensor<9xf32>
    %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>], iterator_types = ["reduction", "parallel"]} ins(%a0 : tensor<256x9xf32>) outs(%f : tensor<9xf32>) {
    ^bb0(%i: f32, %o: f32):
      %s = arith.maximumf %o, %i : f32
      linalg.yield %s : f32
    } -> tensor<9xf32>
    ckpt.yield %0 : tensor<9xf32>
  } -> tensor<9xf32>
  return %r1 : tensor<9xf32>
}
// CHECK: columns_bf16_128x20: ok
func.func @columns_bf16_128x20(%x0: tensor<128x20xbf16>) -> (tensor<20xbf16>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<128x20xbf16>) slots [-1 : 4] {
    %c = arith.constant -1.0 : bf16
    %e = tensor.empty() : tensor<20xbf16>
    %f = linalg.fill ins(%c : bf16) outs(%e : tensor<20xbf16>) -> tensor<20xbf16>
    %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>], iterator_types = ["reduction", "parallel"]} ins(%a0 : tensor<128x20xbf16>) outs(%f : tensor<20xbf16>) {
    ^bb0(%i: bf16, %o: bf16):
      %s = arith.maximumf %o, %i : bf16
      linalg.yield %s : bf16
    } -> tensor<20xbf16>
    ckpt.yield %0 : tensor<20xbf16>
  } -> tensor<20xbf16>
  return %r1 : tensor<20xbf16>
}
// CHECK: all_bf16_64x32: ok
func.func @all_bf16_64x32(%x0: tensor<64x32xbf16>) -> (tensor<bf16>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<64x32xbf16>) slots [-1 : 4] {
    %c = arith.constant 1.0 : bf16
    %e = tensor.empty() : tensor<bf16>
    %f = linalg.fill ins(%c : bf16) outs(%e : tensor<bf16>) -> tensor<bf16>
    %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> ()>], iterator_types = ["reduction", "reduction"]} ins(%a0 : tensor<64x32xbf16>) outs(%f : tensor<bf16>) {
    ^bb0(%i: bf16, %o: bf16):
      %s = arith.minimumf %o, %i : bf16
      linalg.yield %s : bf16
    } -> tensor<bf16>
    ckpt.yield %0 : tensor<bf16>
  } -> tensor<bf16>
  return %r1 : tensor<bf16>
}
// CHECK: columns_f64_128x20: ok
func.func @columns_f64_128x20(%x0: tensor<128x20xf64>) -> (tensor<20xf64>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<128x20xf64>) slots [-1 : 4] {
    %c = arith.constant 0.5 : f64
    %e = tensor.empty() : tensor<20xf64>
    %f = linalg.fill ins(%c : f64) outs(%e : tensor<20xf64>) -> tensor<20xf64>
    %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>], iterator_types = ["reduction", "parallel"]} ins(%a0 : tensor<128x20xf64>) outs(%f : tensor<20xf64>) {
    ^bb0(%i: f64, %o: f64):
      %s = arith.addf %o, %i : f64
      linalg.yield %s : f64
    } -> tensor<20xf64>
    ckpt.yield %0 : tensor<20xf64>
  } -> tensor<20xf64>
  return %r1 : tensor<20xf64>
}
// CHECK: columns_int_160x11: ok
func.func @columns_int_160x11(%x0: tensor<160x11xi32>) -> (tensor<11xi32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<160x11xi32>) slots [-1 : 4] {
    %c = arith.constant 7 : i32
    %e = tensor.empty() : tensor<11xi32>
    %f = linalg.fill ins(%c : i32) outs(%e : tensor<11xi32>) -> tensor<11xi32>
    %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>], iterator_types = ["reduction", "parallel"]} ins(%a0 : tensor<160x11xi32>) outs(%f : tensor<11xi32>) {
    ^bb0(%i: i32, %o: i32):
      %s = arith.addi %o, %i : i32
      linalg.yield %s : i32
    } -> tensor<11xi32>
    ckpt.yield %0 : tensor<11xi32>
  } -> tensor<11xi32>
  return %r1 : tensor<11xi32>
}
// The same chunks with producers and an epilogue inside.
// CHECK: chunks_unfused: ok
func.func @chunks_unfused(%x0: tensor<6x512xf32>) -> (tensor<6xf32>) {
  %r1 = ckpt.kernel(%a = %x0 : tensor<6x512xf32>) slots [0 : 65536] {
    %s = tensor.empty() : tensor<6x512xf32>
    %p = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%a : tensor<6x512xf32>) outs(%s : tensor<6x512xf32>) {
    ^bb0(%i: f32, %o: f32):
      %u = math.exp %i : f32
      linalg.yield %u : f32
    } -> tensor<6x512xf32>
    ckpt.yield %p : tensor<6x512xf32>
  } -> tensor<6x512xf32>
  %r2 = ckpt.kernel(%p = %r1 : tensor<6x512xf32>) slots [65536 : 65536] {
    %c = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<6xf32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<6xf32>) -> tensor<6xf32>
    %q = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%p : tensor<6x512xf32>) outs(%f : tensor<6xf32>) {
    ^bb0(%i: f32, %o: f32):
      %u = arith.addf %o, %i : f32
      linalg.yield %u : f32
    } -> tensor<6xf32>
    ckpt.yield %q : tensor<6xf32>
  } -> tensor<6xf32>
  %r3 = ckpt.kernel(%q = %r2 : tensor<6xf32>) slots [-1 : 4] {
    %l = math.log %q : tensor<6xf32>
    ckpt.yield %l : tensor<6xf32>
  } -> tensor<6xf32>
  return %r3 : tensor<6xf32>
}
// CHECK: chunks_fused: ok
func.func @chunks_fused(%x0: tensor<6x512xf32>) -> (tensor<6xf32>) attributes {test.same_as = @chunks_unfused} {
  %r1 = ckpt.kernel(%a = %x0 : tensor<6x512xf32>) slots [-1 : 4] {
    %s = tensor.empty() : tensor<6x512xf32>
    %p = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%a : tensor<6x512xf32>) outs(%s : tensor<6x512xf32>) {
    ^bb0(%i: f32, %o: f32):
      %u = math.exp %i : f32
      linalg.yield %u : f32
    } -> tensor<6x512xf32>
    %c = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<6xf32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<6xf32>) -> tensor<6xf32>
    %q = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%p : tensor<6x512xf32>) outs(%f : tensor<6xf32>) {
    ^bb0(%i: f32, %o: f32):
      %u = arith.addf %o, %i : f32
      linalg.yield %u : f32
    } -> tensor<6xf32>
    %l = math.log %q : tensor<6xf32>
    ckpt.yield %l : tensor<6xf32>
  } -> tensor<6xf32>
  return %r1 : tensor<6xf32>
}
