// Places that are right, and that the pass leaves alone.
// RUN: ckpt-opt %s --ckpt-verify-slots | FileCheck %s

// The second result takes over the place of the first, which dies there; the
// workspace lies beside both.
// CHECK-LABEL: func.func @takeover
// CHECK-COUNT-3: ckpt.kernel
func.func @takeover(%x: tensor<4xf32>) -> tensor<4xf32>
    attributes {ckpt.arena_bytes = 512 : i64} {
  %0 = ckpt.kernel(%a = %x : tensor<4xf32>) slots [0 : 16] {
    %e = math.exp %a : tensor<4xf32>
    ckpt.yield %e : tensor<4xf32>
  } -> tensor<4xf32>
  %1 = ckpt.kernel(%a = %0 : tensor<4xf32>) slots [0 : 16] workspace [256 : 256] {
    %e = math.exp %a : tensor<4xf32>
    ckpt.yield %e : tensor<4xf32>
  } -> tensor<4xf32>
  %2 = ckpt.kernel(%a = %1 : tensor<4xf32>) slots [-1 : 16] {
    %e = math.exp %a : tensor<4xf32>
    ckpt.yield %e : tensor<4xf32>
  } -> tensor<4xf32>
  return %2 : tensor<4xf32>
}

// A place is free again after the last reader, and an `after` operand reads.
// CHECK-LABEL: func.func @reuse
// CHECK-COUNT-4: ckpt.kernel
func.func @reuse(%x: tensor<4xf32>) -> tensor<4xf32>
    attributes {ckpt.arena_bytes = 512 : i64} {
  %0 = ckpt.kernel(%a = %x : tensor<4xf32>) slots [0 : 16] {
    %e = math.exp %a : tensor<4xf32>
    ckpt.yield %e : tensor<4xf32>
  } -> tensor<4xf32>
  %1 = ckpt.kernel(%a = %0 : tensor<4xf32>) slots [256 : 16] {
    %e = math.exp %a : tensor<4xf32>
    ckpt.yield %e : tensor<4xf32>
  } -> tensor<4xf32>
  %2 = ckpt.kernel(%a = %x : tensor<4xf32>) after (%1 : tensor<4xf32>) slots [0 : 16] recompute {
    %e = math.exp %a : tensor<4xf32>
    ckpt.yield %e : tensor<4xf32>
  } -> tensor<4xf32>
  %3 = ckpt.kernel(%a = %2 : tensor<4xf32>) slots [-1 : 16] {
    %e = math.exp %a : tensor<4xf32>
    ckpt.yield %e : tensor<4xf32>
  } -> tensor<4xf32>
  return %3 : tensor<4xf32>
}

// A function without kernels needs no arena.
// CHECK-LABEL: func.func @no_kernels
func.func @no_kernels(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
