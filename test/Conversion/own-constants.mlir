// For a device, kernels hold all constants that they read: it does not read the
// memory of its host.
// RUN: ckpt-opt %s --ckpt-kernels-to-calls=own-constants --ckpt-emit-gpu-kernels | FileCheck %s
// RUN: ckpt-opt %s --ckpt-kernels-to-calls | FileCheck %s --check-prefix=HOST

// CHECK: gpu.module @kernels
// CHECK: memref.global "private" constant @[[CONSTANT:.*]] : memref<3xf32> = dense<[3.{{.*}}, 1.{{.*}}, 2.{{.*}}]>
// CHECK: gpu.func @kernel_0_elementwise(%{{[a-z0-9]+}}: memref<3xf32>{{.*}}, %{{[a-z0-9]+}}: memref<3xf32>{{[^,]*}}) kernel
// CHECK: memref.get_global @[[CONSTANT]]
// CHECK: func.func @step(
// CHECK-NOT: get_global

// HOST: memref.global "private" constant
// HOST: func.func @step(
// HOST: get_global
func.func @step(%x: tensor<3xf32>) -> tensor<3xf32> {
  %c = arith.constant dense<[3.0, 1.0, 2.0]> : tensor<3xf32>
  %0 = ckpt.kernel(%a = %x : tensor<3xf32>, %b = %c : tensor<3xf32>) slots [-1 : 12] {
    %1 = arith.mulf %a, %b : tensor<3xf32>
    ckpt.yield %1 : tensor<3xf32>
  } -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// Also what is returned: a kernel writes it, since there is nothing to copy.
// CHECK: func.func @returned(
// CHECK-NOT: memref.copy
// CHECK: gpu.launch_func @kernels::@kernel_1_elementwise
// CHECK-NOT: memref.copy
// CHECK: return

// HOST: func.func @returned(
// HOST: get_global
// HOST: memref.copy
func.func @returned(%x: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>) {
  %c = arith.constant dense<[3.0, 1.0, 2.0]> : tensor<3xf32>
  %0 = ckpt.kernel(%a = %x : tensor<3xf32>, %b = %c : tensor<3xf32>) slots [-1 : 12] {
    %1 = arith.mulf %a, %b : tensor<3xf32>
    ckpt.yield %1 : tensor<3xf32>
  } -> tensor<3xf32>
  return %0, %c : tensor<3xf32>, tensor<3xf32>
}
