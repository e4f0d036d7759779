// Values that are read backwards, as the filters of gradients are: operands of
// contractions have negative strides, and no vector lies along them.
// RUN: ckpt-execute %s | FileCheck %s

// Rows of the left operand, then its steps.
// CHECK: rows: ok
func.func @rows(%x0: tensor<36x40xf32>, %x1: tensor<40x48xf32>) -> tensor<36x48xf32> {
  %r = ckpt.kernel(%a0 = %x0 : tensor<36x40xf32>, %a1 = %x1 : tensor<40x48xf32>) slots [-1 : 6912] {
    %le = tensor.empty() : tensor<36x40xf32>
    %l = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (35 - d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%a0 : tensor<36x40xf32>) outs(%le : tensor<36x40xf32>) {
    ^bb0(%i: f32, %o: f32):
      linalg.yield %i : f32
    } -> tensor<36x40xf32>
    %z = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<36x48xf32>
    %f = linalg.fill ins(%z : f32) outs(%e : tensor<36x48xf32>) -> tensor<36x48xf32>
    %0 = linalg.matmul ins(%l, %a1 : tensor<36x40xf32>, tensor<40x48xf32>) outs(%f : tensor<36x48xf32>) -> tensor<36x48xf32>
    ckpt.yield %0 : tensor<36x48xf32>
  } -> tensor<36x48xf32>
  return %r : tensor<36x48xf32>
}

// Steps of both operands, along which the left one is contiguous.
// CHECK: steps: ok
func.func @steps(%x0: tensor<36x64xf32>, %x1: tensor<64x48xf32>) -> tensor<36x48xf32> {
  %r = ckpt.kernel(%a0 = %x0 : tensor<36x64xf32>, %a1 = %x1 : tensor<64x48xf32>) slots [-1 : 6912] {
    %le = tensor.empty() : tensor<36x64xf32>
    %l = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, 63 - d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%a0 : tensor<36x64xf32>) outs(%le : tensor<36x64xf32>) {
    ^bb0(%i: f32, %o: f32):
      linalg.yield %i : f32
    } -> tensor<36x64xf32>
    %qe = tensor.empty() : tensor<64x48xf32>
    %q = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (63 - d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%a1 : tensor<64x48xf32>) outs(%qe : tensor<64x48xf32>) {
    ^bb0(%i: f32, %o: f32):
      linalg.yield %i : f32
    } -> tensor<64x48xf32>
    %z = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<36x48xf32>
    %f = linalg.fill ins(%z : f32) outs(%e : tensor<36x48xf32>) -> tensor<36x48xf32>
    %0 = linalg.matmul ins(%l, %q : tensor<36x64xf32>, tensor<64x48xf32>) outs(%f : tensor<36x48xf32>) -> tensor<36x48xf32>
    ckpt.yield %0 : tensor<36x48xf32>
  } -> tensor<36x48xf32>
  return %r : tensor<36x48xf32>
}

// Columns of the right operand, along which it is contiguous.
// CHECK: columns: ok
func.func @columns(%x0: tensor<36x40xf32>, %x1: tensor<40x48xf32>) -> tensor<36x48xf32> {
  %r = ckpt.kernel(%a0 = %x0 : tensor<36x40xf32>, %a1 = %x1 : tensor<40x48xf32>) slots [-1 : 6912] {
    %qe = tensor.empty() : tensor<40x48xf32>
    %q = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, 47 - d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%a1 : tensor<40x48xf32>) outs(%qe : tensor<40x48xf32>) {
    ^bb0(%i: f32, %o: f32):
      linalg.yield %i : f32
    } -> tensor<40x48xf32>
    %z = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<36x48xf32>
    %f = linalg.fill ins(%z : f32) outs(%e : tensor<36x48xf32>) -> tensor<36x48xf32>
    %0 = linalg.matmul ins(%a0, %q : tensor<36x40xf32>, tensor<40x48xf32>) outs(%f : tensor<36x48xf32>) -> tensor<36x48xf32>
    ckpt.yield %0 : tensor<36x48xf32>
  } -> tensor<36x48xf32>
  return %r : tensor<36x48xf32>
}

