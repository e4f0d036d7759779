// Stretches of arguments and of values in memory are read in place: kernels get
// the stretch, so that layers with stacked weights share code, and no kernel
// copies it.
// DEFINE: %{function} =
// DEFINE: %{run} = ckpt-runner %s --repeat=1 --verify --func=%{function}
// DEFINE: %{rewrite} = ckpt-opt %s --ckpt-plan="func=%{function} quiet=true report=%t.json" --ckpt-apply-plan
// DEFINE: %{prove} = ckpt-opt --ckpt-verify-slots --ckpt-verify=original=%s -o /dev/null

// CHECK: results: bit-equal to the program as written

// REDEFINE: %{function} = layers
// RUN: %{run} | FileCheck %s
// RUN: %{run} --device=emulator | FileCheck %s
// RUN: %{rewrite} -o %t.mlir
// RUN: FileCheck %s --check-prefix=LAYERS --input-file=%t.mlir
// RUN: %{prove} %t.mlir
// RUN: ckpt-opt %t.mlir --ckpt-kernels-to-calls | FileCheck %s --check-prefix=CALLS
// The second and the third layer have one function. The bytes moved are those of
// one matrix of the stack per layer.
// LAYERS-LABEL: func @layers
// LAYERS: tensor.extract_slice %{{.*}}[0, 0, 0] [1, 32, 32]
// LAYERS: ckpt.kernel
// LAYERS: tensor.extract_slice %{{.*}}[1, 0, 0] [1, 32, 32]
// LAYERS: ckpt.kernel
// LAYERS: tensor.extract_slice %{{.*}}[2, 0, 0] [1, 32, 32]
// LAYERS: ckpt.kernel
// LAYERS-NOT: ckpt.kernel
// LAYERS: return
// RUN: FileCheck %s --check-prefix=BYTES --input-file=%t.json
// BYTES: "bytes_moved": 36864
// CALLS: func @layers(%{{.*}}: memref<32x32xf32>{{.*}}, %[[W:.*]]: memref<16384xi8>
// CALLS: memref.view %[[W]]
// CALLS: call @[[FIRST:kernel_[0-9]+]]_
// CALLS: memref.view %[[W]]
// CALLS: call @[[NEXT:kernel_[0-9]+]]_
// CALLS: memref.view %[[W]]
// CALLS: call @[[NEXT]]_
func.func @layers(%x: tensor<32x32xf32>, %w: tensor<4x32x32xf32>)
    -> tensor<32x32xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<32x32xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<32x32xf32>) -> tensor<32x32xf32>
  %w0 = tensor.extract_slice %w[0, 0, 0] [1, 32, 32] [1, 1, 1] : tensor<4x32x32xf32> to tensor<32x32xf32>
  %w1 = tensor.extract_slice %w[1, 0, 0] [1, 32, 32] [1, 1, 1] : tensor<4x32x32xf32> to tensor<32x32xf32>
  %0 = linalg.matmul ins(%x, %w0 : tensor<32x32xf32>, tensor<32x32xf32>) outs(%f : tensor<32x32xf32>) -> tensor<32x32xf32>
  %1 = linalg.matmul ins(%0, %w1 : tensor<32x32xf32>, tensor<32x32xf32>) outs(%f : tensor<32x32xf32>) -> tensor<32x32xf32>
  %w2 = tensor.extract_slice %w[2, 0, 0] [1, 32, 32] [1, 1, 1] : tensor<4x32x32xf32> to tensor<32x32xf32>
  %2 = linalg.matmul ins(%1, %w2 : tensor<32x32xf32>, tensor<32x32xf32>) outs(%f : tensor<32x32xf32>) -> tensor<32x32xf32>
  return %2 : tensor<32x32xf32>
}

