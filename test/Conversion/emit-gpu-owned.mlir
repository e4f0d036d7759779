// Loops of which every element depends on no other: each element has an owner
// among the threads of many blocks, which all run the loop, without barriers.
// RUN: ckpt-opt %s --ckpt-emit-gpu-kernels --cse --canonicalize --mlir-print-debuginfo=false | FileCheck %s

// 64 rows of 48 elements: 1024 owners would be enough threads, 64 own a row each.
// CHECK-LABEL: gpu.func @rows(
// CHECK-NOT: gpu.barrier
// CHECK: %[[NUMBER:.*]] = arith.addi
// CHECK: %[[OWNER:.*]] = arith.divui %[[NUMBER]], %c48
// CHECK: %[[PLACE:.*]] = arith.remui %[[NUMBER]], %c48
// The destination as it begins, its own rows by each owner: 16 are read before the
// first is written, which is another argument.
// CHECK: scf.for %{{.*}} = %{{.*}} to %{{.*}} step %c1024
// CHECK-COUNT-16: memref.load %{{.*}} : memref<64x48xf32>
// CHECK-COUNT-16: memref.store
// CHECK: scf.for %{{.*}} = %{{.*}} to %{{.*}} step %c64
// CHECK: memref.store
// So are 16 places before the first update.
// CHECK: scf.for
// CHECK-COUNT-16: memref.load %{{.*}} : memref<500xi32>
// CHECK-NOT: memref.load %{{.*}} : memref<500xi32>
// CHECK: %[[REST:.*]] = arith.remui %{{.*}}, %c64
// CHECK: %[[OWN:.*]] = arith.cmpi eq, %[[REST]], %[[OWNER]]
// Four foreign updates are passed over at once.
// CHECK: arith.ori %[[OWN]]
// CHECK: arith.ori
// CHECK: %[[ANY:.*]] = arith.ori
// CHECK-NEXT: scf.if %[[ANY]]
// CHECK-NEXT: %[[MINE:.*]] = arith.andi %[[OWN]]
// CHECK-NEXT: scf.if %[[MINE]]
// CHECK: arith.addf
// Four are left over. The row is not copied onto itself, nor is the destination.
// CHECK-COUNT-20: memref.store
// CHECK-NOT: memref.store
// CHECK: gpu.return

// CHECK-LABEL: gpu.func @histogram(
// CHECK-NOT: gpu.barrier
// CHECK: %[[OWN:.*]] = arith.cmpi eq, %{{.*}}
// CHECK: %[[MINE:.*]] = arith.andi %[[OWN]]
// CHECK-NEXT: scf.if %[[MINE]]
// CHECK: memref.store
// CHECK: gpu.return

// An element that the next iteration reads from its neighbour: one block.
// CHECK-LABEL: gpu.func @shifted(
// CHECK: gpu.barrier
// CHECK: gpu.return

// CHECK-LABEL: func.func @step(
// CHECK-DAG: %[[ONE:.*]] = arith.constant 1 : index
// CHECK-DAG: %[[TWELVE:.*]] = arith.constant 12 : index
// CHECK: gpu.launch_func @kernels::@rows blocks in (%[[TWELVE]], %[[ONE]], %[[ONE]])
// CHECK: gpu.launch_func @kernels::@histogram blocks in (%[[ONE]], %[[ONE]], %[[ONE]])
// CHECK: gpu.launch_func @kernels::@shifted blocks in (%[[ONE]], %[[ONE]], %[[ONE]])

#row = affine_map<(d0) -> (d0)>

func.func private @rows(%places: memref<500xi32>, %updates: memref<500x48xf32>, %init: memref<64x48xf32>, %out: memref<64x48xf32>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %count = arith.constant 500 : index
  %0 = bufferization.to_tensor %places restrict : memref<500xi32> to tensor<500xi32>
  %1 = bufferization.to_tensor %updates restrict : memref<500x48xf32> to tensor<500x48xf32>
  %2 = bufferization.to_tensor %init restrict : memref<64x48xf32> to tensor<64x48xf32>
  %3 = scf.for %i = %zero to %count step %one iter_args(%sums = %2) -> tensor<64x48xf32> {
    %place = tensor.extract %0[%i] : tensor<500xi32>
    %at = arith.index_cast %place : i32 to index
    %update = tensor.extract_slice %1[%i, 0] [1, 48] [1, 1] : tensor<500x48xf32> to tensor<48xf32>
    %old = tensor.extract_slice %sums[%at, 0] [1, 48] [1, 1] : tensor<64x48xf32> to tensor<48xf32>
    %new = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel"]} ins(%update : tensor<48xf32>) outs(%old : tensor<48xf32>) {
    ^bb0(%a: f32, %b: f32):
      %sum = arith.addf %b, %a : f32
      linalg.yield %sum : f32
    } -> tensor<48xf32>
    %next = tensor.insert_slice %new into %sums[%at, 0] [1, 48] [1, 1] : tensor<48xf32> into tensor<64x48xf32>
    scf.yield %next : tensor<64x48xf32>
  }
  bufferization.materialize_in_destination %3 in restrict writable %out : (tensor<64x48xf32>, memref<64x48xf32>) -> ()
  return
}

func.func private @histogram(%places: memref<500xi32>, %out: memref<10xf32>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %count = arith.constant 500 : index
  %unit = arith.constant 1.0 : f32
  %init = arith.constant dense<0.0> : tensor<10xf32>
  %0 = bufferization.to_tensor %places restrict : memref<500xi32> to tensor<500xi32>
  %1 = scf.for %i = %zero to %count step %one iter_args(%sums = %init) -> tensor<10xf32> {
    %place = tensor.extract %0[%i] : tensor<500xi32>
    %at = arith.index_cast %place : i32 to index
    %old = tensor.extract %sums[%at] : tensor<10xf32>
    %new = arith.addf %old, %unit : f32
    %next = tensor.insert %new into %sums[%at] : tensor<10xf32>
    scf.yield %next : tensor<10xf32>
  }
  bufferization.materialize_in_destination %1 in restrict writable %out : (tensor<10xf32>, memref<10xf32>) -> ()
  return
}

func.func private @shifted(%out: memref<10xf32>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %count = arith.constant 9 : index
  %init = arith.constant dense<1.0> : tensor<10xf32>
  %0 = scf.for %i = %zero to %count step %one iter_args(%sums = %init) -> tensor<10xf32> {
    %after = arith.addi %i, %one : index
    %old = tensor.extract %sums[%i] : tensor<10xf32>
    %new = arith.addf %old, %old : f32
    %next = tensor.insert %new into %sums[%after] : tensor<10xf32>
    scf.yield %next : tensor<10xf32>
  }
  bufferization.materialize_in_destination %0 in restrict writable %out : (tensor<10xf32>, memref<10xf32>) -> ()
  return
}

func.func @step(%places: memref<500xi32>, %updates: memref<500x48xf32>, %init: memref<64x48xf32>, %out: memref<64x48xf32>, %counts: memref<10xf32>, %shifted: memref<10xf32>) {
  call @rows(%places, %updates, %init, %out) : (memref<500xi32>, memref<500x48xf32>, memref<64x48xf32>, memref<64x48xf32>) -> ()
  call @histogram(%places, %counts) : (memref<500xi32>, memref<10xf32>) -> ()
  call @shifted(%shifted) : (memref<10xf32>) -> ()
  return
}
