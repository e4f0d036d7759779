// LLVM's search for checksums in loops takes more than a minute on this chain.
// RUN: ckpt-runner %s --verify --budget=100% --repeat=1 | FileCheck %s
// CHECK: results: bit-equal to the program as written

func.func @step() -> tensor<1x8x4xf32> {
  %cst = arith.constant dense<0.000000e+00> : tensor<6xf32>
  %cst_0 = arith.constant dense<0.000000e+00> : tensor<1x8x4xf32>
  %cst_1 = arith.constant dense<false> : tensor<5x4xi1>
  %c-2 = arith.constant -2 : index
  %c1 = arith.constant 1 : index
  %c1_2 = arith.constant 3 : index
  %0:3 = scf.for %arg0 = %c-2 to %c1_2 step %c1 iter_args(%arg1 = %cst, %arg2 = %cst_0, %arg3 = %cst_1) -> (tensor<6xf32>, tensor<1x8x4xf32>, tensor<5x4xi1>) {
    %cst_4 = arith.constant dense<0.000000e+00> : tensor<1x8x4xf32>
    %2 = linalg.softmax dimension(2) ins(%arg2 : tensor<1x8x4xf32>) outs(%cst_4 : tensor<1x8x4xf32>) -> tensor<1x8x4xf32>
    scf.yield %arg1, %2, %arg3 : tensor<6xf32>, tensor<1x8x4xf32>, tensor<5x4xi1>
  }
  %cst_3 = arith.constant dense<0.000000e+00> : tensor<1x8x4xf32>
  %1 = linalg.softmax dimension(1) ins(%0#1 : tensor<1x8x4xf32>) outs(%cst_3 : tensor<1x8x4xf32>) -> tensor<1x8x4xf32>
  return %1 : tensor<1x8x4xf32>
}