// Everything.
// CHECK: all: ok
func.func @all(%x0: tensor<64x64xf32>, %x1: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %r = ckpt.kernel(%a0 = %x0 : tensor<64x64xf32>, %a1 = %x1 : tensor<64x64xf32>) slots [-1 : 16384] {
    %le = tensor.empty() : tensor<64x64xf32>
    %l = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (63 - d0, 63 - d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%a0 : tensor<64x64xf32>) outs(%le : tensor<64x64xf32>) {
    ^bb0(%i: f32, %o: f32):
      linalg.yield %i : f32
    } -> tensor<64x64xf32>
    %qe = tensor.empty() : tensor<64x64xf32>
    %q = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (63 - d0, 63 - d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%a1 : tensor<64x64xf32>) outs(%qe : tensor<64x64xf32>) {
    ^bb0(%i: f32, %o: f32):
      linalg.yield %i : f32
    } -> tensor<64x64xf32>
    %z = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<64x64xf32>
    %f = linalg.fill ins(%z : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
    %0 = linalg.matmul ins(%l, %q : tensor<64x64xf32>, tensor<64x64xf32>) outs(%f : tensor<64x64xf32>) -> tensor<64x64xf32>
    ckpt.yield %0 : tensor<64x64xf32>
  } -> tensor<64x64xf32>
  return %r : tensor<64x64xf32>
}

// Narrow numbers, which tensor cores multiply.
// CHECK: narrow_rows: ok
func.func @narrow_rows(%x0: tensor<64x64xbf16>, %x1: tensor<64x64xbf16>) -> tensor<64x64xf32> {
  %r = ckpt.kernel(%a0 = %x0 : tensor<64x64xbf16>, %a1 = %x1 : tensor<64x64xbf16>) slots [-1 : 16384] {
    %le = tensor.empty() : tensor<64x64xbf16>
    %l = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (63 - d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%a0 : tensor<64x64xbf16>) outs(%le : tensor<64x64xbf16>) {
    ^bb0(%i: bf16, %o: bf16):
      linalg.yield %i : bf16
    } -> tensor<64x64xbf16>
    %z = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<64x64xf32>
    %f = linalg.fill ins(%z : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
    %0 = linalg.matmul ins(%l, %a1 : tensor<64x64xbf16>, tensor<64x64xbf16>) outs(%f : tensor<64x64xf32>) -> tensor<64x64xf32>
    ckpt.yield %0 : tensor<64x64xf32>
  } -> tensor<64x64xf32>
  return %r : tensor<64x64xf32>
}

// The same, and nothing is contiguous.
// CHECK: narrow_all: ok
func.func @narrow_all(%x0: tensor<64x64xbf16>, %x1: tensor<64x64xbf16>) -> tensor<64x64xf32> {
  %r = ckpt.kernel(%a0 = %x0 : tensor<64x64xbf16>, %a1 = %x1 : tensor<64x64xbf16>) slots [-1 : 16384] {
    %le = tensor.empty() : tensor<64x64xbf16>
    %l = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (63 - d0, 63 - d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%a0 : tensor<64x64xbf16>) outs(%le : tensor<64x64xbf16>) {
    ^bb0(%i: bf16, %o: bf16):
      linalg.yield %i : bf16
    } -> tensor<64x64xbf16>
    %qe = tensor.empty() : tensor<64x64xbf16>
    %q = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (63 - d0, 63 - d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%a1 : tensor<64x64xbf16>) outs(%qe : tensor<64x64xbf16>) {
    ^bb0(%i: bf16, %o: bf16):
      linalg.yield %i : bf16
    } -> tensor<64x64xbf16>
    %z = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<64x64xf32>
    %f = linalg.fill ins(%z : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
    %0 = linalg.matmul ins(%l, %q : tensor<64x64xbf16>, tensor<64x64xbf16>) outs(%f : tensor<64x64xf32>) -> tensor<64x64xf32>
    ckpt.yield %0 : tensor<64x64xf32>
  } -> tensor<64x64xf32>
  return %r : tensor<64x64xf32>
}

// A gradient of an image: the filter in both of its dimensions.
// CHECK: filter: ok
func.func @filter(%x0: tensor<2x5x6x16xf32>, %x1: tensor<3x3x16x36xf32>) -> tensor<2x5x6x36xf32> {
  %r = ckpt.kernel(%a0 = %x0 : tensor<2x5x6x16xf32>, %a1 = %x1 : tensor<3x3x16x36xf32>) slots [-1 : 8640] {
    %qe = tensor.empty() : tensor<3x3x16x36xf32>
    %q = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (2 - d0, 2 - d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%a1 : tensor<3x3x16x36xf32>) outs(%qe : tensor<3x3x16x36xf32>) {
    ^bb0(%i: f32, %o: f32):
      linalg.yield %i : f32
    } -> tensor<3x3x16x36xf32>
    %z = arith.constant 0.0 : f32
    %p = tensor.pad %a0 low[0, 1, 1, 0] high[0, 1, 1, 0] {
    ^bb0(%i0: index, %i1: index, %i2: index, %i3: index):
      tensor.yield %z : f32
    } : tensor<2x5x6x16xf32> to tensor<2x7x8x16xf32>
    %e = tensor.empty() : tensor<2x5x6x36xf32>
    %f = linalg.fill ins(%z : f32) outs(%e : tensor<2x5x6x36xf32>) -> tensor<2x5x6x36xf32>
    %0 = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%p, %q : tensor<2x7x8x16xf32>, tensor<3x3x16x36xf32>) outs(%f : tensor<2x5x6x36xf32>) -> tensor<2x5x6x36xf32>
    ckpt.yield %0 : tensor<2x5x6x36xf32>
  } -> tensor<2x5x6x36xf32>
  return %r : tensor<2x5x6x36xf32>
}

// The image within its padding as well.
// CHECK: filter_and_image: ok
func.func @filter_and_image(%x0: tensor<2x5x6x16xf32>, %x1: tensor<3x3x16x36xf32>) -> tensor<2x5x6x36xf32> {
  %r = ckpt.kernel(%a0 = %x0 : tensor<2x5x6x16xf32>, %a1 = %x1 : tensor<3x3x16x36xf32>) slots [-1 : 8640] {
    %qe = tensor.empty() : tensor<3x3x16x36xf32>
    %q = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (2 - d0, 2 - d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%a1 : tensor<3x3x16x36xf32>) outs(%qe : tensor<3x3x16x36xf32>) {
    ^bb0(%i: f32, %o: f32):
      linalg.yield %i : f32
    } -> tensor<3x3x16x36xf32>
    %le = tensor.empty() : tensor<2x5x6x16xf32>
    %l = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, 4 - d1, 5 - d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%a0 : tensor<2x5x6x16xf32>) outs(%le : tensor<2x5x6x16xf32>) {
    ^bb0(%i: f32, %o: f32):
      linalg.yield %i : f32
    } -> tensor<2x5x6x16xf32>
    %z = arith.constant 0.0 : f32
    %p = tensor.pad %l low[0, 1, 1, 0] high[0, 1, 1, 0] {
    ^bb0(%i0: index, %i1: index, %i2: index, %i3: index):
      tensor.yield %z : f32
    } : tensor<2x5x6x16xf32> to tensor<2x7x8x16xf32>
    %e = tensor.empty() : tensor<2x5x6x36xf32>
    %f = linalg.fill ins(%z : f32) outs(%e : tensor<2x5x6x36xf32>) -> tensor<2x5x6x36xf32>
    %0 = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%p, %q : tensor<2x7x8x16xf32>, tensor<3x3x16x36xf32>) outs(%f : tensor<2x5x6x36xf32>) -> tensor<2x5x6x36xf32>
    ckpt.yield %0 : tensor<2x5x6x36xf32>
  } -> tensor<2x5x6x36xf32>
  return %r : tensor<2x5x6x36xf32>
}

