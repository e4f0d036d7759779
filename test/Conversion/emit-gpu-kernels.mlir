// A kernel function becomes device code of one thread, its call a launch.
// RUN: ckpt-opt %s --ckpt-emit-gpu-kernels --cse --canonicalize --mlir-print-debuginfo=false | FileCheck %s

// CHECK: module attributes {gpu.container_module}
// CHECK: gpu.module @kernels

// One thread per four elements, and one for each of the last three.
// CHECK-LABEL: gpu.func @elementwise(
// CHECK-SAME: kernel attributes {known_block_size = array<i32: 256, 1, 1>, known_grid_size = array<i32: 1, 1, 1>}
// CHECK: %[[BLOCK:.*]] = gpu.block_id x
// CHECK: %[[FIRST:.*]] = arith.muli %[[BLOCK]], %c256
// CHECK: %[[THREAD:.*]] = gpu.thread_id x
// CHECK: %[[NUMBER:.*]] = arith.addi %[[FIRST]], %[[THREAD]]
// CHECK: %[[WHOLE:.*]] = arith.cmpi ult, %[[NUMBER]], %c250
// CHECK: scf.if %[[WHOLE]] {
// CHECK: %[[START:.*]] = arith.muli %[[NUMBER]], %c4
// CHECK: %[[VECTOR:.*]] = vector.load %{{.*}}[%[[START]]] {alignment = 16 : i64}
// CHECK: %[[RESULTS:.*]] = math.exp %[[VECTOR]] : vector<4xf32>
// CHECK: vector.store %[[RESULTS]], %{{.*}}[%[[START]]] {alignment = 16 : i64}
// CHECK: %[[REST:.*]] = arith.cmpi ult, %[[NUMBER]], %c3
// CHECK: scf.if %[[REST]] {
// CHECK: %[[POSITION:.*]] = arith.addi %[[NUMBER]], %c1000
// CHECK: %[[ELEMENT:.*]] = memref.load %{{.*}}[%[[POSITION]]]
// CHECK: %[[RESULT:.*]] = math.exp %[[ELEMENT]] : f32
// CHECK: memref.store %[[RESULT]]

// Read along the first dimension, written along the second.
// CHECK-LABEL: gpu.func @transposed(
// CHECK-SAME: workgroup(%[[SQUARE:.*]] : memref<32x33xf32, #gpu.address_space<workgroup>>
// CHECK: scf.for
// CHECK: memref.store %{{.*}}, %[[SQUARE]]
// CHECK: gpu.barrier
// CHECK: scf.for
// CHECK: memref.load %[[SQUARE]]

// Few results: 3 x 2 tiles of 16 x 32. Two buffers of 32 steps of both operands.
// The vectors of the next steps, two of the left operand and four of the right
// one, are fetched between the barrier and the multiplications; so are those of
// the steps after them. 68 steps: the last four are multiplied behind the loop.
// The inits are one zero.
// CHECK-LABEL: gpu.func @tile(
// CHECK-SAME: workgroup(%[[LEFT:.*]] : memref<2x32x20xf32, #gpu.address_space<workgroup>> {llvm.align = 16 : i64}, %[[RIGHT:.*]] : memref<2x32x36xf32, #gpu.address_space<workgroup>> {llvm.align = 16 : i64})
// CHECK-SAME: known_block_size = array<i32: 64, 1, 1>
// CHECK-NOT: scf.for
// CHECK-COUNT-12: vector.load %{{.*}} {alignment = 16 : i64} : memref<{{[0-9]+}}xf32>
// CHECK: scf.for
// CHECK: memref.store %{{.*}}, %[[LEFT]]
// CHECK: vector.store %{{.*}}, %[[RIGHT]]
// CHECK: gpu.barrier
// CHECK-COUNT-6: vector.load %{{.*}} {alignment = 16 : i64} : memref<{{[0-9]+}}xf32>
// CHECK: vector.load %[[LEFT]]{{.*}} {alignment = 8 : i64} : {{.*}}, vector<2xf32>
// CHECK: vector.load %[[RIGHT]]{{.*}} {alignment = 16 : i64} : {{.*}}, vector<4xf32>
// CHECK-COUNT-64: math.fma %{{.*}} : vector<4xf32>
// CHECK: scf.yield
// CHECK: gpu.barrier
// CHECK-COUNT-8: math.fma %{{.*}} : vector<4xf32>
// CHECK-NOT: math.fma
// CHECK: vector.store %{{.*}} {alignment = 16 : i64} : memref<1760xf32>
// CHECK: gpu.return

