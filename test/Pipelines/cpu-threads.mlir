// A product on one thread has few tasks, each with the sums of 512 rows by six
// panels. Tasks for threads are many, each with those of 176 rows by one panel.
// RUN: ckpt-opt %s --ckpt-lower-to-cpu-pipeline=threads=false | FileCheck %s --check-prefix=ONE
// RUN: ckpt-opt %s --ckpt-lower-to-cpu-pipeline=threads=true | FileCheck %s --check-prefix=MANY

// ONE: %[[SUMS:.*]] = llvm.mlir.constant(98304 : index)
// ONE: llvm.alloca %[[SUMS]] x f32
// ONE-NOT: omp.parallel
// MANY: %[[SUMS:.*]] = llvm.mlir.constant(5632 : index)
// MANY: llvm.alloca %[[SUMS]] x f32
// MANY: %[[TASKS:.*]] = llvm.mlir.constant(72 : index)
// MANY: omp.loop_nest {{.*}} to (%[[TASKS]])
func.func @step(%x: tensor<512x1024xf32>, %w: tensor<1024x768xf32>) -> tensor<512x768xf32> {
  %r = ckpt.kernel(%a = %x : tensor<512x1024xf32>, %b = %w : tensor<1024x768xf32>) slots [-1 : 1572864] {
    %c = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<512x768xf32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<512x768xf32>) -> tensor<512x768xf32>
    %0 = linalg.matmul ins(%a, %b : tensor<512x1024xf32>, tensor<1024x768xf32>) outs(%f : tensor<512x768xf32>) -> tensor<512x768xf32>
    ckpt.yield %0 : tensor<512x768xf32>
  } -> tensor<512x768xf32>
  return %r : tensor<512x768xf32>
}
