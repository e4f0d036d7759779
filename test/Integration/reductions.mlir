// Reductions of every order, with producers and epilogues.
// RUN: ckpt-execute %s | FileCheck %s

// CHECK: sum_7_of_0: ok
func.func @sum_7_of_0(%x0: tensor<7xf32>) -> (tensor<f32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<7xf32>) slots [-1 : 4] {
    %c = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<f32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<f32>) -> tensor<f32>
    %0 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>], iterator_types = ["reduction"]} ins(%a0 : tensor<7xf32>) outs(%f : tensor<f32>) {
    ^bb0(%i: f32, %o: f32):
      %s = arith.addf %o, %i : f32
      linalg.yield %s : f32
    } -> tensor<f32>
    ckpt.yield %0 : tensor<f32>
  } -> tensor<f32>
  return %r1 : tensor<f32>
}
// CHECK: sum_50_of_0: ok
func.func @sum_50_of_0(%x0: tensor<50xf32>) -> (tensor<f32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<50xf32>) slots [-1 : 4] {
    %c = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<f32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<f32>) -> tensor<f32>
    %0 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>], iterator_types = ["reduction"]} ins(%a0 : tensor<50xf32>) outs(%f : tensor<f32>) {
    ^bb0(%i: f32, %o: f32):
      %s = arith.addf %o, %i : f32
      linalg.yield %s : f32
    } -> tensor<f32>
    ckpt.yield %0 : tensor<f32>
  } -> tensor<f32>
  return %r1 : tensor<f32>
}
// CHECK: sum_5x16_of_1: ok
func.func @sum_5x16_of_1(%x0: tensor<5x16xf32>) -> (tensor<5xf32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<5x16xf32>) slots [-1 : 4] {
    %c = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<5xf32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<5xf32>) -> tensor<5xf32>
    %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%a0 : tensor<5x16xf32>) outs(%f : tensor<5xf32>) {
    ^bb0(%i: f32, %o: f32):
      %s = arith.addf %o, %i : f32
      linalg.yield %s : f32
    } -> tensor<5xf32>
    ckpt.yield %0 : tensor<5xf32>
  } -> tensor<5xf32>
  return %r1 : tensor<5xf32>
}
// CHECK: sum_3x5x37_of_2: ok
func.func @sum_3x5x37_of_2(%x0: tensor<3x5x37xf32>) -> (tensor<3x5xf32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<3x5x37xf32>) slots [-1 : 4] {
    %c = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<3x5xf32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<3x5xf32>) -> tensor<3x5xf32>
    %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a0 : tensor<3x5x37xf32>) outs(%f : tensor<3x5xf32>) {
    ^bb0(%i: f32, %o: f32):
      %s = arith.addf %o, %i : f32
      linalg.yield %s : f32
    } -> tensor<3x5xf32>
    ckpt.yield %0 : tensor<3x5xf32>
  } -> tensor<3x5xf32>
  return %r1 : tensor<3x5xf32>
}
// CHECK: sum_3x20x37_of_1_2: ok
func.func @sum_3x20x37_of_1_2(%x0: tensor<3x20x37xf32>) -> (tensor<3xf32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<3x20x37xf32>) slots [-1 : 4] {
    %c = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<3xf32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<3xf32>) -> tensor<3xf32>
    %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0)>], iterator_types = ["parallel", "reduction", "reduction"]} ins(%a0 : tensor<3x20x37xf32>) outs(%f : tensor<3xf32>) {
    ^bb0(%i: f32, %o: f32):
      %s = arith.addf %o, %i : f32
      linalg.yield %s : f32
    } -> tensor<3xf32>
    ckpt.yield %0 : tensor<3xf32>
  } -> tensor<3xf32>
  return %r1 : tensor<3xf32>
}
// CHECK: sum_40x5_of_0: ok
func.func @sum_40x5_of_0(%x0: tensor<40x5xf32>) -> (tensor<5xf32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<40x5xf32>) slots [-1 : 4] {
    %c = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<5xf32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<5xf32>) -> tensor<5xf32>
    %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>], iterator_types = ["reduction", "parallel"]} ins(%a0 : tensor<40x5xf32>) outs(%f : tensor<5xf32>) {
    ^bb0(%i: f32, %o: f32):
      %s = arith.addf %o, %i : f32
      linalg.yield %s : f32
    } -> tensor<5xf32>
    ckpt.yield %0 : tensor<5xf32>
  } -> tensor<5xf32>
  return %r1 : tensor<5xf32>
}
// CHECK: sum_9x4x70_of_0_1: ok
func.func @sum_9x4x70_of_0_1(%x0: tensor<9x4x70xf32>) -> (tensor<70xf32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<9x4x70xf32>) slots [-1 : 4] {
    %c = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<70xf32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<70xf32>) -> tensor<70xf32>
    %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d2)>], iterator_types = ["reduction", "reduction", "parallel"]} ins(%a0 : tensor<9x4x70xf32>) outs(%f : tensor<70xf32>) {
    ^bb0(%i: f32, %o: f32):
      %s = arith.addf %o, %i : f32
      linalg.yield %s : f32
    } -> tensor<70xf32>
    ckpt.yield %0 : tensor<70xf32>
  } -> tensor<70xf32>
  return %r1 : tensor<70xf32>
}
// CHECK: sum_6x128_of_0: ok
func.func @sum_6x128_of_0(%x0: tensor<6x128xf32>) -> (tensor<128xf32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<6x128xf32>) slots [-1 : 4] {
    %c = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<128xf32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<128xf32>) -> tensor<128xf32>
    %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>], iterator_types = ["reduction", "parallel"]} ins(%a0 : tensor<6x128xf32>) outs(%f : tensor<128xf32>) {
    ^bb0(%i: f32, %o: f32):
      %s = arith.addf %o, %i : f32
      linalg.yield %s : f32
    } -> tensor<128xf32>
    ckpt.yield %0 : tensor<128xf32>
  } -> tensor<128xf32>
  return %r1 : tensor<128xf32>
}
// CHECK: sum_4x3x18_of_0_2: ok
func.func @sum_4x3x18_of_0_2(%x0: tensor<4x3x18xf32>) -> (tensor<3xf32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<4x3x18xf32>) slots [-1 : 4] {
    %c = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<3xf32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<3xf32>) -> tensor<3xf32>
    %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d1)>], iterator_types = ["reduction", "parallel", "reduction"]} ins(%a0 : tensor<4x3x18xf32>) outs(%f : tensor<3xf32>) {
    ^bb0(%i: f32, %o: f32):
      %s = arith.addf %o, %i : f32
      linalg.yield %s : f32
    } -> tensor<3xf32>
    ckpt.yield %0 : tensor<3xf32>
  } -> tensor<3xf32>
  return %r1 : tensor<3xf32>
}
// CHECK: sum_4x1_of_1: ok
func.func @sum_4x1_of_1(%x0: tensor<4x1xf32>) -> (tensor<4xf32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<4x1xf32>) slots [-1 : 4] {
    %c = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<4xf32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
    %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%a0 : tensor<4x1xf32>) outs(%f : tensor<4xf32>) {
    ^bb0(%i: f32, %o: f32):
      %s = arith.addf %o, %i : f32
      linalg.yield %s : f32
    } -> tensor<4xf32>
    ckpt.yield %0 : tensor<4xf32>
  } -> tensor<4xf32>
  return %r1 : tensor<4xf32>
}
// CHECK: sum_1x1x1_of_2: ok
func.func @sum_1x1x1_of_2(%x0: tensor<1x1x1xf32>) -> (tensor<1x1xf32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<1x1x1xf32>) slots [-1 : 4] {
    %c = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<1x1xf32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<1x1xf32>) -> tensor<1x1xf32>
    %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a0 : tensor<1x1x1xf32>) outs(%f : tensor<1x1xf32>) {
    ^bb0(%i: f32, %o: f32):
      %s = arith.addf %o, %i : f32
      linalg.yield %s : f32
    } -> tensor<1x1xf32>
    ckpt.yield %0 : tensor<1x1xf32>
  } -> tensor<1x1xf32>
  return %r1 : tensor<1x1xf32>
}
// CHECK: max: ok
func.func @max(%x0: tensor<5x41xf32>) -> (tensor<5xf32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<5x41xf32>) slots [-1 : 4] {
    %c = arith.constant 0xFF800000 : f32
    %e = tensor.empty() : tensor<5xf32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<5xf32>) -> tensor<5xf32>
    %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%a0 : tensor<5x41xf32>) outs(%f : tensor<5xf32>) {
    ^bb0(%i: f32, %o: f32):
      %s = arith.maximumf %o, %i : f32
      linalg.yield %s : f32
    } -> tensor<5xf32>
    ckpt.yield %0 : tensor<5xf32>
  } -> tensor<5xf32>
  return %r1 : tensor<5xf32>
}
// CHECK: min_columns: ok
func.func @min_columns(%x0: tensor<5x41xf32>) -> (tensor<41xf32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<5x41xf32>) slots [-1 : 4] {
    %c = arith.constant 0x7F800000 : f32
    %e = tensor.empty() : tensor<41xf32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<41xf32>) -> tensor<41xf32>
    %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>], iterator_types = ["reduction", "parallel"]} ins(%a0 : tensor<5x41xf32>) outs(%f : tensor<41xf32>) {
    ^bb0(%i: f32, %o: f32):
      %s = arith.minimumf %o, %i : f32
      linalg.yield %s : f32
    } -> tensor<41xf32>
    ckpt.yield %0 : tensor<41xf32>
  } -> tensor<41xf32>
  return %r1 : tensor<41xf32>
}
// CHECK: product: ok
func.func @product(%x0: tensor<5x19xf32>) -> (tensor<5xf32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<5x19xf32>) slots [-1 : 4] {
    %c = arith.constant 1.0 : f32
    %e = tensor.empty() : tensor<5xf32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<5xf32>) -> tensor<5xf32>
    %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%a0 : tensor<5x19xf32>) outs(%f : tensor<5xf32>) {
    ^bb0(%i: f32, %o: f32):
      %s = arith.mulf %o, %i : f32
      linalg.yield %s : f32
    } -> tensor<5xf32>
    ckpt.yield %0 : tensor<5xf32>
  } -> tensor<5xf32>
  return %r1 : tensor<5xf32>
}
// CHECK: all: ok
func.func @all(%x0: tensor<5x19xi1>) -> (tensor<5xi1>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<5x19xi1>) slots [-1 : 4] {
    %c = arith.constant true
    %e = tensor.empty() : tensor<5xi1>
    %f = linalg.fill ins(%c : i1) outs(%e : tensor<5xi1>) -> tensor<5xi1>
    %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%a0 : tensor<5x19xi1>) outs(%f : tensor<5xi1>) {
    ^bb0(%i: i1, %o: i1):
      %s = arith.andi %o, %i : i1
      linalg.yield %s : i1
    } -> tensor<5xi1>
    ckpt.yield %0 : tensor<5xi1>
  } -> tensor<5xi1>
  return %r1 : tensor<5xi1>
}
// CHECK: sum_int: ok
func.func @sum_int(%x0: tensor<5x19xi32>) -> (tensor<5xi32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<5x19xi32>) slots [-1 : 4] {
    %c = arith.constant 3 : i32
    %e = tensor.empty() : tensor<5xi32>
    %f = linalg.fill ins(%c : i32) outs(%e : tensor<5xi32>) -> tensor<5xi32>
    %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%a0 : tensor<5x19xi32>) outs(%f : tensor<5xi32>) {
    ^bb0(%i: i32, %o: i32):
      %s = arith.addi %o, %i : i32
      linalg.yield %s : i32
    } -> tensor<5xi32>
    ckpt.yield %0 : tensor<5xi32>
  } -> tensor<5xi32>
  return %r1 : tensor<5xi32>
}
// CHECK: sum_f64: ok
func.func @sum_f64(%x0: tensor<5x64xf64>) -> (tensor<5xf64>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<5x64xf64>) slots [-1 : 4] {
    %c = arith.constant 0.0 : f64
    %e = tensor.empty() : tensor<5xf64>
    %f = linalg.fill ins(%c : f64) outs(%e : tensor<5xf64>) -> tensor<5xf64>
    %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%a0 : tensor<5x64xf64>) outs(%f : tensor<5xf64>) {
    ^bb0(%i: f64, %o: f64):
      %s = arith.addf %o, %i : f64
      linalg.yield %s : f64
    } -> tensor<5xf64>
    ckpt.yield %0 : tensor<5xf64>
  } -> tensor<5xf64>
  return %r1 : tensor<5xf64>
}
// CHECK: argmax: ok
func.func @argmax(%x0: tensor<6x23xf32>) -> (tensor<6xf32>, tensor<6xi32>) {
  %r1, %r2 = ckpt.kernel(%a0 = %x0 : tensor<6x23xf32>) slots [-1 : 4, -1 : 4] {
    %c = arith.constant 0xFF800000 : f32
    %z = arith.constant 0 : i32
    %e = tensor.empty() : tensor<6xf32>
    %g = tensor.empty() : tensor<6xi32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<6xf32>) -> tensor<6xf32>
    %h = linalg.fill ins(%z : i32) outs(%g : tensor<6xi32>) -> tensor<6xi32>
    %0:2 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%a0 : tensor<6x23xf32>) outs(%f, %h : tensor<6xf32>, tensor<6xi32>) {
    ^bb0(%i: f32, %o: f32, %p: i32):
      %n = linalg.index 1 : index
      %k = arith.index_cast %n : index to i32
      %q = arith.cmpf ogt, %i, %o : f32
      %v = arith.select %q, %i, %o : f32
      %w = arith.select %q, %k, %p : i32
      linalg.yield %v, %w : f32, i32
    } -> (tensor<6xf32>, tensor<6xi32>)
    ckpt.yield %0#0, %0#1 : tensor<6xf32>, tensor<6xi32>
  } -> tensor<6xf32>, tensor<6xi32>
  return %r1, %r2 : tensor<6xf32>, tensor<6xi32>
}
// CHECK: pooling: ok
func.func @pooling(%x0: tensor<2x9x9x17xf32>) -> (tensor<2x4x4x17xf32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<2x9x9x17xf32>) slots [-1 : 4] {
    %c = arith.constant 0.0 : f32
    %w = tensor.empty() : tensor<3x3xf32>
    %e = tensor.empty() : tensor<2x4x4x17xf32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<2x4x4x17xf32>) -> tensor<2x4x4x17xf32>
    %0 = linalg.pooling_nhwc_sum {dilations = dense<1> : vector<2xi64>, strides = dense<2> : vector<2xi64>} ins(%a0, %w : tensor<2x9x9x17xf32>, tensor<3x3xf32>) outs(%f : tensor<2x4x4x17xf32>) -> tensor<2x4x4x17xf32>
    ckpt.yield %0 : tensor<2x4x4x17xf32>
  } -> tensor<2x4x4x17xf32>
  return %r1 : tensor<2x4x4x17xf32>
}
// CHECK: reduction_unfused: ok
func.func @reduction_unfused(%x0: tensor<6x45xf32>) -> (tensor<6xf32>) {
  %r1 = ckpt.kernel(%a = %x0 : tensor<6x45xf32>) slots [0 : 65536] {
    %s = tensor.empty() : tensor<6x45xf32>
    %p = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%a : tensor<6x45xf32>) outs(%s : tensor<6x45xf32>) {
    ^bb0(%i: f32, %o: f32):
      %u = math.exp %i : f32
      linalg.yield %u : f32
    } -> tensor<6x45xf32>
    ckpt.yield %p : tensor<6x45xf32>
  } -> tensor<6x45xf32>
  %r2 = ckpt.kernel(%p = %r1 : tensor<6x45xf32>) slots [65536 : 65536] {
    %c = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<6xf32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<6xf32>) -> tensor<6xf32>
    %q = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%p : tensor<6x45xf32>) outs(%f : tensor<6xf32>) {
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
// CHECK: reduction_fused: ok
func.func @reduction_fused(%x0: tensor<6x45xf32>) -> (tensor<6xf32>) attributes {test.same_as = @reduction_unfused} {
  %r1 = ckpt.kernel(%a = %x0 : tensor<6x45xf32>) slots [-1 : 4] {
    %s = tensor.empty() : tensor<6x45xf32>
    %p = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%a : tensor<6x45xf32>) outs(%s : tensor<6x45xf32>) {
    ^bb0(%i: f32, %o: f32):
      %u = math.exp %i : f32
      linalg.yield %u : f32
    } -> tensor<6x45xf32>
    %c = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<6xf32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<6xf32>) -> tensor<6xf32>
    %q = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%p : tensor<6x45xf32>) outs(%f : tensor<6xf32>) {
    ^bb0(%i: f32, %o: f32):
      %u = arith.addf %o, %i : f32
      linalg.yield %u : f32
    } -> tensor<6xf32>
    %l = math.log %q : tensor<6xf32>
    ckpt.yield %l : tensor<6xf32>
  } -> tensor<6xf32>
  return %r1 : tensor<6xf32>
}

// A factor that is a scalar of another kernel.
// CHECK: sum_of_scaled: ok
func.func @sum_of_scaled(%x0: tensor<f32>, %x1: tensor<3x20xf32>, %x2: tensor<3xf32>) -> (tensor<3xf32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<f32>) slots [0 : 4] {
    %0 = tensor.extract %a0[] : tensor<f32>
    ckpt.yield %0 : f32
  } -> f32
  %r2 = ckpt.kernel(%a0 = %r1 : f32, %a1 = %x1 : tensor<3x20xf32>, %a2 = %x2 : tensor<3xf32>) slots [-1 : 12] {
    %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> ()>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%a0, %a1 : f32, tensor<3x20xf32>) outs(%a2 : tensor<3xf32>) {
    ^bb0(%i: f32, %j: f32, %o: f32):
      %p = arith.mulf %i, %j : f32
      %s = arith.addf %o, %p : f32
      linalg.yield %s : f32
    } -> tensor<3xf32>
    ckpt.yield %0 : tensor<3xf32>
  } -> tensor<3xf32>
  return %r2 : tensor<3xf32>
}
