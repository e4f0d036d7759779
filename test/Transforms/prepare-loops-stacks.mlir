// What is put into a stack and taken out again is the value itself; ops on stacks
// are ops on their pieces.
// RUN: ckpt-opt %s --split-input-file --ckpt-prepare --mlir-print-debuginfo=false | FileCheck %s

// A stack that only slices read does not exist.

// CHECK-LABEL: @forward
// CHECK-NEXT: %[[A:.*]] = math.exp %arg0
// CHECK-NEXT: %[[B:.*]] = math.exp %[[A]]
// CHECK-NEXT: %[[C:.*]] = arith.mulf %[[B]], %[[A]]
// CHECK-NEXT: return %[[C]]
func.func @forward(%x: tensor<4xf32>) -> tensor<4xf32> {
  %zero = arith.constant dense<0.0> : tensor<2x4xf32>
  %a = math.exp %x : tensor<4xf32>
  %b = math.exp %a : tensor<4xf32>
  %0 = tensor.insert_slice %a into %zero[0, 0] [1, 4] [1, 1] : tensor<4xf32> into tensor<2x4xf32>
  %1 = tensor.insert_slice %b into %0[1, 0] [1, 4] [1, 1] : tensor<4xf32> into tensor<2x4xf32>
  %last = tensor.extract_slice %1[1, 0] [1, 4] [1, 1] : tensor<2x4xf32> to tensor<4xf32>
  %first = tensor.extract_slice %1[0, 0] [1, 4] [1, 1] : tensor<2x4xf32> to tensor<1x4xf32>
  %row = tensor.collapse_shape %first [[0, 1]] : tensor<1x4xf32> into tensor<4xf32>
  %c = arith.mulf %last, %row : tensor<4xf32>
  return %c : tensor<4xf32>
}

// -----

// Rows that nothing was inserted into are those of the tensor below; a later
// insertion hides an earlier one; a part of a piece is a part of its value.

// CHECK-LABEL: @rows
// CHECK-SAME: (%[[BASE:.*]]: tensor<3x4xf32>, %[[A:.*]]: tensor<1x4xf32>, %[[B:.*]]: tensor<2x4xf32>)
// CHECK-DAG: %[[OLD:.*]] = tensor.extract_slice %[[BASE]][2, 0] [1, 4] [1, 1]
// CHECK-DAG: %[[PART:.*]] = tensor.extract_slice %[[B]][1, 2] [1, 2] [1, 1]
// CHECK: return %[[OLD]], %[[PART]], %[[A]]
func.func @rows(%base: tensor<3x4xf32>, %a: tensor<1x4xf32>, %b: tensor<2x4xf32>)
    -> (tensor<1x4xf32>, tensor<1x2xf32>, tensor<1x4xf32>) {
  %0 = tensor.insert_slice %b into %base[0, 0] [2, 4] [1, 1] : tensor<2x4xf32> into tensor<3x4xf32>
  %1 = tensor.insert_slice %a into %0[0, 0] [1, 4] [1, 1] : tensor<1x4xf32> into tensor<3x4xf32>
  %old = tensor.extract_slice %1[2, 0] [1, 4] [1, 1] : tensor<3x4xf32> to tensor<1x4xf32>
  %part = tensor.extract_slice %1[1, 2] [1, 2] [1, 1] : tensor<3x4xf32> to tensor<1x2xf32>
  %new = tensor.extract_slice %1[0, 0] [1, 4] [1, 1] : tensor<3x4xf32> to tensor<1x4xf32>
  return %old, %part, %new : tensor<1x4xf32>, tensor<1x2xf32>, tensor<1x4xf32>
}

// -----

// An update in place of an argument stays one: the argument's rows do not move.

// CHECK-LABEL: @update
// CHECK: tensor.insert_slice
// CHECK-NOT: tensor.concat
func.func @update(%base: tensor<3x4xf32>, %a: tensor<1x4xf32>) -> tensor<3x4xf32> {
  %0 = tensor.insert_slice %a into %base[0, 0] [1, 4] [1, 1] : tensor<1x4xf32> into tensor<3x4xf32>
  return %0 : tensor<3x4xf32>
}

// -----

// The update of stacked weights: one op per layer, one concatenation.