// Images in planes: columns run backwards behind padding.
// CHECK: planes: ok
func.func @planes(%x0: tensor<1x2x6x20xf32>, %x1: tensor<3x2x3x3xf32>) -> tensor<1x3x6x20xf32> {
  %r = ckpt.kernel(%a0 = %x0 : tensor<1x2x6x20xf32>, %a1 = %x1 : tensor<3x2x3x3xf32>) slots [-1 : 1440] {
    %le = tensor.empty() : tensor<1x2x6x20xf32>
    %l = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, 19 - d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%a0 : tensor<1x2x6x20xf32>) outs(%le : tensor<1x2x6x20xf32>) {
    ^bb0(%i: f32, %o: f32):
      linalg.yield %i : f32
    } -> tensor<1x2x6x20xf32>
    %qe = tensor.empty() : tensor<3x2x3x3xf32>
    %q = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, 2 - d2, 2 - d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%a1 : tensor<3x2x3x3xf32>) outs(%qe : tensor<3x2x3x3xf32>) {
    ^bb0(%i: f32, %o: f32):
      linalg.yield %i : f32
    } -> tensor<3x2x3x3xf32>
    %z = arith.constant 0.0 : f32
    %p = tensor.pad %l low[0, 0, 1, 1] high[0, 0, 1, 1] {
    ^bb0(%i0: index, %i1: index, %i2: index, %i3: index):
      tensor.yield %z : f32
    } : tensor<1x2x6x20xf32> to tensor<1x2x8x22xf32>
    %e = tensor.empty() : tensor<1x3x6x20xf32>
    %f = linalg.fill ins(%z : f32) outs(%e : tensor<1x3x6x20xf32>) -> tensor<1x3x6x20xf32>
    %0 = linalg.conv_2d_nchw_fchw {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%p, %q : tensor<1x2x8x22xf32>, tensor<3x2x3x3xf32>) outs(%f : tensor<1x3x6x20xf32>) -> tensor<1x3x6x20xf32>
    ckpt.yield %0 : tensor<1x3x6x20xf32>
  } -> tensor<1x3x6x20xf32>
  return %r : tensor<1x3x6x20xf32>
}

