// Narrow contractions by warpgroups of 128 threads.
// RUN: ckpt-opt %s --ckpt-kernels-to-calls=own-constants=true --ckpt-emit-gpu-kernels=tensor-cores=wgmma --cse --canonicalize --mlir-print-debuginfo=false | FileCheck %s
// RUN: ckpt-opt %s --ckpt-lower-to-nvvm-pipeline="chip=sm_90a tensor-cores=wgmma" --mlir-print-debuginfo=false | FileCheck %s --check-prefix=PTX
// RUN: not ckpt-opt %s --ckpt-lower-to-nvvm-pipeline="chip=sm_90 tensor-cores=wgmma" 2>&1 | FileCheck %s --check-prefix=CHIP
// RUN: not ckpt-opt %s --ckpt-lower-to-nvvm-pipeline="tensor-cores=true" 2>&1 | FileCheck %s --check-prefix=OPTION

// CHIP: error: expected chip 'sm_90a' for tensor-cores=wgmma, but got 'sm_90'
// OPTION: Cannot find option named 'true'

// Shared memory that the launch asks for. Steps are neighbours in the left
// operand, columns in the right one; both come by vectors, since rows and steps
// have two strides. This part is begun before the wait for the part before; all
// have waited for that when the next part goes to its place.
// CHECK: memref.global @dynamic_shared : memref<0xi8, #gpu.address_space<workgroup>> {alignment = 1024 : i64}
// CHECK-LABEL: gpu.func @kernel_0_linalg_matmul(
// CHECK-SAME: known_block_size = array<i32: 128, 1, 1>
// CHECK: memref.view %{{.*}}[%c0][] : memref<0xi8, #gpu.address_space<workgroup>> to memref<3x64x64xbf16, #gpu.address_space<workgroup>>
// CHECK: memref.view %{{.*}}[%c24576][] : memref<0xi8, #gpu.address_space<workgroup>> to memref<3x64x64xbf16, #gpu.address_space<workgroup>>
// CHECK: scf.for
// CHECK: nvvm.cp.async.wait.group 1
// CHECK: nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
// CHECK: gpu.barrier
// CHECK: nvvm.wgmma.fence.aligned
// CHECK-COUNT-4: nvvm.wgmma.mma_async {{.*}} <m = 64, n = 64, k = 16>, D[<f32>, <one>], A[<bf16>, <one>, <row>], B[<bf16>, <one>, <row>]
// CHECK: nvvm.wgmma.commit.group.sync.aligned
// CHECK: nvvm.wgmma.wait.group.sync.aligned 1
// CHECK: gpu.barrier
// CHECK: nvgpu.device_async_copy
// CHECK: scf.yield
// CHECK: nvvm.wgmma.wait.group.sync.aligned 0
// CHECK: llvm.inline_asm has_side_effects {{.*}}""
// Sums go through the memory of operands, so that a thread stores four
// neighbours, next to those of the next thread.
// CHECK: gpu.barrier
// CHECK-COUNT-16: vector.store %{{.*}} : memref<64x72xf32, #gpu.address_space<workgroup>>, vector<2xf32>
// CHECK: gpu.barrier
// CHECK: scf.for
// CHECK: vector.load %{{.*}} {alignment = 16 : i64} : memref<64x72xf32, #gpu.address_space<workgroup>>, vector<4xf32>
// CHECK: vector.store %{{.*}} {alignment = 16 : i64} : memref<4608xf32>, vector<4xf32>

// 32 rows are too few.
// CHECK-LABEL: gpu.func @kernel_1_linalg_matmul(
// CHECK-NOT: wgmma

// Rows of 263 elements: each vector lies in two aligned ones, the second of which
// never begins past the end of memory. Behind the loads are no others.
// CHECK-LABEL: gpu.func @kernel_2_linalg_matmul(
// CHECK: %[[BEGIN:.*]] = arith.subi %[[AT:.*]], %[[SHIFT:.*]] : index
// CHECK: %[[NEXT:.*]] = arith.addi %[[BEGIN]], %c8
// CHECK: %[[SECOND:.*]] = arith.minui %[[NEXT]], %c16824
// CHECK: vector.load %{{.*}}[%[[BEGIN]]] {alignment = 16 : i64} : memref<16832xbf16>, vector<8xbf16>
// CHECK: vector.load %{{.*}}[%[[SECOND]]] {alignment = 16 : i64} : memref<16832xbf16>, vector<8xbf16>
// CHECK-COUNT-4: llvm.intr.fshr
// CHECK: vector.store %{{.*}}, vector<8xbf16>
// CHECK-NOT: vector.gather

