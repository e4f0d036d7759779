// A returned concatenation is written in parts: no kernel makes it, and what
// lies in the caller's buffer needs no place in the arena.
// DEFINE: %{function} =
// DEFINE: %{run} = ckpt-runner %s --repeat=1 --verify --func=%{function}
// DEFINE: %{rewrite} = ckpt-opt %s --ckpt-plan="func=%{function} budget=100%% quiet=true" --ckpt-apply-plan
// DEFINE: %{prove} = ckpt-opt --ckpt-verify-slots --ckpt-verify=original=%s -o /dev/null

// RUN: ckpt-opt %s --mlir-print-op-generic --mlir-print-debuginfo -o %t.original.mlir

// CHECK: results: bit-equal to the program as written

// Parts are values of kernels, one in another shape, one returned beside, an
// argument, a constant and one twice.
// REDEFINE: %{function} = stack
// RUN: %{run} | FileCheck %s
// RUN: %{run} --device=emulator | FileCheck %s
// RUN: %{rewrite} -o %t.mlir
// RUN: FileCheck %s --check-prefix=STACK --input-file=%t.mlir
// RUN: %{prove} %t.mlir
// STACK-LABEL: func @stack
// STACK: slots [-1 : 64, -1 : 64]
// STACK-NOT: ckpt.kernel
// STACK: tensor.concat
// STACK-NEXT: tensor.expand_shape
// STACK-NEXT: tensor.collapse_shape
// STACK-NEXT: return
func.func @stack(%x: tensor<4x4xf32>, %y: tensor<2x4xf32>)
    -> (tensor<2x10x4xf32>, tensor<16xf32>) {
  %0 = math.exp %x : tensor<4x4xf32>
  %1 = math.sqrt %0 : tensor<4x4xf32>
  %2 = tensor.collapse_shape %1 [[0, 1]] : tensor<4x4xf32> into tensor<16xf32>
  %c = arith.constant dense<[[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]]> : tensor<2x4xf32>
  %3 = tensor.concat dim(0) %1, %0, %c, %y, %1, %0 : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<20x4xf32>
  %4 = tensor.expand_shape %3 [[0, 1], [2]] output_shape [2, 10, 4] : tensor<20x4xf32> into tensor<2x10x4xf32>
  return %4, %2 : tensor<2x10x4xf32>, tensor<16xf32>
}

// Stacks of stacks, as nested loops leave them.
// REDEFINE: %{function} = nested
// RUN: %{run} | FileCheck %s
// RUN: %{run} --device=emulator | FileCheck %s
// RUN: %{rewrite} | FileCheck %s --check-prefix=NESTED
// NESTED-LABEL: func @nested
// NESTED-COUNT-4: slots [-1 : 1024
// NESTED-NOT: ckpt.kernel
// NESTED: return
func.func @nested(%a: tensor<16x16xf32>, %b: tensor<16x16xf32>)
    -> tensor<2x2x16x16xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<16x16xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<16x16xf32>) -> tensor<16x16xf32>
  %0 = linalg.matmul ins(%a, %b : tensor<16x16xf32>, tensor<16x16xf32>) outs(%f : tensor<16x16xf32>) -> tensor<16x16xf32>
  %1 = linalg.matmul ins(%0, %b : tensor<16x16xf32>, tensor<16x16xf32>) outs(%f : tensor<16x16xf32>) -> tensor<16x16xf32>
  %2 = linalg.matmul ins(%1, %b : tensor<16x16xf32>, tensor<16x16xf32>) outs(%f : tensor<16x16xf32>) -> tensor<16x16xf32>
  %3 = linalg.matmul ins(%2, %b : tensor<16x16xf32>, tensor<16x16xf32>) outs(%f : tensor<16x16xf32>) -> tensor<16x16xf32>
  %4 = tensor.expand_shape %0 [[0, 1], [2]] output_shape [1, 16, 16] : tensor<16x16xf32> into tensor<1x16x16xf32>
  %5 = tensor.expand_shape %1 [[0, 1], [2]] output_shape [1, 16, 16] : tensor<16x16xf32> into tensor<1x16x16xf32>
  %6 = tensor.expand_shape %2 [[0, 1], [2]] output_shape [1, 16, 16] : tensor<16x16xf32> into tensor<1x16x16xf32>
  %7 = tensor.expand_shape %3 [[0, 1], [2]] output_shape [1, 16, 16] : tensor<16x16xf32> into tensor<1x16x16xf32>
  %8 = tensor.concat dim(0) %4, %5 : (tensor<1x16x16xf32>, tensor<1x16x16xf32>) -> tensor<2x16x16xf32>
  %9 = tensor.concat dim(0) %6, %7 : (tensor<1x16x16xf32>, tensor<1x16x16xf32>) -> tensor<2x16x16xf32>
  %10 = tensor.expand_shape %8 [[0, 1], [2], [3]] output_shape [1, 2, 16, 16] : tensor<2x16x16xf32> into tensor<1x2x16x16xf32>
  %11 = tensor.expand_shape %9 [[0, 1], [2], [3]] output_shape [1, 2, 16, 16] : tensor<2x16x16xf32> into tensor<1x2x16x16xf32>
  %12 = tensor.concat dim(0) %10, %11 : (tensor<1x2x16x16xf32>, tensor<1x2x16x16xf32>) -> tensor<2x2x16x16xf32>
  return %12 : tensor<2x2x16x16xf32>
}