// A reduction along the dimension that is reversed, and one beside it.
// CHECK: sum: ok
func.func @sum(%x0: tensor<5x40xf32>) -> tensor<5xf32> {
  %r = ckpt.kernel(%a0 = %x0 : tensor<5x40xf32>) slots [-1 : 20] {
    %le = tensor.empty() : tensor<5x40xf32>
    %l = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (4 - d0, 39 - d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%a0 : tensor<5x40xf32>) outs(%le : tensor<5x40xf32>) {
    ^bb0(%i: f32, %o: f32):
      linalg.yield %i : f32
    } -> tensor<5x40xf32>
    %z = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<5xf32>
    %f = linalg.fill ins(%z : f32) outs(%e : tensor<5xf32>) -> tensor<5xf32>
    %0 = linalg.reduce ins(%l : tensor<5x40xf32>) outs(%f : tensor<5xf32>) dimensions = [1] (%i: f32, %s: f32) {
      %t = arith.addf %i, %s : f32
      linalg.yield %t : f32
    }
    ckpt.yield %0 : tensor<5xf32>
  } -> tensor<5xf32>
  return %r : tensor<5xf32>
}

// Elementwise ops on a value and its reversal.
// CHECK: elements: ok
func.func @elements(%x0: tensor<6x40xf32>) -> tensor<6x40xf32> {
  %r = ckpt.kernel(%a0 = %x0 : tensor<6x40xf32>) slots [-1 : 960] {
    %le = tensor.empty() : tensor<6x40xf32>
    %l = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, 39 - d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%a0 : tensor<6x40xf32>) outs(%le : tensor<6x40xf32>) {
    ^bb0(%i: f32, %o: f32):
      linalg.yield %i : f32
    } -> tensor<6x40xf32>
    %e = tensor.empty() : tensor<6x40xf32>
    %0 = linalg.sub ins(%a0, %l : tensor<6x40xf32>, tensor<6x40xf32>) outs(%e : tensor<6x40xf32>) -> tensor<6x40xf32>
    ckpt.yield %0 : tensor<6x40xf32>
  } -> tensor<6x40xf32>
  return %r : tensor<6x40xf32>
}

