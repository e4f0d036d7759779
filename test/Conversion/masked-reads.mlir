// Padded rows, joined rows and short runs of columns are single accesses under a
// mask on CPUs with vectors of 32 bytes or more; on others each lane has an address. The values
// are compared in test/Integration/runs.mlir.
// RUN: ckpt-opt %s --ckpt-kernels-to-calls --ckpt-emit-kernels="lanes=16" --mlir-print-debuginfo=false | FileCheck %s --implicit-check-not=vector.gather
// RUN: ckpt-opt %s --ckpt-kernels-to-calls --ckpt-emit-kernels="lanes=4" --mlir-print-debuginfo=false | FileCheck %s --check-prefix=NARROW --implicit-check-not=vector.maskedload

// CHECK-LABEL: func.func private @kernel_0_linalg_depthwise_conv_2d_nchw_chw
// CHECK: vector.maskedload
// NARROW-LABEL: func.func private @kernel_0_linalg_depthwise_conv_2d_nchw_chw
// NARROW: vector.gather
func.func @thirty_two(%x0: tensor<1x2x9x32xf32>, %x1: tensor<2x7x7xf32>) -> tensor<1x2x9x32xf32> {
  %r = ckpt.kernel(%a0 = %x0 : tensor<1x2x9x32xf32>, %a1 = %x1 : tensor<2x7x7xf32>) slots [-1 : 2304] {
    %z = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<1x2x9x32xf32>
    %f = linalg.fill ins(%z : f32) outs(%e : tensor<1x2x9x32xf32>) -> tensor<1x2x9x32xf32>
    %p = tensor.pad %a0 low[0, 0, 3, 3] high[0, 0, 3, 3] {
    ^bb0(%i0: index, %i1: index, %i2: index, %i3: index):
      tensor.yield %z : f32
    } : tensor<1x2x9x32xf32> to tensor<1x2x15x38xf32>
    %0 = linalg.depthwise_conv_2d_nchw_chw {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%p, %a1 : tensor<1x2x15x38xf32>, tensor<2x7x7xf32>) outs(%f : tensor<1x2x9x32xf32>) -> tensor<1x2x9x32xf32>
    ckpt.yield %0 : tensor<1x2x9x32xf32>
  } -> tensor<1x2x9x32xf32>
  return %r : tensor<1x2x9x32xf32>
}

// CHECK-LABEL: func.func private @kernel_1_linalg_pooling_nchw_max
// CHECK: vector.maskedload
// NARROW-LABEL: func.func private @kernel_1_linalg_pooling_nchw_max
// NARROW: vector.gather
func.func @largest_of_windows(%x0: tensor<1x2x9x40xf32>) -> tensor<1x2x9x40xf32> {
  %r = ckpt.kernel(%a0 = %x0 : tensor<1x2x9x40xf32>) slots [-1 : 2880] {
    %low = arith.constant -3.0 : f32
    %e = tensor.empty() : tensor<1x2x9x40xf32>
    %f = linalg.fill ins(%low : f32) outs(%e : tensor<1x2x9x40xf32>) -> tensor<1x2x9x40xf32>
    %p = tensor.pad %a0 low[0, 0, 1, 1] high[0, 0, 1, 1] {
    ^bb0(%i0: index, %i1: index, %i2: index, %i3: index):
      tensor.yield %low : f32
    } : tensor<1x2x9x40xf32> to tensor<1x2x11x42xf32>
    %w = tensor.empty() : tensor<3x3xf32>
    %0 = linalg.pooling_nchw_max {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%p, %w : tensor<1x2x11x42xf32>, tensor<3x3xf32>) outs(%f : tensor<1x2x9x40xf32>) -> tensor<1x2x9x40xf32>
    ckpt.yield %0 : tensor<1x2x9x40xf32>
  } -> tensor<1x2x9x40xf32>
  return %r : tensor<1x2x9x40xf32>
}

// CHECK-LABEL: func.func private @kernel_2_
// CHECK-COUNT-2: vector.maskedload
// NARROW-LABEL: func.func private @kernel_2_
// NARROW-COUNT-2: vector.gather
func.func @turned_round(%x0: tensor<9x40xf32>) -> tensor<9x40xf32> {
  %r = ckpt.kernel(%a0 = %x0 : tensor<9x40xf32>) slots [-1 : 1440] {
    %e = tensor.empty() : tensor<9x40xf32>
    %x = linalg.exp ins(%a0 : tensor<9x40xf32>) outs(%e : tensor<9x40xf32>) -> tensor<9x40xf32>
    %left = tensor.extract_slice %x[0, 19] [9, 21] [1, 1] : tensor<9x40xf32> to tensor<9x21xf32>
    %right = tensor.extract_slice %x[0, 0] [9, 19] [1, 1] : tensor<9x40xf32> to tensor<9x19xf32>
    %0 = tensor.concat dim(1) %left, %right : (tensor<9x21xf32>, tensor<9x19xf32>) -> tensor<9x40xf32>
    ckpt.yield %0 : tensor<9x40xf32>
  } -> tensor<9x40xf32>
  return %r : tensor<9x40xf32>
}
