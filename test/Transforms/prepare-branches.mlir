// Conditionals become selections where both branches cost little more than one.
// RUN: ckpt-opt %s --split-input-file --ckpt-prepare --mlir-print-debuginfo=false | FileCheck %s

// The update of a step with loss scaling: elementwise or nothing.

// CHECK-LABEL: @update
// CHECK-NOT: scf.if
// CHECK: %[[NEW:.*]] = arith.subf
// CHECK: %[[CHOSEN:.*]] = linalg.generic {{.*}} ins(%arg0, %[[NEW]], %arg1 : tensor<i1>, tensor<4xf32>, tensor<4xf32>)
// CHECK: arith.select
// CHECK: return %[[CHOSEN]], %arg1
func.func @update(%ok: tensor<i1>, %w: tensor<4xf32>, %g: tensor<4xf32>)
    -> (tensor<4xf32>, tensor<4xf32>) {
  %c = tensor.extract %ok[] : tensor<i1>
  %r:2 = scf.if %c -> (tensor<4xf32>, tensor<4xf32>) {
    %n = arith.subf %w, %g : tensor<4xf32>
    scf.yield %n, %w : tensor<4xf32>, tensor<4xf32>
  } else {
    scf.yield %w, %w : tensor<4xf32>, tensor<4xf32>
  }
  return %r#0, %r#1 : tensor<4xf32>, tensor<4xf32>
}

// -----

// A layer or nothing, in a loop over layers.

// CHECK-LABEL: @layers
// CHECK-NOT: scf
// CHECK-COUNT-2: linalg.matmul
// CHECK-NOT: scf
// CHECK: return
func.func @layers(%keep: tensor<2xi1>, %x: tensor<4x4xf32>, %w: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %r = scf.for %i = %c0 to %c2 step %c1 iter_args(%a = %x) -> tensor<4x4xf32> {
    %c = tensor.extract %keep[%i] : tensor<2xi1>
    %y = scf.if %c -> tensor<4x4xf32> {
      %z = linalg.matmul ins(%a, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%a : tensor<4x4xf32>) -> tensor<4x4xf32>
      scf.yield %z : tensor<4x4xf32>
    } else {
      scf.yield %a : tensor<4x4xf32>
    }
    scf.yield %y : tensor<4x4xf32>
  }
  return %r : tensor<4x4xf32>
}

// -----

// Two products instead of one would take the time of two.

// CHECK-LABEL: @route
// CHECK: scf.if
func.func @route(%c: i1, %x: tensor<4x4xf32>, %w: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %y = scf.if %c -> tensor<4x4xf32> {
    %z = linalg.matmul ins(%x, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%x : tensor<4x4xf32>) -> tensor<4x4xf32>
    scf.yield %z : tensor<4x4xf32>
  } else {
    %z = linalg.matmul ins(%w, %x : tensor<4x4xf32>, tensor<4x4xf32>) outs(%x : tensor<4x4xf32>) -> tensor<4x4xf32>
    scf.yield %z : tensor<4x4xf32>
  }
  return %y : tensor<4x4xf32>
}

// -----

// The condition may be the check of an index.

// CHECK-LABEL: @checked
// CHECK: scf.if
func.func @checked(%i: index, %x: tensor<4xf32>) -> f32 {
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0.0 : f32
  %c = arith.cmpi ult, %i, %c4 : index
  %y = scf.if %c -> f32 {
    %z = tensor.extract %x[%i] : tensor<4xf32>
    scf.yield %z : f32
  } else {
    scf.yield %zero : f32
  }
  return %y : f32
}

// -----

// Or of a divisor.

// CHECK-LABEL: @divided
// CHECK: scf.if
func.func @divided(%n: i32, %d: i32) -> i32 {
  %zero = arith.constant 0 : i32
  %c = arith.cmpi ne, %d, %zero : i32
  %y = scf.if %c -> i32 {
    %q = arith.divsi %n, %d : i32
    scf.yield %q : i32
  } else {
    scf.yield %zero : i32
  }
  return %y : i32
}
