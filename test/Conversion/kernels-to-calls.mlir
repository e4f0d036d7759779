// Equal kernels share a function; operands are views of one arena.
// RUN: ckpt-opt %s --ckpt-kernels-to-calls | FileCheck %s

// A splat is part of the kernel, an i1 takes a byte.
// CHECK-LABEL: func.func private @kernel_1_elementwise(
// CHECK-SAME: %[[A:[a-z0-9]+]]: memref<4xf32>
// CHECK-SAME: %[[B:[a-z0-9]+]]: memref<4xi8>
// CHECK: %[[T:.*]] = bufferization.to_tensor %[[A]] restrict
// CHECK: %[[ZERO:.*]] = arith.constant dense<0.0{{.*}}>
// CHECK: %[[C:.*]] = arith.cmpf ogt, %[[T]], %[[ZERO]]
// CHECK: %[[W:.*]] = arith.extui %[[C]] : tensor<4xi1> to tensor<4xi8>
// CHECK: bufferization.materialize_in_destination %[[W]] in restrict writable %[[B]]

// CHECK-LABEL: func.func @step(
// CHECK-SAME: %[[X:[a-z0-9]+]]: memref<4xf32>
// CHECK-SAME: %[[R0:[a-z0-9]+]]: memref<4xf32>
// CHECK-SAME: %[[R1:[a-z0-9]+]]: memref<4xi8>
// CHECK-SAME: %[[R2:[a-z0-9]+]]: memref<4xf32>
// CHECK-SAME: %[[ARENA:[a-z0-9]+]]: memref<528xi8>
// CHECK: %[[AT0:.*]] = arith.constant 512 : index
// CHECK: %[[V0:.*]] = memref.view %[[ARENA]][%[[AT0]]][] : memref<528xi8> to memref<4xf32>
// CHECK: call @kernel_0_elementwise(%[[X]], %[[V0]])
// CHECK: call @kernel_0_elementwise(%[[V0]], %[[R0]])
// CHECK: call @kernel_1_elementwise(%[[X]], %[[R1]])
// CHECK: memref.copy %[[X]], %[[R2]]
// CHECK: return
func.func @step(%x: tensor<4xf32>)
    -> (tensor<4xf32>, tensor<4xi1>, tensor<4xf32>) {
  %0 = ckpt.kernel(%a = %x : tensor<4xf32>) slots [512 : 16] layer "h/0" {
    %1 = math.exp %a : tensor<4xf32>
    ckpt.yield %1 : tensor<4xf32>
  } -> tensor<4xf32>
  %2 = ckpt.kernel(%a = %0 : tensor<4xf32>) slots [-1 : 16] layer "h/1" {
    %1 = math.exp %a : tensor<4xf32>
    ckpt.yield %1 : tensor<4xf32>
  } -> tensor<4xf32>
  %zero = arith.constant dense<0.0> : tensor<4xf32>
  %3 = ckpt.kernel(%a = %x : tensor<4xf32>, %b = %zero : tensor<4xf32>) slots [-1 : 4] {
    %1 = arith.cmpf ogt, %a, %b : tensor<4xf32>
    ckpt.yield %1 : tensor<4xi1>
  } -> tensor<4xi1>
  return %2, %3, %x : tensor<4xf32>, tensor<4xi1>, tensor<4xf32>
}

// A kernel writes what is returned in another shape; a second return of it, and
// a reshaped argument, are copies.
// CHECK-LABEL: func.func @reshaped(
// CHECK-SAME: %[[X:[a-z0-9]+]]: memref<4xf32>
// CHECK-SAME: %[[R0:[a-z0-9]+]]: memref<2x2xf32>
// CHECK-SAME: %[[R1:[a-z0-9]+]]: memref<4xf32>
// CHECK-SAME: %[[R2:[a-z0-9]+]]: memref<2x2xf32>
// CHECK: %[[OUT:.*]] = memref.reinterpret_cast %[[R0]] to offset: [0], sizes: [4], strides: [1]
// CHECK: call @kernel_0_elementwise(%[[X]], %[[OUT]])
// CHECK: memref.copy %[[OUT]], %[[R1]]
// CHECK: %[[XS:.*]] = memref.reinterpret_cast %[[R2]] to offset: [0], sizes: [4], strides: [1]
// CHECK: memref.copy %[[X]], %[[XS]]
// CHECK: return
func.func @reshaped(%x: tensor<4xf32>) -> (tensor<2x2xf32>, tensor<4xf32>, tensor<2x2xf32>) {
  %0 = ckpt.kernel(%a = %x : tensor<4xf32>) slots [-1 : 16] {
    %1 = math.exp %a : tensor<4xf32>
    ckpt.yield %1 : tensor<4xf32>
  } -> tensor<4xf32>
  %2 = tensor.expand_shape %0 [[0, 1]] output_shape [2, 2] : tensor<4xf32> into tensor<2x2xf32>
  %3 = tensor.expand_shape %x [[0, 1]] output_shape [2, 2] : tensor<4xf32> into tensor<2x2xf32>
  return %2, %0, %3 : tensor<2x2xf32>, tensor<4xf32>, tensor<2x2xf32>
}
