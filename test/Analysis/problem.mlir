// What the builder makes of a function beyond its ops.
// RUN: ckpt-opt %s --split-input-file --ckpt-print-problem -o /dev/null | FileCheck %s

// Ops that nothing needs have no number; scalars, masks and complex numbers have
// the bytes that they take in memory.
// CHECK: value 0 bytes=24 elements=3 shape=0 home=argument name="argument 0"
// CHECK-NEXT: value 1 bytes=3 elements=3 shape=0 home=argument name="argument 1"
// CHECK-NEXT: value 2 bytes=3 elements=3 shape=0 home=argument name="mask"
// CHECK-NEXT: value 3 bytes=24 elements=3 shape=0 home=argument name="argument 3"
// CHECK-NEXT: value 4 bytes=24 elements=3 shape=0 home=result name="arith.addi"
// CHECK-NEXT: op 0 fusible reads=0:pointwise,0:pointwise results=4
// CHECK-NOT: op 1
func.func @needed(%x: tensor<3xindex>, %y: tensor<3xi4>, %z: tensor<3xi1> loc("mask"), %w: tensor<3xcomplex<f32>>) -> tensor<3xindex> {
  %0 = arith.addi %x, %x : tensor<3xindex>
  %1 = arith.muli %0, %0 : tensor<3xindex>
  return %0 : tensor<3xindex>
}

// -----

// Data is an argument; a splat comes directly before its first reader and is
// made there.
// CHECK: value 1 bytes=12 elements=3 shape=0 home=argument name="constant"
// CHECK: op 0 fusible reads=0:pointwise,1:pointwise results=2 {{.*}} name="arith.addf"
// CHECK-NEXT: op 1 fusible results=3 name="arith.constant"
// CHECK-NEXT: op 2 fusible reads=2:pointwise,3:pointwise results=4 {{.*}} name="arith.mulf"
func.func @constants(%x: tensor<3xf32>) -> tensor<3xf32> {
  %two = arith.constant dense<2.0> : tensor<3xf32>
  %data = arith.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %0 = arith.addf %x, %data : tensor<3xf32>
  %1 = arith.mulf %0, %two : tensor<3xf32>
  return %1 : tensor<3xf32>
}

// -----

// A returned reshape: what it shows is written to the caller's buffer. The same
// value again, an argument and data are copied there: no op for them.
// CHECK: value 2 bytes=16 elements=4 shape=0 home=result
// CHECK-NEXT: op 0 fusible reads=0:pointwise results=2
// CHECK-NOT: op 1
func.func @returned(%x: tensor<4xf32>) -> (tensor<2x2xf32>, tensor<4xf32>, tensor<4xf32>, tensor<2xf32>) {
  %data = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %0 = arith.negf %x : tensor<4xf32>
  %1 = tensor.expand_shape %0 [[0, 1]] output_shape [2, 2] : tensor<4xf32> into tensor<2x2xf32>
  return %1, %0, %x, %data : tensor<2x2xf32>, tensor<4xf32>, tensor<4xf32>, tensor<2xf32>
}

// -----

// A returned permutation or slice is written out: a copy, no view.
// CHECK: value 1 {{.*}} home=result name="linalg.transpose"
// CHECK: value 2 {{.*}} home=result name="tensor.extract_slice"
// CHECK: op 0 fusible reads=0:any results=1 name="linalg.transpose"
// CHECK: op 1 fusible reads=1:aligned results=2 name="tensor.extract_slice"
func.func @returned_views(%x: tensor<4x5xf32>) -> (tensor<5x4xf32>, tensor<2x4xf32>) {
  %empty = tensor.empty() : tensor<5x4xf32>
  %0 = linalg.transpose ins(%x : tensor<4x5xf32>) outs(%empty : tensor<5x4xf32>) permutation = [1, 0]
  %1 = tensor.extract_slice %0[0, 0] [2, 4] [1, 1] : tensor<5x4xf32> to tensor<2x4xf32>
  return %0, %1 : tensor<5x4xf32>, tensor<2x4xf32>
}

// -----

// Undefined contents are no value, however they are shown, unless a kernel has
// to make what is returned. It comes last.
// CHECK: op 0 fusible results=0 name="tensor.insert_slice"
// CHECK: op 1 fusible results=1 name="tensor.empty"
// CHECK-NOT: op 2
func.func @undefined() -> (tensor<2x2xf32>, tensor<4xf32>) {
  %empty = tensor.empty() : tensor<4xf32>
  %0 = tensor.expand_shape %empty [[0, 1]] output_shape [2, 2] : tensor<4xf32> into tensor<2x2xf32>
  %part = tensor.empty() : tensor<2xf32>
  %1 = tensor.insert_slice %part into %empty[0] [2] [1] : tensor<2xf32> into tensor<4xf32>
  return %0, %1 : tensor<2x2xf32>, tensor<4xf32>
}

// -----

// No ops at all.
// CHECK: value 0 {{.*}} home=argument
// CHECK-NEXT: // as written: peak 0 bytes, moved 0 bytes, flops 0
func.func @empty(%x: tensor<4xf32>) {
  return
}

// -----

