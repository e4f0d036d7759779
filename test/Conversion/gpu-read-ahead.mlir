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

// A thread has 25 of 100 steps, and there are few threads: it asks for all elements.
// CHECK-LABEL: gpu.func @sums(
// CHECK-SAME: nvvm.minctasm = 1
// CHECK-NOT: scf.for
// CHECK-COUNT-25: memref.load %{{.*}} : memref<30000xf32>
// CHECK: arith.addf
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

// Threads of many outputs ask for 16 elements each.
// CHECK-LABEL: gpu.func @many_sums(
// CHECK-NOT: minctasm
// CHECK: scf.for
// CHECK-COUNT-16: memref.load %{{.*}} : memref<13107200xf32>
// CHECK: arith.addf
// CHECK-COUNT-4: memref.load %{{.*}} : memref<13107200xf32>
// CHECK: memref.store
func.func private @many_sums(%a: memref<100x131072xf32>, %out: memref<131072xf32>) {
  %zero = arith.constant 0.0 : f32
  %0 = bufferization.to_tensor %a restrict : memref<100x131072xf32> to tensor<100x131072xf32>
  %empty = tensor.empty() : tensor<131072xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<131072xf32>) -> tensor<131072xf32>
  %1 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1, d0)>, #first], iterator_types = ["parallel", "reduction"]} ins(%0 : tensor<100x131072xf32>) outs(%init : tensor<131072xf32>) {
  ^bb0(%x: f32, %sum: f32):
    %next = arith.addf %sum, %x : f32
    linalg.yield %next : f32
  } -> tensor<131072xf32>
  bufferization.materialize_in_destination %1 in restrict writable %out : (tensor<131072xf32>, memref<131072xf32>) -> ()
  return
}

// Sums of channels: what all steps read is read once, and a short loop inside
// another is part of its step.
// CHECK-LABEL: gpu.func @channels(
// CHECK-SAME: nvvm.minctasm = 1
// CHECK: memref.load %{{.*}} : memref<64xf32>
// CHECK: scf.for
// CHECK-NOT: scf.for
// CHECK-NOT: memref<64xf32>
// CHECK-COUNT-60: memref.load %{{.*}} : memref<614400xf32>
// CHECK: arith.subf
// CHECK-NOT: memref.load %{{.*}} : memref<614400xf32>
// CHECK: scf.yield
func.func private @channels(%a: memref<16x60x10x64xf32>, %mean: memref<64xf32>, %out: memref<64xf32>) {
  %zero = arith.constant 0.0 : f32
  %0 = bufferization.to_tensor %a restrict : memref<16x60x10x64xf32> to tensor<16x60x10x64xf32>
  %1 = bufferization.to_tensor %mean restrict : memref<64xf32> to tensor<64xf32>
  %empty = tensor.empty() : tensor<64xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<64xf32>) -> tensor<64xf32>
  %2 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d1, d2, d3, d0)>, affine_map<(d0, d1, d2, d3) -> (d0)>, affine_map<(d0, d1, d2, d3) -> (d0)>], iterator_types = ["parallel", "reduction", "reduction", "reduction"]} ins(%0, %1 : tensor<16x60x10x64xf32>, tensor<64xf32>) outs(%init : tensor<64xf32>) {
  ^bb0(%x: f32, %y: f32, %sum: f32):
    %centred = arith.subf %x, %y : f32
    %next = arith.addf %sum, %centred : f32
    linalg.yield %next : f32
  } -> tensor<64xf32>
  bufferization.materialize_in_destination %2 in restrict writable %out : (tensor<64xf32>, memref<64xf32>) -> ()
  return
}

// Blocks are as small as whole sectors of memory allow.
// CHECK-LABEL: func.func @step(
// CHECK-DAG: %[[EIGHT:.*]] = arith.constant 8 : index
// CHECK-DAG: %[[THREADS:.*]] = arith.constant 128 : index
// CHECK: gpu.launch_func @kernels::@channels blocks in (%[[EIGHT]], %{{.*}}, %{{.*}}) threads in (%[[THREADS]],
func.func @step(%a: memref<1024xf32>, %b: memref<1024xf32>, %c: memref<1024xf32>, %d: memref<1024xf32>, %e: memref<100x300xf32>, %f: memref<300xf32>, %g: memref<100x131072xf32>, %h: memref<131072xf32>, %i: memref<16x60x10x64xf32>, %j: memref<64xf32>, %k: memref<64xf32>) {
  call @quotients(%a, %b, %c, %d) : (memref<1024xf32>, memref<1024xf32>, memref<1024xf32>, memref<1024xf32>) -> ()
  call @sums(%e, %f) : (memref<100x300xf32>, memref<300xf32>) -> ()
  call @many_sums(%g, %h) : (memref<100x131072xf32>, memref<131072xf32>) -> ()
  call @channels(%i, %j, %k) : (memref<16x60x10x64xf32>, memref<64xf32>, memref<64xf32>) -> ()
  return
}
