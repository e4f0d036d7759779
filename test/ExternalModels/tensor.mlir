// What renames elements is a view; what places them or takes them from an index
// at run time is fusible.
// RUN: ckpt-opt %s --split-input-file --ckpt-print-problem=prepare=false -o /dev/null | FileCheck %s

// CHECK: op 0 view reads=0:reshape results=1 name="tensor.expand_shape"
// CHECK: op 1 view reads=1:reshape results=2 name="tensor.collapse_shape"
// CHECK: op 2 view reads=2:reshape results=3 name="tensor.reshape"
func.func @reshapes(%x: tensor<4x6xf32>) -> tensor<24xf32> {
  %shape = arith.constant dense<[24]> : tensor<1xi32>
  %0 = tensor.expand_shape %x [[0], [1, 2]] output_shape [4, 2, 3] : tensor<4x6xf32> into tensor<4x2x3xf32>
  %1 = tensor.collapse_shape %0 [[0, 1], [2]] : tensor<4x2x3xf32> into tensor<8x3xf32>
  %2 = tensor.reshape %1(%shape) : (tensor<8x3xf32>, tensor<1xi32>) -> tensor<24xf32>
  %3 = arith.negf %2 : tensor<24xf32>
  return %3 : tensor<24xf32>
}

// -----

// From the origin; whole rows from elsewhere; with a stride; all of it; a row
// without its dimension.
// CHECK: op 0 view reads=0:aligned
// CHECK: op 1 view reads=0:stretch
// CHECK: op 2 view reads=0:any
// CHECK: op 3 view reads=0:reshape
// CHECK: op 4 view reads=0:stretch
func.func @slices(%x: tensor<4x6xf32>) -> (tensor<2x6xf32>, tensor<24xf32>, tensor<6xf32>) {
  %0 = tensor.extract_slice %x[0, 0] [2, 6] [1, 1] : tensor<4x6xf32> to tensor<2x6xf32>
  %1 = tensor.extract_slice %x[2, 0] [2, 6] [1, 1] : tensor<4x6xf32> to tensor<2x6xf32>
  %2 = tensor.extract_slice %x[0, 0] [2, 6] [2, 1] : tensor<4x6xf32> to tensor<2x6xf32>
  %3 = tensor.extract_slice %x[0, 0] [4, 6] [1, 1] : tensor<4x6xf32> to tensor<4x6xf32>
  %4 = tensor.extract_slice %x[0, 0] [1, 6] [1, 1] : tensor<4x6xf32> to tensor<6xf32>
  %5 = arith.addf %0, %1 : tensor<2x6xf32>
  %6 = arith.addf %5, %2 : tensor<2x6xf32>
  %7 = tensor.collapse_shape %3 [[0, 1]] : tensor<4x6xf32> into tensor<24xf32>
  %8 = arith.negf %7 : tensor<24xf32>
  %9 = arith.negf %4 : tensor<6xf32>
  return %6, %8, %9 : tensor<2x6xf32>, tensor<24xf32>, tensor<6xf32>
}

// -----

// CHECK: op 0 fusible reads=0:aligned,1:pointwise:destination results=3 name="tensor.insert_slice"
// CHECK: op 1 fusible reads=0:any,3:pointwise:destination results=4 name="tensor.insert_slice"
// CHECK: op 2 fusible reads=0:any,4:pointwise:destination,2:any
func.func @insert_slice(%x: tensor<2x6xf32>, %y: tensor<4x6xf32>, %i: index) -> tensor<4x6xf32> {
  %0 = tensor.insert_slice %x into %y[0, 0] [2, 6] [1, 1] : tensor<2x6xf32> into tensor<4x6xf32>
  %1 = tensor.insert_slice %x into %0[2, 0] [2, 6] [1, 1] : tensor<2x6xf32> into tensor<4x6xf32>
  %2 = tensor.insert_slice %x into %1[%i, 0] [2, 6] [1, 1] : tensor<2x6xf32> into tensor<4x6xf32>
  return %2 : tensor<4x6xf32>
}

// -----

// A padding value from outside is read unless it is a constant.
// CHECK: op 0 fusible reads=0:aligned results=2 name="tensor.pad"
// CHECK: op 1 fusible reads=2:any,1:any results=3 name="tensor.pad"
func.func @pad(%x: tensor<4xf32>, %value: f32) -> tensor<8xf32> {
  %zero = arith.constant 0.0 : f32
  %0 = tensor.pad %x low[0] high[2] {
  ^bb0(%i: index):
    tensor.yield %zero : f32
  } : tensor<4xf32> to tensor<6xf32>
  %1 = tensor.pad %0 low[1] high[1] {
  ^bb0(%i: index):
    tensor.yield %value : f32
  } : tensor<6xf32> to tensor<8xf32>
  return %1 : tensor<8xf32>
}

// -----

