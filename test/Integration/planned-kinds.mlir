// Kinds of ops that the planner places and the emitters then have to make; the
// numbers are those of upstream's loops.
// RUN: ckpt-opt %s --ckpt-plan="quiet=true func=insert_behind_reduction" \
// RUN:   --ckpt-plan="quiet=true func=whole_slice_behind_product" \
// RUN:   --ckpt-plan="quiet=true func=two_orders" \
// RUN:   --ckpt-plan="quiet=true func=two_orders_of_many" \
// RUN:   --ckpt-plan="quiet=true func=two_sums" \
// RUN:   --ckpt-plan="quiet=true func=generate" \
// RUN:   --ckpt-plan="quiet=true func=two_results" \
// RUN:   --ckpt-plan="quiet=true func=complex_inside" \
// RUN:   --ckpt-plan="quiet=true func=turned_units" \
// RUN:   --ckpt-apply-plan -o %t.mlir
// RUN: ckpt-execute %t.mlir | FileCheck %s
// RUN: ckpt-runner %s --func=two_orders_of_many --device=cpu --repeat=1 --outputs=%t.cpu.npz
// RUN: ckpt-runner %s --func=two_orders_of_many --device=emulator --repeat=1 --outputs=%t.gpu.npz
// RUN: cmp %t.cpu.npz %t.gpu.npz

#xyz = affine_map<(x, y, z) -> (x, y, z)>
#xz = affine_map<(x, y, z) -> (x, z)>
#zx = affine_map<(x, y, z) -> (z, x)>
#ij = affine_map<(i, j) -> (i, j)>
#ji = affine_map<(i, j) -> (j, i)>
#many = affine_map<(a, b, c, d, e, f, g, h) -> (a, b, c, d, e, f, g, h)>
#turned = affine_map<(a, b, c, d, e, f, g, h) -> (h, a, b, c, d, e, f, g)>
#i = affine_map<(i) -> (i)>

