// From planned kernels to PTX and calls of the driver. Arithmetic keeps its
// rounding (`.rn`), so nothing downstream fuses it.
// RUN: ckpt-opt %s --ckpt-lower-to-nvvm-pipeline="chip=sm_90a" --mlir-print-debuginfo=false | FileCheck %s
// RUN: ckpt-opt %s --ckpt-lower-to-nvvm-pipeline="chip=sm_80" --mlir-print-debuginfo=false | FileCheck %s --check-prefix=OTHER
// RUN: ckpt-opt %s --ckpt-lower-to-nvvm-pipeline="chip=sm_90a" > %t.first
// RUN: ckpt-opt %s --ckpt-lower-to-nvvm-pipeline="chip=sm_90a" > %t.second
// RUN: diff %t.first %t.second
// RUN: not ckpt-opt %s --ckpt-lower-to-nvvm-pipeline="chip=sm_12345" 2>&1 | FileCheck %s --check-prefix=CHIP
// RUN: not ckpt-opt %s --ckpt-lower-to-nvvm-pipeline="chip=sm_75" 2>&1 | FileCheck %s --check-prefix=OLD
// RUN: ckpt-opt %s --ckpt-lower-to-nvvm-pipeline="offer-matmuls=true" --mlir-print-debuginfo=false | FileCheck %s --check-prefix=OFFER

// Nothing of a run but its code: upstream adds times.
// CHECK: gpu.binary @kernels
// CHECK-NOT: TimeInMs
// CHECK-SAME: .target sm_90a
// CHECK-SAME: .entry kernel_0_elementwise
// CHECK-SAME: mul.rn.f32
// CHECK-SAME: add.rn.f32
// CHECK: llvm.func @step(
// CHECK: gpu.launch_func
// CHECK-SAME: @kernels::@kernel_0_elementwise

// OTHER: .target sm_80

// CHIP: error: expected a chip that LLVM knows, 'sm_80' or later, but got 'sm_12345'

// OLD: error: expected a chip that LLVM knows, 'sm_80' or later, but got 'sm_75'

func.func @step(%x: tensor<1000xf32>, %y: tensor<1000xf32>) -> tensor<1000xf32> {
  %0 = ckpt.kernel(%a = %x : tensor<1000xf32>, %b = %y : tensor<1000xf32>) slots [-1 : 4000] {
    %1 = arith.mulf %a, %b : tensor<1000xf32>
    %2 = arith.addf %1, %b : tensor<1000xf32>
    ckpt.yield %2 : tensor<1000xf32>
  } -> tensor<1000xf32>
  return %0 : tensor<1000xf32>
}

// What a library could compute is said by the host, right before the launch.
// OFFER: llvm.mlir.global private constant @[[$SHAPE:.*_shape]](dense<[6, 8, 4,
// OFFER-LABEL: llvm.func @product(
// OFFER: llvm.mlir.addressof @[[$SHAPE]]
// OFFER: llvm.call @ckptCudaOfferMatmul({{.*}}) : (!llvm.ptr) -> ()
// OFFER: gpu.launch_func
// CHECK-LABEL: llvm.func @product(
// CHECK-NOT: ckptCudaOfferMatmul

func.func @product(%x: tensor<6x4xf32>, %y: tensor<4x8xf32>) -> tensor<6x8xf32> {
  %r = ckpt.kernel(%a = %x : tensor<6x4xf32>, %b = %y : tensor<4x8xf32>) slots [-1 : 192] {
    %z = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<6x8xf32>
    %i = linalg.fill ins(%z : f32) outs(%e : tensor<6x8xf32>) -> tensor<6x8xf32>
    %c = linalg.matmul ins(%a, %b : tensor<6x4xf32>, tensor<4x8xf32>) outs(%i : tensor<6x8xf32>) -> tensor<6x8xf32>
    ckpt.yield %c : tensor<6x8xf32>
  } -> tensor<6x8xf32>
  return %r : tensor<6x8xf32>
}
