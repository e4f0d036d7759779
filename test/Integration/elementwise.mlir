// Elements of every kind of op that is made one by one, at odd shapes.
// RUN: ckpt-execute %s | FileCheck %s

// CHECK: pointwise_scalar: ok
func.func @pointwise_scalar(%x0: tensor<f32>, %x1: tensor<f32>) -> (tensor<f32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<f32>, %a1 = %x1 : tensor<f32>) slots [-1 : 4] {
    %e = tensor.empty() : tensor<f32>
    %0 = linalg.generic {indexing_maps = [affine_map<() -> ()>, affine_map<() -> ()>, affine_map<() -> ()>], iterator_types = []} ins(%a0, %a1 : tensor<f32>, tensor<f32>) outs(%e : tensor<f32>) {
    ^bb0(%i: f32, %j: f32, %o: f32):
      %s = arith.mulf %i, %j : f32
      %u = math.exp %s : f32
      %v = arith.divf %u, %j : f32
      %w = arith.subf %v, %i : f32
      linalg.yield %w : f32
    } -> tensor<f32>
    ckpt.yield %0 : tensor<f32>
  } -> tensor<f32>
  return %r1 : tensor<f32>
}
// CHECK: pointwise_1: ok
func.func @pointwise_1(%x0: tensor<1xf32>, %x1: tensor<1xf32>) -> (tensor<1xf32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<1xf32>, %a1 = %x1 : tensor<1xf32>) slots [-1 : 4] {
    %e = tensor.empty() : tensor<1xf32>
    %0 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%a0, %a1 : tensor<1xf32>, tensor<1xf32>) outs(%e : tensor<1xf32>) {
    ^bb0(%i: f32, %j: f32, %o: f32):
      %s = arith.mulf %i, %j : f32
      %u = math.exp %s : f32
      %v = arith.divf %u, %j : f32
      %w = arith.subf %v, %i : f32
      linalg.yield %w : f32
    } -> tensor<1xf32>
    ckpt.yield %0 : tensor<1xf32>
  } -> tensor<1xf32>
  return %r1 : tensor<1xf32>
}
// CHECK: pointwise_5: ok
func.func @pointwise_5(%x0: tensor<5xf32>, %x1: tensor<5xf32>) -> (tensor<5xf32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<5xf32>, %a1 = %x1 : tensor<5xf32>) slots [-1 : 4] {
    %e = tensor.empty() : tensor<5xf32>
    %0 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%a0, %a1 : tensor<5xf32>, tensor<5xf32>) outs(%e : tensor<5xf32>) {
    ^bb0(%i: f32, %j: f32, %o: f32):
      %s = arith.mulf %i, %j : f32
      %u = math.exp %s : f32
      %v = arith.divf %u, %j : f32
      %w = arith.subf %v, %i : f32
      linalg.yield %w : f32
    } -> tensor<5xf32>
    ckpt.yield %0 : tensor<5xf32>
  } -> tensor<5xf32>
  return %r1 : tensor<5xf32>
}
// CHECK: pointwise_16: ok
func.func @pointwise_16(%x0: tensor<16xf32>, %x1: tensor<16xf32>) -> (tensor<16xf32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<16xf32>, %a1 = %x1 : tensor<16xf32>) slots [-1 : 4] {
    %e = tensor.empty() : tensor<16xf32>
    %0 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%a0, %a1 : tensor<16xf32>, tensor<16xf32>) outs(%e : tensor<16xf32>) {
    ^bb0(%i: f32, %j: f32, %o: f32):
      %s = arith.mulf %i, %j : f32
      %u = math.exp %s : f32
      %v = arith.divf %u, %j : f32
      %w = arith.subf %v, %i : f32
      linalg.yield %w : f32
    } -> tensor<16xf32>
    ckpt.yield %0 : tensor<16xf32>
  } -> tensor<16xf32>
  return %r1 : tensor<16xf32>
}
// CHECK: pointwise_3x17: ok
func.func @pointwise_3x17(%x0: tensor<3x17xf32>, %x1: tensor<3x17xf32>) -> (tensor<3x17xf32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<3x17xf32>, %a1 = %x1 : tensor<3x17xf32>) slots [-1 : 4] {
    %e = tensor.empty() : tensor<3x17xf32>
    %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%a0, %a1 : tensor<3x17xf32>, tensor<3x17xf32>) outs(%e : tensor<3x17xf32>) {
    ^bb0(%i: f32, %j: f32, %o: f32):
      %s = arith.mulf %i, %j : f32
      %u = math.exp %s : f32
      %v = arith.divf %u, %j : f32
      %w = arith.subf %v, %i : f32
      linalg.yield %w : f32
    } -> tensor<3x17xf32>
    ckpt.yield %0 : tensor<3x17xf32>
  } -> tensor<3x17xf32>
  return %r1 : tensor<3x17xf32>
}
// CHECK: pointwise_4x33x2: ok
func.func @pointwise_4x33x2(%x0: tensor<4x33x2xf32>, %x1: tensor<4x33x2xf32>) -> (tensor<4x33x2xf32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<4x33x2xf32>, %a1 = %x1 : tensor<4x33x2xf32>) slots [-1 : 4] {
    %e = tensor.empty() : tensor<4x33x2xf32>
    %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%a0, %a1 : tensor<4x33x2xf32>, tensor<4x33x2xf32>) outs(%e : tensor<4x33x2xf32>) {
    ^bb0(%i: f32, %j: f32, %o: f32):
      %s = arith.mulf %i, %j : f32
      %u = math.exp %s : f32
      %v = arith.divf %u, %j : f32
      %w = arith.subf %v, %i : f32
      linalg.yield %w : f32
    } -> tensor<4x33x2xf32>
    ckpt.yield %0 : tensor<4x33x2xf32>
  } -> tensor<4x33x2xf32>
  return %r1 : tensor<4x33x2xf32>
}
// CHECK: pointwise_2x1x16x1: ok
func.func @pointwise_2x1x16x1(%x0: tensor<2x1x16x1xf32>, %x1: tensor<2x1x16x1xf32>) -> (tensor<2x1x16x1xf32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<2x1x16x1xf32>, %a1 = %x1 : tensor<2x1x16x1xf32>) slots [-1 : 4] {
    %e = tensor.empty() : tensor<2x1x16x1xf32>
    %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%a0, %a1 : tensor<2x1x16x1xf32>, tensor<2x1x16x1xf32>) outs(%e : tensor<2x1x16x1xf32>) {
    ^bb0(%i: f32, %j: f32, %o: f32):
      %s = arith.mulf %i, %j : f32
      %u = math.exp %s : f32
      %v = arith.divf %u, %j : f32
      %w = arith.subf %v, %i : f32
      linalg.yield %w : f32
    } -> tensor<2x1x16x1xf32>
    ckpt.yield %0 : tensor<2x1x16x1xf32>
  } -> tensor<2x1x16x1xf32>
  return %r1 : tensor<2x1x16x1xf32>
}
// CHECK: functions: ok
func.func @functions(%x0: tensor<37xf32>) -> (tensor<37xf32>, tensor<37xf32>, tensor<37xf32>, tensor<37xf32>, tensor<37xf32>, tensor<37xf32>, tensor<37xf32>, tensor<37xf32>, tensor<37xf32>, tensor<37xf32>, tensor<37xf32>, tensor<37xf32>, tensor<37xf32>, tensor<37xf32>) {
  %r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8, %r9, %r10, %r11, %r12, %r13, %r14 = ckpt.kernel(%a0 = %x0 : tensor<37xf32>) slots [-1 : 4, -1 : 4, -1 : 4, -1 : 4, -1 : 4, -1 : 4, -1 : 4, -1 : 4, -1 : 4, -1 : 4, -1 : 4, -1 : 4, -1 : 4, -1 : 4] {
    %e = tensor.empty() : tensor<37xf32>
    %p0 = math.absf %a0 : tensor<37xf32>
    %f0 = math.exp %p0 : tensor<37xf32>
    %p1 = math.absf %a0 : tensor<37xf32>
    %f1 = math.tanh %p1 : tensor<37xf32>
    %p2 = math.absf %a0 : tensor<37xf32>
    %f2 = math.log %p2 : tensor<37xf32>
    %p3 = math.absf %a0 : tensor<37xf32>
    %f3 = math.sqrt %p3 : tensor<37xf32>
    %p4 = math.absf %a0 : tensor<37xf32>
    %f4 = math.rsqrt %p4 : tensor<37xf32>
    %p5 = math.absf %a0 : tensor<37xf32>
    %f5 = math.absf %p5 : tensor<37xf32>
    %p6 = math.absf %a0 : tensor<37xf32>
    %f6 = math.erf %p6 : tensor<37xf32>
    %p7 = math.absf %a0 : tensor<37xf32>
    %f7 = math.sin %p7 : tensor<37xf32>
    %p8 = math.absf %a0 : tensor<37xf32>
    %f8 = math.cos %p8 : tensor<37xf32>
    %p9 = math.absf %a0 : tensor<37xf32>
    %f9 = math.log1p %p9 : tensor<37xf32>
    %p10 = math.absf %a0 : tensor<37xf32>
    %f10 = math.expm1 %p10 : tensor<37xf32>
    %p11 = math.absf %a0 : tensor<37xf32>
    %f11 = math.floor %p11 : tensor<37xf32>
    %p12 = math.absf %a0 : tensor<37xf32>
    %f12 = math.ceil %p12 : tensor<37xf32>
    %p13 = math.absf %a0 : tensor<37xf32>
    %f13 = math.atan %p13 : tensor<37xf32>
    ckpt.yield %f0, %f1, %f2, %f3, %f4, %f5, %f6, %f7, %f8, %f9, %f10, %f11, %f12, %f13 : tensor<37xf32>, tensor<37xf32>, tensor<37xf32>, tensor<37xf32>, tensor<37xf32>, tensor<37xf32>, tensor<37xf32>, tensor<37xf32>, tensor<37xf32>, tensor<37xf32>, tensor<37xf32>, tensor<37xf32>, tensor<37xf32>, tensor<37xf32>
  } -> tensor<37xf32>, tensor<37xf32>, tensor<37xf32>, tensor<37xf32>, tensor<37xf32>, tensor<37xf32>, tensor<37xf32>, tensor<37xf32>, tensor<37xf32>, tensor<37xf32>, tensor<37xf32>, tensor<37xf32>, tensor<37xf32>, tensor<37xf32>
  return %r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8, %r9, %r10, %r11, %r12, %r13, %r14 : tensor<37xf32>, tensor<37xf32>, tensor<37xf32>, tensor<37xf32>, tensor<37xf32>, tensor<37xf32>, tensor<37xf32>, tensor<37xf32>, tensor<37xf32>, tensor<37xf32>, tensor<37xf32>, tensor<37xf32>, tensor<37xf32>, tensor<37xf32>
}
// CHECK: masks: ok
func.func @masks(%x0: tensor<9x21xi32>, %x1: tensor<9x21xi32>, %x2: tensor<9x21xi1>, %x3: tensor<9x21xf32>) -> (tensor<9x21xi1>, tensor<9x21xf32>) {
  %r1, %r2 = ckpt.kernel(%a0 = %x0 : tensor<9x21xi32>, %a1 = %x1 : tensor<9x21xi32>, %a2 = %x2 : tensor<9x21xi1>, %a3 = %x3 : tensor<9x21xf32>) slots [-1 : 4, -1 : 4] {
    %e = tensor.empty() : tensor<9x21xi1>
    %g = tensor.empty() : tensor<9x21xf32>
    %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%a0, %a1 : tensor<9x21xi32>, tensor<9x21xi32>) outs(%e : tensor<9x21xi1>) {
    ^bb0(%i: i32, %j: i32, %o: i1):
      %c = arith.cmpi sge, %i, %j : i32
      linalg.yield %c : i1
    } -> tensor<9x21xi1>
    %1 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%0, %a2, %a3 : tensor<9x21xi1>, tensor<9x21xi1>, tensor<9x21xf32>) outs(%g : tensor<9x21xf32>) {
    ^bb0(%i: i1, %k: i1, %j: f32, %o: f32):
      %z = arith.constant 3.0 : f32
      %n = arith.andi %i, %k : i1
      %s = arith.select %n, %j, %z : f32
      linalg.yield %s : f32
    } -> tensor<9x21xf32>
    ckpt.yield %0, %1 : tensor<9x21xi1>, tensor<9x21xf32>
  } -> tensor<9x21xi1>, tensor<9x21xf32>
  return %r1, %r2 : tensor<9x21xi1>, tensor<9x21xf32>
}
// CHECK: types: ok
func.func @types(%x0: tensor<5x19xbf16>, %x1: tensor<5x19xf16>, %x2: tensor<5x19xf64>, %x3: tensor<5x19xi64>) -> (tensor<5x19xbf16>, tensor<5x19xf16>, tensor<5x19xf64>, tensor<5x19xi64>) {
  %r1, %r2, %r3, %r4 = ckpt.kernel(%a0 = %x0 : tensor<5x19xbf16>, %a1 = %x1 : tensor<5x19xf16>, %a2 = %x2 : tensor<5x19xf64>, %a3 = %x3 : tensor<5x19xi64>) slots [-1 : 4, -1 : 4, -1 : 4, -1 : 4] {
    %h = arith.extf %a0 : tensor<5x19xbf16> to tensor<5x19xf32>
    %t = math.tanh %h : tensor<5x19xf32>
    %n = arith.truncf %t : tensor<5x19xf32> to tensor<5x19xbf16>
    %s = arith.addf %n, %a0 : tensor<5x19xbf16>
    %q = arith.mulf %a1, %a1 : tensor<5x19xf16>
    %w = arith.mulf %a2, %a2 : tensor<5x19xf64>
    %v = arith.addi %a3, %a3 : tensor<5x19xi64>
    ckpt.yield %s, %q, %w, %v : tensor<5x19xbf16>, tensor<5x19xf16>, tensor<5x19xf64>, tensor<5x19xi64>
  } -> tensor<5x19xbf16>, tensor<5x19xf16>, tensor<5x19xf64>, tensor<5x19xi64>
  return %r1, %r2, %r3, %r4 : tensor<5x19xbf16>, tensor<5x19xf16>, tensor<5x19xf64>, tensor<5x19xi64>
}
// CHECK: broadcast_transpose: ok
func.func @broadcast_transpose(%x0: tensor<35x6xf32>, %x1: tensor<6xf32>, %x2: tensor<35xf32>, %x3: tensor<f32>, %x4: tensor<6x1xf32>) -> (tensor<6x35xf32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<35x6xf32>, %a1 = %x1 : tensor<6xf32>, %a2 = %x2 : tensor<35xf32>, %a3 = %x3 : tensor<f32>, %a4 = %x4 : tensor<6x1xf32>) slots [-1 : 4] {
    %e = tensor.empty() : tensor<6x35xf32>
    %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1, d0)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> ()>, affine_map<(d0, d1) -> (d0, 0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%a0, %a1, %a2, %a3, %a4 : tensor<35x6xf32>, tensor<6xf32>, tensor<35xf32>, tensor<f32>, tensor<6x1xf32>) outs(%e : tensor<6x35xf32>) {
    ^bb0(%i: f32, %j: f32, %k: f32, %l: f32, %m: f32, %o: f32):
      %s = arith.addf %i, %j : f32
      %u = arith.mulf %s, %k : f32
      %v = arith.subf %u, %l : f32
      %w = arith.addf %v, %m : f32
      linalg.yield %w : f32
    } -> tensor<6x35xf32>
    ckpt.yield %0 : tensor<6x35xf32>
  } -> tensor<6x35xf32>
  return %r1 : tensor<6x35xf32>
}
// CHECK: reshapes: ok
func.func @reshapes(%x0: tensor<15x48xf32>) -> (tensor<3x5x48xf32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<15x48xf32>) slots [-1 : 4] {
    %x = tensor.expand_shape %a0 [[0, 1], [2]] output_shape [3, 5, 48] : tensor<15x48xf32> into tensor<3x5x48xf32>
    %y = tensor.expand_shape %a0 [[0], [1, 2]] output_shape [15, 2, 24] : tensor<15x48xf32> into tensor<15x2x24xf32>
    %z = tensor.collapse_shape %y [[0, 1], [2]] : tensor<15x2x24xf32> into tensor<30x24xf32>
    %q = math.absf %z : tensor<30x24xf32>
    %u = tensor.collapse_shape %q [[0, 1]] : tensor<30x24xf32> into tensor<720xf32>
    %v = tensor.expand_shape %u [[0, 1, 2]] output_shape [3, 5, 48] : tensor<720xf32> into tensor<3x5x48xf32>
    %w = arith.addf %v, %x : tensor<3x5x48xf32>
    ckpt.yield %w : tensor<3x5x48xf32>
  } -> tensor<3x5x48xf32>
  return %r1 : tensor<3x5x48xf32>
}
// CHECK: pad_aligned: ok
func.func @pad_aligned(%x0: tensor<4x32xf32>) -> (tensor<7x80xf32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<4x32xf32>) slots [-1 : 4] {
    %c = arith.constant 2.5 : f32
    %p = tensor.pad %a0 low[1, 16] high[2, 32] {
    ^bb0(%i: index, %j: index):
      tensor.yield %c : f32
    } : tensor<4x32xf32> to tensor<7x80xf32>
    %q = math.absf %p : tensor<7x80xf32>
    ckpt.yield %q : tensor<7x80xf32>
  } -> tensor<7x80xf32>
  return %r1 : tensor<7x80xf32>
}
// CHECK: pad_odd: ok
func.func @pad_odd(%x0: tensor<4x13xf32>) -> (tensor<7x18xf32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<4x13xf32>) slots [-1 : 4] {
    %c = arith.constant 2.5 : f32
    %p = tensor.pad %a0 low[1, 3] high[2, 2] {
    ^bb0(%i: index, %j: index):
      tensor.yield %c : f32
    } : tensor<4x13xf32> to tensor<7x18xf32>
    %q = math.absf %p : tensor<7x18xf32>
    ckpt.yield %q : tensor<7x18xf32>
  } -> tensor<7x18xf32>
  return %r1 : tensor<7x18xf32>
}
// CHECK: pad_rows: ok
func.func @pad_rows(%x0: tensor<4x8xf32>) -> (tensor<7x8xf32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<4x8xf32>) slots [-1 : 4] {
    %c = arith.constant 2.5 : f32
    %p = tensor.pad %a0 low[1, 0] high[2, 0] {
    ^bb0(%i: index, %j: index):
      tensor.yield %c : f32
    } : tensor<4x8xf32> to tensor<7x8xf32>
    %q = math.absf %p : tensor<7x8xf32>
    ckpt.yield %q : tensor<7x8xf32>
  } -> tensor<7x8xf32>
  return %r1 : tensor<7x8xf32>
}
// CHECK: slices: ok
func.func @slices(%x0: tensor<7x40xf32>) -> (tensor<3x9xf32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<7x40xf32>) slots [-1 : 4] {
    %s = tensor.extract_slice %a0[1, 2] [3, 9] [2, 3] : tensor<7x40xf32> to tensor<3x9xf32>
    %u = tensor.extract_slice %a0[4, 5] [1, 27] [1, 1] : tensor<7x40xf32> to tensor<27xf32>
    %v = tensor.expand_shape %u [[0, 1]] output_shape [3, 9] : tensor<27xf32> into tensor<3x9xf32>
    %w = arith.addf %s, %v : tensor<3x9xf32>
    ckpt.yield %w : tensor<3x9xf32>
  } -> tensor<3x9xf32>
  return %r1 : tensor<3x9xf32>
}
// CHECK: insert_slices: ok
func.func @insert_slices(%x0: tensor<3x9xf32>, %x1: tensor<9x40xf32>, %x2: tensor<16xf32>) -> (tensor<9x40xf32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<3x9xf32>, %a1 = %x1 : tensor<9x40xf32>, %a2 = %x2 : tensor<16xf32>) slots [-1 : 4] {
    %d = math.absf %a1 : tensor<9x40xf32>
    %s = tensor.insert_slice %a0 into %d[1, 2] [3, 9] [2, 3] : tensor<3x9xf32> into tensor<9x40xf32>
    %u = tensor.insert_slice %a2 into %s[4, 16] [1, 16] [1, 1] : tensor<16xf32> into tensor<9x40xf32>
    ckpt.yield %u : tensor<9x40xf32>
  } -> tensor<9x40xf32>
  return %r1 : tensor<9x40xf32>
}
// Slices that are computed, with gaps in an outer dimension and in the innermost one,
// and the same with all steps in memory.
// CHECK: gaps_unfused: ok
func.func @gaps_unfused(%x0: tensor<3x40xf32>, %x1: tensor<3x20xf32>) -> (tensor<9x40xf32>) {
  %r1 = ckpt.kernel(%a = %x0 : tensor<3x40xf32>) slots [0 : 480] {
    %s = math.exp %a : tensor<3x40xf32>
    ckpt.yield %s : tensor<3x40xf32>
  } -> tensor<3x40xf32>
  %r2 = ckpt.kernel(%a = %x1 : tensor<3x20xf32>) slots [512 : 240] {
    %s = math.absf %a : tensor<3x20xf32>
    ckpt.yield %s : tensor<3x20xf32>
  } -> tensor<3x20xf32>
  %r3 = ckpt.kernel(%a = %r1 : tensor<3x40xf32>, %b = %r2 : tensor<3x20xf32>) slots [-1 : 4] {
    %z = arith.constant 0.5 : f32
    %e = tensor.empty() : tensor<9x40xf32>
    %f = linalg.fill ins(%z : f32) outs(%e : tensor<9x40xf32>) -> tensor<9x40xf32>
    %p = tensor.insert_slice %a into %f[1, 0] [3, 40] [3, 1] : tensor<3x40xf32> into tensor<9x40xf32>
    %q = tensor.insert_slice %b into %p[1, 1] [3, 20] [2, 2] : tensor<3x20xf32> into tensor<9x40xf32>
    %w = arith.addf %p, %q : tensor<9x40xf32>
    ckpt.yield %w : tensor<9x40xf32>
  } -> tensor<9x40xf32>
  return %r3 : tensor<9x40xf32>
}
// CHECK: gaps_fused: ok
func.func @gaps_fused(%x0: tensor<3x40xf32>, %x1: tensor<3x20xf32>) -> (tensor<9x40xf32>) attributes {test.same_as = @gaps_unfused} {
  %r1 = ckpt.kernel(%a = %x0 : tensor<3x40xf32>, %b = %x1 : tensor<3x20xf32>) slots [-1 : 4] {
    %s = math.exp %a : tensor<3x40xf32>
    %t = math.absf %b : tensor<3x20xf32>
    %z = arith.constant 0.5 : f32
    %e = tensor.empty() : tensor<9x40xf32>
    %f = linalg.fill ins(%z : f32) outs(%e : tensor<9x40xf32>) -> tensor<9x40xf32>
    %p = tensor.insert_slice %s into %f[1, 0] [3, 40] [3, 1] : tensor<3x40xf32> into tensor<9x40xf32>
    %q = tensor.insert_slice %t into %p[1, 1] [3, 20] [2, 2] : tensor<3x20xf32> into tensor<9x40xf32>
    %w = arith.addf %p, %q : tensor<9x40xf32>
    ckpt.yield %w : tensor<9x40xf32>
  } -> tensor<9x40xf32>
  return %r1 : tensor<9x40xf32>
}
// CHECK: concat: ok
func.func @concat(%x0: tensor<4x5xf32>, %x1: tensor<4x16xf32>) -> (tensor<4x26xf32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<4x5xf32>, %a1 = %x1 : tensor<4x16xf32>) slots [-1 : 4] {
    %s = tensor.concat dim(1) %a0, %a1, %a0 : (tensor<4x5xf32>, tensor<4x16xf32>, tensor<4x5xf32>) -> tensor<4x26xf32>
    %u = math.absf %s : tensor<4x26xf32>
    ckpt.yield %u : tensor<4x26xf32>
  } -> tensor<4x26xf32>
  return %r1 : tensor<4x26xf32>
}
// CHECK: constants: ok
func.func @constants(%x0: tensor<3xi32>) -> (tensor<3xi32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<3xi32>) slots [-1 : 4] {
    %c = arith.constant 7 : i32
    %f = tensor.from_elements %c, %c, %c : tensor<3xi32>
    %k = arith.constant dense<[4, -5, 6]> : tensor<3xi32>
    %g = arith.addi %f, %k : tensor<3xi32>
    %b = arith.constant dense<[true, false, true]> : tensor<3xi1>
    %h = arith.select %b, %g, %a0 : tensor<3xi1>, tensor<3xi32>
    ckpt.yield %h : tensor<3xi32>
  } -> tensor<3xi32>
  return %r1 : tensor<3xi32>
}
// CHECK: gather_rows: ok
func.func @gather_rows(%x0: tensor<5x33xf32>, %x1: tensor<7xi32>) -> (tensor<7x33xf32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<5x33xf32>, %a1 = %x1 : tensor<7xi32>) slots [-1 : 4] {
    %e = tensor.empty() : tensor<7x33xf32>
    %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%a1 : tensor<7xi32>) outs(%e : tensor<7x33xf32>) {
    ^bb0(%i: i32, %o: f32):
      %r = arith.index_cast %i : i32 to index
      %c = linalg.index 1 : index
      %v = tensor.extract %a0[%r, %c] : tensor<5x33xf32>
      linalg.yield %v : f32
    } -> tensor<7x33xf32>
    ckpt.yield %0 : tensor<7x33xf32>
  } -> tensor<7x33xf32>
  return %r1 : tensor<7x33xf32>
}
// What is looked up is made for that alone: one element of each chain.
// CHECK: gather_computed: ok
func.func @gather_computed(%x0: tensor<5x33xf32>, %x1: tensor<7xi32>) -> (tensor<7x33xf32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<5x33xf32>, %a1 = %x1 : tensor<7xi32>) slots [-1 : 4] {
    %t = tensor.empty() : tensor<5x33xf32>
    %table = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%a0 : tensor<5x33xf32>) outs(%t : tensor<5x33xf32>) {
    ^bb0(%i: f32, %o: f32):
      %v = math.exp %i : f32
      linalg.yield %v : f32
    } -> tensor<5x33xf32>
    %e = tensor.empty() : tensor<7x33xf32>
    %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%a1 : tensor<7xi32>) outs(%e : tensor<7x33xf32>) {
    ^bb0(%i: i32, %o: f32):
      %r = arith.index_cast %i : i32 to index
      %c = linalg.index 1 : index
      %v = tensor.extract %table[%r, %c] : tensor<5x33xf32>
      linalg.yield %v : f32
    } -> tensor<7x33xf32>
    ckpt.yield %0 : tensor<7x33xf32>
  } -> tensor<7x33xf32>
  return %r1 : tensor<7x33xf32>
}
// Every lane is of another part of a join, of padding, and of a transposition.
// CHECK: gather_lanes_joined: ok
func.func @gather_lanes_joined(%x0: tensor<3x4xf32>, %x1: tensor<35xi32>) -> (tensor<35xf32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<3x4xf32>, %a1 = %x1 : tensor<35xi32>) slots [-1 : 4] {
    %zero = arith.constant 0.0 : f32
    %row = arith.constant 4 : index
    %p = tensor.pad %a0 low[1, 0] high[1, 0] {
    ^bb0(%i: index, %j: index):
      tensor.yield %zero : f32
    } : tensor<3x4xf32> to tensor<5x4xf32>
    %s = tensor.extract_slice %a0[0, 1] [3, 1] [1, 1] : tensor<3x4xf32> to tensor<3x1xf32>
    %q = tensor.pad %s low[0, 0] high[2, 0] {
    ^bb0(%i: index, %j: index):
      tensor.yield %zero : f32
    } : tensor<3x1xf32> to tensor<5x1xf32>
    %j = tensor.concat dim(1) %q, %p : (tensor<5x1xf32>, tensor<5x4xf32>) -> tensor<5x5xf32>
    %te = tensor.empty() : tensor<5x5xf32>
    %t = linalg.transpose ins(%j : tensor<5x5xf32>) outs(%te : tensor<5x5xf32>) permutation = [1, 0]
    %c = tensor.collapse_shape %t [[0, 1]] : tensor<5x5xf32> into tensor<25xf32>
    %k = tensor.expand_shape %c [[0, 1]] output_shape [5, 5] : tensor<25xf32> into tensor<5x5xf32>
    %e = tensor.empty() : tensor<35xf32>
    %0 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%a1 : tensor<35xi32>) outs(%e : tensor<35xf32>) {
    ^bb0(%i: i32, %o: f32):
      %r = arith.index_cast %i : i32 to index
      %v = tensor.extract %k[%r, %row] : tensor<5x5xf32>
      %w = tensor.extract %k[%row, %r] : tensor<5x5xf32>
      %u = arith.subf %v, %w : f32
      linalg.yield %u : f32
    } -> tensor<35xf32>
    ckpt.yield %0 : tensor<35xf32>
  } -> tensor<35xf32>
  return %r1 : tensor<35xf32>
}
// CHECK: gather_lanes_reversed_rows: ok
func.func @gather_lanes_reversed_rows(%x0: tensor<3x5xf32>, %x1: tensor<33xi32>) -> (tensor<3x33xf32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<3x5xf32>, %a1 = %x1 : tensor<33xi32>) slots [-1 : 4] {
    %e = tensor.empty() : tensor<3x33xf32>
    %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%a1 : tensor<33xi32>) outs(%e : tensor<3x33xf32>) {
    ^bb0(%i: i32, %o: f32):
      %k = arith.constant 2 : index
      %r = arith.index_cast %i : i32 to index
      %c = linalg.index 0 : index
      %b = arith.subi %k, %c : index
      %v = tensor.extract %a0[%b, %r] : tensor<3x5xf32>
      linalg.yield %v : f32
    } -> tensor<3x33xf32>
    ckpt.yield %0 : tensor<3x33xf32>
  } -> tensor<3x33xf32>
  return %r1 : tensor<3x33xf32>
}
// CHECK: reversed: ok
func.func @reversed(%x0: tensor<3x33xf32>) -> (tensor<3x33xf32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<3x33xf32>) slots [-1 : 4] {
    %e = tensor.empty() : tensor<3x33xf32>
    %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<3x33xf32>) {
    ^bb0(%o: f32):
      %k = arith.constant 32 : index
      %r = linalg.index 0 : index
      %c = linalg.index 1 : index
      %b = arith.subi %k, %c : index
      %v = tensor.extract %a0[%r, %b] : tensor<3x33xf32>
      linalg.yield %v : f32
    } -> tensor<3x33xf32>
    ckpt.yield %0 : tensor<3x33xf32>
  } -> tensor<3x33xf32>
  return %r1 : tensor<3x33xf32>
}
// CHECK: in_place: ok
func.func @in_place(%x0: tensor<5x37xf32>, %x1: tensor<5x37xf32>) -> (tensor<5x37xf32>) {
  %r1 = ckpt.kernel(%a = %x0 : tensor<5x37xf32>) slots [0 : 65536] {
    %0 = math.absf %a : tensor<5x37xf32>
    ckpt.yield %0 : tensor<5x37xf32>
  } -> tensor<5x37xf32>
  %r2 = ckpt.kernel(%a = %r1 : tensor<5x37xf32>, %b = %x1 : tensor<5x37xf32>) slots [0 : 65536] {
    %0 = arith.mulf %a, %b : tensor<5x37xf32>
    %1 = arith.addf %0, %a : tensor<5x37xf32>
    ckpt.yield %1 : tensor<5x37xf32>
  } -> tensor<5x37xf32>
  %r3 = ckpt.kernel(%a = %r2 : tensor<5x37xf32>) slots [-1 : 4] {
    %0 = arith.negf %a : tensor<5x37xf32>
    ckpt.yield %0 : tensor<5x37xf32>
  } -> tensor<5x37xf32>
  return %r3 : tensor<5x37xf32>
}
// CHECK: copied_results: ok
func.func @copied_results(%x: tensor<3xf32>) -> (tensor<3xf32>, tensor<2xi1>, tensor<3xf32>, tensor<3xf32>) {
  %c = arith.constant dense<[true, false]> : tensor<2xi1>
  %0 = ckpt.kernel(%a = %x : tensor<3xf32>) slots [-1 : 12] {
    %1 = math.absf %a : tensor<3xf32>
    ckpt.yield %1 : tensor<3xf32>
  } -> tensor<3xf32>
  return %x, %c, %0, %0 : tensor<3xf32>, tensor<2xi1>, tensor<3xf32>, tensor<3xf32>
}
