// Which kernels are said to be matmuls, and as what. RUN lines of a whole run
// are in test/Integration/matmul-library.test.
// RUN: ckpt-opt %s --ckpt-kernels-to-calls=own-constants=true --ckpt-emit-gpu-kernels=offer-matmuls=true --split-input-file | FileCheck %s
// RUN: ckpt-opt %s --ckpt-kernels-to-calls=own-constants=true --ckpt-emit-gpu-kernels --split-input-file | FileCheck %s --check-prefix=NONE
// NONE-NOT: ckptCudaOfferMatmul

// Rows, columns, steps, batches, groups; then of each matrix: argument and its
// bytes, offset, type, whether it is transposed, strides of rows (columns),
// batches and groups. The left one is seen through a transpose.

// CHECK: memref.global "private" constant @[[$SHAPE:.*]] : memref<29xi64> = dense<[6, 8, 4, 1, 1,
// CHECK-SAME: 0, 96, 0, 0, 1, 6, 0, 0,
// CHECK-SAME: 1, 128, 0, 0, 0, 8, 0, 0,
// CHECK-SAME: 2, 192, 0, 0, 0, 8, 0, 0]>
// CHECK-LABEL: func.func @transposed
// CHECK: %[[WORDS:.*]] = memref.get_global @[[$SHAPE]]
// CHECK-NEXT: call @ckptCudaOfferMatmul(%[[WORDS]]) : (memref<29xi64>) -> ()
// CHECK-NOT: call
// CHECK: gpu.launch_func @kernels::@kernel_0_linalg_matmul
func.func @transposed(%x: tensor<4x6xf32>, %y: tensor<4x8xf32>) -> tensor<6x8xf32> {
  %r = ckpt.kernel(%a = %x : tensor<4x6xf32>, %b = %y : tensor<4x8xf32>) slots [-1 : 192] {
    %z = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<6x8xf32>
    %i = linalg.fill ins(%z : f32) outs(%e : tensor<6x8xf32>) -> tensor<6x8xf32>
    %v = tensor.empty() : tensor<6x4xf32>
    %t = linalg.transpose ins(%a : tensor<4x6xf32>) outs(%v : tensor<6x4xf32>) permutation = [1, 0]
    %c = linalg.matmul ins(%t, %b : tensor<6x4xf32>, tensor<4x8xf32>) outs(%i : tensor<6x8xf32>) -> tensor<6x8xf32>
    ckpt.yield %c : tensor<6x8xf32>
  } -> tensor<6x8xf32>
  return %r : tensor<6x8xf32>
}

// -----

// Two heads of 4 in rows of 16, of 3 sequences of 5 tokens, times one matrix
// for all: two strides between batches, none on the right; narrow operands and
// a result in f32 that is reshaped. A call for each head would begin within 16
// bytes, so there is one for each sequence.

