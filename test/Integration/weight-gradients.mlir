// Gradients of weights that have more rows than columns: the CPU makes them as
// their transpose, by squares of sums.
// RUN: ckpt-execute %s | FileCheck %s

// Squares that are all inside.
// CHECK: full_64x32x48: ok
func.func @full_64x32x48(%x0: tensor<48x64xf32>, %x1: tensor<48x32xf32>, %x2: tensor<64x32xf32>) -> (tensor<64x32xf32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<48x64xf32>, %a1 = %x1 : tensor<48x32xf32>, %a2 = %x2 : tensor<64x32xf32>) slots [-1 : 4] {
    %c = arith.constant 0.5 : f32
    %e = tensor.empty() : tensor<64x32xf32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<64x32xf32>) -> tensor<64x32xf32>
    %0 = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%a0, %a1 : tensor<48x64xf32>, tensor<48x32xf32>) outs(%f : tensor<64x32xf32>) -> tensor<64x32xf32>
    ckpt.yield %0 : tensor<64x32xf32>
  } -> tensor<64x32xf32>
  return %r1 : tensor<64x32xf32>
}
// Rows, columns and steps of odd numbers.
// CHECK: odd_70x37x19: ok
func.func @odd_70x37x19(%x0: tensor<19x70xf32>, %x1: tensor<19x37xf32>, %x2: tensor<70x37xf32>) -> (tensor<70x37xf32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<19x70xf32>, %a1 = %x1 : tensor<19x37xf32>, %a2 = %x2 : tensor<70x37xf32>) slots [-1 : 4] {
    %c = arith.constant 0.5 : f32
    %e = tensor.empty() : tensor<70x37xf32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<70x37xf32>) -> tensor<70x37xf32>
    %0 = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%a0, %a1 : tensor<19x70xf32>, tensor<19x37xf32>) outs(%f : tensor<70x37xf32>) -> tensor<70x37xf32>
    ckpt.yield %0 : tensor<70x37xf32>
  } -> tensor<70x37xf32>
  return %r1 : tensor<70x37xf32>
}
// CHECK: narrow_50x3x5: ok
func.func @narrow_50x3x5(%x0: tensor<5x50xf32>, %x1: tensor<5x3xf32>, %x2: tensor<50x3xf32>) -> (tensor<50x3xf32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<5x50xf32>, %a1 = %x1 : tensor<5x3xf32>, %a2 = %x2 : tensor<50x3xf32>) slots [-1 : 4] {
    %c = arith.constant 0.5 : f32
    %e = tensor.empty() : tensor<50x3xf32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<50x3xf32>) -> tensor<50x3xf32>
    %0 = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%a0, %a1 : tensor<5x50xf32>, tensor<5x3xf32>) outs(%f : tensor<50x3xf32>) -> tensor<50x3xf32>
    ckpt.yield %0 : tensor<50x3xf32>
  } -> tensor<50x3xf32>
  return %r1 : tensor<50x3xf32>
}
// Several blocks of rows and of steps.
// CHECK: blocks_430x390x300: ok
func.func @blocks_430x390x300(%x0: tensor<300x430xf32>, %x1: tensor<300x390xf32>, %x2: tensor<430x390xf32>) -> (tensor<430x390xf32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<300x430xf32>, %a1 = %x1 : tensor<300x390xf32>, %a2 = %x2 : tensor<430x390xf32>) slots [-1 : 4] {
    %c = arith.constant 0.5 : f32
    %e = tensor.empty() : tensor<430x390xf32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<430x390xf32>) -> tensor<430x390xf32>
    %0 = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%a0, %a1 : tensor<300x430xf32>, tensor<300x390xf32>) outs(%f : tensor<430x390xf32>) -> tensor<430x390xf32>
    ckpt.yield %0 : tensor<430x390xf32>
  } -> tensor<430x390xf32>
  return %r1 : tensor<430x390xf32>
}
// An update of the weight itself.
// CHECK: updated_130x33x40: ok
func.func @updated_130x33x40(%x0: tensor<40x130xf32>, %x1: tensor<40x33xf32>, %x2: tensor<130x33xf32>) -> (tensor<130x33xf32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<40x130xf32>, %a1 = %x1 : tensor<40x33xf32>, %a2 = %x2 : tensor<130x33xf32>) slots [-1 : 4] {
    %c = arith.constant 0.5 : f32
    %e = tensor.empty() : tensor<130x33xf32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<130x33xf32>) -> tensor<130x33xf32>
    %0 = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%a0, %a1 : tensor<40x130xf32>, tensor<40x33xf32>) outs(%f : tensor<130x33xf32>) -> tensor<130x33xf32>
    %1 = linalg.mul ins(%0, %f : tensor<130x33xf32>, tensor<130x33xf32>) outs(%e : tensor<130x33xf32>) -> tensor<130x33xf32>
    %2 = linalg.sub ins(%a2, %1 : tensor<130x33xf32>, tensor<130x33xf32>) outs(%e : tensor<130x33xf32>) -> tensor<130x33xf32>
    ckpt.yield %2 : tensor<130x33xf32>
  } -> tensor<130x33xf32>
  return %r1 : tensor<130x33xf32>
}
// Sums of chunks, roughly as means: the reference adds in one chain.
// CHECK: long_20x6x4100: ok
func.func @long_20x6x4100(%x0: tensor<4100x20xf32>, %x1: tensor<4100x6xf32>) -> (tensor<20x6xf32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<4100x20xf32>, %a1 = %x1 : tensor<4100x6xf32>) slots [-1 : 4] {
    %c = arith.constant 0.5 : f32
    %e = tensor.empty() : tensor<20x6xf32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<20x6xf32>) -> tensor<20x6xf32>
    %0 = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%a0, %a1 : tensor<4100x20xf32>, tensor<4100x6xf32>) outs(%f : tensor<20x6xf32>) -> tensor<20x6xf32>
    %h = arith.constant dense<0.125> : tensor<20x6xf32>
    %1 = arith.mulf %0, %h : tensor<20x6xf32>
    ckpt.yield %1 : tensor<20x6xf32>
  } -> tensor<20x6xf32>
  return %r1 : tensor<20x6xf32>
}
// An init of many values.
// CHECK: added_70x33x20: ok
func.func @added_70x33x20(%x0: tensor<20x70xf32>, %x1: tensor<20x33xf32>, %x2: tensor<70x33xf32>) -> (tensor<70x33xf32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<20x70xf32>, %a1 = %x1 : tensor<20x33xf32>, %a2 = %x2 : tensor<70x33xf32>) slots [-1 : 4] {
    %c = arith.constant 0.5 : f32
    %e = tensor.empty() : tensor<70x33xf32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<70x33xf32>) -> tensor<70x33xf32>
    %0 = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%a0, %a1 : tensor<20x70xf32>, tensor<20x33xf32>) outs(%a2 : tensor<70x33xf32>) -> tensor<70x33xf32>
    ckpt.yield %0 : tensor<70x33xf32>
  } -> tensor<70x33xf32>
  return %r1 : tensor<70x33xf32>
}
// Narrow elements, and elements of eight bytes.
// CHECK: narrow_bf16_70x33x20: ok
func.func @narrow_bf16_70x33x20(%x0: tensor<20x70xbf16>, %x1: tensor<20x33xbf16>, %x2: tensor<70x33xbf16>) -> (tensor<70x33xbf16>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<20x70xbf16>, %a1 = %x1 : tensor<20x33xbf16>, %a2 = %x2 : tensor<70x33xbf16>) slots [-1 : 4] {
    %c = arith.constant 0.5 : bf16
    %e = tensor.empty() : tensor<70x33xbf16>
    %f = linalg.fill ins(%c : bf16) outs(%e : tensor<70x33xbf16>) -> tensor<70x33xbf16>
    %0 = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%a0, %a1 : tensor<20x70xbf16>, tensor<20x33xbf16>) outs(%f : tensor<70x33xbf16>) -> tensor<70x33xbf16>
    %1 = linalg.mul ins(%0, %f : tensor<70x33xbf16>, tensor<70x33xbf16>) outs(%e : tensor<70x33xbf16>) -> tensor<70x33xbf16>
    %2 = linalg.sub ins(%a2, %1 : tensor<70x33xbf16>, tensor<70x33xbf16>) outs(%e : tensor<70x33xbf16>) -> tensor<70x33xbf16>
    ckpt.yield %2 : tensor<70x33xbf16>
  } -> tensor<70x33xbf16>
  return %r1 : tensor<70x33xbf16>
}
// CHECK: wide_f64_70x33x20: ok
func.func @wide_f64_70x33x20(%x0: tensor<20x70xf64>, %x1: tensor<20x33xf64>, %x2: tensor<70x33xf64>) -> (tensor<70x33xf64>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<20x70xf64>, %a1 = %x1 : tensor<20x33xf64>, %a2 = %x2 : tensor<70x33xf64>) slots [-1 : 4] {
    %c = arith.constant 0.5 : f64
    %e = tensor.empty() : tensor<70x33xf64>
    %f = linalg.fill ins(%c : f64) outs(%e : tensor<70x33xf64>) -> tensor<70x33xf64>
    %0 = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%a0, %a1 : tensor<20x70xf64>, tensor<20x33xf64>) outs(%f : tensor<70x33xf64>) -> tensor<70x33xf64>
    %1 = linalg.mul ins(%0, %f : tensor<70x33xf64>, tensor<70x33xf64>) outs(%e : tensor<70x33xf64>) -> tensor<70x33xf64>
    %2 = linalg.sub ins(%a2, %1 : tensor<70x33xf64>, tensor<70x33xf64>) outs(%e : tensor<70x33xf64>) -> tensor<70x33xf64>
    ckpt.yield %2 : tensor<70x33xf64>
  } -> tensor<70x33xf64>
  return %r1 : tensor<70x33xf64>
}
// Heads that a reshape made rows.
// CHECK: heads_96x33x20: ok
func.func @heads_96x33x20(%x0: tensor<20x2x3x16xf32>, %x1: tensor<20x33xf32>) -> (tensor<3x2x16x33xf32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<20x2x3x16xf32>, %a1 = %x1 : tensor<20x33xf32>) slots [-1 : 4] {
    %c = arith.constant 0.5 : f32
    %e = tensor.empty() : tensor<3x2x16x33xf32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<3x2x16x33xf32>) -> tensor<3x2x16x33xf32>
    %0 = linalg.generic {indexing_maps = [affine_map<(h, g, m, n, k) -> (k, g, h, m)>, affine_map<(h, g, m, n, k) -> (k, n)>,
                                          affine_map<(h, g, m, n, k) -> (h, g, m, n)>],
                         iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
        ins(%a0, %a1 : tensor<20x2x3x16xf32>, tensor<20x33xf32>) outs(%f : tensor<3x2x16x33xf32>) {
    ^bb0(%in: f32, %by: f32, %out: f32):
      %p = arith.mulf %in, %by : f32
      %s = arith.addf %out, %p : f32
      linalg.yield %s : f32
    } -> tensor<3x2x16x33xf32>
    ckpt.yield %0 : tensor<3x2x16x33xf32>
  } -> tensor<3x2x16x33xf32>
  return %r1 : tensor<3x2x16x33xf32>
}
// CHECK: batch_3x40x20x9: ok
func.func @batch_3x40x20x9(%x0: tensor<3x9x40xf32>, %x1: tensor<3x9x20xf32>) -> (tensor<3x40x20xf32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<3x9x40xf32>, %a1 = %x1 : tensor<3x9x20xf32>) slots [-1 : 4] {
    %c = arith.constant 0.5 : f32
    %e = tensor.empty() : tensor<3x40x20xf32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<3x40x20xf32>) -> tensor<3x40x20xf32>
    %0 = linalg.batch_matmul indexing_maps = [affine_map<(b, m, n, k) -> (b, k, m)>, affine_map<(b, m, n, k) -> (b, k, n)>, affine_map<(b, m, n, k) -> (b, m, n)>]
      ins(%a0, %a1 : tensor<3x9x40xf32>, tensor<3x9x20xf32>) outs(%f : tensor<3x40x20xf32>) -> tensor<3x40x20xf32>
    ckpt.yield %0 : tensor<3x40x20xf32>
  } -> tensor<3x40x20xf32>
  return %r1 : tensor<3x40x20xf32>
}
// The transpose of a gradient updates the weight, as PyTorch writes filters.
// CHECK: updated_130x33_by_33x130: ok
func.func @updated_130x33_by_33x130(%x0: tensor<19x33xf32>, %x1: tensor<19x130xf32>, %x2: tensor<130x33xf32>) -> (tensor<130x33xf32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<19x33xf32>, %a1 = %x1 : tensor<19x130xf32>, %a2 = %x2 : tensor<130x33xf32>) slots [-1 : 4] {
    %c = arith.constant 0.5 : f32
    %e = tensor.empty() : tensor<33x130xf32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<33x130xf32>) -> tensor<33x130xf32>
    %0 = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%a0, %a1 : tensor<19x33xf32>, tensor<19x130xf32>) outs(%f : tensor<33x130xf32>) -> tensor<33x130xf32>
    %g = tensor.empty() : tensor<130x33xf32>
    %1 = linalg.transpose ins(%0 : tensor<33x130xf32>) outs(%g : tensor<130x33xf32>) permutation = [1, 0]
    %2 = linalg.sub ins(%a2, %1 : tensor<130x33xf32>, tensor<130x33xf32>) outs(%g : tensor<130x33xf32>) -> tensor<130x33xf32>
    ckpt.yield %2 : tensor<130x33xf32>
  } -> tensor<130x33xf32>
  return %r1 : tensor<130x33xf32>
}