// Zeros that only windows see take no memory.
// CHECK: op 0 view reads=0:any results=2 name="tensor.pad"
// CHECK: op 2 contraction reads=2:any:memory,1:any:memory
// CHECK-SAME: name="linalg.conv_1d_nwc_wcf"
func.func @windows(%x: tensor<2x6x4xf32>, %w: tensor<3x4x8xf32>) -> tensor<2x6x8xf32> {
  %zero = arith.constant 0.0 : f32
  %0 = tensor.pad %x low[0, 1, 0] high[0, 1, 0] {
  ^bb0(%i: index, %j: index, %k: index):
    tensor.yield %zero : f32
  } : tensor<2x6x4xf32> to tensor<2x8x4xf32>
  %e = tensor.empty() : tensor<2x6x8xf32>
  %1 = linalg.fill ins(%zero : f32) outs(%e : tensor<2x6x8xf32>) -> tensor<2x6x8xf32>
  %2 = linalg.conv_1d_nwc_wcf {dilations = dense<1> : tensor<1xi64>, strides = dense<1> : tensor<1xi64>} ins(%0, %w : tensor<2x8x4xf32>, tensor<3x4x8xf32>) outs(%1 : tensor<2x6x8xf32>) -> tensor<2x6x8xf32>
  return %2 : tensor<2x6x8xf32>
}

// -----

// Indices through what is only reshaped in memory need not be divided; those
// through other views of several dimensions would have to be.
// CHECK: op 1 view reads=2:any results=3 name="tensor.pad"
// CHECK: fusible {{.*}} name="tensor.pad"
func.func @joined(%x: tensor<2x2x3x4xf32>, %w: tensor<3x4x8xf32>) -> (tensor<2x6x8xf32>, tensor<2x6x8xf32>) {
  %zero = arith.constant 0.0 : f32
  %x0 = tensor.collapse_shape %x [[0], [1, 2], [3]] : tensor<2x2x3x4xf32> into tensor<2x6x4xf32>
  %0 = tensor.pad %x0 low[0, 1, 0] high[0, 1, 0] {
  ^bb0(%i: index, %j: index, %k: index):
    tensor.yield %zero : f32
  } : tensor<2x6x4xf32> to tensor<2x8x4xf32>
  %e = tensor.empty() : tensor<2x6x8xf32>
  %1 = linalg.fill ins(%zero : f32) outs(%e : tensor<2x6x8xf32>) -> tensor<2x6x8xf32>
  %2 = linalg.conv_1d_nwc_wcf {dilations = dense<1> : tensor<1xi64>, strides = dense<1> : tensor<1xi64>} ins(%0, %w : tensor<2x8x4xf32>, tensor<3x4x8xf32>) outs(%1 : tensor<2x6x8xf32>) -> tensor<2x6x8xf32>
  %e1 = tensor.empty() : tensor<2x3x2x4xf32>
  %t = linalg.transpose ins(%x : tensor<2x2x3x4xf32>) outs(%e1 : tensor<2x3x2x4xf32>) permutation = [0, 2, 1, 3]
  %x1 = tensor.collapse_shape %t [[0], [1, 2], [3]] : tensor<2x3x2x4xf32> into tensor<2x6x4xf32>
  %3 = tensor.pad %x1 low[0, 1, 0] high[0, 1, 0] {
  ^bb0(%i: index, %j: index, %k: index):
    tensor.yield %zero : f32
  } : tensor<2x6x4xf32> to tensor<2x8x4xf32>
  %4 = linalg.conv_1d_nwc_wcf {dilations = dense<1> : tensor<1xi64>, strides = dense<1> : tensor<1xi64>} ins(%3, %w : tensor<2x8x4xf32>, tensor<3x4x8xf32>) outs(%1 : tensor<2x6x8xf32>) -> tensor<2x6x8xf32>
  return %2, %4 : tensor<2x6x8xf32>, tensor<2x6x8xf32>
}

// -----