// CHECK-LABEL: func.func @products(
// CHECK: gpu.launch_func @kernels::@kernel_0_linalg_matmul {{.*}} dynamic_shared_memory_size %c49152_i32

// PTX: .extern .shared .align 1024 .b8 dynamic_shared[];
// PTX-SAME: .pragma \22nounroll\22
// PTX-SAME: wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16

func.func @products(%x: tensor<2x40x264xbf16>, %y: tensor<2x140x72xbf16>, %z: tensor<64x263xbf16>, %u: tensor<263x72xbf16>) -> (tensor<64x72xf32>, tensor<32x72xf32>, tensor<64x72xf32>) {
  %0 = ckpt.kernel(%a = %x : tensor<2x40x264xbf16>, %b = %y : tensor<2x140x72xbf16>) slots [-1 : 18432] {
    %zero = arith.constant 0.0 : f32
    %ls = tensor.extract_slice %a[0, 0, 0] [2, 32, 264] [1, 1, 1] : tensor<2x40x264xbf16> to tensor<2x32x264xbf16>
    %l = tensor.collapse_shape %ls [[0, 1], [2]] : tensor<2x32x264xbf16> into tensor<64x264xbf16>
    %rs = tensor.extract_slice %b[0, 0, 0] [2, 132, 72] [1, 1, 1] : tensor<2x140x72xbf16> to tensor<2x132x72xbf16>
    %r = tensor.collapse_shape %rs [[0, 1], [2]] : tensor<2x132x72xbf16> into tensor<264x72xbf16>
    %e = tensor.empty() : tensor<64x72xf32>
    %i = linalg.fill ins(%zero : f32) outs(%e : tensor<64x72xf32>) -> tensor<64x72xf32>
    %c = linalg.matmul ins(%l, %r : tensor<64x264xbf16>, tensor<264x72xbf16>) outs(%i : tensor<64x72xf32>) -> tensor<64x72xf32>
    ckpt.yield %c : tensor<64x72xf32>
  } -> tensor<64x72xf32>
  %1 = ckpt.kernel(%a = %x : tensor<2x40x264xbf16>, %b = %y : tensor<2x140x72xbf16>) slots [-1 : 9216] {
    %zero = arith.constant 0.0 : f32
    %l = tensor.extract_slice %a[0, 0, 0] [1, 32, 264] [1, 1, 1] : tensor<2x40x264xbf16> to tensor<32x264xbf16>
    %rs = tensor.extract_slice %b[0, 0, 0] [2, 132, 72] [1, 1, 1] : tensor<2x140x72xbf16> to tensor<2x132x72xbf16>
    %r = tensor.collapse_shape %rs [[0, 1], [2]] : tensor<2x132x72xbf16> into tensor<264x72xbf16>
    %e = tensor.empty() : tensor<32x72xf32>
    %i = linalg.fill ins(%zero : f32) outs(%e : tensor<32x72xf32>) -> tensor<32x72xf32>
    %c = linalg.matmul ins(%l, %r : tensor<32x264xbf16>, tensor<264x72xbf16>) outs(%i : tensor<32x72xf32>) -> tensor<32x72xf32>
    ckpt.yield %c : tensor<32x72xf32>
  } -> tensor<32x72xf32>
  %2 = ckpt.kernel(%a = %z : tensor<64x263xbf16>, %b = %u : tensor<263x72xbf16>) slots [-1 : 18432] {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<64x72xf32>
    %i = linalg.fill ins(%zero : f32) outs(%e : tensor<64x72xf32>) -> tensor<64x72xf32>
    %c = linalg.matmul ins(%a, %b : tensor<64x263xbf16>, tensor<263x72xbf16>) outs(%i : tensor<64x72xf32>) -> tensor<64x72xf32>
    ckpt.yield %c : tensor<64x72xf32>
  } -> tensor<64x72xf32>
  return %0, %1, %2 : tensor<64x72xf32>, tensor<32x72xf32>, tensor<64x72xf32>
}
