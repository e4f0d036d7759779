// Loops and conditionals run alone, and read what their bodies capture.
// RUN: ckpt-opt %s --split-input-file --ckpt-print-problem=prepare=false -o /dev/null | FileCheck %s

// 10 iterations of 4 additions. The init may be overwritten.
// CHECK: op 0 opaque reads=1:any:contiguous:destination,0:any:contiguous results=2 flops=40 {{.*}}name="scf.for"
// CHECK-NOT: once
func.func @for(%x: tensor<4xf32>, %sum: tensor<4xf32>) -> tensor<4xf32> {
  %zero = arith.constant 0 : index
  %ten = arith.constant 10 : index
  %one = arith.constant 1 : index
  %0 = scf.for %i = %zero to %ten step %one iter_args(%s = %sum) -> tensor<4xf32> {
    %1 = arith.addf %s, %x : tensor<4xf32>
    scf.yield %1 : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

// -----

// The longer branch counts.
// CHECK: op 0 opaque reads=1:any:contiguous,0:any:contiguous results=2 flops=8 {{.*}}name="scf.if"
func.func @if(%x: tensor<4xf32>, %condition: i1) -> tensor<4xf32> {
  %0 = scf.if %condition -> tensor<4xf32> {
    %1 = arith.addf %x, %x : tensor<4xf32>
    %2 = arith.addf %1, %x : tensor<4xf32>
    scf.yield %2 : tensor<4xf32>
  } else {
    %1 = arith.negf %x : tensor<4xf32>
    scf.yield %1 : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

// -----

// CHECK: op 0 opaque reads=0:any:contiguous results=1
func.func @while(%x: tensor<f32>) -> tensor<f32> {
  %0 = scf.while (%a = %x) : (tensor<f32>) -> tensor<f32> {
    %1 = tensor.extract %a[] : tensor<f32>
    %2 = arith.cmpf olt, %1, %1 : f32
    scf.condition(%2) %a : tensor<f32>
  } do {
  ^bb0(%a: tensor<f32>):
    %1 = arith.addf %a, %a : tensor<f32>
    scf.yield %1 : tensor<f32>
  }
  return %0 : tensor<f32>
}

// -----

// CHECK: op 0 opaque reads=1:any:contiguous:destination,0:any:contiguous results=2 {{.*}}name="scf.forall"
func.func @forall(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %0 = scf.forall (%i) in (4) shared_outs(%out = %y) -> tensor<4xf32> {
    %1 = tensor.extract_slice %x[%i] [1] [1] : tensor<4xf32> to tensor<1xf32>
    %2 = arith.negf %1 : tensor<1xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %2 into %out[%i] [1] [1] : tensor<1xf32> into tensor<4xf32>
    }
  }
  return %0 : tensor<4xf32>
}

// -----

// What an iteration makes beside its values needs memory beyond a few KiB: the
// sines wait while the cosines are made; these and the sum are made in place.
// CHECK: op 0 opaque {{.*}} workspace=8192 name="scf.for"
func.func @temporaries(%x: tensor<2048xf32>) -> tensor<2048xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %four = arith.constant 4 : index
  %0 = scf.for %i = %zero to %four step %one iter_args(%a = %x) -> tensor<2048xf32> {
    %1 = math.sin %a : tensor<2048xf32>
    %2 = math.cos %a : tensor<2048xf32>
    %3 = arith.addf %2, %1 : tensor<2048xf32>
    scf.yield %3 : tensor<2048xf32>
  }
  return %0 : tensor<2048xf32>
}