// They do where something else reads them, where they are no zeros, where a
// matmul reads them, and where channels are padded.
// CHECK-COUNT-3: fusible {{.*}} name="tensor.pad"
// CHECK: fusible {{.*}} name="tensor.pad"
func.func @no_windows(%x: tensor<2x6x4xf32>, %w: tensor<3x4x8xf32>, %v: tensor<4x8xf32>) -> (tensor<2x6x8xf32>, tensor<2x8x4xf32>, tensor<2x6x8xf32>, tensor<8x8xf32>, tensor<2x4x8xf32>) {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %e = tensor.empty() : tensor<2x6x8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2x6x8xf32>) -> tensor<2x6x8xf32>
  %0 = tensor.pad %x low[0, 1, 0] high[0, 1, 0] {
  ^bb0(%i: index, %j: index, %k: index):
    tensor.yield %zero : f32
  } : tensor<2x6x4xf32> to tensor<2x8x4xf32>
  %r0 = linalg.conv_1d_nwc_wcf {dilations = dense<1> : tensor<1xi64>, strides = dense<1> : tensor<1xi64>} ins(%0, %w : tensor<2x8x4xf32>, tensor<3x4x8xf32>) outs(%f : tensor<2x6x8xf32>) -> tensor<2x6x8xf32>
  %1 = tensor.pad %x low[0, 1, 0] high[0, 1, 0] {
  ^bb0(%i: index, %j: index, %k: index):
    tensor.yield %one : f32
  } : tensor<2x6x4xf32> to tensor<2x8x4xf32>
  %r1 = linalg.conv_1d_nwc_wcf {dilations = dense<1> : tensor<1xi64>, strides = dense<1> : tensor<1xi64>} ins(%1, %w : tensor<2x8x4xf32>, tensor<3x4x8xf32>) outs(%f : tensor<2x6x8xf32>) -> tensor<2x6x8xf32>
  %x0 = tensor.extract_slice %x[0, 0, 0] [1, 6, 4] [1, 1, 1] : tensor<2x6x4xf32> to tensor<6x4xf32>
  %2 = tensor.pad %x0 low[1, 0] high[1, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f32
  } : tensor<6x4xf32> to tensor<8x4xf32>
  %e2 = tensor.empty() : tensor<8x8xf32>
  %f2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<8x8xf32>) -> tensor<8x8xf32>
  %r2 = linalg.matmul ins(%2, %v : tensor<8x4xf32>, tensor<4x8xf32>) outs(%f2 : tensor<8x8xf32>) -> tensor<8x8xf32>
  %x1 = tensor.extract_slice %x[0, 0, 0] [2, 6, 3] [1, 1, 1] : tensor<2x6x4xf32> to tensor<2x6x3xf32>
  %3 = tensor.pad %x1 low[0, 0, 0] high[0, 0, 1] {
  ^bb0(%i: index, %j: index, %k: index):
    tensor.yield %zero : f32
  } : tensor<2x6x3xf32> to tensor<2x6x4xf32>
  %e3 = tensor.empty() : tensor<2x4x8xf32>
  %f3 = linalg.fill ins(%zero : f32) outs(%e3 : tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
  %r3 = linalg.conv_1d_nwc_wcf {dilations = dense<1> : tensor<1xi64>, strides = dense<1> : tensor<1xi64>} ins(%3, %w : tensor<2x6x4xf32>, tensor<3x4x8xf32>) outs(%f3 : tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
  return %r0, %0, %r1, %r2, %r3 : tensor<2x6x8xf32>, tensor<2x8x4xf32>, tensor<2x6x8xf32>, tensor<8x8xf32>, tensor<2x4x8xf32>
}

// -----

// The padding depends on the place.
// CHECK: op 0 opaque reads=0:any:contiguous results=1 name="tensor.pad"
func.func @computed_padding(%x: tensor<4xindex>) -> tensor<6xindex> {
  %0 = tensor.pad %x low[0] high[2] {
  ^bb0(%i: index):
    tensor.yield %i : index
  } : tensor<4xindex> to tensor<6xindex>
  return %0 : tensor<6xindex>
}

// -----

// CHECK: op 0 fusible reads=0:aligned,1:any results=3 name="tensor.concat"
// CHECK: op 1 fusible reads=2:any results=4 name="tensor.splat"
// CHECK: op 2 fusible reads=2:any,2:any results=5 name="tensor.from_elements"
// CHECK: op 3 fusible reads=3:pointwise results=6 name="tensor.bitcast"
func.func @makers(%x: tensor<4xi32>, %y: tensor<2xi32>, %s: f32) -> (tensor<6xf32>, tensor<6xf32>, tensor<2xf32>) {
  %0 = tensor.concat dim(0) %x, %y : (tensor<4xi32>, tensor<2xi32>) -> tensor<6xi32>
  %1 = tensor.splat %s : tensor<6xf32>
  %2 = tensor.from_elements %s, %s : tensor<2xf32>
  %3 = tensor.bitcast %0 : tensor<6xi32> to tensor<6xf32>
  return %3, %1, %2 : tensor<6xf32>, tensor<6xf32>, tensor<2xf32>
}

// -----

// An insertion of a scalar runs alone.
// CHECK: op 0 fusible reads=0:any,1:any results=2 name="tensor.extract_slice"
// CHECK: op 1 fusible reads=2:any,1:any results=3 name="tensor.extract"
// CHECK: op 2 opaque reads=3:any:contiguous,2:any:contiguous:destination,1:any:contiguous results=4 name="tensor.insert"
func.func @at_run_time(%x: tensor<4xf32>, %i: index) -> tensor<2xf32> {
  %0 = tensor.extract_slice %x[%i] [2] [1] : tensor<4xf32> to tensor<2xf32>
  %1 = tensor.extract %0[%i] : tensor<2xf32>
  %2 = tensor.insert %1 into %0[%i] : tensor<2xf32>
  return %2 : tensor<2xf32>
}