// CHECK: memref.global "private" constant @{{.*}} : memref<29xi64> = dense<[5, 8, 4, 2, 3,
// CHECK-SAME: 0, 480, 0, 14, 0, 16, 4, 80,
// CHECK-SAME: 1, 64, 0, 14, 0, 8, 0, 0,
// CHECK-SAME: 2, 960, 0, 0, 0, 8, 40, 80]>
// CHECK-LABEL: func.func @heads
// CHECK: call @ckptCudaOfferMatmul
// CHECK: gpu.launch_func
func.func @heads(%x: tensor<3x5x16xbf16>, %y: tensor<4x8xbf16>) -> tensor<6x40xf32> {
  %r = ckpt.kernel(%a = %x : tensor<3x5x16xbf16>, %b = %y : tensor<4x8xbf16>) slots [-1 : 960] {
    %z = arith.constant 0.0 : f32
    %s = tensor.extract_slice %a[0, 0, 8] [3, 5, 8] [1, 1, 1] : tensor<3x5x16xbf16> to tensor<3x5x8xbf16>
    %h = tensor.expand_shape %s [[0], [1], [2, 3]] output_shape [3, 5, 2, 4] : tensor<3x5x8xbf16> into tensor<3x5x2x4xbf16>
    %v = tensor.empty() : tensor<3x2x5x4xbf16>
    %t = linalg.transpose ins(%h : tensor<3x5x2x4xbf16>) outs(%v : tensor<3x2x5x4xbf16>) permutation = [0, 2, 1, 3]
    %k = tensor.collapse_shape %t [[0, 1], [2], [3]] : tensor<3x2x5x4xbf16> into tensor<6x5x4xbf16>
    %w = tensor.empty() : tensor<6x4x8xbf16>
    %q = linalg.broadcast ins(%b : tensor<4x8xbf16>) outs(%w : tensor<6x4x8xbf16>) dimensions = [0]
    %e = tensor.empty() : tensor<6x5x8xf32>
    %i = linalg.fill ins(%z : f32) outs(%e : tensor<6x5x8xf32>) -> tensor<6x5x8xf32>
    %c = linalg.batch_matmul ins(%k, %q : tensor<6x5x4xbf16>, tensor<6x4x8xbf16>) outs(%i : tensor<6x5x8xf32>) -> tensor<6x5x8xf32>
    %o = tensor.collapse_shape %c [[0], [1, 2]] : tensor<6x5x8xf32> into tensor<6x40xf32>
    ckpt.yield %o : tensor<6x40xf32>
  } -> tensor<6x40xf32>
  return %r : tensor<6x40xf32>
}

// -----

// Sums that do not begin at zero, or at -0; something else that the kernel
// does; f64; a slice that begins within 16 bytes; windows of more than a pixel.

