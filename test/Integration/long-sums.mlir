// Few results that are sums of many products: chunks of 256 steps, at odd shapes,
// as tiles, as plain loops, and as groups of threads of a GPU. Results are means,
// roughly: the reference adds in one chain, which rounds more often.
// RUN: ckpt-execute %s | FileCheck %s

// CHECK: chunks_all_full: ok
func.func @chunks_all_full(%x0: tensor<4x4096xf32>, %x1: tensor<4096x4xf32>, %x2: tensor<4x4xf32>) -> (tensor<4x4xf32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<4x4096xf32>, %a1 = %x1 : tensor<4096x4xf32>, %a2 = %x2 : tensor<4x4xf32>) slots [-1 : 4] {
    %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a0, %a1 : tensor<4x4096xf32>, tensor<4096x4xf32>) outs(%a2 : tensor<4x4xf32>) {
    ^bb0(%i: f32, %j: f32, %o: f32):
      %m = arith.mulf %i, %j : f32
      %s = arith.addf %o, %m : f32
      linalg.yield %s : f32
    } -> tensor<4x4xf32>
    %h = arith.constant dense<0.125> : tensor<4x4xf32>
    %1 = arith.mulf %0, %h : tensor<4x4xf32>
    ckpt.yield %1 : tensor<4x4xf32>
  } -> tensor<4x4xf32>
  return %r1 : tensor<4x4xf32>
}

// CHECK: rest_of_a_chunk: ok
func.func @rest_of_a_chunk(%x0: tensor<5x5000xf32>, %x1: tensor<5000x6xf32>, %x2: tensor<5x6xf32>) -> (tensor<5x6xf32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<5x5000xf32>, %a1 = %x1 : tensor<5000x6xf32>, %a2 = %x2 : tensor<5x6xf32>) slots [-1 : 4] {
    %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a0, %a1 : tensor<5x5000xf32>, tensor<5000x6xf32>) outs(%a2 : tensor<5x6xf32>) {
    ^bb0(%i: f32, %j: f32, %o: f32):
      %m = arith.mulf %i, %j : f32
      %s = arith.addf %o, %m : f32
      linalg.yield %s : f32
    } -> tensor<5x6xf32>
    %h = arith.constant dense<0.125> : tensor<5x6xf32>
    %1 = arith.mulf %0, %h : tensor<5x6xf32>
    ckpt.yield %1 : tensor<5x6xf32>
  } -> tensor<5x6xf32>
  return %r1 : tensor<5x6xf32>
}

// CHECK: gradient_of_weights: ok
func.func @gradient_of_weights(%x0: tensor<4099x33xf32>, %x1: tensor<4099x40xf32>, %x2: tensor<33x40xf32>) -> (tensor<33x40xf32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<4099x33xf32>, %a1 = %x1 : tensor<4099x40xf32>, %a2 = %x2 : tensor<33x40xf32>) slots [-1 : 4] {
    %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d2, d0)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a0, %a1 : tensor<4099x33xf32>, tensor<4099x40xf32>) outs(%a2 : tensor<33x40xf32>) {
    ^bb0(%i: f32, %j: f32, %o: f32):
      %m = arith.mulf %i, %j : f32
      %s = arith.addf %o, %m : f32
      linalg.yield %s : f32
    } -> tensor<33x40xf32>
    %h = arith.constant dense<0.125> : tensor<33x40xf32>
    %1 = arith.mulf %0, %h : tensor<33x40xf32>
    ckpt.yield %1 : tensor<33x40xf32>
  } -> tensor<33x40xf32>
  return %r1 : tensor<33x40xf32>
}

// CHECK: along_steps: ok
func.func @along_steps(%x0: tensor<17x4111xf32>, %x1: tensor<19x4111xf32>, %x2: tensor<17x19xf32>) -> (tensor<17x19xf32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<17x4111xf32>, %a1 = %x1 : tensor<19x4111xf32>, %a2 = %x2 : tensor<17x19xf32>) slots [-1 : 4] {
    %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a0, %a1 : tensor<17x4111xf32>, tensor<19x4111xf32>) outs(%a2 : tensor<17x19xf32>) {
    ^bb0(%i: f32, %j: f32, %o: f32):
      %m = arith.mulf %i, %j : f32
      %s = arith.addf %o, %m : f32
      linalg.yield %s : f32
    } -> tensor<17x19xf32>
    %h = arith.constant dense<0.125> : tensor<17x19xf32>
    %1 = arith.mulf %0, %h : tensor<17x19xf32>
    ckpt.yield %1 : tensor<17x19xf32>
  } -> tensor<17x19xf32>
  return %r1 : tensor<17x19xf32>
}

// CHECK: wide: ok
func.func @wide(%x0: tensor<3x4609xf64>, %x1: tensor<4609x7xf64>, %x2: tensor<3x7xf64>) -> (tensor<3x7xf64>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<3x4609xf64>, %a1 = %x1 : tensor<4609x7xf64>, %a2 = %x2 : tensor<3x7xf64>) slots [-1 : 4] {
    %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a0, %a1 : tensor<3x4609xf64>, tensor<4609x7xf64>) outs(%a2 : tensor<3x7xf64>) {
    ^bb0(%i: f64, %j: f64, %o: f64):
      %m = arith.mulf %i, %j : f64
      %s = arith.addf %o, %m : f64
      linalg.yield %s : f64
    } -> tensor<3x7xf64>
    %h = arith.constant dense<0.125> : tensor<3x7xf64>
    %1 = arith.mulf %0, %h : tensor<3x7xf64>
    ckpt.yield %1 : tensor<3x7xf64>
  } -> tensor<3x7xf64>
  return %r1 : tensor<3x7xf64>
}