#map = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-LABEL: @update_of_weights
// CHECK-SAME: (%[[W:.*]]: tensor<2x4xf32>, %[[G0:.*]]: tensor<4xf32>, %[[G1:.*]]: tensor<4xf32>)
// CHECK: %[[W0:.*]] = tensor.extract_slice %[[W]][0, 0] [1, 4] [1, 1] : tensor<2x4xf32> to tensor<4xf32>
// CHECK: %[[N0:.*]] = linalg.generic {{.*}} ins(%[[W0]], %[[G0]] : tensor<4xf32>, tensor<4xf32>)
// CHECK: %[[P0:.*]] = tensor.expand_shape %[[N0]]
// CHECK: %[[W1:.*]] = tensor.extract_slice %[[W]][1, 0] [1, 4] [1, 1] : tensor<2x4xf32> to tensor<4xf32>
// CHECK: %[[N1:.*]] = linalg.generic {{.*}} ins(%[[W1]], %[[G1]] : tensor<4xf32>, tensor<4xf32>)
// CHECK: %[[P1:.*]] = tensor.expand_shape %[[N1]]
// CHECK: %[[NEW:.*]] = tensor.concat dim(0) %[[P0]], %[[P1]]
// CHECK: return %[[NEW]]
func.func @update_of_weights(%w: tensor<2x4xf32>, %g0: tensor<4xf32>, %g1: tensor<4xf32>) -> tensor<2x4xf32> {
  %p0 = tensor.expand_shape %g0 [[0, 1]] output_shape [1, 4] : tensor<4xf32> into tensor<1x4xf32>
  %p1 = tensor.expand_shape %g1 [[0, 1]] output_shape [1, 4] : tensor<4xf32> into tensor<1x4xf32>
  %g = tensor.concat dim(0) %p0, %p1 : (tensor<1x4xf32>, tensor<1x4xf32>) -> tensor<2x4xf32>
  %e = tensor.empty() : tensor<2x4xf32>
  %new = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]}
      ins(%w, %g : tensor<2x4xf32>, tensor<2x4xf32>) outs(%e : tensor<2x4xf32>) {
    ^bb0(%a: f32, %b: f32, %out: f32):
      %d = arith.subf %a, %b : f32
      linalg.yield %d : f32
  } -> tensor<2x4xf32>
  return %new : tensor<2x4xf32>
}

// -----

#map = affine_map<(d0, d1) -> (d0, d1)>
// A sum of paddings is a concatenation: the gradient of indexing in a loop in
// Python.

// CHECK-LABEL: @paddings
// CHECK: %[[ALL:.*]] = tensor.concat dim(0) %arg0, %arg1
// CHECK: return %[[ALL]]
func.func @paddings(%a: tensor<1x4xf32>, %b: tensor<1x4xf32>) -> tensor<2x4xf32> {
  %zero = arith.constant 0.0 : f32
  %pa = tensor.pad %a low[0, 0] high[1, 0] {
    ^bb0(%i: index, %j: index):
      tensor.yield %zero : f32
  } : tensor<1x4xf32> to tensor<2x4xf32>
  %pb = tensor.pad %b low[1, 0] high[0, 0] {
    ^bb0(%i: index, %j: index):
      tensor.yield %zero : f32
  } : tensor<1x4xf32> to tensor<2x4xf32>
  %e = tensor.empty() : tensor<2x4xf32>
  %sum = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]}
      ins(%pa, %pb : tensor<2x4xf32>, tensor<2x4xf32>) outs(%e : tensor<2x4xf32>) {
    ^bb0(%x: f32, %y: f32, %out: f32):
      %d = arith.addf %x, %y : f32
      linalg.yield %d : f32
  } -> tensor<2x4xf32>
  return %sum : tensor<2x4xf32>
}

// -----

#map = affine_map<(d0, d1) -> (d0, d1)>
// A reduction over a stack goes from piece to piece.

