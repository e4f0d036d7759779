// Padded operands come by vectors wherever there are runs of neighbours, and
// one element at a time, by narrow indices, only where there are none. Where all
// of a tile's steps are inside, it is multiplied from memory.
// RUN: ckpt-opt %s --ckpt-kernels-to-calls --ckpt-emit-kernels=lanes=8 | FileCheck %s
// RUN: ckpt-opt %s --ckpt-kernels-to-calls --ckpt-emit-kernels=lanes=16 | FileCheck %s

// CHECK-LABEL: func.func private @kernel_0_linalg_conv_2d_nhwc_hwcf_task(
// CHECK-NOT: vector.gather {{.*}}xi32>,
// CHECK: scf.if {{.*}} -> (vector<
// CHECK: math.fma
// CHECK-NOT: vector.gather {{.*}}xi32>,
func.func @channels(%x0: tensor<2x5x6x64xf32>, %x1: tensor<3x3x64x40xf32>) -> (tensor<2x6x7x40xf32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<2x5x6x64xf32>, %a1 = %x1 : tensor<3x3x64x40xf32>) slots [-1 : 4] {
    %z = arith.constant 0.0 : f32
    %c = arith.constant 0.5 : f32
    %e = tensor.empty() : tensor<2x6x7x40xf32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<2x6x7x40xf32>) -> tensor<2x6x7x40xf32>
    %p = tensor.pad %a0 low[0, 1, 2, 0] high[0, 2, 1, 0] {
    ^bb0(%i0: index, %i1: index, %i2: index, %i3: index):
      tensor.yield %z : f32
    } : tensor<2x5x6x64xf32> to tensor<2x8x9x64xf32>
    %0 = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%p, %a1 : tensor<2x8x9x64xf32>, tensor<3x3x64x40xf32>) outs(%f : tensor<2x6x7x40xf32>) -> tensor<2x6x7x40xf32>
    ckpt.yield %0 : tensor<2x6x7x40xf32>
  } -> tensor<2x6x7x40xf32>
  return %r1 : tensor<2x6x7x40xf32>
}

// CHECK-LABEL: func.func private @kernel_1_linalg_conv_2d_nhwc_hwcf(
// CHECK-NOT: vector.gather {{.*}}xi32>,
// CHECK: scf.if {{.*}} -> (vector<
// CHECK: math.fma
// CHECK-NOT: vector.gather {{.*}}xi32>,
func.func @filter(%x0: tensor<8x6x6x16xf32>, %x1: tensor<8x6x6x36xf32>) -> (tensor<16x3x3x36xf32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<8x6x6x16xf32>, %a1 = %x1 : tensor<8x6x6x36xf32>) slots [-1 : 4] {
    %z = arith.constant 0.0 : f32
    %c = arith.constant 0.5 : f32
    %e = tensor.empty() : tensor<16x3x3x36xf32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<16x3x3x36xf32>) -> tensor<16x3x3x36xf32>
    %e1 = tensor.empty() : tensor<16x6x6x8xf32>
    %xt = linalg.transpose ins(%a0 : tensor<8x6x6x16xf32>) outs(%e1 : tensor<16x6x6x8xf32>) permutation = [3, 1, 2, 0]
    %e2 = tensor.empty() : tensor<6x6x8x36xf32>
    %yt = linalg.transpose ins(%a1 : tensor<8x6x6x36xf32>) outs(%e2 : tensor<6x6x8x36xf32>) permutation = [1, 2, 0, 3]
    %p = tensor.pad %xt low[0, 1, 1, 0] high[0, 1, 1, 0] {
    ^bb0(%i0: index, %i1: index, %i2: index, %i3: index):
      tensor.yield %z : f32
    } : tensor<16x6x6x8xf32> to tensor<16x8x8x8xf32>
    %0 = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%p, %yt : tensor<16x8x8x8xf32>, tensor<6x6x8x36xf32>) outs(%f : tensor<16x3x3x36xf32>) -> tensor<16x3x3x36xf32>
    ckpt.yield %0 : tensor<16x3x3x36xf32>
  } -> tensor<16x3x3x36xf32>
  return %r1 : tensor<16x3x3x36xf32>
}

// CHECK-LABEL: func.func private @kernel_2_linalg_conv_2d_nhwc_hwcf(
// CHECK: vector.gather {{.*}}xi32>,
func.func @few_channels(%x0: tensor<2x8x7x5xf32>, %x1: tensor<3x3x5x33xf32>) -> (tensor<2x8x7x33xf32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<2x8x7x5xf32>, %a1 = %x1 : tensor<3x3x5x33xf32>) slots [-1 : 4] {
    %z = arith.constant 0.0 : f32
    %c = arith.constant 0.5 : f32
    %e = tensor.empty() : tensor<2x8x7x33xf32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<2x8x7x33xf32>) -> tensor<2x8x7x33xf32>
    %p = tensor.pad %a0 low[0, 1, 1, 0] high[0, 1, 1, 0] {
    ^bb0(%i0: index, %i1: index, %i2: index, %i3: index):
      tensor.yield %z : f32
    } : tensor<2x8x7x5xf32> to tensor<2x10x9x5xf32>
    %0 = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%p, %a1 : tensor<2x10x9x5xf32>, tensor<3x3x5x33xf32>) outs(%f : tensor<2x8x7x33xf32>) -> tensor<2x8x7x33xf32>
    ckpt.yield %0 : tensor<2x8x7x33xf32>
  } -> tensor<2x8x7x33xf32>
  return %r1 : tensor<2x8x7x33xf32>
}


// What is reshaped in memory is read as it lies.
// CHECK-LABEL: func.func private @kernel_3_linalg_conv_2d_nhwc_hwcf(
// CHECK-NOT: vector.gather {{.*}}xi32>,
// CHECK: scf.if {{.*}} -> (vector<
func.func @collapsed(%x0: tensor<2x2x3x6x16xf32>, %x1: tensor<3x3x16x36xf32>) -> (tensor<2x6x6x36xf32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<2x2x3x6x16xf32>, %a1 = %x1 : tensor<3x3x16x36xf32>) slots [-1 : 4] {
    %z = arith.constant 0.0 : f32
    %c = arith.constant 0.5 : f32
    %e = tensor.empty() : tensor<2x6x6x36xf32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<2x6x6x36xf32>) -> tensor<2x6x6x36xf32>
    %v = tensor.collapse_shape %a0 [[0], [1, 2], [3], [4]] : tensor<2x2x3x6x16xf32> into tensor<2x6x6x16xf32>
    %p = tensor.pad %v low[0, 1, 1, 0] high[0, 1, 1, 0] {
    ^bb0(%i0: index, %i1: index, %i2: index, %i3: index):
      tensor.yield %z : f32
    } : tensor<2x6x6x16xf32> to tensor<2x8x8x16xf32>
    %0 = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%p, %a1 : tensor<2x8x8x16xf32>, tensor<3x3x16x36xf32>) outs(%f : tensor<2x6x6x36xf32>) -> tensor<2x6x6x36xf32>
    ckpt.yield %0 : tensor<2x6x6x36xf32>
  } -> tensor<2x6x6x36xf32>
  return %r1 : tensor<2x6x6x36xf32>
}
