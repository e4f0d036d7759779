// Elementwise kernels whose reads lie across their writes.
// RUN: ckpt-execute %s | FileCheck %s

// Whole squares, and parts of them.
// CHECK: square_64x64: ok
func.func @square_64x64(%x0: tensor<64x64xf32>) -> (tensor<64x64xf32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<64x64xf32>) slots [-1 : 4] {
    %e = tensor.empty() : tensor<64x64xf32>
    %0 = linalg.transpose ins(%a0 : tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) permutation = [1, 0]
    ckpt.yield %0 : tensor<64x64xf32>
  } -> tensor<64x64xf32>
  return %r1 : tensor<64x64xf32>
}
// CHECK: primes_37x53: ok
func.func @primes_37x53(%x0: tensor<37x53xf32>) -> (tensor<53x37xf32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<37x53xf32>) slots [-1 : 4] {
    %e = tensor.empty() : tensor<53x37xf32>
    %0 = linalg.transpose ins(%a0 : tensor<37x53xf32>) outs(%e : tensor<53x37xf32>) permutation = [1, 0]
    ckpt.yield %0 : tensor<53x37xf32>
  } -> tensor<53x37xf32>
  return %r1 : tensor<53x37xf32>
}
// CHECK: short_9x200: ok
func.func @short_9x200(%x0: tensor<9x200xf32>) -> (tensor<200x9xf32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<9x200xf32>) slots [-1 : 4] {
    %e = tensor.empty() : tensor<200x9xf32>
    %0 = linalg.transpose ins(%a0 : tensor<9x200xf32>) outs(%e : tensor<200x9xf32>) permutation = [1, 0]
    ckpt.yield %0 : tensor<200x9xf32>
  } -> tensor<200x9xf32>
  return %r1 : tensor<200x9xf32>
}
// Nothing to turn.
// CHECK: line_1x2000: ok
func.func @line_1x2000(%x0: tensor<1x2000xf32>) -> (tensor<2000x1xf32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<1x2000xf32>) slots [-1 : 4] {
    %e = tensor.empty() : tensor<2000x1xf32>
    %0 = linalg.transpose ins(%a0 : tensor<1x2000xf32>) outs(%e : tensor<2000x1xf32>) permutation = [1, 0]
    ckpt.yield %0 : tensor<2000x1xf32>
  } -> tensor<2000x1xf32>
  return %r1 : tensor<2000x1xf32>
}
// CHECK: batch_3x34x40: ok
func.func @batch_3x34x40(%x0: tensor<3x34x40xf32>) -> (tensor<3x40x34xf32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<3x34x40xf32>) slots [-1 : 4] {
    %e = tensor.empty() : tensor<3x40x34xf32>
    %0 = linalg.transpose ins(%a0 : tensor<3x34x40xf32>) outs(%e : tensor<3x40x34xf32>) permutation = [0, 2, 1]
    ckpt.yield %0 : tensor<3x40x34xf32>
  } -> tensor<3x40x34xf32>
  return %r1 : tensor<3x40x34xf32>
}
// As the gradient of a filter reads its images.
// CHECK: outermost_5x6x7x40: ok
func.func @outermost_5x6x7x40(%x0: tensor<5x6x7x40xf32>) -> (tensor<40x6x7x5xf32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<5x6x7x40xf32>) slots [-1 : 4] {
    %e = tensor.empty() : tensor<40x6x7x5xf32>
    %0 = linalg.transpose ins(%a0 : tensor<5x6x7x40xf32>) outs(%e : tensor<40x6x7x5xf32>) permutation = [3, 1, 2, 0]
    ckpt.yield %0 : tensor<40x6x7x5xf32>
  } -> tensor<40x6x7x5xf32>
  return %r1 : tensor<40x6x7x5xf32>
}
// CHECK: reversed_12x10x18: ok
func.func @reversed_12x10x18(%x0: tensor<12x10x18xf32>) -> (tensor<18x10x12xf32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<12x10x18xf32>) slots [-1 : 4] {
    %e = tensor.empty() : tensor<18x10x12xf32>
    %0 = linalg.transpose ins(%a0 : tensor<12x10x18xf32>) outs(%e : tensor<18x10x12xf32>) permutation = [2, 1, 0]
    ckpt.yield %0 : tensor<18x10x12xf32>
  } -> tensor<18x10x12xf32>
  return %r1 : tensor<18x10x12xf32>
}
// CHECK: bf16_48x66: ok
func.func @bf16_48x66(%x0: tensor<48x66xbf16>) -> (tensor<66x48xbf16>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<48x66xbf16>) slots [-1 : 4] {
    %e = tensor.empty() : tensor<66x48xbf16>
    %0 = linalg.transpose ins(%a0 : tensor<48x66xbf16>) outs(%e : tensor<66x48xbf16>) permutation = [1, 0]
    ckpt.yield %0 : tensor<66x48xbf16>
  } -> tensor<66x48xbf16>
  return %r1 : tensor<66x48xbf16>
}
// CHECK: i64_40x35: ok
func.func @i64_40x35(%x0: tensor<40x35xi64>) -> (tensor<35x40xi64>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<40x35xi64>) slots [-1 : 4] {
    %e = tensor.empty() : tensor<35x40xi64>
    %0 = linalg.transpose ins(%a0 : tensor<40x35xi64>) outs(%e : tensor<35x40xi64>) permutation = [1, 0]
    ckpt.yield %0 : tensor<35x40xi64>
  } -> tensor<35x40xi64>
  return %r1 : tensor<35x40xi64>
}
// Two outputs of different types, one input read both ways.
// CHECK: two_outputs: ok
func.func @two_outputs(%x0: tensor<40x40xf32>, %x1: tensor<40xf32>) -> (tensor<40x40xf32>, tensor<40x40xi1>) {
  %r1, %r2 = ckpt.kernel(%a0 = %x0 : tensor<40x40xf32>, %a1 = %x1 : tensor<40xf32>) slots [-1 : 4, -1 : 4] {
    %e = tensor.empty() : tensor<40x40xf32>
    %m = tensor.empty() : tensor<40x40xi1>
    %0, %1 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1, d0)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%a0, %a1 : tensor<40x40xf32>, tensor<40xf32>) outs(%e, %m : tensor<40x40xf32>, tensor<40x40xi1>) {
    ^bb0(%i: f32, %j: f32, %o: f32, %q: i1):
      %s = arith.addf %i, %j : f32
      %c = arith.cmpf olt, %i, %j : f32
      linalg.yield %s, %c : f32, i1
    } -> (tensor<40x40xf32>, tensor<40x40xi1>)
    ckpt.yield %0, %1 : tensor<40x40xf32>, tensor<40x40xi1>
  } -> tensor<40x40xf32>, tensor<40x40xi1>
  return %r1, %r2 : tensor<40x40xf32>, tensor<40x40xi1>
}
// CHECK: padded: ok
func.func @padded(%x0: tensor<4x7x6x36xf32>, %x1: tensor<36xf32>) -> (tensor<36x9x8x4xf32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<4x7x6x36xf32>, %a1 = %x1 : tensor<36xf32>) slots [-1 : 4] {
    %z = arith.constant 0.0 : f32
    %p = tensor.pad %a0 low[0, 1, 1, 0] high[0, 1, 1, 0] {
    ^bb0(%i: index, %j: index, %k: index, %l: index):
      tensor.yield %z : f32
    } : tensor<4x7x6x36xf32> to tensor<4x9x8x36xf32>
    %e = tensor.empty() : tensor<36x9x8x4xf32>
    %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d3, d1, d2, d0)>, affine_map<(d0, d1, d2, d3) -> (d0)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%p, %a1 : tensor<4x9x8x36xf32>, tensor<36xf32>) outs(%e : tensor<36x9x8x4xf32>) {
    ^bb0(%i: f32, %j: f32, %o: f32):
      %s = arith.mulf %i, %j : f32
      linalg.yield %s : f32
    } -> tensor<36x9x8x4xf32>
    ckpt.yield %0 : tensor<36x9x8x4xf32>
  } -> tensor<36x9x8x4xf32>
  return %r1 : tensor<36x9x8x4xf32>
}
