// Small temporaries of a loop that stays one op lie in one piece of stack. They
// share bytes where one ends before another begins, as the planner counts them.
// RUN: ckpt-opt %s --ckpt-emit-kernels=lanes=8 --cse --canonicalize | FileCheck %s

// CHECK-LABEL: func.func private @loop(
// CHECK: memref.alloca() {alignment = 64 : i64} : memref<768xi8>
// CHECK-NOT: memref.alloca
// CHECK: scf.while
func.func private @loop(%x: memref<8x8xf32>, %out: memref<8x8xf32>) {
  %limit = arith.constant 100.0 : f32
  %zero = arith.constant 0 : index
  %start = bufferization.to_tensor %x restrict : memref<8x8xf32> to tensor<8x8xf32>
  %0 = scf.while (%i = %start) : (tensor<8x8xf32>) -> tensor<8x8xf32> {
    %corner = tensor.extract %i[%zero, %zero] : tensor<8x8xf32>
    %more = arith.cmpf olt, %corner, %limit : f32
    scf.condition(%more) %i : tensor<8x8xf32>
  } do {
  ^bb0(%i: tensor<8x8xf32>):
    %e0 = tensor.empty() : tensor<8x8xf32>
    %1 = linalg.exp ins(%i : tensor<8x8xf32>) outs(%e0 : tensor<8x8xf32>) -> tensor<8x8xf32>
    %e1 = tensor.empty() : tensor<8x8xf32>
    %2 = linalg.transpose ins(%1 : tensor<8x8xf32>) outs(%e1 : tensor<8x8xf32>) permutation = [1, 0]
    %e2 = tensor.empty() : tensor<8x8xf32>
    %3 = linalg.add ins(%2, %i : tensor<8x8xf32>, tensor<8x8xf32>) outs(%e2 : tensor<8x8xf32>) -> tensor<8x8xf32>
    %e3 = tensor.empty() : tensor<8x8xf32>
    %4 = linalg.transpose ins(%3 : tensor<8x8xf32>) outs(%e3 : tensor<8x8xf32>) permutation = [1, 0]
    scf.yield %4 : tensor<8x8xf32>
  }
  bufferization.materialize_in_destination %0 in restrict writable %out : (tensor<8x8xf32>, memref<8x8xf32>) -> ()
  return
}

// A temporary without elements takes a place as well.
// CHECK-LABEL: func.func private @empty(
// CHECK-NOT: memref.alloc()
func.func private @empty(%x: memref<0xf32>, %out: memref<0xf32>) {
  %one = arith.constant 1 : index
  %start = bufferization.to_tensor %x restrict : memref<0xf32> to tensor<0xf32>
  %0:3 = scf.while (%i = %one, %a = %start, %b = %start) : (index, tensor<0xf32>, tensor<0xf32>) -> (index, tensor<0xf32>, tensor<0xf32>) {
    %more = arith.cmpi ne, %i, %one : index
    scf.condition(%more) %i, %a, %b : index, tensor<0xf32>, tensor<0xf32>
  } do {
  ^bb0(%i: index, %a: tensor<0xf32>, %b: tensor<0xf32>):
    %next = arith.subi %i, %one : index
    scf.yield %next, %b, %b : index, tensor<0xf32>, tensor<0xf32>
  }
  bufferization.materialize_in_destination %0#2 in restrict writable %out : (tensor<0xf32>, memref<0xf32>) -> ()
  return
}

// A write of a loop takes along what only it needs, but not the work in front
// of the loop.
// CHECK-LABEL: func.func private @work_before_a_loop(
// CHECK: math.exp
// CHECK: scf.for
// CHECK-NOT: math.exp
// CHECK: return
func.func private @work_before_a_loop(%go: i1, %x: memref<8x8xf32>, %places: memref<8xi32>, %out: memref<8x8xf32>) {
  %from = bufferization.to_tensor %x restrict : memref<8x8xf32> to tensor<8x8xf32>
  %at = bufferization.to_tensor %places restrict : memref<8xi32> to tensor<8xi32>
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %end = arith.constant 8 : index
  %0 = scf.if %go -> (tensor<8x8xf32>) {
    %e0 = tensor.empty() : tensor<8x8xf32>
    %1 = linalg.exp ins(%from : tensor<8x8xf32>) outs(%e0 : tensor<8x8xf32>) -> tensor<8x8xf32>
    %2 = scf.for %i = %zero to %end step %one iter_args(%s = %from) -> (tensor<8x8xf32>) {
      %p = tensor.extract %at[%i] : tensor<8xi32>
      %k = arith.index_cast %p : i32 to index
      %row = tensor.extract_slice %1[%k, 0] [1, 8] [1, 1] : tensor<8x8xf32> to tensor<1x8xf32>
      %3 = tensor.insert_slice %row into %s[%k, 0] [1, 8] [1, 1] : tensor<1x8xf32> into tensor<8x8xf32>
      scf.yield %3 : tensor<8x8xf32>
    }
    scf.yield %2 : tensor<8x8xf32>
  } else {
    scf.yield %from : tensor<8x8xf32>
  }
  bufferization.materialize_in_destination %0 in restrict writable %out : (tensor<8x8xf32>, memref<8x8xf32>) -> ()
  return
}