// Layers are read in place; an op belongs to the innermost one.
// CHECK: layer="outer"
// CHECK-NEXT: layer="inner"
// CHECK: name="outer · arith.negf"
// CHECK: name="inner · math.exp"
// CHECK: op 0 fusible reads=0:pointwise results=1 {{.*}} layer=0
// CHECK: op 1 fusible reads=1:pointwise results=2 {{.*}} layer=1
// CHECK: op 2 fusible reads=1:pointwise,2:pointwise results=3 {{.*}} layer=0
// CHECK: op 3 fusible reads=3:pointwise,2:pointwise results=4 flops=4 compute=200 name="arith.mulf"
func.func @layers(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0:2 = ckpt.layer "outer" -> tensor<4xf32>, tensor<4xf32> {
    %1 = arith.negf %x : tensor<4xf32>
    %2 = ckpt.layer "inner" -> tensor<4xf32> {
      %3 = math.exp %1 : tensor<4xf32>
      ckpt.yield %3 : tensor<4xf32>
    }
    %4 = arith.addf %1, %2 : tensor<4xf32>
    ckpt.yield %4, %2 : tensor<4xf32>, tensor<4xf32>
  }
  %5 = arith.mulf %0#0, %0#1 : tensor<4xf32>
  return %5 : tensor<4xf32>
}

// -----

// Pins. Of a saved layer what its anchors make and what it hands on; of a
// recomputed one all but what it hands on, and nothing that it takes; the pin of
// an op before that of its layer; of a view what it shows.
// CHECK: value 2 {{.*}} keep=save name="saved · linalg.reduce"
// CHECK: value 3 {{.*}}shape={{[0-9]+}} name="saved · math.exp"
// CHECK: value 4 {{.*}} keep=save name="saved · math.tanh"
// CHECK: value 5 {{.*}}shape={{[0-9]+}} name="saved · tensor.expand_shape"
// CHECK: value 6 {{.*}}shape={{[0-9]+}} name="remade · tensor.collapse_shape"
// CHECK: value 7 {{.*}} keep=recompute name="remade · math.exp"
// CHECK: value 8 {{.*}} keep=save name="remade · math.sin"
// CHECK: value 9 {{.*}}shape={{[0-9]+}} name="remade · math.tanh"
// CHECK: value 10 {{.*}} keep=recompute name="arith.negf"
// CHECK: value 11 {{.*}}shape={{[0-9]+}} name="tensor.expand_shape"
func.func @pins(%x: tensor<4x4xf32>, %y: tensor<4xf32>) -> tensor<2x2xf32> {
  %0 = ckpt.layer "saved" pin <save> -> tensor<2x2xf32> {
    %1 = linalg.reduce {arith.addf} ins(%x : tensor<4x4xf32>) outs(%y : tensor<4xf32>) dimensions = [1]
    %2 = math.exp %1 : tensor<4xf32>
    %3 = math.tanh %2 : tensor<4xf32>
    %4 = tensor.expand_shape %3 [[0, 1]] output_shape [2, 2] : tensor<4xf32> into tensor<2x2xf32>
    ckpt.yield %4 : tensor<2x2xf32>
  }
  %5 = ckpt.layer "remade" pin <recompute> -> tensor<4xf32> {
    %6 = tensor.collapse_shape %0 [[0, 1]] : tensor<2x2xf32> into tensor<4xf32>
    %7 = math.exp %6 : tensor<4xf32>
    %8 = math.sin %7 {ckpt.pin = #ckpt.pin<save>} : tensor<4xf32>
    %9 = math.tanh %8 : tensor<4xf32>
    ckpt.yield %9 : tensor<4xf32>
  }
  %10 = arith.negf %5 : tensor<4xf32>
  %11 = tensor.expand_shape %10 [[0, 1]] output_shape [2, 2] {ckpt.pin = #ckpt.pin<recompute>} : tensor<4xf32> into tensor<2x2xf32>
  %12 = arith.negf %11 : tensor<2x2xf32>
  return %12 : tensor<2x2xf32>
}

// -----

// Permutations that cancel show the same elements; what waits long to become a
// result lies in its buffer.
// CHECK: value 2 {{.*}} home=hosted host=8
// CHECK: value 4 {{.*}} same=2
// CHECK: value 8 {{.*}} home=result
func.func @hosted(%w: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<4x4xf32>
  %fill = linalg.fill ins(%zero : f32) outs(%empty : tensor<4x4xf32>) -> tensor<4x4xf32>
  %early = linalg.matmul ins(%w, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%fill : tensor<4x4xf32>) -> tensor<4x4xf32>
  %t = linalg.transpose ins(%early : tensor<4x4xf32>) outs(%empty : tensor<4x4xf32>) permutation = [1, 0]
  %tt = linalg.transpose ins(%t : tensor<4x4xf32>) outs(%empty : tensor<4x4xf32>) permutation = [1, 0]
  %middle = linalg.matmul ins(%w, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%fill : tensor<4x4xf32>) -> tensor<4x4xf32>
  %late = linalg.matmul ins(%middle, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%fill : tensor<4x4xf32>) -> tensor<4x4xf32>
  %sum = arith.addf %tt, %late : tensor<4x4xf32>
  %new = arith.subf %w, %sum : tensor<4x4xf32>
  return %new : tensor<4x4xf32>
}