// 35 x 3 tiles: blocks go down the columns of 16 rows of them twice, then of
// three.
// CHECK-LABEL: gpu.func @bands(
// CHECK: %[[BLOCK:.*]] = gpu.block_id x
// CHECK: %[[BAND:.*]] = arith.divui %[[BLOCK]], %c48
// CHECK: %[[REST:.*]] = arith.remui %[[BLOCK]], %c48
// CHECK: %[[FIRST:.*]] = arith.muli %[[BAND]], %c16
// CHECK: %[[LEFT:.*]] = arith.subi %c35, %[[FIRST]]
// CHECK: %[[ROWS:.*]] = arith.minui %[[LEFT]], %c16
// CHECK: %[[INSIDE:.*]] = arith.remui %[[REST]], %[[ROWS]]
// CHECK: %[[ROW:.*]] = arith.addi %[[FIRST]], %[[INSIDE]]
// CHECK: %[[COLUMN:.*]] = arith.divui %[[REST]], %[[ROWS]]
// CHECK: gpu.return

// 98 tiles of 128 x 64 would have multiprocessors for themselves, and wait.
// CHECK-LABEL: gpu.func @alone(
// CHECK-SAME: memref<2x16x36xf32, {{.*}} memref<2x16x68xf32,
// CHECK-SAME: known_block_size = array<i32: 128, 1, 1>

// Both operands go through shared memory, between two barriers; one chain of
// fused multiply-adds. 84 steps are a full stage and a part of one.
// CHECK-LABEL: gpu.func @matmul(
// CHECK-SAME: workgroup(%[[LEFT:.*]] : memref<1x64x16xf32, #gpu.address_space<workgroup>> {{.*}}, %[[RIGHT:.*]] : memref<1x64x16xf32, #gpu.address_space<workgroup>>
// CHECK: scf.for
// CHECK: memref.store %{{.*}}, %[[LEFT]]
// CHECK: memref.store %{{.*}}, %[[RIGHT]]
// CHECK: gpu.barrier
// CHECK: arith.minsi
// CHECK: scf.for
// CHECK: math.fma
// CHECK: gpu.barrier
// CHECK: scf.if
// CHECK: memref.store
// CHECK: gpu.return

// 16 groups of threads have a chunk each, in stages of 32 steps; then all add what
// all have made. 4100 steps are 17 chunks: in the second round but one is added.
// CHECK-LABEL: gpu.func @long_sum(
// CHECK-SAME: memref<16x32x4xf32, #gpu.address_space<workgroup>> {{.*}} memref<16x32x4xf32, #gpu.address_space<workgroup>> {{.*}}, %[[SUMS:.*]] : memref<16x4x4xf32, #gpu.address_space<workgroup>>
// CHECK: scf.for %[[ROUND:.*]] = %c0 to %c2
// CHECK: %[[SUM:.*]] = scf.for %{{.*}} = %c0 to %c8 step %c1 iter_args(%{{.*}} = %cst)
// CHECK: gpu.barrier
// CHECK: math.fma
// CHECK: gpu.barrier
// CHECK: memref.store %[[SUM]], %[[SUMS]]
// CHECK: gpu.barrier
// CHECK: %[[FIRST:.*]] = arith.muli %[[ROUND]], %c16
// CHECK: %[[REST:.*]] = arith.subi %c17, %[[FIRST]]
// CHECK: %[[COUNT:.*]] = arith.minsi %[[REST]], %c16
// CHECK: scf.for %{{.*}} = %c0 to %[[COUNT]]
// CHECK: arith.addf
// CHECK-NOT: gpu.barrier
// CHECK: gpu.return