// CHECK-NOT: call @ckptCudaOfferMatmul
func.func @others(%x: tensor<4x6xf32>, %y: tensor<6x8xf32>, %d: tensor<4x6xf64>, %f: tensor<6x8xf64>, %m: tensor<2x5x5x3xf32>, %w: tensor<3x3x3x8xf32>, %l: tensor<4x7xf32>)
    -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf64>, tensor<2x3x3x8xf32>, tensor<4x8xf32>) {
  %from_one = ckpt.kernel(%a = %x : tensor<4x6xf32>, %b = %y : tensor<6x8xf32>) slots [-1 : 128] {
    %z = arith.constant 1.0 : f32
    %e = tensor.empty() : tensor<4x8xf32>
    %i = linalg.fill ins(%z : f32) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
    %c = linalg.matmul ins(%a, %b : tensor<4x6xf32>, tensor<6x8xf32>) outs(%i : tensor<4x8xf32>) -> tensor<4x8xf32>
    ckpt.yield %c : tensor<4x8xf32>
  } -> tensor<4x8xf32>
  %from_minus = ckpt.kernel(%a = %x : tensor<4x6xf32>, %b = %y : tensor<6x8xf32>) slots [-1 : 128] {
    %z = arith.constant -0.0 : f32
    %e = tensor.empty() : tensor<4x8xf32>
    %i = linalg.fill ins(%z : f32) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
    %c = linalg.matmul ins(%a, %b : tensor<4x6xf32>, tensor<6x8xf32>) outs(%i : tensor<4x8xf32>) -> tensor<4x8xf32>
    ckpt.yield %c : tensor<4x8xf32>
  } -> tensor<4x8xf32>
  %more = ckpt.kernel(%a = %x : tensor<4x6xf32>, %b = %y : tensor<6x8xf32>) slots [-1 : 128] {
    %z = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<4x8xf32>
    %i = linalg.fill ins(%z : f32) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
    %c = linalg.matmul ins(%a, %b : tensor<4x6xf32>, tensor<6x8xf32>) outs(%i : tensor<4x8xf32>) -> tensor<4x8xf32>
    %n = math.absf %c : tensor<4x8xf32>
    ckpt.yield %n : tensor<4x8xf32>
  } -> tensor<4x8xf32>
  %long = ckpt.kernel(%a = %d : tensor<4x6xf64>, %b = %f : tensor<6x8xf64>) slots [-1 : 256] {
    %z = arith.constant 0.0 : f64
    %e = tensor.empty() : tensor<4x8xf64>
    %i = linalg.fill ins(%z : f64) outs(%e : tensor<4x8xf64>) -> tensor<4x8xf64>
    %c = linalg.matmul ins(%a, %b : tensor<4x6xf64>, tensor<6x8xf64>) outs(%i : tensor<4x8xf64>) -> tensor<4x8xf64>
    ckpt.yield %c : tensor<4x8xf64>
  } -> tensor<4x8xf64>
  %window = ckpt.kernel(%a = %m : tensor<2x5x5x3xf32>, %b = %w : tensor<3x3x3x8xf32>) slots [-1 : 576] {
    %z = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<2x3x3x8xf32>
    %i = linalg.fill ins(%z : f32) outs(%e : tensor<2x3x3x8xf32>) -> tensor<2x3x3x8xf32>
    %c = linalg.conv_2d_nhwc_hwcf ins(%a, %b : tensor<2x5x5x3xf32>, tensor<3x3x3x8xf32>) outs(%i : tensor<2x3x3x8xf32>) -> tensor<2x3x3x8xf32>
    ckpt.yield %c : tensor<2x3x3x8xf32>
  } -> tensor<2x3x3x8xf32>
  %shifted = ckpt.kernel(%a = %l : tensor<4x7xf32>, %b = %y : tensor<6x8xf32>) slots [-1 : 128] {
    %z = arith.constant 0.0 : f32
    %s = tensor.extract_slice %a[0, 1] [4, 6] [1, 1] : tensor<4x7xf32> to tensor<4x6xf32>
    %e = tensor.empty() : tensor<4x8xf32>
    %i = linalg.fill ins(%z : f32) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
    %c = linalg.matmul ins(%s, %b : tensor<4x6xf32>, tensor<6x8xf32>) outs(%i : tensor<4x8xf32>) -> tensor<4x8xf32>
    ckpt.yield %c : tensor<4x8xf32>
  } -> tensor<4x8xf32>
  return %from_one, %from_minus, %more, %long, %window, %shifted : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf64>, tensor<2x3x3x8xf32>, tensor<4x8xf32>
}

// -----

// Batches that run backwards.

// CHECK-NOT: call @ckptCudaOfferMatmul
func.func @backwards(%x: tensor<6x8x4xf32>, %y: tensor<6x4x8xf32>) -> tensor<6x8x8xf32> {
  %r = ckpt.kernel(%a = %x : tensor<6x8x4xf32>, %b = %y : tensor<6x4x8xf32>) slots [-1 : 1536] {
    %z = arith.constant 0.0 : f32
    %v = tensor.empty() : tensor<6x8x4xf32>
    %k = linalg.generic {indexing_maps = [affine_map<(n, i, j) -> (5 - n, i, j)>, affine_map<(n, i, j) -> (n, i, j)>], iterator_types = ["parallel", "parallel", "parallel"]}
        ins(%a : tensor<6x8x4xf32>) outs(%v : tensor<6x8x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<6x8x4xf32>
    %e = tensor.empty() : tensor<6x8x8xf32>
    %i = linalg.fill ins(%z : f32) outs(%e : tensor<6x8x8xf32>) -> tensor<6x8x8xf32>
    %c = linalg.batch_matmul ins(%k, %b : tensor<6x8x4xf32>, tensor<6x4x8xf32>) outs(%i : tensor<6x8x8xf32>) -> tensor<6x8x8xf32>
    ckpt.yield %c : tensor<6x8x8xf32>
  } -> tensor<6x8x8xf32>
  return %r : tensor<6x8x8xf32>
}
