// Operands that come to shared memory by tensor maps, and their neighbours that
// do not, in every order of threads and arrivals.
// RUN: ckpt-execute %s --only="wgmma on the emulator" --all-orders | FileCheck %s
// RUN: ckpt-opt %s --ckpt-kernels-to-calls=own-constants=true --ckpt-emit-gpu-kernels=tensor-cores=wgmma --mlir-print-debuginfo=false > %t.mlir
// RUN: FileCheck %s --check-prefix=CALLS < %t.mlir
// RUN: FileCheck %s --check-prefix=MAPS < %t.mlir

// The last part and both squares reach over the end: zeros.
// CHECK: over_the_end: ok
// CALLS-LABEL: func.func @over_the_end(
// CALLS: get_global @{{.*}}_map3
// CALLS: get_global @{{.*}}_map4
// CALLS-NOT: get_global
// CALLS: gpu.launch_func
func.func @over_the_end(%x: tensor<72x264xbf16>, %y: tensor<264x136xbf16>) -> tensor<72x136xf32> {
  %0 = ckpt.kernel(%a = %x : tensor<72x264xbf16>, %b = %y : tensor<264x136xbf16>) slots [-1 : 4] {
    %c = arith.constant 0.5 : f32
    %e = tensor.empty() : tensor<72x136xf32>
    %i = linalg.fill ins(%c : f32) outs(%e : tensor<72x136xf32>) -> tensor<72x136xf32>
    %p = linalg.matmul ins(%a, %b : tensor<72x264xbf16>, tensor<264x136xbf16>) outs(%i : tensor<72x136xf32>) -> tensor<72x136xf32>
    ckpt.yield %p : tensor<72x136xf32>
  } -> tensor<72x136xf32>
  return %0 : tensor<72x136xf32>
}
// Sizes that are no multiples of eight inside of lines that are.
// CHECK: odd_inside: ok
// MAPS-DAG: @kernel_1_linalg_matmul_map3 : memref<19xi64> = dense<[3, 0, 0, 2, 195, 65, 0, 0, 0, 2, 416, 0, 0, 0, 64, 64, 0, 0, 0]>
// MAPS-DAG: @kernel_1_linalg_matmul_map4 : memref<19xi64> = dense<[4, 1, 0, 2, 67, 195, 0, 0, 0, 2, 144, 0, 0, 0, 64, 64, 0, 0, 0]>
// CALLS-LABEL: func.func @odd_inside(
// CALLS: get_global @{{.*}}_map3
// CALLS: get_global @{{.*}}_map4
// CALLS-NOT: get_global
// CALLS: gpu.launch_func
func.func @odd_inside(%x: tensor<67x208xf16>, %y: tensor<208x72xf16>) -> tensor<65x67xf32> {
  %0 = ckpt.kernel(%a = %x : tensor<67x208xf16>, %b = %y : tensor<208x72xf16>) slots [-1 : 4] {
    %c = arith.constant 0.5 : f32
    %e = tensor.empty() : tensor<65x67xf32>
    %i = linalg.fill ins(%c : f32) outs(%e : tensor<65x67xf32>) -> tensor<65x67xf32>
    %l = tensor.extract_slice %a[1, 8] [65, 195] [1, 1] : tensor<67x208xf16> to tensor<65x195xf16>
    %r = tensor.extract_slice %b[3, 0] [195, 67] [1, 1] : tensor<208x72xf16> to tensor<195x67xf16>
    %p = linalg.matmul ins(%l, %r : tensor<65x195xf16>, tensor<195x67xf16>) outs(%i : tensor<65x67xf32>) -> tensor<65x67xf32>
    ckpt.yield %p : tensor<65x67xf32>
  } -> tensor<65x67xf32>
  return %0 : tensor<65x67xf32>
}
// One operand by boxes, one by vectors, one by loads.
// CHECK: boxes_and_vectors: ok
// CALLS-LABEL: func.func @boxes_and_vectors(
// CALLS: get_global @{{.*}}_map3
// CALLS-NOT: get_global
// CALLS: gpu.launch_func
func.func @boxes_and_vectors(%x: tensor<2x40x264xbf16>, %y: tensor<264x72xbf16>) -> tensor<72x72xf32> {
  %0 = ckpt.kernel(%a = %x : tensor<2x40x264xbf16>, %b = %y : tensor<264x72xbf16>) slots [-1 : 4] {
    %c = arith.constant 0.5 : f32
    %e = tensor.empty() : tensor<72x72xf32>
    %i = linalg.fill ins(%c : f32) outs(%e : tensor<72x72xf32>) -> tensor<72x72xf32>
    %s = tensor.extract_slice %a[0, 0, 0] [2, 36, 264] [1, 1, 1] : tensor<2x40x264xbf16> to tensor<2x36x264xbf16>
    %l = tensor.collapse_shape %s [[0, 1], [2]] : tensor<2x36x264xbf16> into tensor<72x264xbf16>
    %p = linalg.matmul ins(%l, %b : tensor<72x264xbf16>, tensor<264x72xbf16>) outs(%i : tensor<72x72xf32>) -> tensor<72x72xf32>
    ckpt.yield %p : tensor<72x72xf32>
  } -> tensor<72x72xf32>
  return %0 : tensor<72x72xf32>
}
// CHECK: loads_and_boxes: ok
// CALLS-LABEL: func.func @loads_and_boxes(
// CALLS: get_global @{{.*}}_map3
// CALLS-NOT: get_global
// CALLS: gpu.launch_func
func.func @loads_and_boxes(%x: tensor<65x263xbf16>, %y: tensor<263x72xbf16>) -> tensor<65x72xf32> {
  %0 = ckpt.kernel(%a = %x : tensor<65x263xbf16>, %b = %y : tensor<263x72xbf16>) slots [-1 : 4] {
    %c = arith.constant 0.5 : f32
    %e = tensor.empty() : tensor<65x72xf32>
    %i = linalg.fill ins(%c : f32) outs(%e : tensor<65x72xf32>) -> tensor<65x72xf32>
    %p = linalg.matmul ins(%a, %b : tensor<65x263xbf16>, tensor<263x72xbf16>) outs(%i : tensor<65x72xf32>) -> tensor<65x72xf32>
    ckpt.yield %p : tensor<65x72xf32>
  } -> tensor<65x72xf32>
  return %0 : tensor<65x72xf32>
}
// Heads between tokens and their elements: four dimensions, tokens behind heads.
// CHECK: heads: ok
// MAPS-DAG: @kernel_4_reduction_map3 : memref<19xi64> = dense<[3, 0, 0, 4, 72, 4, 70, 2, 0, 2, 144, 576, 40320, 0, 64, 1, 64, 1, 0]>
// CALLS-LABEL: func.func @heads(
// CALLS: get_global @{{.*}}_map3
// CALLS: get_global @{{.*}}_map4
// CALLS-NOT: get_global
// CALLS: gpu.launch_func
func.func @heads(%x: tensor<2x70x4x72xbf16>, %y: tensor<2x70x4x72xbf16>) -> tensor<2x4x70x70xf32> {
  %0 = ckpt.kernel(%a = %x : tensor<2x70x4x72xbf16>, %b = %y : tensor<2x70x4x72xbf16>) slots [-1 : 4] {
    %c = arith.constant 0.5 : f32
    %e = tensor.empty() : tensor<2x4x70x70xf32>
    %i = linalg.fill ins(%c : f32) outs(%e : tensor<2x4x70x70xf32>) -> tensor<2x4x70x70xf32>
    %p = linalg.generic {
        indexing_maps = [affine_map<(n, h, q, k, d) -> (n, q, h, d)>, affine_map<(n, h, q, k, d) -> (n, k, h, d)>, affine_map<(n, h, q, k, d) -> (n, h, q, k)>],
        iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]
      } ins(%a, %b : tensor<2x70x4x72xbf16>, tensor<2x70x4x72xbf16>) outs(%i : tensor<2x4x70x70xf32>) {
    ^bb0(%l: bf16, %r: bf16, %s: f32):
      %lw = arith.extf %l : bf16 to f32
      %rw = arith.extf %r : bf16 to f32
      %m = arith.mulf %lw, %rw : f32
      %n = arith.addf %s, %m : f32
      linalg.yield %n : f32
    } -> tensor<2x4x70x70xf32>
    ckpt.yield %p : tensor<2x4x70x70xf32>
  } -> tensor<2x4x70x70xf32>
  return %0 : tensor<2x4x70x70xf32>
}
// The same matrix for all of the batch.
// CHECK: broadcast: ok
// MAPS-DAG: @kernel_5_linalg_batch_matmul_map3 : memref<19xi64> = dense<[3, 0, 0, 3, 136, 66, 3, 0, 0, 2, 272, 17952, 0, 0, 64, 64, 1, 0, 0]>
// MAPS-DAG: @kernel_5_linalg_batch_matmul_map4 : memref<19xi64> = dense<[4, 1, 0, 2, 72, 136, 0, 0, 0, 2, 144, 0, 0, 0, 64, 64, 0, 0, 0]>
// CALLS-LABEL: func.func @broadcast(
// CALLS: get_global @{{.*}}_map3
// CALLS: get_global @{{.*}}_map4
// CALLS-NOT: get_global
// CALLS: gpu.launch_func
func.func @broadcast(%x: tensor<3x66x136xbf16>, %y: tensor<136x72xbf16>) -> tensor<3x66x72xf32> {
  %0 = ckpt.kernel(%a = %x : tensor<3x66x136xbf16>, %b = %y : tensor<136x72xbf16>) slots [-1 : 4] {
    %c = arith.constant 0.5 : f32
    %e = tensor.empty() : tensor<3x66x72xf32>
    %i = linalg.fill ins(%c : f32) outs(%e : tensor<3x66x72xf32>) -> tensor<3x66x72xf32>
    %v = tensor.empty() : tensor<3x136x72xbf16>
    %w = linalg.broadcast ins(%b : tensor<136x72xbf16>) outs(%v : tensor<3x136x72xbf16>) dimensions = [0]
    %p = linalg.batch_matmul ins(%a, %w : tensor<3x66x136xbf16>, tensor<3x136x72xbf16>) outs(%i : tensor<3x66x72xf32>) -> tensor<3x66x72xf32>
    ckpt.yield %p : tensor<3x66x72xf32>
  } -> tensor<3x66x72xf32>
  return %0 : tensor<3x66x72xf32>
}
// One step: boxes of one line.
// CHECK: one_step: ok
// CALLS-LABEL: func.func @one_step(
// CALLS: get_global @{{.*}}_map3
// CALLS: get_global @{{.*}}_map4
// CALLS-NOT: get_global
// CALLS: gpu.launch_func
func.func @one_step(%x: tensor<1x72xf16>, %y: tensor<1x64xf16>) -> tensor<72x64xf32> {
  %0 = ckpt.kernel(%a = %x : tensor<1x72xf16>, %b = %y : tensor<1x64xf16>) slots [-1 : 4] {
    %c = arith.constant 0.5 : f32
    %e = tensor.empty() : tensor<72x64xf32>
    %i = linalg.fill ins(%c : f32) outs(%e : tensor<72x64xf32>) -> tensor<72x64xf32>
    %u = tensor.empty() : tensor<72x1xf16>
    %l = linalg.transpose ins(%a : tensor<1x72xf16>) outs(%u : tensor<72x1xf16>) permutation = [1, 0]
    %p = linalg.matmul ins(%l, %b : tensor<72x1xf16>, tensor<1x64xf16>) outs(%i : tensor<72x64xf32>) -> tensor<72x64xf32>
    ckpt.yield %p : tensor<72x64xf32>
  } -> tensor<72x64xf32>
  return %0 : tensor<72x64xf32>
}
// An operand, and lines of one, that do not begin at multiples of 16 bytes: no
// boxes.
// CHECK: no_boxes: ok
// CALLS-LABEL: func.func @no_boxes(
// CALLS-NOT: get_global
// CALLS: gpu.launch_func
func.func @no_boxes(%x: tensor<3x40x88xbf16>, %y: tensor<3x80x76xbf16>) -> tensor<3x40x72xf32> {
  %0 = ckpt.kernel(%a = %x : tensor<3x40x88xbf16>, %b = %y : tensor<3x80x76xbf16>) slots [-1 : 4] {
    %c = arith.constant 0.5 : f32
    %e = tensor.empty() : tensor<3x40x72xf32>
    %i = linalg.fill ins(%c : f32) outs(%e : tensor<3x40x72xf32>) -> tensor<3x40x72xf32>
    %l = tensor.extract_slice %a[0, 0, 4] [3, 40, 80] [1, 1, 1] : tensor<3x40x88xbf16> to tensor<3x40x80xbf16>
    %r = tensor.extract_slice %b[0, 0, 0] [3, 80, 72] [1, 1, 1] : tensor<3x80x76xbf16> to tensor<3x80x72xbf16>
    %p = linalg.batch_matmul ins(%l, %r : tensor<3x40x80xbf16>, tensor<3x80x72xbf16>) outs(%i : tensor<3x40x72xf32>) -> tensor<3x40x72xf32>
    ckpt.yield %p : tensor<3x40x72xf32>
  } -> tensor<3x40x72xf32>
  return %0 : tensor<3x40x72xf32>
}
// Every second row: from one matrix to the next are forty steps and a half.
// CHECK: no_divisor: ok
// CALLS-LABEL: func.func @no_divisor(
// CALLS: get_global @{{.*}}_map3
// CALLS-NOT: get_global
// CALLS: gpu.launch_func
// MAPS-DAG: @kernel_8_linalg_batch_matmul_map3 : memref<19xi64> = dense<[3, 1, 0, 3, 72, 88, 3, 0, 0, 2, 144, 12672, 0, 0, 64, 64, 1, 0, 0]>
func.func @no_divisor(%x: tensor<3x81x88xbf16>, %y: tensor<3x88x72xbf16>) -> tensor<3x40x72xf32> {
  %0 = ckpt.kernel(%a = %x : tensor<3x81x88xbf16>, %b = %y : tensor<3x88x72xbf16>) slots [-1 : 4] {
    %c = arith.constant 0.5 : f32
    %e = tensor.empty() : tensor<3x40x72xf32>
    %i = linalg.fill ins(%c : f32) outs(%e : tensor<3x40x72xf32>) -> tensor<3x40x72xf32>
    %l = tensor.extract_slice %a[0, 0, 0] [3, 40, 88] [1, 2, 1] : tensor<3x81x88xbf16> to tensor<3x40x88xbf16>
    %p = linalg.batch_matmul ins(%l, %b : tensor<3x40x88xbf16>, tensor<3x88x72xbf16>) outs(%i : tensor<3x40x72xf32>) -> tensor<3x40x72xf32>
    ckpt.yield %p : tensor<3x40x72xf32>
  } -> tensor<3x40x72xf32>
  return %0 : tensor<3x40x72xf32>
}