// The same in tiles of 8 x 16. Every group has two buffers of both operands, and
// multiplies 32 blocks of 8 steps, also of the last chunk, which has 4 steps: in
// the place of others stand zeros whose product is -0. The first group stores.
// CHECK-LABEL: gpu.func @long_tile(
// CHECK-SAME: memref<32x8x12xf32, #gpu.address_space<workgroup>> {{.*}} memref<32x8x20xf32, #gpu.address_space<workgroup>> {{.*}}, %[[SUMS:.*]] : memref<16x8x16xf32, #gpu.address_space<workgroup>>
// CHECK-DAG: %[[ZEROS:.*]] = arith.constant dense<0.000000e+00> : vector<4xf32>
// CHECK-DAG: %[[MINUS_ZEROS:.*]] = arith.constant dense<-0.000000e+00> : vector<4xf32>
// CHECK: %[[TOTALS:.*]]:2 = scf.for %[[ROUND:.*]] = %c0 to %c2
// CHECK: arith.select %{{.*}}, %{{.*}}, %[[MINUS_ZEROS]]
// CHECK: arith.select %{{.*}}, %{{.*}}, %[[ZEROS]]
// CHECK: %[[PART:.*]]:{{[0-9]+}} = scf.for %{{.*}} = %c0 to %c32 step %c1 iter_args(%{{.*}} = %[[ZEROS]], %{{.*}} = %[[ZEROS]],
// CHECK: gpu.barrier
// CHECK-COUNT-16: math.fma
// CHECK: scf.yield
// CHECK: vector.store %[[PART]]#0, %[[SUMS]]
// CHECK: vector.store %[[PART]]#1, %[[SUMS]]
// CHECK: gpu.barrier
// CHECK: scf.for %[[GROUP:.*]] = %c0 to
// CHECK: vector.load %[[SUMS]][%[[GROUP]],
// CHECK: arith.addf
// CHECK-NOT: gpu.barrier
// CHECK: scf.if
// CHECK: vector.store
// CHECK: gpu.return

// 16 threads make a row and combine their sums by halves. Each asks for many
// elements before it adds: here for all that every thread has. Ten rows are so few
// that a block has a warp only.
// CHECK-LABEL: gpu.func @sum(
// CHECK-SAME: workgroup(%[[SUMS:.*]] : memref<32xf32, #gpu.address_space<workgroup>>
// CHECK-COUNT-6: memref.load %{{.*}} : memref<1000xf32>
// CHECK-COUNT-6: arith.addf
// CHECK: memref.store %{{.*}}, %[[SUMS]]
// CHECK-COUNT-4: gpu.barrier
// CHECK-NOT: gpu.barrier
// CHECK: gpu.return

// A loop with memory of its own runs on one thread, any other whose elements
// depend on each other on a block that shares the elements of what is
// all-parallel inside.
// CHECK-LABEL: gpu.func @own_memory(
// CHECK-SAME: known_block_size = array<i32: 1, 1, 1>
// CHECK: memref.alloca

// CHECK-LABEL: gpu.func @loop(
// CHECK-SAME: known_block_size = array<i32: 256, 1, 1>
// CHECK-DAG: %[[THREAD:.*]] = gpu.thread_id x
// CHECK-DAG: memref.get_global @[[CONSTANT:.*]] :
// CHECK: gpu.barrier
// CHECK: scf.for %{{.*}} = %[[THREAD]] to %c4{{.*}} step %c256
// CHECK: gpu.barrier
// CHECK: scf.for
// CHECK: %[[FIRST:.*]] = arith.cmpi eq, %[[THREAD]], %c0
// CHECK: gpu.barrier
// CHECK: scf.if
// CHECK: memref.store
// CHECK: gpu.barrier