// CHECK: narrow: ok
func.func @narrow(%x0: tensor<4128x34xbf16>, %x1: tensor<4128x40xbf16>, %x2: tensor<34x40xf32>) -> (tensor<34x40xf32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<4128x34xbf16>, %a1 = %x1 : tensor<4128x40xbf16>, %a2 = %x2 : tensor<34x40xf32>) slots [-1 : 4] {
    %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d2, d0)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a0, %a1 : tensor<4128x34xbf16>, tensor<4128x40xbf16>) outs(%a2 : tensor<34x40xf32>) {
    ^bb0(%i: bf16, %j: bf16, %o: f32):
      %p = arith.extf %i : bf16 to f32
      %q = arith.extf %j : bf16 to f32
      %m = arith.mulf %p, %q : f32
      %s = arith.addf %o, %m : f32
      linalg.yield %s : f32
    } -> tensor<34x40xf32>
    %h = arith.constant dense<0.125> : tensor<34x40xf32>
    %1 = arith.mulf %0, %h : tensor<34x40xf32>
    ckpt.yield %1 : tensor<34x40xf32>
  } -> tensor<34x40xf32>
  return %r1 : tensor<34x40xf32>
}

// CHECK: gradient_of_filter: ok
func.func @gradient_of_filter(%x0: tensor<2x49x49x3xf32>, %x1: tensor<2x47x47x8xf32>) -> (tensor<3x3x3x8xf32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<2x49x49x3xf32>, %a1 = %x1 : tensor<2x47x47x8xf32>) slots [-1 : 4] {
    %c = arith.constant 0.5 : f32
    %e = tensor.empty() : tensor<3x3x3x8xf32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<3x3x3x8xf32>) -> tensor<3x3x3x8xf32>
    %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d4, d5 + d0, d6 + d1, d2)>, affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d4, d5, d6, d3)>, affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]} ins(%a0, %a1 : tensor<2x49x49x3xf32>, tensor<2x47x47x8xf32>) outs(%f : tensor<3x3x3x8xf32>) {
    ^bb0(%i: f32, %j: f32, %o: f32):
      %m = arith.mulf %i, %j : f32
      %s = arith.addf %o, %m : f32
      linalg.yield %s : f32
    } -> tensor<3x3x3x8xf32>
    %h = arith.constant dense<0.125> : tensor<3x3x3x8xf32>
    %1 = arith.mulf %0, %h : tensor<3x3x3x8xf32>
    ckpt.yield %1 : tensor<3x3x3x8xf32>
  } -> tensor<3x3x3x8xf32>
  return %r1 : tensor<3x3x3x8xf32>
}

// An address that is no sum of strides: plain loops.
// CHECK: without_strides: ok
func.func @without_strides(%x0: tensor<3x2251xf32>, %x1: tensor<4501x5xf32>) -> (tensor<3x5xf32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<3x2251xf32>, %a1 = %x1 : tensor<4501x5xf32>) slots [-1 : 4] {
    %c = arith.constant 0.5 : f32
    %e = tensor.empty() : tensor<3x5xf32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<3x5xf32>) -> tensor<3x5xf32>
    %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2 floordiv 2)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a0, %a1 : tensor<3x2251xf32>, tensor<4501x5xf32>) outs(%f : tensor<3x5xf32>) {
    ^bb0(%i: f32, %j: f32, %o: f32):
      %m = arith.mulf %i, %j : f32
      %s = arith.addf %o, %m : f32
      linalg.yield %s : f32
    } -> tensor<3x5xf32>
    ckpt.yield %0 : tensor<3x5xf32>
  } -> tensor<3x5xf32>
  return %r1 : tensor<3x5xf32>
}

// Products that are too small: all chunks are -0, and so is the last one, which
// has 3 steps.
// CHECK: minus_zeros: ok
func.func @minus_zeros() -> (tensor<9x17xf32>) {
  %r1 = ckpt.kernel() slots [0 : 147712] {
    %c = arith.constant 1.0e-30 : f32
    %e = tensor.empty() : tensor<9x4099xf32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<9x4099xf32>) -> tensor<9x4099xf32>
    ckpt.yield %f : tensor<9x4099xf32>
  } -> tensor<9x4099xf32>
  %r2 = ckpt.kernel() slots [147712 : 278784] {
    %c = arith.constant -1.0e-30 : f32
    %e = tensor.empty() : tensor<4099x17xf32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<4099x17xf32>) -> tensor<4099x17xf32>
    ckpt.yield %f : tensor<4099x17xf32>
  } -> tensor<4099x17xf32>
  %r3 = ckpt.kernel(%a = %r1 : tensor<9x4099xf32>, %b = %r2 : tensor<4099x17xf32>) slots [-1 : 4] {
    %c = arith.constant -0.0 : f32
    %e = tensor.empty() : tensor<9x17xf32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<9x17xf32>) -> tensor<9x17xf32>
    %0 = linalg.matmul ins(%a, %b : tensor<9x4099xf32>, tensor<4099x17xf32>) outs(%f : tensor<9x17xf32>) -> tensor<9x17xf32>
    ckpt.yield %0 : tensor<9x17xf32>
  } -> tensor<9x17xf32>
  return %r3 : tensor<9x17xf32>
}