// CHECK: insert_behind_reduction: ok
func.func @insert_behind_reduction(%x: tensor<9x16x3xf32>, %y: tensor<1x1xf32>) -> tensor<9x3xf32> {
  %z = arith.constant dense<0.0> : tensor<9x3xf32>
  %s = linalg.generic {indexing_maps = [#xyz, #xz], iterator_types = ["parallel", "reduction", "parallel"]} ins(%x : tensor<9x16x3xf32>) outs(%z : tensor<9x3xf32>) {
  ^bb0(%a: f32, %o: f32):
    %t = arith.addf %o, %a : f32
    linalg.yield %t : f32
  } -> tensor<9x3xf32>
  %r = tensor.insert_slice %y into %s[3, 2] [1, 1] [1, 1] : tensor<1x1xf32> into tensor<9x3xf32>
  return %r : tensor<9x3xf32>
}

// CHECK: whole_slice_behind_product: ok
func.func @whole_slice_behind_product(%x: tensor<4x6xf32>, %y: tensor<6x8xf32>) -> tensor<4x8xf32> {
  %z = arith.constant dense<0.0> : tensor<4x8xf32>
  %p = linalg.matmul ins(%x, %y : tensor<4x6xf32>, tensor<6x8xf32>) outs(%z : tensor<4x8xf32>) -> tensor<4x8xf32>
  %s = tensor.extract_slice %p[0, 0] [4, 8] [1, 1] : tensor<4x8xf32> to tensor<4x8xf32>
  %r = arith.negf %s : tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}

// CHECK: two_orders: ok
func.func @two_orders(%x: tensor<6x5xf32>) -> (tensor<6x5xf32>, tensor<5x6xf32>) {
  %e = tensor.empty() : tensor<6x5xf32>
  %f = tensor.empty() : tensor<5x6xf32>
  %r:2 = linalg.generic {indexing_maps = [#ij, #ij, #ji], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<6x5xf32>) outs(%e, %f : tensor<6x5xf32>, tensor<5x6xf32>) {
  ^bb0(%p: f32, %q: f32, %s: f32):
    %t = arith.addf %p, %p : f32
    linalg.yield %t, %t : f32, f32
  } -> (tensor<6x5xf32>, tensor<5x6xf32>)
  return %r#0, %r#1 : tensor<6x5xf32>, tensor<5x6xf32>
}

// CHECK: two_orders_of_many: ok
func.func @two_orders_of_many(%x: tensor<1x2x1x3x2x1x4x2xf32>) -> (tensor<1x2x1x3x2x1x4x2xf32>, tensor<2x1x2x1x3x2x1x4xf32>) {
  %e = tensor.empty() : tensor<1x2x1x3x2x1x4x2xf32>
  %f = tensor.empty() : tensor<2x1x2x1x3x2x1x4xf32>
  %r:2 = linalg.generic {indexing_maps = [#many, #many, #turned], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%x : tensor<1x2x1x3x2x1x4x2xf32>) outs(%e, %f : tensor<1x2x1x3x2x1x4x2xf32>, tensor<2x1x2x1x3x2x1x4xf32>) {
  ^bb0(%p: f32, %q: f32, %s: f32):
    %t = arith.addf %p, %p : f32
    linalg.yield %t, %t : f32, f32
  } -> (tensor<1x2x1x3x2x1x4x2xf32>, tensor<2x1x2x1x3x2x1x4xf32>)
  return %r#0, %r#1 : tensor<1x2x1x3x2x1x4x2xf32>, tensor<2x1x2x1x3x2x1x4xf32>
}

// CHECK: two_sums: ok
func.func @two_sums(%x: tensor<4x7x3xi32>) -> (tensor<4x3xi32>, tensor<3x4xi32>) {
  %z = arith.constant dense<0> : tensor<4x3xi32>
  %y = arith.constant dense<1> : tensor<3x4xi32>
  %r:2 = linalg.generic {indexing_maps = [#xyz, #xz, #zx], iterator_types = ["parallel", "reduction", "parallel"]} ins(%x : tensor<4x7x3xi32>) outs(%z, %y : tensor<4x3xi32>, tensor<3x4xi32>) {
  ^bb0(%a: i32, %p: i32, %q: i32):
    %s = arith.addi %a, %p : i32
    %t = arith.xori %a, %q : i32
    linalg.yield %s, %t : i32, i32
  } -> (tensor<4x3xi32>, tensor<3x4xi32>)
  return %r#0, %r#1 : tensor<4x3xi32>, tensor<3x4xi32>
}

// CHECK: generate: ok
func.func @generate(%x: tensor<20xf32>) -> tensor<3x20xf32> {
  %g = tensor.generate {
  ^bb0(%i: index, %j: index):
    %a = tensor.extract %x[%j] : tensor<20xf32>
    %k = arith.index_cast %i : index to i32
    %f = arith.sitofp %k : i32 to f32
    %b = arith.mulf %a, %f : f32
    tensor.yield %b : f32
  } : tensor<3x20xf32>
  %r = arith.addf %g, %g : tensor<3x20xf32>
  return %r : tensor<3x20xf32>
}

// CHECK: two_results: ok
func.func @two_results(%x: tensor<20xi32>, %y: tensor<20xi32>) -> (tensor<20xi32>, tensor<20xi32>) {
  %e = tensor.empty() : tensor<20xi32>
  %r:2 = linalg.generic {indexing_maps = [#i, #i, #i, #i], iterator_types = ["parallel"]} ins(%x, %y : tensor<20xi32>, tensor<20xi32>) outs(%e, %e : tensor<20xi32>, tensor<20xi32>) {
  ^bb0(%a: i32, %b: i32, %o: i32, %p: i32):
    %low, %high = arith.mulsi_extended %a, %b : i32
    linalg.yield %low, %high : i32, i32
  } -> (tensor<20xi32>, tensor<20xi32>)
  return %r#0, %r#1 : tensor<20xi32>, tensor<20xi32>
}

// CHECK: complex_inside: ok
func.func @complex_inside(%x: tensor<6x5xf32>, %y: tensor<6x5xf32>) -> tensor<5x6xf32> {
  %e = tensor.empty() : tensor<6x5xcomplex<f32>>
  %f = tensor.empty() : tensor<5x6xf32>
  %one = complex.constant [1.0 : f32, 2.0 : f32] : complex<f32>
  %c = linalg.generic {indexing_maps = [#ij, #ij, #ij], iterator_types = ["parallel", "parallel"]} ins(%x, %y : tensor<6x5xf32>, tensor<6x5xf32>) outs(%e : tensor<6x5xcomplex<f32>>) {
  ^bb0(%a: f32, %b: f32, %o: complex<f32>):
    %z = complex.create %a, %b : complex<f32>
    %w = complex.mul %z, %one : complex<f32>
    linalg.yield %w : complex<f32>
  } -> tensor<6x5xcomplex<f32>>
  %r = linalg.generic {indexing_maps = [#ji, #ij], iterator_types = ["parallel", "parallel"]} ins(%c : tensor<6x5xcomplex<f32>>) outs(%f : tensor<5x6xf32>) {
  ^bb0(%z: complex<f32>, %o: f32):
    %a = complex.im %z : complex<f32>
    linalg.yield %a : f32
  } -> tensor<5x6xf32>
  return %r : tensor<5x6xf32>
}

// A reversal of one element is a copy, which is returned.
// CHECK: turned_units: ok
func.func @turned_units(%x: tensor<1x5xf32>) -> (tensor<1x5xf32>, tensor<1x5xf32>) {
  %zero = arith.constant 0 : index
  %e = tensor.empty() : tensor<1x5xf32>
  %r = linalg.generic {indexing_maps = [#ij], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<1x5xf32>) {
  ^bb0(%o: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %turned = arith.subi %zero, %i : index
    %a = tensor.extract %x[%turned, %j] : tensor<1x5xf32>
    linalg.yield %a : f32
  } -> tensor<1x5xf32>
  %s = linalg.generic {indexing_maps = [#ij], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<1x5xf32>) {
  ^bb0(%o: f32):
    %j = linalg.index 1 : index
    %a = tensor.extract %x[%zero, %j] : tensor<1x5xf32>
    linalg.yield %a : f32
  } -> tensor<1x5xf32>
  return %r, %s : tensor<1x5xf32>, tensor<1x5xf32>
}
