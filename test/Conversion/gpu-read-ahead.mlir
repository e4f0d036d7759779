// A kernel asks for its elements before it computes: ptxas would not move a load
// in front of a division.
// RUN: ckpt-opt %s --ckpt-emit-gpu-kernels --cse --canonicalize --mlir-print-debuginfo=false | FileCheck %s

#all = affine_map<(d0) -> (d0)>
#first = affine_map<(d0, d1) -> (d0)>

// CHECK-LABEL: gpu.func @quotients(
// CHECK-COUNT-3: vector.load
// CHECK-NOT: vector.load
// CHECK-COUNT-2: arith.divf
// CHECK: vector.store
func.func private @quotients(%a: memref<1024xf32>, %b: memref<1024xf32>, %c: memref<1024xf32>, %out: memref<1024xf32>) {
  %0 = bufferization.to_tensor %a restrict : memref<1024xf32> to tensor<1024xf32>
  %1 = bufferization.to_tensor %b restrict : memref<1024xf32> to tensor<1024xf32>
  %2 = bufferization.to_tensor %c restrict : memref<1024xf32> to tensor<1024xf32>
  %empty = tensor.empty() : tensor<1024xf32>
  %3 = linalg.generic {indexing_maps = [#all, #all, #all], iterator_types = ["parallel"]} ins(%0, %1 : tensor<1024xf32>, tensor<1024xf32>) outs(%empty : tensor<1024xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %q = arith.divf %x, %y : f32
    linalg.yield %q : f32
  } -> tensor<1024xf32>
  %4 = linalg.generic {indexing_maps = [#all, #all, #all], iterator_types = ["parallel"]} ins(%3, %2 : tensor<1024xf32>, tensor<1024xf32>) outs(%empty : tensor<1024xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %q = arith.divf %x, %y : f32
    linalg.yield %q : f32
  } -> tensor<1024xf32>
  bufferization.materialize_in_destination %4 in restrict writable %out : (tensor<1024xf32>, memref<1024xf32>) -> ()
  return
}

// A thread has 25 of 100 steps: it asks for 16 elements, then for nine.
// CHECK-LABEL: gpu.func @sums(
// CHECK-NOT: scf.for
// CHECK-COUNT-16: memref.load %{{.*}} : memref<30000xf32>
// CHECK: arith.addf
// CHECK-COUNT-9: memref.load %{{.*}} : memref<30000xf32>
func.func private @sums(%a: memref<100x300xf32>, %out: memref<300xf32>) {
  %zero = arith.constant 0.0 : f32
  %0 = bufferization.to_tensor %a restrict : memref<100x300xf32> to tensor<100x300xf32>
  %empty = tensor.empty() : tensor<300xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<300xf32>) -> tensor<300xf32>
  %1 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1, d0)>, #first], iterator_types = ["parallel", "reduction"]} ins(%0 : tensor<100x300xf32>) outs(%init : tensor<300xf32>) {
  ^bb0(%x: f32, %sum: f32):
    %next = arith.addf %sum, %x : f32
    linalg.yield %next : f32
  } -> tensor<300xf32>
  bufferization.materialize_in_destination %1 in restrict writable %out : (tensor<300xf32>, memref<300xf32>) -> ()
  return
}

func.func @step(%a: memref<1024xf32>, %b: memref<1024xf32>, %c: memref<1024xf32>, %d: memref<1024xf32>, %e: memref<100x300xf32>, %f: memref<300xf32>) {
  call @quotients(%a, %b, %c, %d) : (memref<1024xf32>, memref<1024xf32>, memref<1024xf32>, memref<1024xf32>) -> ()
  call @sums(%e, %f) : (memref<100x300xf32>, memref<300xf32>) -> ()
  return
}