// Of a value in the arena, through reshapes, in a reduction, in elementwise
// kernels, beside the whole; one at 4 bytes stays in its kernel.
// REDEFINE: %{function} = readers
// RUN: %{run} | FileCheck %s
// RUN: %{run} --device=emulator | FileCheck %s
// RUN: %{rewrite} -o %t.mlir
// RUN: FileCheck %s --check-prefix=READERS --input-file=%t.mlir
// RUN: %{prove} %t.mlir
// READERS-LABEL: func @readers
// READERS: ckpt.kernel
// READERS-DAG: tensor.extract_slice %{{.*}}[4, 0] [4, 8]
// READERS-DAG: tensor.extract_slice %{{.*}}[1] [8]
// READERS: return
func.func @readers(%x: tensor<8x16xf32>, %b: tensor<16xf32>)
    -> (tensor<8xf32>, tensor<4x8xf32>, tensor<8xf32>, tensor<16x16xf32>) {
  %zero = arith.constant 0.0 : f32
  %e8 = tensor.empty() : tensor<8xf32>
  %f8 = linalg.fill ins(%zero : f32) outs(%e8 : tensor<8xf32>) -> tensor<8xf32>
  %e = tensor.empty() : tensor<16x16xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<16x16xf32>) -> tensor<16x16xf32>
  %te = tensor.empty() : tensor<16x8xf32>
  %xt = linalg.transpose ins(%x : tensor<8x16xf32>) outs(%te : tensor<16x8xf32>) permutation = [1, 0]
  %0 = linalg.matmul ins(%xt, %x : tensor<16x8xf32>, tensor<8x16xf32>) outs(%f : tensor<16x16xf32>) -> tensor<16x16xf32>
  %rows = tensor.extract_slice %0[8, 0] [8, 16] [1, 1] : tensor<16x16xf32> to tensor<8x16xf32>
  %sums = linalg.reduce ins(%rows : tensor<8x16xf32>) outs(%f8 : tensor<8xf32>) dimensions = [1]
    (%a: f32, %s: f32) {
      %2 = arith.addf %a, %s : f32
      linalg.yield %2 : f32
    }
  %flat = tensor.collapse_shape %0 [[0, 1]] : tensor<16x16xf32> into tensor<256xf32>
  %other = tensor.expand_shape %flat [[0, 1]] output_shape [32, 8] : tensor<256xf32> into tensor<32x8xf32>
  %part = tensor.extract_slice %other[4, 0] [4, 8] [1, 1] : tensor<32x8xf32> to tensor<4x8xf32>
  %exp = math.exp %part : tensor<4x8xf32>
  %odd = tensor.extract_slice %b[1] [8] [1] : tensor<16xf32> to tensor<8xf32>
  %sum = arith.addf %odd, %sums : tensor<8xf32>
  %whole = math.sqrt %0 : tensor<16x16xf32>
  return %sums, %exp, %sum, %whole : tensor<8xf32>, tensor<4x8xf32>, tensor<8xf32>, tensor<16x16xf32>
}

// A loop reads a stretch of an argument where it lies, also at 4 bytes, and of
// a constant.
// REDEFINE: %{function} = loop
// RUN: %{run} | FileCheck %s
// RUN: %{run} --device=emulator | FileCheck %s
// RUN: %{rewrite} -o %t.mlir
// RUN: FileCheck %s --check-prefix=LOOP --input-file=%t.mlir
// RUN: %{prove} %t.mlir
// LOOP-LABEL: func @loop
// LOOP-COUNT-1: ckpt.kernel
// LOOP-NOT: ckpt.kernel
// LOOP: return
func.func @loop(%x: tensor<4xf32>, %w: tensor<3x4xf32>, %b: tensor<5xf32>)
    -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %table = arith.constant dense<[[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]]> : tensor<2x4xf32>
  %w1 = tensor.extract_slice %w[1, 0] [1, 4] [1, 1] : tensor<3x4xf32> to tensor<4xf32>
  %b1 = tensor.extract_slice %b[1] [4] [1] : tensor<5xf32> to tensor<4xf32>
  %t1 = tensor.extract_slice %table[1, 0] [1, 4] [1, 1] : tensor<2x4xf32> to tensor<4xf32>
  %0 = scf.for %i = %c0 to %c4 step %c1 iter_args(%y = %x) -> tensor<4xf32> {
    %1 = tensor.extract %w1[%i] : tensor<4xf32>
    %2 = tensor.extract %b1[%i] : tensor<4xf32>
    %3 = tensor.extract %t1[%i] : tensor<4xf32>
    %4 = arith.mulf %1, %2 : f32
    %5 = arith.addf %4, %3 : f32
    %6 = tensor.insert %5 into %y[%i] : tensor<4xf32>
    scf.yield %6 : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

// The gradient of a shifted loss is still written over the logits that a slice
// from the origin reads.
// REDEFINE: %{function} = shifted
// RUN: %{run} | FileCheck %s
// RUN: %{run} --device=emulator | FileCheck %s
// RUN: %{rewrite} -o %t.mlir
// RUN: %{prove} %t.mlir
// RUN: FileCheck %s --check-prefix=SHIFTED --input-file=%t.mlir
// SHIFTED: ckpt.arena_bytes = 1024
func.func @shifted(%x: tensor<16x16xf32>) -> tensor<16x16xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<16x16xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<16x16xf32>) -> tensor<16x16xf32>
  %0 = linalg.matmul ins(%x, %x : tensor<16x16xf32>, tensor<16x16xf32>) outs(%f : tensor<16x16xf32>) -> tensor<16x16xf32>
  %1 = tensor.extract_slice %0[0, 0] [15, 16] [1, 1] : tensor<16x16xf32> to tensor<15x16xf32>
  %2 = math.exp %1 : tensor<15x16xf32>
  %3 = tensor.pad %2 low[0, 0] high[1, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f32
  } : tensor<15x16xf32> to tensor<16x16xf32>
  %4 = linalg.matmul ins(%3, %x : tensor<16x16xf32>, tensor<16x16xf32>) outs(%f : tensor<16x16xf32>) -> tensor<16x16xf32>
  return %4 : tensor<16x16xf32>
}
