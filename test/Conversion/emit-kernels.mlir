// Values inside a kernel need no memory: what is emitted loads, computes and
// stores.
// RUN: ckpt-opt %s --ckpt-emit-kernels=lanes=8 --cse --canonicalize | FileCheck %s

// CHECK-LABEL: func.func private @padded(
// CHECK-NOT: alloc
// CHECK: scf.for
// CHECK: vector.load {{.*}} : memref<128xf32>, vector<8xf32>
// CHECK: arith.select {{.*}} : vector<8xf32>
// CHECK: math.exp {{.*}} : vector<8xf32>
// CHECK: vector.store {{.*}} : memref<256xf32>, vector<8xf32>
// CHECK-NOT: alloc
// CHECK: return
func.func private @padded(%in: memref<8x16xf32>, %out: memref<8x32xf32>) {
  %zero = arith.constant 0.0 : f32
  %0 = bufferization.to_tensor %in restrict : memref<8x16xf32> to tensor<8x16xf32>
  %1 = tensor.pad %0 low[0, 8] high[0, 8] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f32
  } : tensor<8x16xf32> to tensor<8x32xf32>
  %2 = math.exp %1 : tensor<8x32xf32>
  bufferization.materialize_in_destination %2 in restrict writable %out : (tensor<8x32xf32>, memref<8x32xf32>) -> ()
  return
}

// The transposed operand is read through its strides; one chain of fused
// multiply-adds per element.
// CHECK-LABEL: func.func private @matmul(
// CHECK-NOT: linalg.transpose
// CHECK-COUNT-12: math.fma {{.*}} : vector<8xf32>
// CHECK-NOT: math.fma
// CHECK: return
func.func private @matmul(%a: memref<16x6xf32>, %b: memref<16x16xf32>, %c: memref<6x16xf32>) {
  %zero = arith.constant 0.0 : f32
  %0 = bufferization.to_tensor %a restrict : memref<16x6xf32> to tensor<16x6xf32>
  %1 = bufferization.to_tensor %b restrict : memref<16x16xf32> to tensor<16x16xf32>
  %2 = tensor.empty() : tensor<6x16xf32>
  %3 = tensor.empty() : tensor<6x16xf32>
  %4 = linalg.transpose ins(%0 : tensor<16x6xf32>) outs(%2 : tensor<6x16xf32>) permutation = [1, 0]
  %5 = linalg.fill ins(%zero : f32) outs(%3 : tensor<6x16xf32>) -> tensor<6x16xf32>
  %6 = linalg.matmul ins(%4, %1 : tensor<6x16xf32>, tensor<16x16xf32>) outs(%5 : tensor<6x16xf32>) -> tensor<6x16xf32>
  bufferization.materialize_in_destination %6 in restrict writable %c : (tensor<6x16xf32>, memref<6x16xf32>) -> ()
  return
}