// Not in parts: one begins at 12 bytes, rows of two values alternate, a reader
// in the step.
// REDEFINE: %{function} = whole
// RUN: %{run} | FileCheck %s
// RUN: %{run} --device=emulator | FileCheck %s
// RUN: %{rewrite} | FileCheck %s --check-prefix=WHOLE
// WHOLE-LABEL: func @whole
// WHOLE-COUNT-3: tensor.concat
// WHOLE: ckpt.yield
// WHOLE-NOT: tensor.concat
// WHOLE: return
func.func @whole(%x: tensor<3xf32>, %y: tensor<4x4xf32>)
    -> (tensor<6xf32>, tensor<4x8xf32>, tensor<8x4xf32>, tensor<8x4xf32>) {
  %0 = math.exp %x : tensor<3xf32>
  %1 = tensor.concat dim(0) %0, %x : (tensor<3xf32>, tensor<3xf32>) -> tensor<6xf32>
  %2 = math.exp %y : tensor<4x4xf32>
  %3 = tensor.concat dim(1) %2, %y : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x8xf32>
  %4 = tensor.concat dim(0) %2, %y : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  %5 = math.sqrt %4 : tensor<8x4xf32>
  return %1, %3, %4, %5 : tensor<6xf32>, tensor<4x8xf32>, tensor<8x4xf32>, tensor<8x4xf32>
}

// A gradient that waits for the sum over all of them lies in its part until then.
// REDEFINE: %{function} = hosted
// RUN: %{run} | FileCheck %s
// RUN: %{run} --device=emulator | FileCheck %s
// RUN: %{rewrite} -o %t.mlir
// RUN: FileCheck %s --check-prefix=HOSTED --input-file=%t.mlir
// RUN: %{prove} %t.mlir
// HOSTED-LABEL: func @hosted
// HOSTED: slots [0 of {{[01]}} : 1024
// HOSTED: slots [-1 : 1024
#id = affine_map<(d0, d1) -> (d0, d1)>
#none = affine_map<(d0, d1) -> ()>
func.func @hosted(%a: tensor<16x16xf32>, %b: tensor<16x16xf32>)
    -> tensor<32x16xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<16x16xf32>
  %e0 = tensor.empty() : tensor<f32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<16x16xf32>) -> tensor<16x16xf32>
  %f0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<f32>) -> tensor<f32>
  %0 = linalg.matmul ins(%a, %b : tensor<16x16xf32>, tensor<16x16xf32>) outs(%f : tensor<16x16xf32>) -> tensor<16x16xf32>
  %1 = linalg.reduce ins(%0 : tensor<16x16xf32>) outs(%f0 : tensor<f32>) dimensions = [0, 1]
    (%x: f32, %s: f32) {
      %7 = arith.addf %x, %s : f32
      linalg.yield %7 : f32
    }
  %2 = linalg.matmul ins(%b, %a : tensor<16x16xf32>, tensor<16x16xf32>) outs(%f : tensor<16x16xf32>) -> tensor<16x16xf32>
  %3 = linalg.reduce ins(%2 : tensor<16x16xf32>) outs(%1 : tensor<f32>) dimensions = [0, 1]
    (%x: f32, %s: f32) {
      %7 = arith.addf %x, %s : f32
      linalg.yield %7 : f32
    }
  %4 = linalg.generic {indexing_maps = [#id, #none, #id], iterator_types = ["parallel", "parallel"]}
      ins(%0, %3 : tensor<16x16xf32>, tensor<f32>) outs(%e : tensor<16x16xf32>) {
  ^bb0(%x: f32, %s: f32, %o: f32):
    %7 = arith.mulf %x, %s : f32
    linalg.yield %7 : f32
  } -> tensor<16x16xf32>
  %5 = linalg.generic {indexing_maps = [#id, #none, #id], iterator_types = ["parallel", "parallel"]}
      ins(%2, %3 : tensor<16x16xf32>, tensor<f32>) outs(%e : tensor<16x16xf32>) {
  ^bb0(%x: f32, %s: f32, %o: f32):
    %7 = arith.mulf %x, %s : f32
    linalg.yield %7 : f32
  } -> tensor<16x16xf32>
  %6 = tensor.concat dim(0) %4, %5 : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<32x16xf32>
  return %6 : tensor<32x16xf32>
}