// CHECK-LABEL: @norm
// CHECK: %[[S0:.*]] = linalg.generic {{.*}} ins(%arg0 : tensor<4xf32>) outs(%{{.*}} : tensor<f32>)
// CHECK: %[[S1:.*]] = linalg.generic {{.*}} ins(%arg1 : tensor<4xf32>) outs(%[[S0]] : tensor<f32>)
// CHECK: return %[[S1]]
func.func @norm(%g0: tensor<4xf32>, %g1: tensor<4xf32>) -> tensor<f32> {
  %p0 = tensor.expand_shape %g0 [[0, 1]] output_shape [1, 4] : tensor<4xf32> into tensor<1x4xf32>
  %p1 = tensor.expand_shape %g1 [[0, 1]] output_shape [1, 4] : tensor<4xf32> into tensor<1x4xf32>
  %g = tensor.concat dim(0) %p0, %p1 : (tensor<1x4xf32>, tensor<1x4xf32>) -> tensor<2x4xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<f32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %s = linalg.generic {indexing_maps = [#map, affine_map<(d0, d1) -> ()>], iterator_types = ["reduction", "reduction"]}
      ins(%g : tensor<2x4xf32>) outs(%f : tensor<f32>) {
    ^bb0(%x: f32, %out: f32):
      %q = arith.mulf %x, %x : f32
      %d = arith.addf %out, %q : f32
      linalg.yield %d : f32
  } -> tensor<f32>
  return %s : tensor<f32>
}

// -----

#map = affine_map<(d0, d1) -> (d0, d1)>
// What a product reads as a whole stays whole.

// CHECK-LABEL: @whole
// CHECK: %[[H:.*]] = tensor.concat dim(0) %arg0, %arg1
// CHECK: %[[T:.*]] = linalg.generic {{.*}} ins(%[[H]] : tensor<2x4xf32>)
// CHECK: linalg.matmul ins(%[[T]]
func.func @whole(%a: tensor<1x4xf32>, %b: tensor<1x4xf32>, %w: tensor<4x4xf32>) -> tensor<2x4xf32> {
  %h = tensor.concat dim(0) %a, %b : (tensor<1x4xf32>, tensor<1x4xf32>) -> tensor<2x4xf32>
  %e = tensor.empty() : tensor<2x4xf32>
  %t = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]}
      ins(%h : tensor<2x4xf32>) outs(%e : tensor<2x4xf32>) {
    ^bb0(%x: f32, %out: f32):
      %d = math.tanh %x : f32
      linalg.yield %d : f32
  } -> tensor<2x4xf32>
  %zero = arith.constant 0.0 : f32
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2x4xf32>) -> tensor<2x4xf32>
  %y = linalg.matmul ins(%t, %w : tensor<2x4xf32>, tensor<4x4xf32>) outs(%f : tensor<2x4xf32>) -> tensor<2x4xf32>
  return %y : tensor<2x4xf32>
}

// -----

#map = affine_map<(d0, d1) -> (d0, d1)>
// Weights that are cast as a whole and sliced layer by layer are sliced first.

// CHECK-LABEL: @cast
// CHECK-SAME: (%[[W:.*]]: tensor<2x4xf32>)
// CHECK: %[[W0:.*]] = tensor.extract_slice %[[W]][0, 0] [1, 4] [1, 1] : tensor<2x4xf32> to tensor<4xf32>
// CHECK: %[[C0:.*]] = linalg.generic {{.*}} ins(%[[W0]] : tensor<4xf32>) outs(%{{.*}} : tensor<4xbf16>)
// CHECK: %[[W1:.*]] = tensor.extract_slice %[[W]][1, 0] [1, 4] [1, 1] : tensor<2x4xf32> to tensor<4xf32>
// CHECK: %[[C1:.*]] = linalg.generic {{.*}} ins(%[[W1]] : tensor<4xf32>) outs(%{{.*}} : tensor<4xbf16>)
// CHECK: arith.addf %[[C0]], %[[C1]]
func.func @cast(%w: tensor<2x4xf32>) -> tensor<4xbf16> {
  %e = tensor.empty() : tensor<2x4xbf16>
  %t = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]}
      ins(%w : tensor<2x4xf32>) outs(%e : tensor<2x4xbf16>) {
    ^bb0(%x: f32, %out: bf16):
      %d = arith.truncf %x : f32 to bf16
      linalg.yield %d : bf16
  } -> tensor<2x4xbf16>
  %a = tensor.extract_slice %t[0, 0] [1, 4] [1, 1] : tensor<2x4xbf16> to tensor<4xbf16>
  %b = tensor.extract_slice %t[1, 0] [1, 4] [1, 1] : tensor<2x4xbf16> to tensor<4xbf16>
  %y = arith.addf %a, %b : tensor<4xbf16>
  return %y : tensor<4xbf16>
}

// -----

// Zeros around one value make no stack: the slice stays where the model has it.

// CHECK-LABEL: @padded
// CHECK: %[[PAD:.*]] = tensor.pad
// CHECK: tensor.extract_slice %[[PAD]]
func.func @padded(%x: tensor<4x4xf32>) -> tensor<3x4xf32> {
  %zero = arith.constant 0.0 : f32
  %y = math.exp %x : tensor<4x4xf32>
  %0 = tensor.pad %y low[0, 0] high[1, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f32
  } : tensor<4x4xf32> to tensor<5x4xf32>
  %1 = tensor.extract_slice %0[0, 0] [3, 4] [1, 1] : tensor<5x4xf32> to tensor<3x4xf32>
  return %1 : tensor<3x4xf32>
}
