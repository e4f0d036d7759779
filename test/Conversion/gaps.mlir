// What is computed for a slice with strides is computed at its elements only, on
// both ends: gradients of windows put one such slice into zeros for each window. The
// values are compared in test/Integration/elementwise.mlir.
// RUN: ckpt-opt %s --ckpt-kernels-to-calls --ckpt-emit-gpu-kernels --mlir-print-debuginfo=false | FileCheck %s
// RUN: ckpt-opt %s --ckpt-kernels-to-calls --ckpt-emit-kernels="lanes=16" --mlir-print-debuginfo=false | FileCheck %s

// CHECK-LABEL: @kernel_0_elementwise
// CHECK-NOT: math.exp
// CHECK: scf.if %{{.*}} -> (vector
// CHECK: vector.load
// CHECK-NEXT: math.exp
// CHECK-NEXT: scf.yield
// CHECK-NEXT: else
// CHECK-NOT: math.exp
// CHECK: return
func.func @computed(%x0: tensor<3x64xf32>) -> tensor<7x64xf32> {
  %r = ckpt.kernel(%a0 = %x0 : tensor<3x64xf32>) slots [-1 : 1792] {
    %z = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<7x64xf32>
    %f = linalg.fill ins(%z : f32) outs(%e : tensor<7x64xf32>) -> tensor<7x64xf32>
    %s = math.exp %a0 : tensor<3x64xf32>
    %0 = tensor.insert_slice %s into %f[1, 0] [3, 64] [2, 1] : tensor<3x64xf32> into tensor<7x64xf32>
    ckpt.yield %0 : tensor<7x64xf32>
  } -> tensor<7x64xf32>
  return %r : tensor<7x64xf32>
}

// What stands in memory is read.
// CHECK-LABEL: @kernel_1_elementwise
// CHECK: vector.load
// CHECK: arith.select
// CHECK: return
func.func @stored(%x0: tensor<3x64xf32>) -> tensor<7x64xf32> {
  %r = ckpt.kernel(%a0 = %x0 : tensor<3x64xf32>) slots [-1 : 1792] {
    %z = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<7x64xf32>
    %f = linalg.fill ins(%z : f32) outs(%e : tensor<7x64xf32>) -> tensor<7x64xf32>
    %0 = tensor.insert_slice %a0 into %f[1, 0] [3, 64] [2, 1] : tensor<3x64xf32> into tensor<7x64xf32>
    ckpt.yield %0 : tensor<7x64xf32>
  } -> tensor<7x64xf32>
  return %r : tensor<7x64xf32>
}
