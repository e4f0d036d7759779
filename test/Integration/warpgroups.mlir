// bf16 and f16 by warpgroups in every order of threads (tensor-cores.mlir has all
// forms of operands): more parts of the steps than stand in shared memory.
// RUN: ckpt-execute %s --only="wgmma on the emulator" --all-orders | FileCheck %s

// CHECK: parts: ok
func.func @parts(%x0: tensor<64x264xbf16>, %x1: tensor<264x72xbf16>) -> (tensor<64x72xf32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<64x264xbf16>, %a1 = %x1 : tensor<264x72xbf16>) slots [-1 : 4] {
    %c = arith.constant 0.5 : f32
    %e = tensor.empty() : tensor<64x72xf32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<64x72xf32>) -> tensor<64x72xf32>
    %0 = linalg.matmul ins(%a0, %a1 : tensor<64x264xbf16>, tensor<264x72xbf16>) outs(%f : tensor<64x72xf32>) -> tensor<64x72xf32>
    ckpt.yield %0 : tensor<64x72xf32>
  } -> tensor<64x72xf32>
  return %r1 : tensor<64x72xf32>
}
// CHECK: parts_tb: ok
func.func @parts_tb(%x0: tensor<72x264xbf16>, %x1: tensor<64x264xbf16>) -> (tensor<72x64xf32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<72x264xbf16>, %a1 = %x1 : tensor<64x264xbf16>) slots [-1 : 4] {
    %c = arith.constant 0.5 : f32
    %e = tensor.empty() : tensor<72x64xf32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<72x64xf32>) -> tensor<72x64xf32>
    %v = tensor.empty() : tensor<264x64xbf16>
    %r = linalg.transpose ins(%a1 : tensor<64x264xbf16>) outs(%v : tensor<264x64xbf16>) permutation = [1, 0]
    %0 = linalg.matmul ins(%a0, %r : tensor<72x264xbf16>, tensor<264x64xbf16>) outs(%f : tensor<72x64xf32>) -> tensor<72x64xf32>
    ckpt.yield %0 : tensor<72x64xf32>
  } -> tensor<72x64xf32>
  return %r1 : tensor<72x64xf32>
}
// CHECK: parts_ta: ok
func.func @parts_ta(%x0: tensor<264x64xf16>, %x1: tensor<264x72xf16>) -> (tensor<64x72xf32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<264x64xf16>, %a1 = %x1 : tensor<264x72xf16>) slots [-1 : 4] {
    %c = arith.constant 0.5 : f32
    %e = tensor.empty() : tensor<64x72xf32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<64x72xf32>) -> tensor<64x72xf32>
    %u = tensor.empty() : tensor<64x264xf16>
    %l = linalg.transpose ins(%a0 : tensor<264x64xf16>) outs(%u : tensor<64x264xf16>) permutation = [1, 0]
    %0 = linalg.matmul ins(%l, %a1 : tensor<64x264xf16>, tensor<264x72xf16>) outs(%f : tensor<64x72xf32>) -> tensor<64x72xf32>
    ckpt.yield %0 : tensor<64x72xf32>
  } -> tensor<64x72xf32>
  return %r1 : tensor<64x72xf32>
}
// CHECK: parts_ta_tb: ok
func.func @parts_ta_tb(%x0: tensor<264x72xf16>, %x1: tensor<64x264xf16>) -> (tensor<72x64xf32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<264x72xf16>, %a1 = %x1 : tensor<64x264xf16>) slots [-1 : 4] {
    %c = arith.constant 0.5 : f32
    %e = tensor.empty() : tensor<72x64xf32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<72x64xf32>) -> tensor<72x64xf32>
    %u = tensor.empty() : tensor<72x264xf16>
    %l = linalg.transpose ins(%a0 : tensor<264x72xf16>) outs(%u : tensor<72x264xf16>) permutation = [1, 0]
    %v = tensor.empty() : tensor<264x64xf16>
    %r = linalg.transpose ins(%a1 : tensor<64x264xf16>) outs(%v : tensor<264x64xf16>) permutation = [1, 0]
    %0 = linalg.matmul ins(%l, %r : tensor<72x264xf16>, tensor<264x64xf16>) outs(%f : tensor<72x64xf32>) -> tensor<72x64xf32>
    %1 = math.tanh %0 : tensor<72x64xf32>
    ckpt.yield %1 : tensor<72x64xf32>
  } -> tensor<72x64xf32>
  return %r1 : tensor<72x64xf32>
}
// No aligned vectors: brought by ordinary stores.
// CHECK: odd_parts: ok
func.func @odd_parts(%x0: tensor<65x263xbf16>, %x1: tensor<263x67xbf16>) -> (tensor<65x67xf32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<65x263xbf16>, %a1 = %x1 : tensor<263x67xbf16>) slots [-1 : 4] {
    %c = arith.constant 0.5 : f32
    %e = tensor.empty() : tensor<65x67xf32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<65x67xf32>) -> tensor<65x67xf32>
    %0 = linalg.matmul ins(%a0, %a1 : tensor<65x263xbf16>, tensor<263x67xbf16>) outs(%f : tensor<65x67xf32>) -> tensor<65x67xf32>
    ckpt.yield %0 : tensor<65x67xf32>
  } -> tensor<65x67xf32>
  return %r1 : tensor<65x67xf32>
}
// Enough blocks for the larger square: two warpgroups, panels of 64 columns.
// CHECK: large_batch_130x136x72: ok
func.func @large_batch_130x136x72(%x0: tensor<33x130x72xbf16>, %x1: tensor<33x72x136xbf16>) -> (tensor<33x130x136xf32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<33x130x72xbf16>, %a1 = %x1 : tensor<33x72x136xbf16>) slots [-1 : 4] {
    %c = arith.constant 0.5 : f32
    %e = tensor.empty() : tensor<33x130x136xf32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<33x130x136xf32>) -> tensor<33x130x136xf32>
    %0 = linalg.batch_matmul ins(%a0, %a1 : tensor<33x130x72xbf16>, tensor<33x72x136xbf16>) outs(%f : tensor<33x130x136xf32>) -> tensor<33x130x136xf32>
    ckpt.yield %0 : tensor<33x130x136xf32>
  } -> tensor<33x130x136xf32>
  return %r1 : tensor<33x130x136xf32>
}
// Inits that differ; outputs of two widths, and columns that are no multiple of
// eight: four at a time.
// CHECK: outputs: ok
func.func @outputs(%x0: tensor<72x72xbf16>, %x1: tensor<72x76xbf16>, %x2: tensor<72x76xf32>) -> (tensor<72x76xf32>, tensor<72x76xbf16>) {
  %r1, %r2 = ckpt.kernel(%a0 = %x0 : tensor<72x72xbf16>, %a1 = %x1 : tensor<72x76xbf16>, %a2 = %x2 : tensor<72x76xf32>) slots [-1 : 4, -1 : 4] {
    %0 = linalg.matmul ins(%a0, %a1 : tensor<72x72xbf16>, tensor<72x76xbf16>) outs(%a2 : tensor<72x76xf32>) -> tensor<72x76xf32>
    %1 = arith.truncf %0 : tensor<72x76xf32> to tensor<72x76xbf16>
    ckpt.yield %0, %1 : tensor<72x76xf32>, tensor<72x76xbf16>
  } -> tensor<72x76xf32>, tensor<72x76xbf16>
  return %r1, %r2 : tensor<72x76xf32>, tensor<72x76xbf16>
}
// A row of eight at a time, read and written.
// CHECK: narrow_rows: ok
func.func @narrow_rows(%x0: tensor<72x72xbf16>, %x1: tensor<72x80xbf16>, %x2: tensor<72x80xbf16>) -> tensor<72x80xbf16> {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<72x72xbf16>, %a1 = %x1 : tensor<72x80xbf16>, %a2 = %x2 : tensor<72x80xbf16>) slots [-1 : 4] {
    %c = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<72x80xf32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<72x80xf32>) -> tensor<72x80xf32>
    %0 = linalg.matmul ins(%a0, %a1 : tensor<72x72xbf16>, tensor<72x80xbf16>) outs(%f : tensor<72x80xf32>) -> tensor<72x80xf32>
    %n = arith.truncf %0 : tensor<72x80xf32> to tensor<72x80xbf16>
    %1 = arith.addf %n, %a2 : tensor<72x80xbf16>
    ckpt.yield %1 : tensor<72x80xbf16>
  } -> tensor<72x80xbf16>
  return %r1 : tensor<72x80xbf16>
}
