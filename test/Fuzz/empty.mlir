// Tensors without elements are joined, padded and inserted: their memory, behind
// which none is accessible, is not read.
// RUN: head -c 82 /dev/zero > %t.arguments
// RUN: ckpt-fuzz %s %t.arguments %t.results
// RUN: head -c 2 %t.results | FileCheck %s
// CHECK: {{^}}ok{{$}}

// ways: as-written:cpu 50%:cpu as-written:emulator
// bytes: 82
func.func @main(%none: tensor<0x3xf32>, %x: tensor<4x3xf32>, %nobody: tensor<0x1xbf16>, %y: tensor<17x1xbf16>) -> (tensor<4x3xf32>, tensor<2x3xf32>, tensor<4x3xf32>, tensor<5x3xf32>, tensor<0x3xf32>, tensor<34x1xbf16>) {
  %one = arith.constant 1.0 : f32
  %last = tensor.concat dim(0) %x, %none : (tensor<4x3xf32>, tensor<0x3xf32>) -> tensor<4x3xf32>
  %padded = tensor.pad %none low[1, 0] high[1, 0] {
    ^bb0(%i: index, %j: index):
      tensor.yield %one : f32
  } : tensor<0x3xf32> to tensor<2x3xf32>
  %inserted = tensor.insert_slice %none into %x[0, 0] [0, 3] [1, 1] : tensor<0x3xf32> into tensor<4x3xf32>
  %rows = tensor.extract_slice %x[0, 0] [3, 3] [1, 1] : tensor<4x3xf32> to tensor<3x3xf32>
  %between = tensor.concat dim(0) %none, %padded, %none, %rows : (tensor<0x3xf32>, tensor<2x3xf32>, tensor<0x3xf32>, tensor<3x3xf32>) -> tensor<5x3xf32>
  %nothing = tensor.concat dim(0) %none, %none : (tensor<0x3xf32>, tensor<0x3xf32>) -> tensor<0x3xf32>
  %first = tensor.concat dim(0) %nobody, %y, %y : (tensor<0x1xbf16>, tensor<17x1xbf16>, tensor<17x1xbf16>) -> tensor<34x1xbf16>
  return %last, %padded, %inserted, %between, %nothing, %first : tensor<4x3xf32>, tensor<2x3xf32>, tensor<4x3xf32>, tensor<5x3xf32>, tensor<0x3xf32>, tensor<34x1xbf16>
}