// The constant of a loop came along.
// CHECK-NOT: func.func private
// CHECK-LABEL: func.func @step(
// CHECK-DAG: %[[ONE:.*]] = arith.constant 1 : index
// CHECK-DAG: %[[TWO:.*]] = arith.constant 2 : index
// CHECK-DAG: %[[FIVE:.*]] = arith.constant 5 : index
// CHECK-DAG: %[[WARP:.*]] = arith.constant 32 : index
// CHECK-DAG: %[[MANY:.*]] = arith.constant 256 : index
// CHECK: gpu.launch_func @kernels::@elementwise blocks in (%[[ONE]], %[[ONE]], %[[ONE]]) threads in (%[[MANY]], %[[ONE]], %[[ONE]]) args(%{{.*}} : memref<1003xf32>, %{{.*}} : memref<1003xf32>)
// CHECK: gpu.launch_func @kernels::@matmul blocks in (%[[TWO]], %[[ONE]], %[[ONE]])
// CHECK: gpu.launch_func @kernels::@sum blocks in (%[[FIVE]], %[[ONE]], %[[ONE]]) threads in (%[[WARP]], %[[ONE]], %[[ONE]])
// CHECK: gpu.launch_func @kernels::@loop blocks in (%[[ONE]], %[[ONE]], %[[ONE]]) threads in (%[[MANY]], %[[ONE]], %[[ONE]])
// CHECK-NOT: gpu.launch_func
// CHECK: %[[TOKEN:.*]] = gpu.wait async
// CHECK: gpu.memcpy async [%[[TOKEN]]]
// CHECK: return

func.func private @elementwise(%in: memref<1003xf32>, %out: memref<1003xf32>) {
  %0 = bufferization.to_tensor %in restrict : memref<1003xf32> to tensor<1003xf32>
  %1 = math.exp %0 : tensor<1003xf32>
  bufferization.materialize_in_destination %1 in restrict writable %out : (tensor<1003xf32>, memref<1003xf32>) -> ()
  return
}

func.func private @transposed(%in: memref<40x50xf32>, %out: memref<50x40xf32>) {
  %0 = bufferization.to_tensor %in restrict : memref<40x50xf32> to tensor<40x50xf32>
  %1 = tensor.empty() : tensor<50x40xf32>
  %2 = linalg.transpose ins(%0 : tensor<40x50xf32>) outs(%1 : tensor<50x40xf32>) permutation = [1, 0]
  bufferization.materialize_in_destination %2 in restrict writable %out : (tensor<50x40xf32>, memref<50x40xf32>) -> ()
  return
}

func.func private @tile(%a: memref<40x68xf32>, %b: memref<68x44xf32>, %c: memref<40x44xf32>) {
  %zero = arith.constant 0.0 : f32
  %0 = bufferization.to_tensor %a restrict : memref<40x68xf32> to tensor<40x68xf32>
  %1 = bufferization.to_tensor %b restrict : memref<68x44xf32> to tensor<68x44xf32>
  %2 = tensor.empty() : tensor<40x44xf32>
  %3 = linalg.fill ins(%zero : f32) outs(%2 : tensor<40x44xf32>) -> tensor<40x44xf32>
  %4 = linalg.matmul ins(%0, %1 : tensor<40x68xf32>, tensor<68x44xf32>) outs(%3 : tensor<40x44xf32>) -> tensor<40x44xf32>
  bufferization.materialize_in_destination %4 in restrict writable %c : (tensor<40x44xf32>, memref<40x44xf32>) -> ()
  return
}