// Results that are written backwards, and a sum behind a reversal.
// CHECK: results: ok
func.func @results(%x0: tensor<36x40xf32>, %x1: tensor<40x48xf32>, %x2: tensor<48x36xf32>) -> (tensor<48x36xf32>, tensor<36x48xf32>) {
  %r:2 = ckpt.kernel(%a0 = %x0 : tensor<36x40xf32>, %a1 = %x1 : tensor<40x48xf32>, %a2 = %x2 : tensor<48x36xf32>) slots [-1 : 6912, -1 : 6912] {
    %z = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<36x48xf32>
    %t = tensor.empty() : tensor<48x36xf32>
    %f = linalg.fill ins(%z : f32) outs(%e : tensor<36x48xf32>) -> tensor<36x48xf32>
    %0 = linalg.matmul ins(%a0, %a1 : tensor<36x40xf32>, tensor<40x48xf32>) outs(%f : tensor<36x48xf32>) -> tensor<36x48xf32>
    %1 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, 47 - i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
        ins(%0 : tensor<36x48xf32>) outs(%t : tensor<48x36xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<48x36xf32>
    %2 = linalg.add ins(%1, %a2 : tensor<48x36xf32>, tensor<48x36xf32>) outs(%t : tensor<48x36xf32>) -> tensor<48x36xf32>
    %3 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (35 - i, 47 - j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
        ins(%0 : tensor<36x48xf32>) outs(%e : tensor<36x48xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<36x48xf32>
    ckpt.yield %2, %3 : tensor<48x36xf32>, tensor<36x48xf32>
  } -> tensor<48x36xf32>, tensor<36x48xf32>
  return %r#0, %r#1 : tensor<48x36xf32>, tensor<36x48xf32>
}

// CHECK: sums: ok
func.func @sums(%x0: tensor<48x40xf32>) -> tensor<48xf32> {
  %r = ckpt.kernel(%a0 = %x0 : tensor<48x40xf32>) slots [-1 : 192] {
    %z = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<48xf32>
    %f = linalg.fill ins(%z : f32) outs(%e : tensor<48xf32>) -> tensor<48xf32>
    %0 = linalg.reduce ins(%a0 : tensor<48x40xf32>) outs(%f : tensor<48xf32>) dimensions = [1] (%i: f32, %s: f32) {
      %t = arith.addf %i, %s : f32
      linalg.yield %t : f32
    }
    %1 = linalg.generic {indexing_maps = [affine_map<(i) -> (47 - i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
        ins(%0 : tensor<48xf32>) outs(%e : tensor<48xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<48xf32>
    ckpt.yield %1 : tensor<48xf32>
  } -> tensor<48xf32>
  return %r : tensor<48xf32>
}

// The last elements of a longer row, backwards: no view.
// CHECK: part: ok
func.func @part(%x0: tensor<6x40xf32>) -> tensor<6x24xf32> {
  %r = ckpt.kernel(%a0 = %x0 : tensor<6x40xf32>) slots [-1 : 576] {
    %e = tensor.empty() : tensor<6x24xf32>
    %0 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, 39 - j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
        ins(%a0 : tensor<6x40xf32>) outs(%e : tensor<6x24xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<6x24xf32>
    ckpt.yield %0 : tensor<6x24xf32>
  } -> tensor<6x24xf32>
  return %r : tensor<6x24xf32>
}
