// What the emulator has to catch in code of warpgroups. Rows, and steps, in two
// parts with a gap: operands come by vectors (box-faults.mlir has those that come
// by tensor maps).
// RUN: not ckpt-execute %s --only="wgmma on the emulator" --plant=no-barriers | FileCheck %s
// RUN: not ckpt-execute %s --only="wgmma on the emulator" --plant=no-waits | FileCheck %s
// RUN: not ckpt-execute %s --only="wgmma on the emulator" --plant=weak-wait | FileCheck %s
// RUN: not ckpt-execute %s --only="wgmma on the emulator" --plant=no-proxy-fence | FileCheck %s
// RUN: not ckpt-execute %s --only="wgmma on the emulator" --plant=no-swizzle | FileCheck %s
// RUN: not ckpt-execute %s --only="wgmma on the emulator" --plant=no-warpgroup-fence | FileCheck %s
// RUN: not ckpt-execute %s --only="wgmma on the emulator" --plant=no-warpgroup-wait | FileCheck %s
// RUN: not ckpt-execute %s --only="wgmma on the emulator" --plant=divergent-warpgroup 2>&1 | FileCheck %s --check-prefix=DIVERGENT

// CHECK: product: result 0 differs at {{.*}} with wgmma on the emulator
// DIVERGENT: error: in kernel 'kernel_0_linalg_matmul', thread {{[0-9]+}} of block {{[0-9]+}} makes another instruction than others of its warpgroup
func.func @product(%x0: tensor<2x24x96xbf16>, %x1: tensor<2x50x40xbf16>) -> (tensor<40x40xf32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<2x24x96xbf16>, %a1 = %x1 : tensor<2x50x40xbf16>) slots [-1 : 4] {
    %c = arith.constant 0.5 : f32
    %e = tensor.empty() : tensor<40x40xf32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<40x40xf32>) -> tensor<40x40xf32>
    %ls = tensor.extract_slice %a0[0, 0, 0] [2, 20, 96] [1, 1, 1] : tensor<2x24x96xbf16> to tensor<2x20x96xbf16>
    %l = tensor.collapse_shape %ls [[0, 1], [2]] : tensor<2x20x96xbf16> into tensor<40x96xbf16>
    %rs = tensor.extract_slice %a1[0, 0, 0] [2, 48, 40] [1, 1, 1] : tensor<2x50x40xbf16> to tensor<2x48x40xbf16>
    %r = tensor.collapse_shape %rs [[0, 1], [2]] : tensor<2x48x40xbf16> into tensor<96x40xbf16>
    %0 = linalg.matmul ins(%l, %r : tensor<40x96xbf16>, tensor<96x40xbf16>) outs(%f : tensor<40x40xf32>) -> tensor<40x40xf32>
    ckpt.yield %0 : tensor<40x40xf32>
  } -> tensor<40x40xf32>
  return %r1 : tensor<40x40xf32>
}