func.func private @bands(%a: memref<1100x3xf32>, %b: memref<3x136xf32>, %c: memref<1100x136xf32>) {
  %zero = arith.constant 0.0 : f32
  %0 = bufferization.to_tensor %a restrict : memref<1100x3xf32> to tensor<1100x3xf32>
  %1 = bufferization.to_tensor %b restrict : memref<3x136xf32> to tensor<3x136xf32>
  %2 = tensor.empty() : tensor<1100x136xf32>
  %3 = linalg.fill ins(%zero : f32) outs(%2 : tensor<1100x136xf32>) -> tensor<1100x136xf32>
  %4 = linalg.matmul ins(%0, %1 : tensor<1100x3xf32>, tensor<3x136xf32>) outs(%3 : tensor<1100x136xf32>) -> tensor<1100x136xf32>
  bufferization.materialize_in_destination %4 in restrict writable %c : (tensor<1100x136xf32>, memref<1100x136xf32>) -> ()
  return
}

func.func private @alone(%a: memref<12544x3xf32>, %b: memref<3x64xf32>, %c: memref<12544x64xf32>) {
  %zero = arith.constant 0.0 : f32
  %0 = bufferization.to_tensor %a restrict : memref<12544x3xf32> to tensor<12544x3xf32>
  %1 = bufferization.to_tensor %b restrict : memref<3x64xf32> to tensor<3x64xf32>
  %2 = tensor.empty() : tensor<12544x64xf32>
  %3 = linalg.fill ins(%zero : f32) outs(%2 : tensor<12544x64xf32>) -> tensor<12544x64xf32>
  %4 = linalg.matmul ins(%0, %1 : tensor<12544x3xf32>, tensor<3x64xf32>) outs(%3 : tensor<12544x64xf32>) -> tensor<12544x64xf32>
  bufferization.materialize_in_destination %4 in restrict writable %c : (tensor<12544x64xf32>, memref<12544x64xf32>) -> ()
  return
}

func.func private @matmul(%a: memref<10x84xf32>, %b: memref<84x17xf32>, %c: memref<10x17xf32>) {
  %zero = arith.constant 0.0 : f32
  %0 = bufferization.to_tensor %a restrict : memref<10x84xf32> to tensor<10x84xf32>
  %1 = bufferization.to_tensor %b restrict : memref<84x17xf32> to tensor<84x17xf32>
  %2 = tensor.empty() : tensor<10x17xf32>
  %3 = linalg.fill ins(%zero : f32) outs(%2 : tensor<10x17xf32>) -> tensor<10x17xf32>
  %4 = linalg.matmul ins(%0, %1 : tensor<10x84xf32>, tensor<84x17xf32>) outs(%3 : tensor<10x17xf32>) -> tensor<10x17xf32>
  bufferization.materialize_in_destination %4 in restrict writable %c : (tensor<10x17xf32>, memref<10x17xf32>) -> ()
  return
}

func.func private @long_sum(%a: memref<4x4100xf32>, %b: memref<4100x5xf32>, %c: memref<4x5xf32>) {
  %zero = arith.constant 0.0 : f32
  %0 = bufferization.to_tensor %a restrict : memref<4x4100xf32> to tensor<4x4100xf32>
  %1 = bufferization.to_tensor %b restrict : memref<4100x5xf32> to tensor<4100x5xf32>
  %2 = tensor.empty() : tensor<4x5xf32>
  %3 = linalg.fill ins(%zero : f32) outs(%2 : tensor<4x5xf32>) -> tensor<4x5xf32>
  %4 = linalg.matmul ins(%0, %1 : tensor<4x4100xf32>, tensor<4100x5xf32>) outs(%3 : tensor<4x5xf32>) -> tensor<4x5xf32>
  bufferization.materialize_in_destination %4 in restrict writable %c : (tensor<4x5xf32>, memref<4x5xf32>) -> ()
  return
}

func.func private @long_tile(%a: memref<8x4100xf32>, %b: memref<4100x16xf32>, %c: memref<8x16xf32>) {
  %zero = arith.constant 0.0 : f32
  %0 = bufferization.to_tensor %a restrict : memref<8x4100xf32> to tensor<8x4100xf32>
  %1 = bufferization.to_tensor %b restrict : memref<4100x16xf32> to tensor<4100x16xf32>
  %2 = tensor.empty() : tensor<8x16xf32>
  %3 = linalg.fill ins(%zero : f32) outs(%2 : tensor<8x16xf32>) -> tensor<8x16xf32>
  %4 = linalg.matmul ins(%0, %1 : tensor<8x4100xf32>, tensor<4100x16xf32>) outs(%3 : tensor<8x16xf32>) -> tensor<8x16xf32>
  bufferization.materialize_in_destination %4 in restrict writable %c : (tensor<8x16xf32>, memref<8x16xf32>) -> ()
  return
}

