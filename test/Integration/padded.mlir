// Convolutions over padding that stands nowhere: along channels, along rows
// (the gradients of filters), and where neither are neighbours; on the right
// where images are columns; windows in one, two and three dimensions.
// RUN: ckpt-execute %s | FileCheck %s

// Runs of 64 and of 16 channels, and windows at every side.
// CHECK: channels: ok
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
// CHECK: channels_strided: ok
func.func @channels_strided(%x0: tensor<2x9x8x16xf32>, %x1: tensor<5x5x16x33xf32>) -> (tensor<2x5x4x33xf32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<2x9x8x16xf32>, %a1 = %x1 : tensor<5x5x16x33xf32>) slots [-1 : 4] {
    %z = arith.constant 0.0 : f32
    %c = arith.constant 0.5 : f32
    %e = tensor.empty() : tensor<2x5x4x33xf32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<2x5x4x33xf32>) -> tensor<2x5x4x33xf32>
    %p = tensor.pad %a0 low[0, 2, 2, 0] high[0, 2, 2, 0] {
    ^bb0(%i0: index, %i1: index, %i2: index, %i3: index):
      tensor.yield %z : f32
    } : tensor<2x9x8x16xf32> to tensor<2x13x12x16xf32>
    %0 = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>} ins(%p, %a1 : tensor<2x13x12x16xf32>, tensor<5x5x16x33xf32>) outs(%f : tensor<2x5x4x33xf32>) -> tensor<2x5x4x33xf32>
    ckpt.yield %0 : tensor<2x5x4x33xf32>
  } -> tensor<2x5x4x33xf32>
  return %r1 : tensor<2x5x4x33xf32>
}
// CHECK: channels_dilated: ok
func.func @channels_dilated(%x0: tensor<1x7x7x48xf32>, %x1: tensor<3x3x48x36xf32>) -> (tensor<1x7x7x36xf32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<1x7x7x48xf32>, %a1 = %x1 : tensor<3x3x48x36xf32>) slots [-1 : 4] {
    %z = arith.constant 0.0 : f32
    %c = arith.constant 0.5 : f32
    %e = tensor.empty() : tensor<1x7x7x36xf32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<1x7x7x36xf32>) -> tensor<1x7x7x36xf32>
    %p = tensor.pad %a0 low[0, 2, 2, 0] high[0, 2, 2, 0] {
    ^bb0(%i0: index, %i1: index, %i2: index, %i3: index):
      tensor.yield %z : f32
    } : tensor<1x7x7x48xf32> to tensor<1x11x11x48xf32>
    %0 = linalg.conv_2d_nhwc_hwcf {dilations = dense<2> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%p, %a1 : tensor<1x11x11x48xf32>, tensor<3x3x48x36xf32>) outs(%f : tensor<1x7x7x36xf32>) -> tensor<1x7x7x36xf32>
    ckpt.yield %0 : tensor<1x7x7x36xf32>
  } -> tensor<1x7x7x36xf32>
  return %r1 : tensor<1x7x7x36xf32>
}
// Windows that see nothing but zeros.
// CHECK: more_than_the_image: ok
func.func @more_than_the_image(%x0: tensor<1x2x2x16xf32>, %x1: tensor<3x3x16x34xf32>) -> (tensor<1x7x5x34xf32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<1x2x2x16xf32>, %a1 = %x1 : tensor<3x3x16x34xf32>) slots [-1 : 4] {
    %z = arith.constant 0.0 : f32
    %c = arith.constant 0.5 : f32
    %e = tensor.empty() : tensor<1x7x5x34xf32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<1x7x5x34xf32>) -> tensor<1x7x5x34xf32>
    %p = tensor.pad %a0 low[0, 4, 0, 0] high[0, 3, 5, 0] {
    ^bb0(%i0: index, %i1: index, %i2: index, %i3: index):
      tensor.yield %z : f32
    } : tensor<1x2x2x16xf32> to tensor<1x9x7x16xf32>
    %0 = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%p, %a1 : tensor<1x9x7x16xf32>, tensor<3x3x16x34xf32>) outs(%f : tensor<1x7x5x34xf32>) -> tensor<1x7x5x34xf32>
    ckpt.yield %0 : tensor<1x7x5x34xf32>
  } -> tensor<1x7x5x34xf32>
  return %r1 : tensor<1x7x5x34xf32>
}
// Neighbours neither along steps nor along rows.
// CHECK: few_channels: ok
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
// CHECK: stem: ok
func.func @stem(%x0: tensor<2x11x11x3xf32>, %x1: tensor<7x7x3x16xf32>) -> (tensor<2x6x6x16xf32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<2x11x11x3xf32>, %a1 = %x1 : tensor<7x7x3x16xf32>) slots [-1 : 4] {
    %z = arith.constant 0.0 : f32
    %c = arith.constant 0.5 : f32
    %e = tensor.empty() : tensor<2x6x6x16xf32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<2x6x6x16xf32>) -> tensor<2x6x6x16xf32>
    %p = tensor.pad %a0 low[0, 3, 3, 0] high[0, 3, 3, 0] {
    ^bb0(%i0: index, %i1: index, %i2: index, %i3: index):
      tensor.yield %z : f32
    } : tensor<2x11x11x3xf32> to tensor<2x17x17x3xf32>
    %0 = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>} ins(%p, %a1 : tensor<2x17x17x3xf32>, tensor<7x7x3x16xf32>) outs(%f : tensor<2x6x6x16xf32>) -> tensor<2x6x6x16xf32>
    ckpt.yield %0 : tensor<2x6x6x16xf32>
  } -> tensor<2x6x6x16xf32>
  return %r1 : tensor<2x6x6x16xf32>
}
// CHECK: one_channel: ok
func.func @one_channel(%x0: tensor<1x9x9x1xf32>, %x1: tensor<3x3x1x40xf32>) -> (tensor<1x9x9x40xf32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<1x9x9x1xf32>, %a1 = %x1 : tensor<3x3x1x40xf32>) slots [-1 : 4] {
    %z = arith.constant 0.0 : f32
    %c = arith.constant 0.5 : f32
    %e = tensor.empty() : tensor<1x9x9x40xf32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<1x9x9x40xf32>) -> tensor<1x9x9x40xf32>
    %p = tensor.pad %a0 low[0, 1, 1, 0] high[0, 1, 1, 0] {
    ^bb0(%i0: index, %i1: index, %i2: index, %i3: index):
      tensor.yield %z : f32
    } : tensor<1x9x9x1xf32> to tensor<1x11x11x1xf32>
    %0 = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%p, %a1 : tensor<1x11x11x1xf32>, tensor<3x3x1x40xf32>) outs(%f : tensor<1x9x9x40xf32>) -> tensor<1x9x9x40xf32>
    ckpt.yield %0 : tensor<1x9x9x40xf32>
  } -> tensor<1x9x9x40xf32>
  return %r1 : tensor<1x9x9x40xf32>
}
// CHECK: double: ok
func.func @double(%x0: tensor<2x5x5x16xf64>, %x1: tensor<3x3x16x20xf64>) -> (tensor<2x5x5x20xf64>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<2x5x5x16xf64>, %a1 = %x1 : tensor<3x3x16x20xf64>) slots [-1 : 4] {
    %z = arith.constant 0.0 : f64
    %c = arith.constant 0.5 : f64
    %e = tensor.empty() : tensor<2x5x5x20xf64>
    %f = linalg.fill ins(%c : f64) outs(%e : tensor<2x5x5x20xf64>) -> tensor<2x5x5x20xf64>
    %p = tensor.pad %a0 low[0, 1, 1, 0] high[0, 1, 1, 0] {
    ^bb0(%i0: index, %i1: index, %i2: index, %i3: index):
      tensor.yield %z : f64
    } : tensor<2x5x5x16xf64> to tensor<2x7x7x16xf64>
    %0 = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%p, %a1 : tensor<2x7x7x16xf64>, tensor<3x3x16x20xf64>) outs(%f : tensor<2x5x5x20xf64>) -> tensor<2x5x5x20xf64>
    ckpt.yield %0 : tensor<2x5x5x20xf64>
  } -> tensor<2x5x5x20xf64>
  return %r1 : tensor<2x5x5x20xf64>
}
// On tensor cores: aligned vectors, and some that are partly outside.
// CHECK: narrow: ok
func.func @narrow(%x0: tensor<2x6x6x16xbf16>, %x1: tensor<3x3x16x40xbf16>) -> (tensor<2x6x6x40xf32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<2x6x6x16xbf16>, %a1 = %x1 : tensor<3x3x16x40xbf16>) slots [-1 : 4] {
    %z = arith.constant 0.0 : bf16
    %c = arith.constant 0.5 : f32
    %e = tensor.empty() : tensor<2x6x6x40xf32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<2x6x6x40xf32>) -> tensor<2x6x6x40xf32>
    %p = tensor.pad %a0 low[0, 1, 1, 0] high[0, 1, 1, 0] {
    ^bb0(%i0: index, %i1: index, %i2: index, %i3: index):
      tensor.yield %z : bf16
    } : tensor<2x6x6x16xbf16> to tensor<2x8x8x16xbf16>
    %0 = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%p, %a1 : tensor<2x8x8x16xbf16>, tensor<3x3x16x40xbf16>) outs(%f : tensor<2x6x6x40xf32>) -> tensor<2x6x6x40xf32>
    ckpt.yield %0 : tensor<2x6x6x40xf32>
  } -> tensor<2x6x6x40xf32>
  return %r1 : tensor<2x6x6x40xf32>
}
// CHECK: narrow_few_channels: ok
func.func @narrow_few_channels(%x0: tensor<2x6x6x6xbf16>, %x1: tensor<3x3x6x40xbf16>) -> (tensor<2x6x6x40xf32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<2x6x6x6xbf16>, %a1 = %x1 : tensor<3x3x6x40xbf16>) slots [-1 : 4] {
    %z = arith.constant 0.0 : bf16
    %c = arith.constant 0.5 : f32
    %e = tensor.empty() : tensor<2x6x6x40xf32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<2x6x6x40xf32>) -> tensor<2x6x6x40xf32>
    %p = tensor.pad %a0 low[0, 1, 1, 0] high[0, 1, 1, 0] {
    ^bb0(%i0: index, %i1: index, %i2: index, %i3: index):
      tensor.yield %z : bf16
    } : tensor<2x6x6x6xbf16> to tensor<2x8x8x6xbf16>
    %0 = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%p, %a1 : tensor<2x8x8x6xbf16>, tensor<3x3x6x40xbf16>) outs(%f : tensor<2x6x6x40xf32>) -> tensor<2x6x6x40xf32>
    ckpt.yield %0 : tensor<2x6x6x40xf32>
  } -> tensor<2x6x6x40xf32>
  return %r1 : tensor<2x6x6x40xf32>
}
// CHECK: narrow_half: ok
func.func @narrow_half(%x0: tensor<2x6x6x8xf16>, %x1: tensor<3x3x8x40xf16>) -> (tensor<2x7x7x40xf32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<2x6x6x8xf16>, %a1 = %x1 : tensor<3x3x8x40xf16>) slots [-1 : 4] {
    %z = arith.constant 0.0 : f16
    %c = arith.constant 0.5 : f32
    %e = tensor.empty() : tensor<2x7x7x40xf32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<2x7x7x40xf32>) -> tensor<2x7x7x40xf32>
    %p = tensor.pad %a0 low[0, 1, 2, 0] high[0, 2, 1, 0] {
    ^bb0(%i0: index, %i1: index, %i2: index, %i3: index):
      tensor.yield %z : f16
    } : tensor<2x6x6x8xf16> to tensor<2x9x9x8xf16>
    %0 = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%p, %a1 : tensor<2x9x9x8xf16>, tensor<3x3x8x40xf16>) outs(%f : tensor<2x7x7x40xf32>) -> tensor<2x7x7x40xf32>
    ckpt.yield %0 : tensor<2x7x7x40xf32>
  } -> tensor<2x7x7x40xf32>
  return %r1 : tensor<2x7x7x40xf32>
}
// Gradients of filters: channels lie in rows, images in runs of steps.
// CHECK: filter: ok
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
// CHECK: filter_one_image: ok
func.func @filter_one_image(%x0: tensor<1x7x7x16xf32>, %x1: tensor<1x7x7x36xf32>) -> (tensor<16x3x3x36xf32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<1x7x7x16xf32>, %a1 = %x1 : tensor<1x7x7x36xf32>) slots [-1 : 4] {
    %z = arith.constant 0.0 : f32
    %c = arith.constant 0.5 : f32
    %e = tensor.empty() : tensor<16x3x3x36xf32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<16x3x3x36xf32>) -> tensor<16x3x3x36xf32>
    %e1 = tensor.empty() : tensor<16x7x7x1xf32>
    %xt = linalg.transpose ins(%a0 : tensor<1x7x7x16xf32>) outs(%e1 : tensor<16x7x7x1xf32>) permutation = [3, 1, 2, 0]
    %e2 = tensor.empty() : tensor<7x7x1x36xf32>
    %yt = linalg.transpose ins(%a1 : tensor<1x7x7x36xf32>) outs(%e2 : tensor<7x7x1x36xf32>) permutation = [1, 2, 0, 3]
    %p = tensor.pad %xt low[0, 1, 1, 0] high[0, 1, 1, 0] {
    ^bb0(%i0: index, %i1: index, %i2: index, %i3: index):
      tensor.yield %z : f32
    } : tensor<16x7x7x1xf32> to tensor<16x9x9x1xf32>
    %0 = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%p, %yt : tensor<16x9x9x1xf32>, tensor<7x7x1x36xf32>) outs(%f : tensor<16x3x3x36xf32>) -> tensor<16x3x3x36xf32>
    ckpt.yield %0 : tensor<16x3x3x36xf32>
  } -> tensor<16x3x3x36xf32>
  return %r1 : tensor<16x3x3x36xf32>
}
// CHECK: filter_odd_images: ok
func.func @filter_odd_images(%x0: tensor<3x5x5x24xf32>, %x1: tensor<3x5x5x20xf32>) -> (tensor<24x4x4x20xf32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<3x5x5x24xf32>, %a1 = %x1 : tensor<3x5x5x20xf32>) slots [-1 : 4] {
    %z = arith.constant 0.0 : f32
    %c = arith.constant 0.5 : f32
    %e = tensor.empty() : tensor<24x4x4x20xf32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<24x4x4x20xf32>) -> tensor<24x4x4x20xf32>
    %e1 = tensor.empty() : tensor<24x5x5x3xf32>
    %xt = linalg.transpose ins(%a0 : tensor<3x5x5x24xf32>) outs(%e1 : tensor<24x5x5x3xf32>) permutation = [3, 1, 2, 0]
    %e2 = tensor.empty() : tensor<5x5x3x20xf32>
    %yt = linalg.transpose ins(%a1 : tensor<3x5x5x20xf32>) outs(%e2 : tensor<5x5x3x20xf32>) permutation = [1, 2, 0, 3]
    %p = tensor.pad %xt low[0, 1, 2, 0] high[0, 2, 1, 0] {
    ^bb0(%i0: index, %i1: index, %i2: index, %i3: index):
      tensor.yield %z : f32
    } : tensor<24x5x5x3xf32> to tensor<24x8x8x3xf32>
    %0 = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%p, %yt : tensor<24x8x8x3xf32>, tensor<5x5x3x20xf32>) outs(%f : tensor<24x4x4x20xf32>) -> tensor<24x4x4x20xf32>
    ckpt.yield %0 : tensor<24x4x4x20xf32>
  } -> tensor<24x4x4x20xf32>
  return %r1 : tensor<24x4x4x20xf32>
}
// CHECK: filter_few_channels: ok
func.func @filter_few_channels(%x0: tensor<4x6x6x5xf32>, %x1: tensor<4x6x6x33xf32>) -> (tensor<5x3x3x33xf32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<4x6x6x5xf32>, %a1 = %x1 : tensor<4x6x6x33xf32>) slots [-1 : 4] {
    %z = arith.constant 0.0 : f32
    %c = arith.constant 0.5 : f32
    %e = tensor.empty() : tensor<5x3x3x33xf32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<5x3x3x33xf32>) -> tensor<5x3x3x33xf32>
    %e1 = tensor.empty() : tensor<5x6x6x4xf32>
    %xt = linalg.transpose ins(%a0 : tensor<4x6x6x5xf32>) outs(%e1 : tensor<5x6x6x4xf32>) permutation = [3, 1, 2, 0]
    %e2 = tensor.empty() : tensor<6x6x4x33xf32>
    %yt = linalg.transpose ins(%a1 : tensor<4x6x6x33xf32>) outs(%e2 : tensor<6x6x4x33xf32>) permutation = [1, 2, 0, 3]
    %p = tensor.pad %xt low[0, 1, 1, 0] high[0, 1, 1, 0] {
    ^bb0(%i0: index, %i1: index, %i2: index, %i3: index):
      tensor.yield %z : f32
    } : tensor<5x6x6x4xf32> to tensor<5x8x8x4xf32>
    %0 = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%p, %yt : tensor<5x8x8x4xf32>, tensor<6x6x4x33xf32>) outs(%f : tensor<5x3x3x33xf32>) -> tensor<5x3x3x33xf32>
    ckpt.yield %0 : tensor<5x3x3x33xf32>
  } -> tensor<5x3x3x33xf32>
  return %r1 : tensor<5x3x3x33xf32>
}
// Few results, sums of 1,600 products.
// CHECK: filter_long_sums: ok
func.func @filter_long_sums(%x0: tensor<4x20x20x8xf32>, %x1: tensor<4x20x20x8xf32>) -> (tensor<8x3x3x8xf32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<4x20x20x8xf32>, %a1 = %x1 : tensor<4x20x20x8xf32>) slots [-1 : 4] {
    %z = arith.constant 0.0 : f32
    %c = arith.constant 0.5 : f32
    %e = tensor.empty() : tensor<8x3x3x8xf32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<8x3x3x8xf32>) -> tensor<8x3x3x8xf32>
    %e1 = tensor.empty() : tensor<8x20x20x4xf32>
    %xt = linalg.transpose ins(%a0 : tensor<4x20x20x8xf32>) outs(%e1 : tensor<8x20x20x4xf32>) permutation = [3, 1, 2, 0]
    %e2 = tensor.empty() : tensor<20x20x4x8xf32>
    %yt = linalg.transpose ins(%a1 : tensor<4x20x20x8xf32>) outs(%e2 : tensor<20x20x4x8xf32>) permutation = [1, 2, 0, 3]
    %p = tensor.pad %xt low[0, 1, 1, 0] high[0, 1, 1, 0] {
    ^bb0(%i0: index, %i1: index, %i2: index, %i3: index):
      tensor.yield %z : f32
    } : tensor<8x20x20x4xf32> to tensor<8x22x22x4xf32>
    %0 = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%p, %yt : tensor<8x22x22x4xf32>, tensor<20x20x4x8xf32>) outs(%f : tensor<8x3x3x8xf32>) -> tensor<8x3x3x8xf32>
    ckpt.yield %0 : tensor<8x3x3x8xf32>
  } -> tensor<8x3x3x8xf32>
  return %r1 : tensor<8x3x3x8xf32>
}
// CHECK: filter_narrow: ok
func.func @filter_narrow(%x0: tensor<8x6x6x40xbf16>, %x1: tensor<8x6x6x40xbf16>) -> (tensor<40x3x3x40xf32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<8x6x6x40xbf16>, %a1 = %x1 : tensor<8x6x6x40xbf16>) slots [-1 : 4] {
    %z = arith.constant 0.0 : bf16
    %c = arith.constant 0.5 : f32
    %e = tensor.empty() : tensor<40x3x3x40xf32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<40x3x3x40xf32>) -> tensor<40x3x3x40xf32>
    %e1 = tensor.empty() : tensor<40x6x6x8xbf16>
    %xt = linalg.transpose ins(%a0 : tensor<8x6x6x40xbf16>) outs(%e1 : tensor<40x6x6x8xbf16>) permutation = [3, 1, 2, 0]
    %e2 = tensor.empty() : tensor<6x6x8x40xbf16>
    %yt = linalg.transpose ins(%a1 : tensor<8x6x6x40xbf16>) outs(%e2 : tensor<6x6x8x40xbf16>) permutation = [1, 2, 0, 3]
    %p = tensor.pad %xt low[0, 1, 1, 0] high[0, 1, 1, 0] {
    ^bb0(%i0: index, %i1: index, %i2: index, %i3: index):
      tensor.yield %z : bf16
    } : tensor<40x6x6x8xbf16> to tensor<40x8x8x8xbf16>
    %0 = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%p, %yt : tensor<40x8x8x8xbf16>, tensor<6x6x8x40xbf16>) outs(%f : tensor<40x3x3x40xf32>) -> tensor<40x3x3x40xf32>
    ckpt.yield %0 : tensor<40x3x3x40xf32>
  } -> tensor<40x3x3x40xf32>
  return %r1 : tensor<40x3x3x40xf32>
}
// Images are columns.
// CHECK: columns: ok
func.func @columns(%x0: tensor<2x5x7x9xf32>, %x1: tensor<34x5x3x3xf32>) -> (tensor<2x34x7x9xf32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<2x5x7x9xf32>, %a1 = %x1 : tensor<34x5x3x3xf32>) slots [-1 : 4] {
    %z = arith.constant 0.0 : f32
    %c = arith.constant 0.5 : f32
    %e = tensor.empty() : tensor<2x34x7x9xf32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<2x34x7x9xf32>) -> tensor<2x34x7x9xf32>
    %p = tensor.pad %a0 low[0, 0, 1, 1] high[0, 0, 1, 1] {
    ^bb0(%i0: index, %i1: index, %i2: index, %i3: index):
      tensor.yield %z : f32
    } : tensor<2x5x7x9xf32> to tensor<2x5x9x11xf32>
    %0 = linalg.conv_2d_nchw_fchw {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%p, %a1 : tensor<2x5x9x11xf32>, tensor<34x5x3x3xf32>) outs(%f : tensor<2x34x7x9xf32>) -> tensor<2x34x7x9xf32>
    ckpt.yield %0 : tensor<2x34x7x9xf32>
  } -> tensor<2x34x7x9xf32>
  return %r1 : tensor<2x34x7x9xf32>
}
// CHECK: columns_in_lanes: ok
func.func @columns_in_lanes(%x0: tensor<1x4x2x16xf32>, %x1: tensor<40x4x3x1xf32>) -> (tensor<1x40x2x16xf32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<1x4x2x16xf32>, %a1 = %x1 : tensor<40x4x3x1xf32>) slots [-1 : 4] {
    %z = arith.constant 0.0 : f32
    %c = arith.constant 0.5 : f32
    %e = tensor.empty() : tensor<1x40x2x16xf32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<1x40x2x16xf32>) -> tensor<1x40x2x16xf32>
    %p = tensor.pad %a0 low[0, 0, 1, 0] high[0, 0, 1, 0] {
    ^bb0(%i0: index, %i1: index, %i2: index, %i3: index):
      tensor.yield %z : f32
    } : tensor<1x4x2x16xf32> to tensor<1x4x4x16xf32>
    %0 = linalg.conv_2d_nchw_fchw {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%p, %a1 : tensor<1x4x4x16xf32>, tensor<40x4x3x1xf32>) outs(%f : tensor<1x40x2x16xf32>) -> tensor<1x40x2x16xf32>
    ckpt.yield %0 : tensor<1x40x2x16xf32>
  } -> tensor<1x40x2x16xf32>
  return %r1 : tensor<1x40x2x16xf32>
}
// Steps are neighbours, columns are not.
// CHECK: columns_of_steps: ok
func.func @columns_of_steps(%x0: tensor<40xf32>, %x1: tensor<34x20xf32>) -> (tensor<34x20xf32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<40xf32>, %a1 = %x1 : tensor<34x20xf32>) slots [-1 : 4] {
    %z = arith.constant 0.0 : f32
    %c = arith.constant 0.5 : f32
    %e = tensor.empty() : tensor<34x20xf32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<34x20xf32>) -> tensor<34x20xf32>
    %p = tensor.pad %a0 low[9] high[9] {
    ^bb0(%i0: index):
      tensor.yield %z : f32
    } : tensor<40xf32> to tensor<58xf32>
    %0 = linalg.generic {indexing_maps = [affine_map<(f, o, k) -> (f, k)>, affine_map<(f, o, k) -> (o * 2 + k)>, affine_map<(f, o, k) -> (f, o)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a1, %p : tensor<34x20xf32>, tensor<58xf32>) outs(%f : tensor<34x20xf32>) {
    ^bb0(%w: f32, %x: f32, %sum: f32):
      %m = arith.mulf %w, %x : f32
      %s = arith.addf %sum, %m : f32
      linalg.yield %s : f32
    } -> tensor<34x20xf32>
    ckpt.yield %0 : tensor<34x20xf32>
  } -> tensor<34x20xf32>
  return %r1 : tensor<34x20xf32>
}
// CHECK: depthwise: ok
func.func @depthwise(%x0: tensor<2x7x7x18xf32>, %x1: tensor<3x3x18xf32>) -> (tensor<2x7x7x18xf32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<2x7x7x18xf32>, %a1 = %x1 : tensor<3x3x18xf32>) slots [-1 : 4] {
    %z = arith.constant 0.0 : f32
    %c = arith.constant 0.5 : f32
    %e = tensor.empty() : tensor<2x7x7x18xf32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<2x7x7x18xf32>) -> tensor<2x7x7x18xf32>
    %p = tensor.pad %a0 low[0, 1, 1, 0] high[0, 1, 1, 0] {
    ^bb0(%i0: index, %i1: index, %i2: index, %i3: index):
      tensor.yield %z : f32
    } : tensor<2x7x7x18xf32> to tensor<2x9x9x18xf32>
    %0 = linalg.depthwise_conv_2d_nhwc_hwc {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%p, %a1 : tensor<2x9x9x18xf32>, tensor<3x3x18xf32>) outs(%f : tensor<2x7x7x18xf32>) -> tensor<2x7x7x18xf32>
    ckpt.yield %0 : tensor<2x7x7x18xf32>
  } -> tensor<2x7x7x18xf32>
  return %r1 : tensor<2x7x7x18xf32>
}
// One and three dimensions.
// CHECK: line: ok
func.func @line(%x0: tensor<2x40x16xf32>, %x1: tensor<5x16x33xf32>) -> (tensor<2x40x33xf32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<2x40x16xf32>, %a1 = %x1 : tensor<5x16x33xf32>) slots [-1 : 4] {
    %z = arith.constant 0.0 : f32
    %c = arith.constant 0.5 : f32
    %e = tensor.empty() : tensor<2x40x33xf32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<2x40x33xf32>) -> tensor<2x40x33xf32>
    %p = tensor.pad %a0 low[0, 2, 0] high[0, 2, 0] {
    ^bb0(%i0: index, %i1: index, %i2: index):
      tensor.yield %z : f32
    } : tensor<2x40x16xf32> to tensor<2x44x16xf32>
    %0 = linalg.conv_1d_nwc_wcf {dilations = dense<1> : tensor<1xi64>, strides = dense<1> : tensor<1xi64>} ins(%p, %a1 : tensor<2x44x16xf32>, tensor<5x16x33xf32>) outs(%f : tensor<2x40x33xf32>) -> tensor<2x40x33xf32>
    ckpt.yield %0 : tensor<2x40x33xf32>
  } -> tensor<2x40x33xf32>
  return %r1 : tensor<2x40x33xf32>
}
// CHECK: volume: ok
func.func @volume(%x0: tensor<2x4x5x6x16xf32>, %x1: tensor<3x3x3x16x34xf32>) -> (tensor<2x4x5x6x34xf32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<2x4x5x6x16xf32>, %a1 = %x1 : tensor<3x3x3x16x34xf32>) slots [-1 : 4] {
    %z = arith.constant 0.0 : f32
    %c = arith.constant 0.5 : f32
    %e = tensor.empty() : tensor<2x4x5x6x34xf32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<2x4x5x6x34xf32>) -> tensor<2x4x5x6x34xf32>
    %p = tensor.pad %a0 low[0, 1, 1, 1, 0] high[0, 1, 1, 1, 0] {
    ^bb0(%i0: index, %i1: index, %i2: index, %i3: index, %i4: index):
      tensor.yield %z : f32
    } : tensor<2x4x5x6x16xf32> to tensor<2x6x7x8x16xf32>
    %0 = linalg.conv_3d_ndhwc_dhwcf {dilations = dense<1> : tensor<3xi64>, strides = dense<1> : tensor<3xi64>} ins(%p, %a1 : tensor<2x6x7x8x16xf32>, tensor<3x3x3x16x34xf32>) outs(%f : tensor<2x4x5x6x34xf32>) -> tensor<2x4x5x6x34xf32>
    ckpt.yield %0 : tensor<2x4x5x6x34xf32>
  } -> tensor<2x4x5x6x34xf32>
  return %r1 : tensor<2x4x5x6x34xf32>
}
// Views below the padding: rows that are images, images in parts, every second.
// CHECK: expanded: ok
func.func @expanded(%x0: tensor<2x30x16xf32>, %x1: tensor<3x3x16x36xf32>) -> (tensor<2x5x6x36xf32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<2x30x16xf32>, %a1 = %x1 : tensor<3x3x16x36xf32>) slots [-1 : 4] {
    %z = arith.constant 0.0 : f32
    %c = arith.constant 0.5 : f32
    %e = tensor.empty() : tensor<2x5x6x36xf32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<2x5x6x36xf32>) -> tensor<2x5x6x36xf32>
    %v = tensor.expand_shape %a0 [[0], [1, 2], [3]] output_shape [2, 5, 6, 16] : tensor<2x30x16xf32> into tensor<2x5x6x16xf32>
    %p = tensor.pad %v low[0, 1, 1, 0] high[0, 1, 1, 0] {
    ^bb0(%i0: index, %i1: index, %i2: index, %i3: index):
      tensor.yield %z : f32
    } : tensor<2x5x6x16xf32> to tensor<2x7x8x16xf32>
    %0 = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%p, %a1 : tensor<2x7x8x16xf32>, tensor<3x3x16x36xf32>) outs(%f : tensor<2x5x6x36xf32>) -> tensor<2x5x6x36xf32>
    ckpt.yield %0 : tensor<2x5x6x36xf32>
  } -> tensor<2x5x6x36xf32>
  return %r1 : tensor<2x5x6x36xf32>
}
// CHECK: collapsed: ok
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
// CHECK: sliced: ok
func.func @sliced(%x0: tensor<2x11x12x16xf32>, %x1: tensor<3x3x16x36xf32>) -> (tensor<2x5x6x36xf32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<2x11x12x16xf32>, %a1 = %x1 : tensor<3x3x16x36xf32>) slots [-1 : 4] {
    %z = arith.constant 0.0 : f32
    %c = arith.constant 0.5 : f32
    %e = tensor.empty() : tensor<2x5x6x36xf32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<2x5x6x36xf32>) -> tensor<2x5x6x36xf32>
    %v = tensor.extract_slice %a0[0, 1, 0, 0] [2, 5, 6, 16] [1, 2, 2, 1] : tensor<2x11x12x16xf32> to tensor<2x5x6x16xf32>
    %p = tensor.pad %v low[0, 1, 1, 0] high[0, 1, 1, 0] {
    ^bb0(%i0: index, %i1: index, %i2: index, %i3: index):
      tensor.yield %z : f32
    } : tensor<2x5x6x16xf32> to tensor<2x7x8x16xf32>
    %0 = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%p, %a1 : tensor<2x7x8x16xf32>, tensor<3x3x16x36xf32>) outs(%f : tensor<2x5x6x36xf32>) -> tensor<2x5x6x36xf32>
    ckpt.yield %0 : tensor<2x5x6x36xf32>
  } -> tensor<2x5x6x36xf32>
  return %r1 : tensor<2x5x6x36xf32>
}
// CHECK: squeezed: ok
func.func @squeezed(%x0: tensor<2x16x1x6x6xf32>, %x1: tensor<3x3x16x36xf32>) -> (tensor<2x6x6x36xf32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<2x16x1x6x6xf32>, %a1 = %x1 : tensor<3x3x16x36xf32>) slots [-1 : 4] {
    %z = arith.constant 0.0 : f32
    %c = arith.constant 0.5 : f32
    %e = tensor.empty() : tensor<2x6x6x36xf32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<2x6x6x36xf32>) -> tensor<2x6x6x36xf32>
    %t = tensor.empty() : tensor<2x6x1x6x16xf32>
    %u = linalg.transpose ins(%a0 : tensor<2x16x1x6x6xf32>) outs(%t : tensor<2x6x1x6x16xf32>) permutation = [0, 3, 2, 4, 1]
    %v = tensor.collapse_shape %u [[0], [1, 2], [3], [4]] : tensor<2x6x1x6x16xf32> into tensor<2x6x6x16xf32>
    %p = tensor.pad %v low[0, 1, 1, 0] high[0, 1, 1, 0] {
    ^bb0(%i0: index, %i1: index, %i2: index, %i3: index):
      tensor.yield %z : f32
    } : tensor<2x6x6x16xf32> to tensor<2x8x8x16xf32>
    %0 = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%p, %a1 : tensor<2x8x8x16xf32>, tensor<3x3x16x36xf32>) outs(%f : tensor<2x6x6x36xf32>) -> tensor<2x6x6x36xf32>
    ckpt.yield %0 : tensor<2x6x6x36xf32>
  } -> tensor<2x6x6x36xf32>
  return %r1 : tensor<2x6x6x36xf32>
}
// Divided: one element at a time.
// CHECK: joined: ok
func.func @joined(%x0: tensor<2x2x16x3x6xf32>, %x1: tensor<3x3x16x36xf32>) -> (tensor<2x6x6x36xf32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<2x2x16x3x6xf32>, %a1 = %x1 : tensor<3x3x16x36xf32>) slots [-1 : 4] {
    %z = arith.constant 0.0 : f32
    %c = arith.constant 0.5 : f32
    %e = tensor.empty() : tensor<2x6x6x36xf32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<2x6x6x36xf32>) -> tensor<2x6x6x36xf32>
    %t = tensor.empty() : tensor<2x2x3x6x16xf32>
    %u = linalg.transpose ins(%a0 : tensor<2x2x16x3x6xf32>) outs(%t : tensor<2x2x3x6x16xf32>) permutation = [0, 1, 3, 4, 2]
    %v = tensor.collapse_shape %u [[0], [1, 2], [3], [4]] : tensor<2x2x3x6x16xf32> into tensor<2x6x6x16xf32>
    %p = tensor.pad %v low[0, 1, 1, 0] high[0, 1, 1, 0] {
    ^bb0(%i0: index, %i1: index, %i2: index, %i3: index):
      tensor.yield %z : f32
    } : tensor<2x6x6x16xf32> to tensor<2x8x8x16xf32>
    %0 = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%p, %a1 : tensor<2x8x8x16xf32>, tensor<3x3x16x36xf32>) outs(%f : tensor<2x6x6x36xf32>) -> tensor<2x6x6x36xf32>
    ckpt.yield %0 : tensor<2x6x6x36xf32>
  } -> tensor<2x6x6x36xf32>
  return %r1 : tensor<2x6x6x36xf32>
}
// CHECK: padded_twice: ok
func.func @padded_twice(%x0: tensor<2x4x5x16xf32>, %x1: tensor<3x3x16x36xf32>) -> (tensor<2x5x6x36xf32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<2x4x5x16xf32>, %a1 = %x1 : tensor<3x3x16x36xf32>) slots [-1 : 4] {
    %z = arith.constant 0.0 : f32
    %c = arith.constant 0.5 : f32
    %e = tensor.empty() : tensor<2x5x6x36xf32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<2x5x6x36xf32>) -> tensor<2x5x6x36xf32>
    %v = tensor.pad %a0 low[0, 1, 0, 0] high[0, 0, 1, 0] {
    ^bb0(%i0: index, %i1: index, %i2: index, %i3: index):
      tensor.yield %z : f32
    } : tensor<2x4x5x16xf32> to tensor<2x5x6x16xf32>
    %p = tensor.pad %v low[0, 1, 1, 0] high[0, 1, 1, 0] {
    ^bb0(%i0: index, %i1: index, %i2: index, %i3: index):
      tensor.yield %z : f32
    } : tensor<2x5x6x16xf32> to tensor<2x7x8x16xf32>
    %0 = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%p, %a1 : tensor<2x7x8x16xf32>, tensor<3x3x16x36xf32>) outs(%f : tensor<2x5x6x36xf32>) -> tensor<2x5x6x36xf32>
    ckpt.yield %0 : tensor<2x5x6x36xf32>
  } -> tensor<2x5x6x36xf32>
  return %r1 : tensor<2x5x6x36xf32>
}
