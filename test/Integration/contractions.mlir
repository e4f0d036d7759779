// Matmuls and convolutions through views, with inits and epilogues.
// RUN: ckpt-execute %s | FileCheck %s

// CHECK: matmul_1x1x1: ok
func.func @matmul_1x1x1(%x0: tensor<1x1xf32>, %x1: tensor<1x1xf32>) -> (tensor<1x1xf32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<1x1xf32>, %a1 = %x1 : tensor<1x1xf32>) slots [-1 : 4] {
    %c = arith.constant 0.5 : f32
    %e = tensor.empty() : tensor<1x1xf32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<1x1xf32>) -> tensor<1x1xf32>
    %0 = linalg.matmul ins(%a0, %a1 : tensor<1x1xf32>, tensor<1x1xf32>) outs(%f : tensor<1x1xf32>) -> tensor<1x1xf32>
    ckpt.yield %0 : tensor<1x1xf32>
  } -> tensor<1x1xf32>
  return %r1 : tensor<1x1xf32>
}
// CHECK: matmul_1x40x9: ok
func.func @matmul_1x40x9(%x0: tensor<1x9xf32>, %x1: tensor<9x40xf32>) -> (tensor<1x40xf32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<1x9xf32>, %a1 = %x1 : tensor<9x40xf32>) slots [-1 : 4] {
    %c = arith.constant 0.5 : f32
    %e = tensor.empty() : tensor<1x40xf32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<1x40xf32>) -> tensor<1x40xf32>
    %0 = linalg.matmul ins(%a0, %a1 : tensor<1x9xf32>, tensor<9x40xf32>) outs(%f : tensor<1x40xf32>) -> tensor<1x40xf32>
    ckpt.yield %0 : tensor<1x40xf32>
  } -> tensor<1x40xf32>
  return %r1 : tensor<1x40xf32>
}
// CHECK: matmul_40x1x9: ok
func.func @matmul_40x1x9(%x0: tensor<40x9xf32>, %x1: tensor<9x1xf32>) -> (tensor<40x1xf32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<40x9xf32>, %a1 = %x1 : tensor<9x1xf32>) slots [-1 : 4] {
    %c = arith.constant 0.5 : f32
    %e = tensor.empty() : tensor<40x1xf32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<40x1xf32>) -> tensor<40x1xf32>
    %0 = linalg.matmul ins(%a0, %a1 : tensor<40x9xf32>, tensor<9x1xf32>) outs(%f : tensor<40x1xf32>) -> tensor<40x1xf32>
    ckpt.yield %0 : tensor<40x1xf32>
  } -> tensor<40x1xf32>
  return %r1 : tensor<40x1xf32>
}
// CHECK: matmul_8x32x16: ok
func.func @matmul_8x32x16(%x0: tensor<8x16xf32>, %x1: tensor<16x32xf32>) -> (tensor<8x32xf32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<8x16xf32>, %a1 = %x1 : tensor<16x32xf32>) slots [-1 : 4] {
    %c = arith.constant 0.5 : f32
    %e = tensor.empty() : tensor<8x32xf32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<8x32xf32>) -> tensor<8x32xf32>
    %0 = linalg.matmul ins(%a0, %a1 : tensor<8x16xf32>, tensor<16x32xf32>) outs(%f : tensor<8x32xf32>) -> tensor<8x32xf32>
    ckpt.yield %0 : tensor<8x32xf32>
  } -> tensor<8x32xf32>
  return %r1 : tensor<8x32xf32>
}
// CHECK: matmul_9x33x17: ok
func.func @matmul_9x33x17(%x0: tensor<9x17xf32>, %x1: tensor<17x33xf32>) -> (tensor<9x33xf32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<9x17xf32>, %a1 = %x1 : tensor<17x33xf32>) slots [-1 : 4] {
    %c = arith.constant 0.5 : f32
    %e = tensor.empty() : tensor<9x33xf32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<9x33xf32>) -> tensor<9x33xf32>
    %0 = linalg.matmul ins(%a0, %a1 : tensor<9x17xf32>, tensor<17x33xf32>) outs(%f : tensor<9x33xf32>) -> tensor<9x33xf32>
    ckpt.yield %0 : tensor<9x33xf32>
  } -> tensor<9x33xf32>
  return %r1 : tensor<9x33xf32>
}
// CHECK: matmul_17x16x300: ok
func.func @matmul_17x16x300(%x0: tensor<17x300xf32>, %x1: tensor<300x16xf32>) -> (tensor<17x16xf32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<17x300xf32>, %a1 = %x1 : tensor<300x16xf32>) slots [-1 : 4] {
    %c = arith.constant 0.5 : f32
    %e = tensor.empty() : tensor<17x16xf32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<17x16xf32>) -> tensor<17x16xf32>
    %0 = linalg.matmul ins(%a0, %a1 : tensor<17x300xf32>, tensor<300x16xf32>) outs(%f : tensor<17x16xf32>) -> tensor<17x16xf32>
    ckpt.yield %0 : tensor<17x16xf32>
  } -> tensor<17x16xf32>
  return %r1 : tensor<17x16xf32>
}
// CHECK: matmul_2x3x5: ok
func.func @matmul_2x3x5(%x0: tensor<2x5xf32>, %x1: tensor<5x3xf32>) -> (tensor<2x3xf32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<2x5xf32>, %a1 = %x1 : tensor<5x3xf32>) slots [-1 : 4] {
    %c = arith.constant 0.5 : f32
    %e = tensor.empty() : tensor<2x3xf32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<2x3xf32>) -> tensor<2x3xf32>
    %0 = linalg.matmul ins(%a0, %a1 : tensor<2x5xf32>, tensor<5x3xf32>) outs(%f : tensor<2x3xf32>) -> tensor<2x3xf32>
    ckpt.yield %0 : tensor<2x3xf32>
  } -> tensor<2x3xf32>
  return %r1 : tensor<2x3xf32>
}
// CHECK: matmul_200x7x11: ok
func.func @matmul_200x7x11(%x0: tensor<200x11xf32>, %x1: tensor<11x7xf32>) -> (tensor<200x7xf32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<200x11xf32>, %a1 = %x1 : tensor<11x7xf32>) slots [-1 : 4] {
    %c = arith.constant 0.5 : f32
    %e = tensor.empty() : tensor<200x7xf32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<200x7xf32>) -> tensor<200x7xf32>
    %0 = linalg.matmul ins(%a0, %a1 : tensor<200x11xf32>, tensor<11x7xf32>) outs(%f : tensor<200x7xf32>) -> tensor<200x7xf32>
    ckpt.yield %0 : tensor<200x7xf32>
  } -> tensor<200x7xf32>
  return %r1 : tensor<200x7xf32>
}
// CHECK: matmul_13x50x513: ok
func.func @matmul_13x50x513(%x0: tensor<13x513xf32>, %x1: tensor<513x50xf32>) -> (tensor<13x50xf32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<13x513xf32>, %a1 = %x1 : tensor<513x50xf32>) slots [-1 : 4] {
    %c = arith.constant 0.5 : f32
    %e = tensor.empty() : tensor<13x50xf32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<13x50xf32>) -> tensor<13x50xf32>
    %0 = linalg.matmul ins(%a0, %a1 : tensor<13x513xf32>, tensor<513x50xf32>) outs(%f : tensor<13x50xf32>) -> tensor<13x50xf32>
    ckpt.yield %0 : tensor<13x50xf32>
  } -> tensor<13x50xf32>
  return %r1 : tensor<13x50xf32>
}
// CHECK: matmul_ta: ok
func.func @matmul_ta(%x0: tensor<21x19xf32>, %x1: tensor<21x34xf32>) -> (tensor<19x34xf32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<21x19xf32>, %a1 = %x1 : tensor<21x34xf32>) slots [-1 : 4] {
    %c = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<19x34xf32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<19x34xf32>) -> tensor<19x34xf32>
    %u = tensor.empty() : tensor<19x21xf32>
    %l = linalg.transpose ins(%a0 : tensor<21x19xf32>) outs(%u : tensor<19x21xf32>) permutation = [1, 0]
    %0 = linalg.matmul ins(%l, %a1 : tensor<19x21xf32>, tensor<21x34xf32>) outs(%f : tensor<19x34xf32>) -> tensor<19x34xf32>
    ckpt.yield %0 : tensor<19x34xf32>
  } -> tensor<19x34xf32>
  return %r1 : tensor<19x34xf32>
}
// CHECK: matmul_tb: ok
func.func @matmul_tb(%x0: tensor<19x37xf32>, %x1: tensor<34x37xf32>) -> (tensor<19x34xf32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<19x37xf32>, %a1 = %x1 : tensor<34x37xf32>) slots [-1 : 4] {
    %c = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<19x34xf32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<19x34xf32>) -> tensor<19x34xf32>
    %v = tensor.empty() : tensor<37x34xf32>
    %r = linalg.transpose ins(%a1 : tensor<34x37xf32>) outs(%v : tensor<37x34xf32>) permutation = [1, 0]
    %0 = linalg.matmul ins(%a0, %r : tensor<19x37xf32>, tensor<37x34xf32>) outs(%f : tensor<19x34xf32>) -> tensor<19x34xf32>
    ckpt.yield %0 : tensor<19x34xf32>
  } -> tensor<19x34xf32>
  return %r1 : tensor<19x34xf32>
}
// CHECK: matmul_ta_tb: ok
func.func @matmul_ta_tb(%x0: tensor<21x19xf32>, %x1: tensor<34x21xf32>) -> (tensor<19x34xf32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<21x19xf32>, %a1 = %x1 : tensor<34x21xf32>) slots [-1 : 4] {
    %c = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<19x34xf32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<19x34xf32>) -> tensor<19x34xf32>
    %u = tensor.empty() : tensor<19x21xf32>
    %l = linalg.transpose ins(%a0 : tensor<21x19xf32>) outs(%u : tensor<19x21xf32>) permutation = [1, 0]
    %v = tensor.empty() : tensor<21x34xf32>
    %r = linalg.transpose ins(%a1 : tensor<34x21xf32>) outs(%v : tensor<21x34xf32>) permutation = [1, 0]
    %0 = linalg.matmul ins(%l, %r : tensor<19x21xf32>, tensor<21x34xf32>) outs(%f : tensor<19x34xf32>) -> tensor<19x34xf32>
    ckpt.yield %0 : tensor<19x34xf32>
  } -> tensor<19x34xf32>
  return %r1 : tensor<19x34xf32>
}
// CHECK: matmul_f64: ok
func.func @matmul_f64(%x0: tensor<9x30xf64>, %x1: tensor<30x20xf64>) -> (tensor<9x20xf64>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<9x30xf64>, %a1 = %x1 : tensor<30x20xf64>) slots [-1 : 4] {
    %c = arith.constant 0.0 : f64
    %e = tensor.empty() : tensor<9x20xf64>
    %f = linalg.fill ins(%c : f64) outs(%e : tensor<9x20xf64>) -> tensor<9x20xf64>
    %0 = linalg.matmul ins(%a0, %a1 : tensor<9x30xf64>, tensor<30x20xf64>) outs(%f : tensor<9x20xf64>) -> tensor<9x20xf64>
    ckpt.yield %0 : tensor<9x20xf64>
  } -> tensor<9x20xf64>
  return %r1 : tensor<9x20xf64>
}
// CHECK: matmul_bf16_f32: ok
func.func @matmul_bf16_f32(%x0: tensor<9x30xbf16>, %x1: tensor<30x20xbf16>) -> (tensor<9x20xf32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<9x30xbf16>, %a1 = %x1 : tensor<30x20xbf16>) slots [-1 : 4] {
    %c = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<9x20xf32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<9x20xf32>) -> tensor<9x20xf32>
    %0 = linalg.matmul ins(%a0, %a1 : tensor<9x30xbf16>, tensor<30x20xbf16>) outs(%f : tensor<9x20xf32>) -> tensor<9x20xf32>
    ckpt.yield %0 : tensor<9x20xf32>
  } -> tensor<9x20xf32>
  return %r1 : tensor<9x20xf32>
}
// CHECK: matmul_bf16: ok
func.func @matmul_bf16(%x0: tensor<9x30xbf16>, %x1: tensor<30x20xbf16>) -> (tensor<9x20xbf16>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<9x30xbf16>, %a1 = %x1 : tensor<30x20xbf16>) slots [-1 : 4] {
    %c = arith.constant 0.0 : bf16
    %e = tensor.empty() : tensor<9x20xbf16>
    %f = linalg.fill ins(%c : bf16) outs(%e : tensor<9x20xbf16>) -> tensor<9x20xbf16>
    %0 = linalg.matmul ins(%a0, %a1 : tensor<9x30xbf16>, tensor<30x20xbf16>) outs(%f : tensor<9x20xbf16>) -> tensor<9x20xbf16>
    ckpt.yield %0 : tensor<9x20xbf16>
  } -> tensor<9x20xbf16>
  return %r1 : tensor<9x20xbf16>
}
// CHECK: matmul_f16_f32: ok
func.func @matmul_f16_f32(%x0: tensor<9x30xf16>, %x1: tensor<20x30xf16>) -> (tensor<9x20xf32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<9x30xf16>, %a1 = %x1 : tensor<20x30xf16>) slots [-1 : 4] {
    %c = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<9x20xf32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<9x20xf32>) -> tensor<9x20xf32>
    %v = tensor.empty() : tensor<30x20xf16>
    %r = linalg.transpose ins(%a1 : tensor<20x30xf16>) outs(%v : tensor<30x20xf16>) permutation = [1, 0]
    %0 = linalg.matmul ins(%a0, %r : tensor<9x30xf16>, tensor<30x20xf16>) outs(%f : tensor<9x20xf32>) -> tensor<9x20xf32>
    ckpt.yield %0 : tensor<9x20xf32>
  } -> tensor<9x20xf32>
  return %r1 : tensor<9x20xf32>
}
// CHECK: matmul_int: ok
func.func @matmul_int(%x0: tensor<5x7xi32>, %x1: tensor<7x20xi32>) -> (tensor<5x20xi32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<5x7xi32>, %a1 = %x1 : tensor<7x20xi32>) slots [-1 : 4] {
    %c = arith.constant 0 : i32
    %e = tensor.empty() : tensor<5x20xi32>
    %f = linalg.fill ins(%c : i32) outs(%e : tensor<5x20xi32>) -> tensor<5x20xi32>
    %0 = linalg.matmul ins(%a0, %a1 : tensor<5x7xi32>, tensor<7x20xi32>) outs(%f : tensor<5x20xi32>) -> tensor<5x20xi32>
    ckpt.yield %0 : tensor<5x20xi32>
  } -> tensor<5x20xi32>
  return %r1 : tensor<5x20xi32>
}
// CHECK: batch_matvec: ok
func.func @batch_matvec(%x0: tensor<3x18x21xf32>, %x1: tensor<3x21xf32>) -> (tensor<3x18xf32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<3x18x21xf32>, %a1 = %x1 : tensor<3x21xf32>) slots [-1 : 4] {
    %c = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<3x18xf32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<3x18xf32>) -> tensor<3x18xf32>
    %0 = linalg.batch_matvec ins(%a0, %a1 : tensor<3x18x21xf32>, tensor<3x21xf32>) outs(%f : tensor<3x18xf32>) -> tensor<3x18xf32>
    ckpt.yield %0 : tensor<3x18xf32>
  } -> tensor<3x18xf32>
  return %r1 : tensor<3x18xf32>
}
// CHECK: attention_scores: ok
func.func @attention_scores(%x0: tensor<2x10x72xf32>, %x1: tensor<2x10x72xf32>) -> (tensor<6x10x10xf32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<2x10x72xf32>, %a1 = %x1 : tensor<2x10x72xf32>) slots [-1 : 4] {
    %q = tensor.expand_shape %a0 [[0], [1], [2, 3]] output_shape [2, 10, 3, 24] : tensor<2x10x72xf32> into tensor<2x10x3x24xf32>
    %k = tensor.expand_shape %a1 [[0], [1], [2, 3]] output_shape [2, 10, 3, 24] : tensor<2x10x72xf32> into tensor<2x10x3x24xf32>
    %qte = tensor.empty() : tensor<2x3x10x24xf32>
    %qt = linalg.transpose ins(%q : tensor<2x10x3x24xf32>) outs(%qte : tensor<2x3x10x24xf32>) permutation = [0, 2, 1, 3]
    %kte = tensor.empty() : tensor<2x3x24x10xf32>
    %kt = linalg.transpose ins(%k : tensor<2x10x3x24xf32>) outs(%kte : tensor<2x3x24x10xf32>) permutation = [0, 2, 3, 1]
    %qc = tensor.collapse_shape %qt [[0, 1], [2], [3]] : tensor<2x3x10x24xf32> into tensor<6x10x24xf32>
    %kc = tensor.collapse_shape %kt [[0, 1], [2], [3]] : tensor<2x3x24x10xf32> into tensor<6x24x10xf32>
    %c = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<6x10x10xf32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<6x10x10xf32>) -> tensor<6x10x10xf32>
    %0 = linalg.batch_matmul ins(%qc, %kc : tensor<6x10x24xf32>, tensor<6x24x10xf32>) outs(%f : tensor<6x10x10xf32>) -> tensor<6x10x10xf32>
    ckpt.yield %0 : tensor<6x10x10xf32>
  } -> tensor<6x10x10xf32>
  return %r1 : tensor<6x10x10xf32>
}
// CHECK: attention_values: ok
func.func @attention_values(%x0: tensor<6x10x10xf32>, %x1: tensor<2x10x72xf32>) -> (tensor<2x10x72xf32>, tensor<6x24x10xf32>) {
  %r1, %r2 = ckpt.kernel(%a0 = %x0 : tensor<6x10x10xf32>, %a1 = %x1 : tensor<2x10x72xf32>) slots [-1 : 4, -1 : 4] {
    %v = tensor.expand_shape %a1 [[0], [1], [2, 3]] output_shape [2, 10, 3, 24] : tensor<2x10x72xf32> into tensor<2x10x3x24xf32>
    %vte = tensor.empty() : tensor<2x3x24x10xf32>
    %vt = linalg.transpose ins(%v : tensor<2x10x3x24xf32>) outs(%vte : tensor<2x3x24x10xf32>) permutation = [0, 2, 3, 1]
    %vc = tensor.collapse_shape %vt [[0, 1], [2], [3]] : tensor<2x3x24x10xf32> into tensor<6x24x10xf32>
    %pte = tensor.empty() : tensor<6x10x10xf32>
    %pt = linalg.transpose ins(%a0 : tensor<6x10x10xf32>) outs(%pte : tensor<6x10x10xf32>) permutation = [0, 2, 1]
    %c = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<6x24x10xf32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<6x24x10xf32>) -> tensor<6x24x10xf32>
    %0 = linalg.batch_matmul ins(%vc, %pt : tensor<6x24x10xf32>, tensor<6x10x10xf32>) outs(%f : tensor<6x24x10xf32>) -> tensor<6x24x10xf32>
    %x = tensor.expand_shape %0 [[0, 1], [2], [3]] output_shape [2, 3, 24, 10] : tensor<6x24x10xf32> into tensor<2x3x24x10xf32>
    %ye = tensor.empty() : tensor<2x10x3x24xf32>
    %y = linalg.transpose ins(%x : tensor<2x3x24x10xf32>) outs(%ye : tensor<2x10x3x24xf32>) permutation = [0, 3, 1, 2]
    %z = tensor.collapse_shape %y [[0], [1], [2, 3]] : tensor<2x10x3x24xf32> into tensor<2x10x72xf32>
    %w = math.tanh %z : tensor<2x10x72xf32>
    ckpt.yield %w, %0 : tensor<2x10x72xf32>, tensor<6x24x10xf32>
  } -> tensor<2x10x72xf32>, tensor<6x24x10xf32>
  return %r1, %r2 : tensor<2x10x72xf32>, tensor<6x24x10xf32>
}
// CHECK: matmul_of_slice: ok
func.func @matmul_of_slice(%x0: tensor<2x10x20xf32>, %x1: tensor<2x12x40xf32>) -> (tensor<20x18xf32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<2x10x20xf32>, %a1 = %x1 : tensor<2x12x40xf32>) slots [-1 : 4] {
    %xt = tensor.collapse_shape %a0 [[0, 1], [2]] : tensor<2x10x20xf32> into tensor<20x20xf32>
    %s = tensor.extract_slice %a1[0, 1, 4] [2, 10, 18] [1, 1, 1] : tensor<2x12x40xf32> to tensor<2x10x18xf32>
    %y = tensor.collapse_shape %s [[0, 1], [2]] : tensor<2x10x18xf32> into tensor<20x18xf32>
    %le = tensor.empty() : tensor<20x20xf32>
    %l = linalg.transpose ins(%xt : tensor<20x20xf32>) outs(%le : tensor<20x20xf32>) permutation = [1, 0]
    %c = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<20x18xf32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<20x18xf32>) -> tensor<20x18xf32>
    %0 = linalg.matmul ins(%l, %y : tensor<20x20xf32>, tensor<20x18xf32>) outs(%f : tensor<20x18xf32>) -> tensor<20x18xf32>
    ckpt.yield %0 : tensor<20x18xf32>
  } -> tensor<20x18xf32>
  return %r1 : tensor<20x18xf32>
}
// CHECK: conv_stem: ok
func.func @conv_stem(%x0: tensor<2x13x13x3xf32>, %x1: tensor<7x7x3x16xf32>) -> (tensor<2x4x4x16xf32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<2x13x13x3xf32>, %a1 = %x1 : tensor<7x7x3x16xf32>) slots [-1 : 4] {
    %c = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<2x4x4x16xf32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<2x4x4x16xf32>) -> tensor<2x4x4x16xf32>
    %0 = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>} ins(%a0, %a1 : tensor<2x13x13x3xf32>, tensor<7x7x3x16xf32>) outs(%f : tensor<2x4x4x16xf32>) -> tensor<2x4x4x16xf32>
    ckpt.yield %0 : tensor<2x4x4x16xf32>
  } -> tensor<2x4x4x16xf32>
  return %r1 : tensor<2x4x4x16xf32>
}
// CHECK: conv_3x3: ok
func.func @conv_3x3(%x0: tensor<2x6x6x5xf32>, %x1: tensor<3x3x5x33xf32>) -> (tensor<2x4x4x33xf32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<2x6x6x5xf32>, %a1 = %x1 : tensor<3x3x5x33xf32>) slots [-1 : 4] {
    %c = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<2x4x4x33xf32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<2x4x4x33xf32>) -> tensor<2x4x4x33xf32>
    %0 = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%a0, %a1 : tensor<2x6x6x5xf32>, tensor<3x3x5x33xf32>) outs(%f : tensor<2x4x4x33xf32>) -> tensor<2x4x4x33xf32>
    ckpt.yield %0 : tensor<2x4x4x33xf32>
  } -> tensor<2x4x4x33xf32>
  return %r1 : tensor<2x4x4x33xf32>
}
// CHECK: conv_dilated: ok
func.func @conv_dilated(%x0: tensor<3x11x11x2xf32>, %x1: tensor<4x4x2x16xf32>) -> (tensor<3x5x5x16xf32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<3x11x11x2xf32>, %a1 = %x1 : tensor<4x4x2x16xf32>) slots [-1 : 4] {
    %c = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<3x5x5x16xf32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<3x5x5x16xf32>) -> tensor<3x5x5x16xf32>
    %0 = linalg.conv_2d_nhwc_hwcf {dilations = dense<2> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%a0, %a1 : tensor<3x11x11x2xf32>, tensor<4x4x2x16xf32>) outs(%f : tensor<3x5x5x16xf32>) -> tensor<3x5x5x16xf32>
    ckpt.yield %0 : tensor<3x5x5x16xf32>
  } -> tensor<3x5x5x16xf32>
  return %r1 : tensor<3x5x5x16xf32>
}
// CHECK: conv_1x1_stride: ok
func.func @conv_1x1_stride(%x0: tensor<2x7x7x9xf32>, %x1: tensor<1x1x9x20xf32>) -> (tensor<2x4x4x20xf32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<2x7x7x9xf32>, %a1 = %x1 : tensor<1x1x9x20xf32>) slots [-1 : 4] {
    %c = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<2x4x4x20xf32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<2x4x4x20xf32>) -> tensor<2x4x4x20xf32>
    %0 = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>} ins(%a0, %a1 : tensor<2x7x7x9xf32>, tensor<1x1x9x20xf32>) outs(%f : tensor<2x4x4x20xf32>) -> tensor<2x4x4x20xf32>
    ckpt.yield %0 : tensor<2x4x4x20xf32>
  } -> tensor<2x4x4x20xf32>
  return %r1 : tensor<2x4x4x20xf32>
}
// CHECK: conv_depthwise: ok
func.func @conv_depthwise(%x0: tensor<2x7x7x18xf32>, %x1: tensor<3x3x18xf32>) -> (tensor<2x5x5x18xf32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<2x7x7x18xf32>, %a1 = %x1 : tensor<3x3x18xf32>) slots [-1 : 4] {
    %c = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<2x5x5x18xf32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<2x5x5x18xf32>) -> tensor<2x5x5x18xf32>
    %0 = linalg.depthwise_conv_2d_nhwc_hwc {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%a0, %a1 : tensor<2x7x7x18xf32>, tensor<3x3x18xf32>) outs(%f : tensor<2x5x5x18xf32>) -> tensor<2x5x5x18xf32>
    ckpt.yield %0 : tensor<2x5x5x18xf32>
  } -> tensor<2x5x5x18xf32>
  return %r1 : tensor<2x5x5x18xf32>
}
// CHECK: matmul_unfused: ok
func.func @matmul_unfused(%x0: tensor<21x30xf32>, %x1: tensor<44x30xf32>, %x2: tensor<44xf32>) -> (tensor<21x44xf32>, tensor<21x44xf32>) {
  %r1 = ckpt.kernel(%b = %x1 : tensor<44x30xf32>) slots [0 : 65536] {
    %te = tensor.empty() : tensor<30x44xf32>
    %t = linalg.transpose ins(%b : tensor<44x30xf32>) outs(%te : tensor<30x44xf32>) permutation = [1, 0]
    ckpt.yield %t : tensor<30x44xf32>
  } -> tensor<30x44xf32>
  %r2 = ckpt.kernel(%a = %x0 : tensor<21x30xf32>, %t = %r1 : tensor<30x44xf32>) slots [-1 : 4] {
    %c = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<21x44xf32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<21x44xf32>) -> tensor<21x44xf32>
    %m = linalg.matmul ins(%a, %t : tensor<21x30xf32>, tensor<30x44xf32>) outs(%f : tensor<21x44xf32>) -> tensor<21x44xf32>
    ckpt.yield %m : tensor<21x44xf32>
  } -> tensor<21x44xf32>
  %r3 = ckpt.kernel(%m = %r2 : tensor<21x44xf32>, %d = %x2 : tensor<44xf32>) slots [-1 : 4] {
    %g = tensor.empty() : tensor<21x44xf32>
    %u = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%m, %d : tensor<21x44xf32>, tensor<44xf32>) outs(%g : tensor<21x44xf32>) {
    ^bb0(%i: f32, %j: f32, %o: f32):
      %x = arith.addf %i, %j : f32
      %y = math.tanh %x : f32
      linalg.yield %y : f32
    } -> tensor<21x44xf32>
    ckpt.yield %u : tensor<21x44xf32>
  } -> tensor<21x44xf32>
  return %r3, %r2 : tensor<21x44xf32>, tensor<21x44xf32>
}
// CHECK: matmul_fused: ok
func.func @matmul_fused(%x0: tensor<21x30xf32>, %x1: tensor<44x30xf32>, %x2: tensor<44xf32>) -> (tensor<21x44xf32>, tensor<21x44xf32>) attributes {test.same_as = @matmul_unfused} {
  %r1, %r2 = ckpt.kernel(%a = %x0 : tensor<21x30xf32>, %b = %x1 : tensor<44x30xf32>, %d = %x2 : tensor<44xf32>) slots [-1 : 4, -1 : 4] {
    %te = tensor.empty() : tensor<30x44xf32>
    %t = linalg.transpose ins(%b : tensor<44x30xf32>) outs(%te : tensor<30x44xf32>) permutation = [1, 0]
    %c = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<21x44xf32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<21x44xf32>) -> tensor<21x44xf32>
    %m = linalg.matmul ins(%a, %t : tensor<21x30xf32>, tensor<30x44xf32>) outs(%f : tensor<21x44xf32>) -> tensor<21x44xf32>
    %g = tensor.empty() : tensor<21x44xf32>
    %u = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%m, %d : tensor<21x44xf32>, tensor<44xf32>) outs(%g : tensor<21x44xf32>) {
    ^bb0(%i: f32, %j: f32, %o: f32):
      %x = arith.addf %i, %j : f32
      %y = math.tanh %x : f32
      linalg.yield %y : f32
    } -> tensor<21x44xf32>
    ckpt.yield %u, %m : tensor<21x44xf32>, tensor<21x44xf32>
  } -> tensor<21x44xf32>, tensor<21x44xf32>
  return %r1, %r2 : tensor<21x44xf32>, tensor<21x44xf32>
}