func.func private @sum(%in: memref<10x100xf32>, %out: memref<10xf32>) {
  %zero = arith.constant 0.0 : f32
  %0 = bufferization.to_tensor %in restrict : memref<10x100xf32> to tensor<10x100xf32>
  %1 = tensor.empty() : tensor<10xf32>
  %2 = linalg.fill ins(%zero : f32) outs(%1 : tensor<10xf32>) -> tensor<10xf32>
  %3 = linalg.reduce { arith.addf } ins(%0 : tensor<10x100xf32>) outs(%2 : tensor<10xf32>) dimensions = [1]
  bufferization.materialize_in_destination %3 in restrict writable %out : (tensor<10xf32>, memref<10xf32>) -> ()
  return
}

func.func private @own_memory(%out: memref<4xf32>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %four = arith.constant 4 : index
  %init = arith.constant dense<0.0> : tensor<4xf32>
  %value = arith.constant 1.0 : f32
  %0 = scf.for %i = %zero to %four step %one iter_args(%running = %init) -> tensor<4xf32> {
    %next = tensor.insert %value into %running[%i] : tensor<4xf32>
    scf.yield %next : tensor<4xf32>
  }
  %1 = math.exp %0 : tensor<4xf32>
  bufferization.materialize_in_destination %1 in restrict writable %out : (tensor<4xf32>, memref<4xf32>) -> ()
  return
}

func.func private @loop(%out: memref<4xf32>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %four = arith.constant 4 : index
  %init = arith.constant dense<0.0> : tensor<4xf32>
  %values = arith.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %0 = scf.for %i = %zero to %four step %one iter_args(%running = %init) -> tensor<4xf32> {
    %value = tensor.extract %values[%i] : tensor<4xf32>
    %first = tensor.extract %running[%zero] : tensor<4xf32>
    %sum = arith.addf %value, %first : f32
    %next = tensor.insert %sum into %running[%i] : tensor<4xf32>
    scf.yield %next : tensor<4xf32>
  }
  bufferization.materialize_in_destination %0 in restrict writable %out : (tensor<4xf32>, memref<4xf32>) -> ()
  return
}

// Nothing to do: no launch.
func.func private @nothing(%in: memref<0xf32>, %out: memref<0xf32>) {
  %0 = bufferization.to_tensor %in restrict : memref<0xf32> to tensor<0xf32>
  %1 = math.exp %0 : tensor<0xf32>
  bufferization.materialize_in_destination %1 in restrict writable %out : (tensor<0xf32>, memref<0xf32>) -> ()
  return
}

func.func @step(%x: memref<1003xf32>, %y: memref<1003xf32>, %a: memref<10x84xf32>, %b: memref<84x17xf32>, %c: memref<10x17xf32>, %m: memref<10x100xf32>, %s: memref<10xf32>, %t: memref<10xf32>, %l: memref<4xf32>, %n: memref<0xf32>) {
  call @elementwise(%x, %y) : (memref<1003xf32>, memref<1003xf32>) -> ()
  call @matmul(%a, %b, %c) : (memref<10x84xf32>, memref<84x17xf32>, memref<10x17xf32>) -> ()
  call @sum(%m, %s) : (memref<10x100xf32>, memref<10xf32>) -> ()
  call @loop(%l) : (memref<4xf32>) -> ()
  call @nothing(%n, %n) : (memref<0xf32>, memref<0xf32>) -> ()
  memref.copy %s, %t : memref<10xf32> to memref<10xf32>
  return
}
