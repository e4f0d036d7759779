// bf16 and f16 on tensor cores, as the emulator runs them, and as exact chains.
// RUN: ckpt-execute %s | FileCheck %s

// Aligned vectors, past the end in every direction.
// CHECK: rest: ok
func.func @rest(%x0: tensor<72x56xbf16>, %x1: tensor<56x40xbf16>) -> (tensor<72x40xf32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<72x56xbf16>, %a1 = %x1 : tensor<56x40xbf16>) slots [-1 : 4] {
    %c = arith.constant 0.5 : f32
    %e = tensor.empty() : tensor<72x40xf32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<72x40xf32>) -> tensor<72x40xf32>
    %0 = linalg.matmul ins(%a0, %a1 : tensor<72x56xbf16>, tensor<56x40xbf16>) outs(%f : tensor<72x40xf32>) -> tensor<72x40xf32>
    ckpt.yield %0 : tensor<72x40xf32>
  } -> tensor<72x40xf32>
  return %r1 : tensor<72x40xf32>
}
// CHECK: rest_tb: ok
func.func @rest_tb(%x0: tensor<72x56xbf16>, %x1: tensor<40x56xbf16>) -> (tensor<72x40xf32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<72x56xbf16>, %a1 = %x1 : tensor<40x56xbf16>) slots [-1 : 4] {
    %c = arith.constant 0.5 : f32
    %e = tensor.empty() : tensor<72x40xf32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<72x40xf32>) -> tensor<72x40xf32>
    %v = tensor.empty() : tensor<56x40xbf16>
    %r = linalg.transpose ins(%a1 : tensor<40x56xbf16>) outs(%v : tensor<56x40xbf16>) permutation = [1, 0]
    %0 = linalg.matmul ins(%a0, %r : tensor<72x56xbf16>, tensor<56x40xbf16>) outs(%f : tensor<72x40xf32>) -> tensor<72x40xf32>
    ckpt.yield %0 : tensor<72x40xf32>
  } -> tensor<72x40xf32>
  return %r1 : tensor<72x40xf32>
}
// CHECK: rest_ta: ok
func.func @rest_ta(%x0: tensor<56x72xbf16>, %x1: tensor<56x40xbf16>) -> (tensor<72x40xf32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<56x72xbf16>, %a1 = %x1 : tensor<56x40xbf16>) slots [-1 : 4] {
    %c = arith.constant 0.5 : f32
    %e = tensor.empty() : tensor<72x40xf32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<72x40xf32>) -> tensor<72x40xf32>
    %u = tensor.empty() : tensor<72x56xbf16>
    %l = linalg.transpose ins(%a0 : tensor<56x72xbf16>) outs(%u : tensor<72x56xbf16>) permutation = [1, 0]
    %0 = linalg.matmul ins(%l, %a1 : tensor<72x56xbf16>, tensor<56x40xbf16>) outs(%f : tensor<72x40xf32>) -> tensor<72x40xf32>
    ckpt.yield %0 : tensor<72x40xf32>
  } -> tensor<72x40xf32>
  return %r1 : tensor<72x40xf32>
}
// CHECK: rest_ta_tb: ok
func.func @rest_ta_tb(%x0: tensor<56x72xbf16>, %x1: tensor<40x56xbf16>) -> (tensor<72x40xf32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<56x72xbf16>, %a1 = %x1 : tensor<40x56xbf16>) slots [-1 : 4] {
    %c = arith.constant 0.5 : f32
    %e = tensor.empty() : tensor<72x40xf32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<72x40xf32>) -> tensor<72x40xf32>
    %u = tensor.empty() : tensor<72x56xbf16>
    %l = linalg.transpose ins(%a0 : tensor<56x72xbf16>) outs(%u : tensor<72x56xbf16>) permutation = [1, 0]
    %v = tensor.empty() : tensor<56x40xbf16>
    %r = linalg.transpose ins(%a1 : tensor<40x56xbf16>) outs(%v : tensor<56x40xbf16>) permutation = [1, 0]
    %0 = linalg.matmul ins(%l, %r : tensor<72x56xbf16>, tensor<56x40xbf16>) outs(%f : tensor<72x40xf32>) -> tensor<72x40xf32>
    ckpt.yield %0 : tensor<72x40xf32>
  } -> tensor<72x40xf32>
  return %r1 : tensor<72x40xf32>
}
// No aligned vectors.
// CHECK: primes: ok
func.func @primes(%x0: tensor<67x53xbf16>, %x1: tensor<53x41xbf16>) -> (tensor<67x41xf32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<67x53xbf16>, %a1 = %x1 : tensor<53x41xbf16>) slots [-1 : 4] {
    %c = arith.constant 0.5 : f32
    %e = tensor.empty() : tensor<67x41xf32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<67x41xf32>) -> tensor<67x41xf32>
    %0 = linalg.matmul ins(%a0, %a1 : tensor<67x53xbf16>, tensor<53x41xbf16>) outs(%f : tensor<67x41xf32>) -> tensor<67x41xf32>
    ckpt.yield %0 : tensor<67x41xf32>
  } -> tensor<67x41xf32>
  return %r1 : tensor<67x41xf32>
}
// CHECK: primes_ta_tb: ok
func.func @primes_ta_tb(%x0: tensor<53x67xbf16>, %x1: tensor<41x53xbf16>) -> (tensor<67x41xf32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<53x67xbf16>, %a1 = %x1 : tensor<41x53xbf16>) slots [-1 : 4] {
    %c = arith.constant 0.5 : f32
    %e = tensor.empty() : tensor<67x41xf32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<67x41xf32>) -> tensor<67x41xf32>
    %u = tensor.empty() : tensor<67x53xbf16>
    %l = linalg.transpose ins(%a0 : tensor<53x67xbf16>) outs(%u : tensor<67x53xbf16>) permutation = [1, 0]
    %v = tensor.empty() : tensor<53x41xbf16>
    %r = linalg.transpose ins(%a1 : tensor<41x53xbf16>) outs(%v : tensor<53x41xbf16>) permutation = [1, 0]
    %0 = linalg.matmul ins(%l, %r : tensor<67x53xbf16>, tensor<53x41xbf16>) outs(%f : tensor<67x41xf32>) -> tensor<67x41xf32>
    ckpt.yield %0 : tensor<67x41xf32>
  } -> tensor<67x41xf32>
  return %r1 : tensor<67x41xf32>
}
// Nothing past the end; more steps than stand in shared memory.
// CHECK: whole_64x64x128: ok
func.func @whole_64x64x128(%x0: tensor<64x128xbf16>, %x1: tensor<128x64xbf16>) -> (tensor<64x64xf32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<64x128xbf16>, %a1 = %x1 : tensor<128x64xbf16>) slots [-1 : 4] {
    %c = arith.constant 0.5 : f32
    %e = tensor.empty() : tensor<64x64xf32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
    %0 = linalg.matmul ins(%a0, %a1 : tensor<64x128xbf16>, tensor<128x64xbf16>) outs(%f : tensor<64x64xf32>) -> tensor<64x64xf32>
    ckpt.yield %0 : tensor<64x64xf32>
  } -> tensor<64x64xf32>
  return %r1 : tensor<64x64xf32>
}
// CHECK: f16_40x48x80: ok
func.func @f16_40x48x80(%x0: tensor<40x80xf16>, %x1: tensor<80x48xf16>) -> (tensor<40x48xf32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<40x80xf16>, %a1 = %x1 : tensor<80x48xf16>) slots [-1 : 4] {
    %c = arith.constant 0.5 : f32
    %e = tensor.empty() : tensor<40x48xf32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<40x48xf32>) -> tensor<40x48xf32>
    %0 = linalg.matmul ins(%a0, %a1 : tensor<40x80xf16>, tensor<80x48xf16>) outs(%f : tensor<40x48xf32>) -> tensor<40x48xf32>
    ckpt.yield %0 : tensor<40x48xf32>
  } -> tensor<40x48xf32>
  return %r1 : tensor<40x48xf32>
}
// CHECK: f16_tb_35x33x7: ok
func.func @f16_tb_35x33x7(%x0: tensor<35x7xf16>, %x1: tensor<33x7xf16>) -> (tensor<35x33xf16>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<35x7xf16>, %a1 = %x1 : tensor<33x7xf16>) slots [-1 : 4] {
    %c = arith.constant 0.0 : f16
    %e = tensor.empty() : tensor<35x33xf16>
    %f = linalg.fill ins(%c : f16) outs(%e : tensor<35x33xf16>) -> tensor<35x33xf16>
    %v = tensor.empty() : tensor<7x33xf16>
    %r = linalg.transpose ins(%a1 : tensor<33x7xf16>) outs(%v : tensor<7x33xf16>) permutation = [1, 0]
    %0 = linalg.matmul ins(%a0, %r : tensor<35x7xf16>, tensor<7x33xf16>) outs(%f : tensor<35x33xf16>) -> tensor<35x33xf16>
    ckpt.yield %0 : tensor<35x33xf16>
  } -> tensor<35x33xf16>
  return %r1 : tensor<35x33xf16>
}
// CHECK: steps_1_64x64x1: ok
func.func @steps_1_64x64x1(%x0: tensor<64x1xbf16>, %x1: tensor<1x64xbf16>) -> (tensor<64x64xbf16>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<64x1xbf16>, %a1 = %x1 : tensor<1x64xbf16>) slots [-1 : 4] {
    %c = arith.constant 0.5 : bf16
    %e = tensor.empty() : tensor<64x64xbf16>
    %f = linalg.fill ins(%c : bf16) outs(%e : tensor<64x64xbf16>) -> tensor<64x64xbf16>
    %0 = linalg.matmul ins(%a0, %a1 : tensor<64x1xbf16>, tensor<1x64xbf16>) outs(%f : tensor<64x64xbf16>) -> tensor<64x64xbf16>
    ckpt.yield %0 : tensor<64x64xbf16>
  } -> tensor<64x64xbf16>
  return %r1 : tensor<64x64xbf16>
}
// Enough blocks for the larger square.
// CHECK: large_batch_130x136x40: ok
func.func @large_batch_130x136x40(%x0: tensor<33x130x40xbf16>, %x1: tensor<33x40x136xbf16>) -> (tensor<33x130x136xf32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<33x130x40xbf16>, %a1 = %x1 : tensor<33x40x136xbf16>) slots [-1 : 4] {
    %c = arith.constant 0.5 : f32
    %e = tensor.empty() : tensor<33x130x136xf32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<33x130x136xf32>) -> tensor<33x130x136xf32>
    %0 = linalg.batch_matmul ins(%a0, %a1 : tensor<33x130x40xbf16>, tensor<33x40x136xbf16>) outs(%f : tensor<33x130x136xf32>) -> tensor<33x130x136xf32>
    ckpt.yield %0 : tensor<33x130x136xf32>
  } -> tensor<33x130x136xf32>
  return %r1 : tensor<33x130x136xf32>
}
// CHECK: large_batch_ta_tb_129x131x5: ok
func.func @large_batch_ta_tb_129x131x5(%x0: tensor<33x5x129xbf16>, %x1: tensor<33x131x5xbf16>) -> (tensor<33x129x131xf32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<33x5x129xbf16>, %a1 = %x1 : tensor<33x131x5xbf16>) slots [-1 : 4] {
    %c = arith.constant 0.5 : f32
    %e = tensor.empty() : tensor<33x129x131xf32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<33x129x131xf32>) -> tensor<33x129x131xf32>
    %u = tensor.empty() : tensor<33x129x5xbf16>
    %l = linalg.transpose ins(%a0 : tensor<33x5x129xbf16>) outs(%u : tensor<33x129x5xbf16>) permutation = [0, 2, 1]
    %v = tensor.empty() : tensor<33x5x131xbf16>
    %r = linalg.transpose ins(%a1 : tensor<33x131x5xbf16>) outs(%v : tensor<33x5x131xbf16>) permutation = [0, 2, 1]
    %0 = linalg.batch_matmul ins(%l, %r : tensor<33x129x5xbf16>, tensor<33x5x131xbf16>) outs(%f : tensor<33x129x131xf32>) -> tensor<33x129x131xf32>
    ckpt.yield %0 : tensor<33x129x131xf32>
  } -> tensor<33x129x131xf32>
  return %r1 : tensor<33x129x131xf32>
}
// Heads inside rows, windows of a convolution, and an epilogue over them.
// CHECK: heads: ok
func.func @heads(%x0: tensor<6x44x44xbf16>, %x1: tensor<2x44x120xbf16>) -> (tensor<2x44x120xf32>, tensor<6x40x44xf32>) {
  %r1, %r2 = ckpt.kernel(%a0 = %x0 : tensor<6x44x44xbf16>, %a1 = %x1 : tensor<2x44x120xbf16>) slots [-1 : 4, -1 : 4] {
    %v = tensor.expand_shape %a1 [[0], [1], [2, 3]] output_shape [2, 44, 3, 40] : tensor<2x44x120xbf16> into tensor<2x44x3x40xbf16>
    %vte = tensor.empty() : tensor<2x3x40x44xbf16>
    %vt = linalg.transpose ins(%v : tensor<2x44x3x40xbf16>) outs(%vte : tensor<2x3x40x44xbf16>) permutation = [0, 2, 3, 1]
    %vc = tensor.collapse_shape %vt [[0, 1], [2], [3]] : tensor<2x3x40x44xbf16> into tensor<6x40x44xbf16>
    %pte = tensor.empty() : tensor<6x44x44xbf16>
    %pt = linalg.transpose ins(%a0 : tensor<6x44x44xbf16>) outs(%pte : tensor<6x44x44xbf16>) permutation = [0, 2, 1]
    %c = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<6x40x44xf32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<6x40x44xf32>) -> tensor<6x40x44xf32>
    %0 = linalg.batch_matmul ins(%vc, %pt : tensor<6x40x44xbf16>, tensor<6x44x44xbf16>) outs(%f : tensor<6x40x44xf32>) -> tensor<6x40x44xf32>
    %x = tensor.expand_shape %0 [[0, 1], [2], [3]] output_shape [2, 3, 40, 44] : tensor<6x40x44xf32> into tensor<2x3x40x44xf32>
    %ye = tensor.empty() : tensor<2x44x3x40xf32>
    %y = linalg.transpose ins(%x : tensor<2x3x40x44xf32>) outs(%ye : tensor<2x44x3x40xf32>) permutation = [0, 3, 1, 2]
    %z = tensor.collapse_shape %y [[0], [1], [2, 3]] : tensor<2x44x3x40xf32> into tensor<2x44x120xf32>
    %w = math.tanh %z : tensor<2x44x120xf32>
    ckpt.yield %w, %0 : tensor<2x44x120xf32>, tensor<6x40x44xf32>
  } -> tensor<2x44x120xf32>, tensor<6x40x44xf32>
  return %r1, %r2 : tensor<2x44x120xf32>, tensor<6x40x44xf32>
}
// CHECK: windows: ok
func.func @windows(%x0: tensor<2x9x9x8xbf16>, %x1: tensor<3x3x8x40xbf16>) -> (tensor<2x7x7x40xf32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<2x9x9x8xbf16>, %a1 = %x1 : tensor<3x3x8x40xbf16>) slots [-1 : 4] {
    %c = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<2x7x7x40xf32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<2x7x7x40xf32>) -> tensor<2x7x7x40xf32>
    %0 = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%a0, %a1 : tensor<2x9x9x8xbf16>, tensor<3x3x8x40xbf16>) outs(%f : tensor<2x7x7x40xf32>) -> tensor<2x7x7x40xf32>
    ckpt.yield %0 : tensor<2x7x7x40xf32>
  } -> tensor<2x7x7x40xf32>
  return %r1 : tensor<2x7x7x40xf32>
}
