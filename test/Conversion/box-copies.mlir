// Operands of warpgroups by tensor maps.
// RUN: ckpt-opt %s --ckpt-kernels-to-calls=own-constants=true --ckpt-emit-gpu-kernels=tensor-cores=wgmma --cse --canonicalize --mlir-print-debuginfo=false | FileCheck %s
// RUN: ckpt-opt %s --ckpt-lower-to-nvvm-pipeline="chip=sm_90a tensor-cores=wgmma" --mlir-print-debuginfo=false | FileCheck %s --check-prefix=PTX

// Number of the map's parameter, and of the operand's; offset, rank; extents,
// strides in bytes, and sides of a box.
// CHECK-DAG: memref.global "private" constant @kernel_0_linalg_matmul_map3 : memref<19xi64> = dense<[3, 0, 0, 2, 264, 64, 0, 0, 0, 2, 528, 0, 0, 0, 64, 64, 0, 0, 0]>
// CHECK-DAG: memref.global "private" constant @kernel_0_linalg_matmul_map4 : memref<19xi64> = dense<[4, 1, 0, 2, 72, 264, 0, 0, 0, 2, 144, 0, 0, 0, 64, 64, 0, 0, 0]>
// CHECK-DAG: func.func private @ckptCudaAddTensorMap(memref<19xi64>)

// CHECK-LABEL: gpu.func @kernel_0_linalg_matmul(
// CHECK-SAME: %[[LEFT:[a-z0-9]+]]: !llvm.ptr {llvm.align = 128 : i64}, %[[RIGHT:[a-z0-9]+]]: !llvm.ptr {llvm.align = 128 : i64}) kernel
// CHECK-NOT: nvvm.cp.async.commit
// CHECK-NOT: nvgpu.device_async_copy
// One barrier for each of three places, by one thread.
// CHECK: memref.view %{{.*}}[%c49152][] : {{.*}} to memref<3xi64, #gpu.address_space<workgroup>>
// CHECK: %[[FIRST:.*]] = arith.cmpi ult, %thread_id_x, %c1
// CHECK: scf.if %[[FIRST]]
// CHECK-COUNT-3: nvvm.mbarrier.init %{{.*}}, %c1_i32
// CHECK-NEXT: nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
// The first two parts.
// CHECK: scf.if %[[FIRST]]
// CHECK: nvvm.mbarrier.arrive.expect_tx %[[PLACE:.*]], %c16384_i32
// CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.*}}, %[[LEFT]], %[[PLACE]], box[%c0_i32, %c0_i32]
// CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.*}}, %[[RIGHT]], %[[PLACE]], box[%{{.*}}, %c0_i32]
// CHECK: nvvm.mbarrier.arrive.expect_tx %[[NEXT:.*]], %c16384_i32
// CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.*}}, %[[LEFT]], %[[NEXT]], box[%c64_i32, %c0_i32]
// CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.*}}, %[[RIGHT]], %[[NEXT]], box[%{{.*}}, %c64_i32]
// All have to see the barriers. What has come needs no fence, and no barrier of
// threads.
// CHECK: gpu.barrier
// CHECK: scf.for %[[NUMBER:[a-z0-9]+]] =
// CHECK-NOT: nvvm.fence.proxy
// CHECK-NOT: gpu.barrier
// CHECK: %[[TURN:.*]] = arith.divui %[[NUMBER]], %c3
// CHECK: %[[PARITY:.*]] = arith.remui %[[TURN]], %c2
// CHECK: %[[PHASE:.*]] = arith.index_cast %[[PARITY]] : index to i32
// CHECK: scf.while
// CHECK: nvvm.mbarrier.try_wait %{{.*}}, %[[PHASE]]
// CHECK: scf.condition
// CHECK: nvvm.wgmma.fence.aligned
// CHECK: nvvm.wgmma.commit.group.sync.aligned
// When all have waited for the part before, its place is free.
// CHECK: nvvm.wgmma.wait.group.sync.aligned 1
// CHECK: gpu.barrier
// CHECK: scf.if %[[FIRST]]
// CHECK: nvvm.mbarrier.arrive.expect_tx
// CHECK-COUNT-2: nvvm.cp.async.bulk.tensor
// CHECK: scf.yield
// CHECK: nvvm.wgmma.wait.group.sync.aligned 0

// Whoever launches makes the maps.
// CHECK-LABEL: func.func @product(
// CHECK: %[[NONE:.*]] = llvm.mlir.zero : !llvm.ptr
// CHECK: %[[MAP:.*]] = memref.get_global @kernel_0_linalg_matmul_map3
// CHECK: call @ckptCudaAddTensorMap(%[[MAP]])
// CHECK: %[[SECOND:.*]] = memref.get_global @kernel_0_linalg_matmul_map4
// CHECK: call @ckptCudaAddTensorMap(%[[SECOND]])
// CHECK-NEXT: gpu.launch_func @kernels::@kernel_0_linalg_matmul {{.*}} dynamic_shared_memory_size %c50176_i32 args({{.*}}, %[[NONE]] : !llvm.ptr, %[[NONE]] : !llvm.ptr)

// PTX: .param .align 128 .b8 kernel_0_linalg_matmul_param_3[128],
// PTX-SAME: .param .align 128 .b8 kernel_0_linalg_matmul_param_4[128]
// PTX-SAME: cvta.param.u64 \09%[[RIGHT:rd[0-9]+]], %{{rd[0-9]+}};
// PTX-SAME: cvta.param.u64 \09%[[LEFT:rd[0-9]+]], %{{rd[0-9]+}};
// PTX-SAME: mbarrier.init.shared.b64 \09[dynamic_shared+49152], %
// PTX-SAME: mbarrier.init.shared.b64 \09[dynamic_shared+49160], %
// PTX-SAME: mbarrier.init.shared.b64 \09[dynamic_shared+49168], %
// PTX-SAME: fence.proxy.async.shared::cta;
// PTX-SAME: mbarrier.arrive.expect_tx.shared.b64
// PTX-SAME: cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%{{rd[0-9]+}}], [%[[LEFT]], {
// PTX-SAME: cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%{{rd[0-9]+}}], [%[[RIGHT]], {
// PTX-SAME: bar.sync
// PTX-SAME: mbarrier.try_wait.parity.shared.b64
// PTX-SAME: wgmma.fence.sync.aligned

func.func @product(%x: tensor<64x264xbf16>, %y: tensor<264x72xbf16>) -> tensor<64x72xf32> {
  %0 = ckpt.kernel(%a = %x : tensor<64x264xbf16>, %b = %y : tensor<264x72xbf16>) slots [-1 : 18432] {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<64x72xf32>
    %i = linalg.fill ins(%zero : f32) outs(%e : tensor<64x72xf32>) -> tensor<64x72xf32>
    %c = linalg.matmul ins(%a, %b : tensor<64x264xbf16>, tensor<264x72xbf16>) outs(%i : tensor<64x72xf32>) -> tensor<64x72xf32>
    ckpt.yield %c : tensor<64x72xf32>
  } -> tensor<64x72xf32>
  return %0 : tensor<64x72xf32>
}
