// What --ckpt-prepare makes of calls, composite ops, views and dimensions of
// size one. A second run finds nothing to do.
// RUN: ckpt-opt %s --split-input-file --ckpt-prepare=func=step --mlir-print-debuginfo=false -o %t.mlir
// RUN: FileCheck %s < %t.mlir
// RUN: ckpt-opt %t.mlir --split-input-file --ckpt-prepare=func=step --mlir-print-debuginfo=false | diff %t.mlir -

// Private functions that only the step called are gone, others stay.
// CHECK-NOT: @inner
// CHECK-NOT: @layer
// CHECK: func.func private @other
// CHECK: func.func @public
// CHECK-LABEL: func.func @step
// CHECK-NEXT: math.exp
// CHECK-NEXT: math.tanh
// CHECK-NEXT: math.exp
// CHECK-NEXT: math.tanh
// CHECK-NEXT: math.absf
// CHECK-NEXT: return
func.func private @inner(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = math.exp %x : tensor<4xf32>
  return %y : tensor<4xf32>
}
func.func private @layer(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = call @inner(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %z = math.tanh %y : tensor<4xf32>
  return %z : tensor<4xf32>
}
func.func private @other(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
func.func private @nothing() {
  return
}
func.func @public(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %y = math.absf %x : tensor<4xf32>
  return %x, %y : tensor<4xf32>, tensor<4xf32>
}
func.func @step(%x: tensor<4xf32>) -> tensor<4xf32> {
  call @nothing() : () -> ()
  %a = call @layer(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %b = call @layer(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %c:2 = call @public(%b) : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return %c#1 : tensor<4xf32>
}

// -----

// Constants stand in the step; a global that somebody else reads stays.
// CHECK-LABEL: func.func @step
// CHECK-NEXT: arith.constant dense<[1.000000e+00, 2.000000e+00]>
// CHECK-NEXT: return
ml_program.global private @w(dense<[1.0, 2.0]> : tensor<2xf32>) : tensor<2xf32>
func.func @step() -> tensor<2xf32> {
  %w = ml_program.global_load_const @w : tensor<2xf32>
  return %w : tensor<2xf32>
}

// -----

// CHECK-LABEL: func.func @step
// CHECK-NOT: linalg.softmax
// CHECK: arith.maxnumf
// CHECK: math.exp
// CHECK: arith.addf
// CHECK: arith.divf
func.func @step(%x: tensor<3x5xf32>) -> tensor<3x5xf32> {
  %e = tensor.empty() : tensor<3x5xf32>
  %s = linalg.softmax dimension(1) ins(%x : tensor<3x5xf32>) outs(%e : tensor<3x5xf32>) -> tensor<3x5xf32>
  return %s : tensor<3x5xf32>
}

// -----

// CHECK-LABEL: func.func @step
// CHECK-NEXT: arith.bitcast %{{.*}} : tensor<7xf32> to tensor<7xi32>
// CHECK-NEXT: arith.bitcast %{{.*}} : tensor<7xi32> to tensor<7xf32>
// CHECK-NEXT: return
func.func @step(%x: tensor<7xf32>) -> tensor<7xf32> {
  %a = tensor.bitcast %x : tensor<7xf32> to tensor<7xi32>
  %b = tensor.bitcast %a : tensor<7xi32> to tensor<7xf32>
  return %b : tensor<7xf32>
}

// -----

// A lookup at two coordinates, with the dimensions kept and left out.
// CHECK-LABEL: func.func @step
// CHECK-SAME: %[[Y:.*]]: tensor<3x5x7xf32>, %[[I:.*]]: tensor<4x2xi32>
// CHECK: %[[A:.*]] = tensor.extract_slice %[[I]][0, 0] [4, 1] [1, 1] : tensor<4x2xi32> to tensor<4xi32>
// CHECK: %[[B:.*]] = tensor.extract_slice %[[I]][0, 1] [4, 1] [1, 1] : tensor<4x2xi32> to tensor<4xi32>
// CHECK: linalg.generic {{.*}} ins(%[[A]], %[[B]] :
// CHECK-DAG: %[[P:.*]] = arith.index_cast %{{.*}} : i32 to index
// CHECK-DAG: %[[Q:.*]] = arith.index_cast %{{.*}} : i32 to index
// CHECK-DAG: %[[D:.*]] = linalg.index 2
// CHECK: tensor.extract %[[Y]][%[[P]], %[[D]], %[[Q]]]
// CHECK: linalg.generic
// CHECK: %[[D:.*]] = linalg.index 1
// CHECK: tensor.extract %[[Y]][%{{.*}}, %[[D]], %{{.*}}]
func.func @step(%y: tensor<3x5x7xf32>, %i: tensor<4x2xi32>) -> (tensor<4x1x5x1xf32>, tensor<4x5xf32>) {
  %g = tensor.gather %y[%i] gather_dims([0, 2]) : (tensor<3x5x7xf32>, tensor<4x2xi32>) -> tensor<4x1x5x1xf32>
  %h = tensor.gather %y[%i] gather_dims([0, 2]) : (tensor<3x5x7xf32>, tensor<4x2xi32>) -> tensor<4x5xf32>
  return %g, %h : tensor<4x1x5x1xf32>, tensor<4x5xf32>
}

// -----

// CHECK-LABEL: func.func @step
// CHECK: linalg.generic
// CHECK-NEXT: ^bb0
// CHECK-NEXT: linalg.index 0
func.func @step() -> tensor<6xindex> {
  %g = tensor.generate {
  ^bb0(%i: index):
    tensor.yield %i : index
  } : tensor<6xindex>
  return %g : tensor<6xindex>
}

// -----

// CHECK-LABEL: func.func @step
// CHECK-NOT: linalg.pack
// CHECK-NOT: linalg.unpack
// CHECK: tensor.expand_shape
// CHECK: linalg.transpose
func.func @step(%x: tensor<8x6xf32>) -> tensor<8x6xf32> {
  %e = tensor.empty() : tensor<2x3x4x2xf32>
  %p = linalg.pack %x inner_dims_pos = [0, 1] inner_tiles = [4, 2] into %e : tensor<8x6xf32> -> tensor<2x3x4x2xf32>
  %t = math.tanh %p : tensor<2x3x4x2xf32>
  %u = tensor.empty() : tensor<8x6xf32>
  %r = linalg.unpack %t inner_dims_pos = [0, 1] inner_tiles = [4, 2] into %u : tensor<2x3x4x2xf32> -> tensor<8x6xf32>
  return %r : tensor<8x6xf32>
}

// -----

// Whatever shows all of a value in its order is that value.
// CHECK-LABEL: func.func @step
// CHECK-SAME: %[[X:.*]]: tensor<2x3xf32>)
// CHECK: return %[[X]], %[[X]], %[[X]], %[[X]], %[[X]], %[[X]], %[[X]], %[[X]], %[[X]]
#id = affine_map<(d0, d1) -> (d0, d1)>
#t = affine_map<(d0, d1) -> (d1, d0)>
func.func @step(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>,
    tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>,
    tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>) {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x3xf32>
  %0 = linalg.copy ins(%x : tensor<2x3xf32>) outs(%e : tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = linalg.transpose ins(%x : tensor<2x3xf32>) outs(%e : tensor<2x3xf32>) permutation = [0, 1]
  %2 = tensor.extract_slice %x[0, 0] [2, 3] [1, 1] : tensor<2x3xf32> to tensor<2x3xf32>
  %3 = tensor.insert_slice %x into %e[0, 0] [2, 3] [1, 1] : tensor<2x3xf32> into tensor<2x3xf32>
  %d = tensor.cast %x : tensor<2x3xf32> to tensor<?x3xf32>
  %4 = tensor.cast %d : tensor<?x3xf32> to tensor<2x3xf32>
  %5 = tensor.pad %x low[0, 0] high[0, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %z : f32
  } : tensor<2x3xf32> to tensor<2x3xf32>
  %6 = tensor.concat dim(0) %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %7 = linalg.generic {indexing_maps = [#t, #t], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<2x3xf32>) outs(%e : tensor<2x3xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<2x3xf32>
  %s = arith.constant dense<[2, 3]> : tensor<2xindex>
  %8 = tensor.reshape %x(%s) : (tensor<2x3xf32>, tensor<2xindex>) -> tensor<2x3xf32>
  return %0, %1, %2, %3, %4, %5, %6, %7, %8 : tensor<2x3xf32>,
      tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>,
      tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>
}

// -----

// Bufferization's ops on tensors; a tensor that another op may write stays.
// CHECK-LABEL: func.func @step
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>, %[[Y:.*]]: tensor<4xf32>
// CHECK-NEXT: %[[B:.*]] = bufferization.to_buffer %[[Y]]
// CHECK-NEXT: %[[T:.*]] = bufferization.to_tensor %[[B]]
// CHECK-NEXT: memref.copy
// CHECK-NEXT: %[[E:.*]] = tensor.empty
// CHECK-NEXT: return %[[X]], %[[X]], %[[E]], %[[X]], %[[T]]
func.func @step(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>,
    tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %0 = bufferization.materialize_in_destination %x in %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = bufferization.alloc_tensor() copy(%x) : tensor<4xf32>
  %b = bufferization.to_buffer %x : tensor<4xf32> to memref<4xf32>
  %3 = bufferization.to_tensor %b : memref<4xf32> to tensor<4xf32>
  %c = bufferization.to_buffer %y : tensor<4xf32> to memref<4xf32>
  %4 = bufferization.to_tensor %c : memref<4xf32> to tensor<4xf32>
  memref.copy %c, %c : memref<4xf32> to memref<4xf32>
  %2 = bufferization.alloc_tensor() : tensor<4xf32>
  return %0, %1, %2, %3, %4 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>,
      tensor<4xf32>, tensor<4xf32>
}

// -----

// Other shapes are reached by a collapse, an expansion or both.
// CHECK-LABEL: func.func @step
// CHECK-SAME: %[[X:.*]]: tensor<4x1x6xf32>
// CHECK: %[[A:.*]] = tensor.collapse_shape %[[X]] {{\[}}[0, 1, 2]] : tensor<4x1x6xf32> into tensor<24xf32>
// CHECK: %[[F:.*]] = tensor.collapse_shape %[[X]] {{\[}}[0, 1, 2]] : tensor<4x1x6xf32> into tensor<24xf32>
// CHECK: %[[B:.*]] = tensor.expand_shape %[[F]] {{.*}} output_shape [3, 8]
// CHECK: %[[C:.*]] = tensor.collapse_shape %[[X]] {{.*}} into tensor<4x6xf32>
// CHECK: %[[D:.*]] = tensor.expand_shape
// CHECK: return %[[A]], %[[B]], %[[C]], %[[D]]
func.func @step(%x: tensor<4x1x6xf32>) -> (tensor<24xf32>, tensor<3x8xf32>, tensor<4x6xf32>, tensor<1x4x6xf32>) {
  %s = arith.constant dense<[24]> : tensor<1xi64>
  %0 = tensor.reshape %x(%s) : (tensor<4x1x6xf32>, tensor<1xi64>) -> tensor<24xf32>
  %t = arith.constant dense<[3, 8]> : tensor<2xi64>
  %1 = tensor.reshape %x(%t) : (tensor<4x1x6xf32>, tensor<2xi64>) -> tensor<3x8xf32>
  %2 = tensor.extract_slice %x[0, 0, 0] [4, 1, 6] [1, 1, 1] : tensor<4x1x6xf32> to tensor<4x6xf32>
  %e = tensor.empty() : tensor<1x4x6xf32>
  %3 = linalg.transpose ins(%x : tensor<4x1x6xf32>) outs(%e : tensor<1x4x6xf32>) permutation = [1, 0, 2]
  return %0, %1, %2, %3 : tensor<24xf32>, tensor<3x8xf32>, tensor<4x6xf32>, tensor<1x4x6xf32>
}

// -----

// Offsets that are constants become numbers, but for those that lie outside.
// CHECK-LABEL: func.func @step
// CHECK-SAME: %[[X:[^:]*]]: tensor<4x6xf32>, %[[I:[^:]*]]: index
// CHECK-DAG: %[[FIVE:.*]] = arith.constant 5 : index
// CHECK-DAG: %[[MINUS:.*]] = arith.constant -1 : index
// CHECK: tensor.extract_slice %[[X]][1, %[[I]]] [1, 2] [1, 1]
// CHECK: tensor.extract_slice %[[X]][%[[FIVE]], 0] [1, 6] [1, 1]
// CHECK: tensor.extract_slice %[[X]][%[[MINUS]], 0] [1, 6] [1, 1]
// CHECK: tensor.insert_slice %{{.*}} into %[[X]][1, 2] [1, 2] [1, 1]
// CHECK: return %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %[[X]]
func.func @step(%x: tensor<4x6xf32>, %i: index) -> (tensor<1x2xf32>, tensor<1x6xf32>, tensor<6xf32>, tensor<4x6xf32>, tensor<4x6xf32>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  %five = arith.constant 5 : index
  %minus = arith.constant -1 : index
  %0 = tensor.extract_slice %x[%one, %i] [1, 2] [1, 1] : tensor<4x6xf32> to tensor<1x2xf32>
  %1 = tensor.extract_slice %x[%five, 0] [1, 6] [1, 1] : tensor<4x6xf32> to tensor<1x6xf32>
  %2 = tensor.extract_slice %x[%minus, 0] [1, 6] [1, 1] : tensor<4x6xf32> to tensor<6xf32>
  %3 = tensor.insert_slice %0 into %x[%one, %two] [1, 2] [1, 1] : tensor<1x2xf32> into tensor<4x6xf32>
  %4 = tensor.extract_slice %x[%zero, 0] [4, 6] [1, 1] : tensor<4x6xf32> to tensor<4x6xf32>
  return %0, %1, %2, %3, %4 : tensor<1x2xf32>, tensor<1x6xf32>, tensor<6xf32>, tensor<4x6xf32>, tensor<4x6xf32>
}

// -----

// Nothing is read where there are no elements.
// CHECK-LABEL: func.func @step
// CHECK-NEXT: %[[E:.*]] = tensor.empty() : tensor<3x0xf32>
// CHECK-NEXT: return %[[E]]
func.func @step(%x: tensor<0x3xf32>) -> tensor<3x0xf32> {
  %s = arith.constant dense<[3, 0]> : tensor<2xi64>
  %0 = tensor.reshape %x(%s) : (tensor<0x3xf32>, tensor<2xi64>) -> tensor<3x0xf32>
  return %0 : tensor<3x0xf32>
}

// -----

// What is pinned stays, and so does what changes the order.
// CHECK-LABEL: func.func @step
// CHECK: linalg.copy {ckpt.pin = #ckpt.pin<save>}
// CHECK: linalg.transpose
func.func @step(%x: tensor<4x6xf32>) -> (tensor<4x6xf32>, tensor<6x4xf32>) {
  %e = tensor.empty() : tensor<4x6xf32>
  %y = math.exp %x : tensor<4x6xf32>
  %0 = linalg.copy {ckpt.pin = #ckpt.pin<save>} ins(%y : tensor<4x6xf32>) outs(%e : tensor<4x6xf32>) -> tensor<4x6xf32>
  %f = tensor.empty() : tensor<6x4xf32>
  %1 = linalg.transpose ins(%x : tensor<4x6xf32>) outs(%f : tensor<6x4xf32>) permutation = [1, 0]
  return %0, %1 : tensor<4x6xf32>, tensor<6x4xf32>
}

// -----

// Contents that are undefined stay so in another order.
// CHECK-LABEL: func.func @step
// CHECK-NEXT: %[[E:.*]] = tensor.empty() : tensor<8x4xf32>
// CHECK-NEXT: %[[M:.*]] = math.tanh %[[E]]
// CHECK-NEXT: return %[[E]], %[[M]]
func.func @step() -> (tensor<8x4xf32>, tensor<8x4xf32>) {
  %y = tensor.empty() : tensor<4x8xf32>
  %e = tensor.empty() : tensor<8x4xf32>
  %v = linalg.transpose ins(%y : tensor<4x8xf32>) outs(%e : tensor<8x4xf32>) permutation = [1, 0]
  %m = math.tanh %v : tensor<8x4xf32>
  return %v, %m : tensor<8x4xf32>, tensor<8x4xf32>
}

// -----

// A reduction that keeps its dimension, over a constant, a fill and an argument.
// CHECK: #map1 = affine_map<(d0, d1) -> (d0)>
// CHECK-LABEL: func.func @step
// CHECK: %[[Z:.*]] = arith.constant dense<0.000000e+00> : tensor<64xf32>
// CHECK: linalg.generic {indexing_maps = [#map, #map1], {{.*}} outs(%[[Z]] : tensor<64xf32>)
// CHECK: tensor.expand_shape {{.*}} : tensor<64xf32> into tensor<64x1xf32>
// CHECK: %[[F:.*]] = linalg.fill {{.*}} -> tensor<64xf32>
// CHECK: linalg.generic {{.*}} outs(%[[F]] :
// CHECK: %[[C:.*]] = tensor.collapse_shape {{.*}} : tensor<64x1xf32> into tensor<64xf32>
// CHECK: linalg.generic {{.*}} outs(%[[C]] :
#m = affine_map<(d0, d1) -> (d0, d1)>
#k = affine_map<(d0, d1) -> (d0, 0)>
func.func @step(%x: tensor<64x32xf32>, %d: tensor<64x1xf32>) -> (tensor<64x1xf32>, tensor<64x1xf32>, tensor<64x1xf32>) {
  %z = arith.constant dense<0.0> : tensor<64x1xf32>
  %s = arith.constant 1.0 : f32
  %0 = linalg.generic {indexing_maps = [#m, #k], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<64x32xf32>) outs(%z : tensor<64x1xf32>) {
  ^bb0(%a: f32, %b: f32):
    %t = arith.addf %a, %b : f32
    linalg.yield %t : f32
  } -> tensor<64x1xf32>
  %e = tensor.empty() : tensor<64x1xf32>
  %f = linalg.fill ins(%s : f32) outs(%e : tensor<64x1xf32>) -> tensor<64x1xf32>
  %1 = linalg.generic {indexing_maps = [#m, #k], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<64x32xf32>) outs(%f : tensor<64x1xf32>) {
  ^bb0(%a: f32, %b: f32):
    %t = arith.addf %a, %b : f32
    linalg.yield %t : f32
  } -> tensor<64x1xf32>
  %2 = linalg.generic {indexing_maps = [#m, #k], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<64x32xf32>) outs(%d : tensor<64x1xf32>) {
  ^bb0(%a: f32, %b: f32):
    %t = arith.addf %a, %b : f32
    linalg.yield %t : f32
  } -> tensor<64x1xf32>
  return %0, %1, %2 : tensor<64x1xf32>, tensor<64x1xf32>, tensor<64x1xf32>
}

// -----

// Inputs of the result's shape are read as it is written; a broadcast that
// kernels can read stays.
// CHECK: #map1 = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-LABEL: func.func @step
// CHECK: linalg.generic {indexing_maps = [#map, #map1, #map1]
#row = affine_map<(d0, d1) -> (d1)>
#unit = affine_map<(d0, d1) -> (0, d1)>
#all = affine_map<(d0, d1) -> (d0, d1)>
func.func @step(%b: tensor<8xf32>, %y: tensor<1x8xf32>) -> tensor<1x8xf32> {
  %e = tensor.empty() : tensor<1x8xf32>
  %r = linalg.generic {indexing_maps = [#row, #unit, #all], iterator_types = ["parallel", "parallel"]} ins(%b, %y : tensor<8xf32>, tensor<1x8xf32>) outs(%e : tensor<1x8xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %s = arith.addf %p, %q : f32
    linalg.yield %s : f32
  } -> tensor<1x8xf32>
  return %r : tensor<1x8xf32>
}

// -----

// An elementwise op that writes at a constant.
// CHECK-LABEL: func.func @step
// CHECK: %[[Y:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<4x8xf32>)
// CHECK: tensor.expand_shape %[[Y]]
#in = affine_map<(d0, d1) -> (d0, d1)>
#out = affine_map<(d0, d1) -> (d0, 0, d1)>
func.func @step(%x: tensor<4x8xf32>) -> tensor<4x1x8xf32> {
  %e = tensor.empty() : tensor<4x1x8xf32>
  %r = linalg.generic {indexing_maps = [#in, #out], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<4x8xf32>) outs(%e : tensor<4x1x8xf32>) {
  ^bb0(%p: f32, %o: f32):
    %s = math.exp %p : f32
    linalg.yield %s : f32
  } -> tensor<4x1x8xf32>
  return %r : tensor<4x1x8xf32>
}

// -----

// A reversal is an input with a map; an input that nothing reads goes.
// CHECK: #[[$BACK:.*]] = affine_map<(d0, d1) -> (d1, -d0 + 3)>
// CHECK-LABEL: func.func @step
// CHECK-SAME: (%[[X:.*]]: tensor<8x4xf32>, %{{.*}}: tensor<4x8xf32>)
// CHECK: linalg.generic {indexing_maps = [#[[$BACK]], #{{.*}}], {{.*}}} ins(%[[X]] : tensor<8x4xf32>)
// CHECK-NEXT: ^bb0(%[[IN:.*]]: f32, %{{.*}}: f32):
// CHECK-NEXT: linalg.yield %[[IN]]
#id = affine_map<(d0, d1) -> (d0, d1)>
func.func @step(%x: tensor<8x4xf32>, %shape: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %c3 = arith.constant 3 : index
  %e = tensor.empty() : tensor<4x8xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%shape : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%p: f32, %o: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %k = arith.subi %c3, %i : index
    %s = tensor.extract %x[%j, %k] : tensor<8x4xf32>
    linalg.yield %s : f32
  } -> tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}

// -----

// Two reads of one tensor, every second element and its neighbour.
// CHECK-DAG: #[[$EVEN:.*]] = affine_map<(d0) -> (d0 * 2)>
// CHECK-DAG: #[[$ODD:.*]] = affine_map<(d0) -> (d0 * 2 + 1)>
// CHECK-LABEL: func.func @step
// CHECK-SAME: (%[[X:.*]]: tensor<8xf32>)
// CHECK: linalg.generic {indexing_maps = [#[[$EVEN]], #[[$ODD]], #{{.*}}], {{.*}}} ins(%[[X]], %[[X]] : tensor<8xf32>, tensor<8xf32>)
// CHECK-NOT: tensor.extract
// CHECK: return
func.func @step(%x: tensor<8xf32>) -> tensor<4xf32> {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %e = tensor.empty() : tensor<4xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} outs(%e : tensor<4xf32>) {
  ^bb0(%o: f32):
    %i = linalg.index 0 : index
    %k = arith.muli %i, %c2 : index
    %l = arith.addi %k, %c1 : index
    %s = tensor.extract %x[%k] : tensor<8xf32>
    %t = tensor.extract %x[%l] : tensor<8xf32>
    %u = arith.addf %s, %t : f32
    linalg.yield %u : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

// Places outside of the tensor, places that data decide, and the beginning of a
// longer tensor stay as they are.
// CHECK-LABEL: func.func @step
// CHECK: tensor.extract
// CHECK: tensor.extract
// CHECK: tensor.extract
func.func @step(%x: tensor<4xf32>, %n: tensor<4xi32>, %y: tensor<8xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %c1 = arith.constant 1 : index
  %e = tensor.empty() : tensor<4xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} outs(%e : tensor<4xf32>) {
  ^bb0(%o: f32):
    %i = linalg.index 0 : index
    %k = arith.addi %i, %c1 : index
    %s = tensor.extract %x[%k] : tensor<4xf32>
    linalg.yield %s : f32
  } -> tensor<4xf32>
  %q = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%n : tensor<4xi32>) outs(%e : tensor<4xf32>) {
  ^bb0(%p: i32, %o: f32):
    %k = arith.index_cast %p : i32 to index
    %s = tensor.extract %x[%k] : tensor<4xf32>
    linalg.yield %s : f32
  } -> tensor<4xf32>
  %b = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} outs(%e : tensor<4xf32>) {
  ^bb0(%o: f32):
    %i = linalg.index 0 : index
    %s = tensor.extract %y[%i] : tensor<8xf32>
    linalg.yield %s : f32
  } -> tensor<4xf32>
  return %r, %q, %b : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

// A step of kernels is left alone.
// CHECK-LABEL: func.func @step
// CHECK: ckpt.kernel
// CHECK: linalg.copy
func.func @step(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = ckpt.kernel(%a = %x : tensor<4xf32>) slots [-1 : 16] {
    %e = tensor.empty() : tensor<4xf32>
    %c = linalg.copy ins(%a : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
    ckpt.yield %c : tensor<4xf32>
  } -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// A size that casts forget.
// CHECK-LABEL: func.func @step
// CHECK: %[[SIZE:.*]] = arith.constant 2 : index
// CHECK-NOT: tensor.cast
// CHECK: tensor.from_elements %[[SIZE]]
func.func @step(%x: tensor<2x3xf32>) -> tensor<index> {
  %0 = arith.constant 0 : index
  %d = tensor.cast %x : tensor<2x3xf32> to tensor<?x3xf32>
  %e = tensor.cast %d : tensor<?x3xf32> to tensor<?x?xf32>
  %n = tensor.dim %e, %0 : tensor<?x?xf32>
  %r = tensor.from_elements %n : tensor<index>
  return %r : tensor<index>
}
