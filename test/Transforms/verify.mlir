// Rewrites that compute what the original does.
// RUN: ckpt-opt %s --ckpt-verify="original=%S/Inputs/verify-original.mlir prepare=false" -o /dev/null
// RUN: ckpt-opt %s --ckpt-kernels-to-barriers --ckpt-verify="original=%S/Inputs/verify-original.mlir prepare=false" -o /dev/null
// RUN: ckpt-opt %S/Inputs/verify-original.mlir --ckpt-verify="original=%S/Inputs/verify-original.mlir prepare=false" -o /dev/null
// RUN: not ckpt-opt %s --ckpt-verify 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not ckpt-opt %s --ckpt-verify=original=%t.none 2>&1 | FileCheck %s --check-prefix=MISSING

// NONE: error: expected 'original', the file before the rewrite
// MISSING: could not open input file

func.func private @draw() -> tensor<4xf32>
func.func private @log(tensor<4xf32>)

// Exp runs twice; that its second run waits for the product keeps them apart.
func.func @step(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
    attributes {ckpt.arena_bytes = 256 : i64} {
  %0 = ckpt.kernel(%a = %x : tensor<4xf32>) slots [0 : 16] {
    %e = math.exp %a : tensor<4xf32>
    ckpt.yield %e : tensor<4xf32>
  } -> tensor<4xf32>
  %1 = ckpt.kernel(%a = %0 : tensor<4xf32>, %b = %y : tensor<4xf32>) slots [-1 : 16] {
    %m = arith.mulf %a, %b : tensor<4xf32>
    ckpt.yield %m : tensor<4xf32>
  } -> tensor<4xf32>
  %2 = ckpt.kernel(%a = %x : tensor<4xf32>) after (%1 : tensor<4xf32>) slots [0 : 16] recompute {
    %e = math.exp %a : tensor<4xf32>
    ckpt.yield %e : tensor<4xf32>
  } -> tensor<4xf32>
  %3 = ckpt.kernel(%a = %1 : tensor<4xf32>, %b = %2 : tensor<4xf32>) slots [-1 : 16] {
    %s = arith.subf %a, %b : tensor<4xf32>
    ckpt.yield %s : tensor<4xf32>
  } -> tensor<4xf32>
  return %1, %3 : tensor<4xf32>, tensor<4xf32>
}

// What has effects keeps its order; the pure addition may move and run again.
func.func @effects(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = call @draw() : () -> tensor<4xf32>
  %1 = arith.addf %0, %x : tensor<4xf32>
  call @log(%1) : (tensor<4xf32>) -> ()
  %again = arith.addf %0, %x : tensor<4xf32>
  %2 = call @draw() : () -> tensor<4xf32>
  %3 = arith.addf %again, %2 : tensor<4xf32>
  return %3 : tensor<4xf32>
}

// A product that runs again behind a barrier.
func.func @product(%x: tensor<4x4xf32>, %y: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = linalg.matmul ins(%x, %y : tensor<4x4xf32>, tensor<4x4xf32>) outs(%y : tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = math.exp %0 : tensor<4x4xf32>
  %b = ckpt.barrier %x after (%1 : tensor<4x4xf32>) : tensor<4x4xf32>
  %2 = linalg.matmul ins(%b, %y : tensor<4x4xf32>, tensor<4x4xf32>) outs(%y : tensor<4x4xf32>) -> tensor<4x4xf32>
  %3 = arith.mulf %1, %2 : tensor<4x4xf32>
  return %3 : tensor<4x4xf32>
}
