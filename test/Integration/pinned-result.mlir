// A result that is pinned to be made again lies in its own buffer both times, and the step
// as written, which makes nothing again, obeys no demands.

// RUN: ckpt-opt %s --ckpt-form-layers -o %t.mlir
// RUN: ckpt-opt %t.mlir --ckpt-plan --ckpt-apply-plan | FileCheck %s
// RUN: ckpt-opt %t.mlir --ckpt-plan --ckpt-apply-plan --ckpt-verify=original=%t.mlir -o /dev/null
// RUN: ckpt-runner %t.mlir --verify --budget=512B --repeat=1 | FileCheck %s --check-prefix=SAME

// CHECK: slots [0 of 0 : 256]
// CHECK: slots [-1 : 256] {{.*}}recompute
// SAME: extra work, planned: 25.00%
// SAME: results: bit-equal

func.func @main(%x: tensor<8x8xf32>, %w: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>)
    attributes {ckpt.region_budgets = {"layer" = 4096 : i64}} {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<8x8xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<8x8xf32>) -> tensor<8x8xf32>
  %a = linalg.matmul {ckpt.pin = #ckpt.pin<recompute>} ins(%x, %w : tensor<8x8xf32>, tensor<8x8xf32>) outs(%init : tensor<8x8xf32>) -> tensor<8x8xf32> loc("jvp()/layer/a")
  %loss = linalg.matmul ins(%a, %w : tensor<8x8xf32>, tensor<8x8xf32>) outs(%init : tensor<8x8xf32>) -> tensor<8x8xf32> loc("jvp()/layer/loss")
  %first = linalg.matmul ins(%loss, %w : tensor<8x8xf32>, tensor<8x8xf32>) outs(%init : tensor<8x8xf32>) -> tensor<8x8xf32> loc("transpose(jvp())/layer/first")
  %second = linalg.matmul ins(%first, %a : tensor<8x8xf32>, tensor<8x8xf32>) outs(%init : tensor<8x8xf32>) -> tensor<8x8xf32> loc("transpose(jvp())/layer/second")
  return %a, %second : tensor<8x8xf32>, tensor<8x8xf32>
}
