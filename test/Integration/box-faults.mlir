// What the emulator has to catch where operands come by tensor maps.
// DEFINE: %{plant} = none
// DEFINE: %{run} = not ckpt-execute %s --only="wgmma on the emulator" --all-orders --plant=%{plant} 2>&1
// REDEFINE: %{plant} = no-barriers
// RUN: %{run} | FileCheck %s --check-prefix=NEVER
// REDEFINE: %{plant} = no-proxy-fence
// RUN: %{run} | FileCheck %s --check-prefix=FENCE
// REDEFINE: %{plant} = no-box-wait
// RUN: %{run} | FileCheck %s --check-prefix=LATE
// REDEFINE: %{plant} = wrong-parity
// RUN: %{run} | FileCheck %s --check-prefix=NEVER
// REDEFINE: %{plant} = few-bytes
// RUN: %{run} | FileCheck %s --check-prefix=LATE
// REDEFINE: %{plant} = many-bytes
// RUN: %{run} | FileCheck %s --check-prefix=NEVER
// REDEFINE: %{plant} = early-box
// RUN: %{run} | FileCheck %s
// REDEFINE: %{plant} = wrong-corner
// RUN: %{run} | FileCheck %s
// REDEFINE: %{plant} = wrong-stride
// RUN: %{run} | FileCheck %s
// REDEFINE: %{plant} = no-warpgroup-wait
// RUN: %{run} | FileCheck %s
// REDEFINE: %{plant} = weak-warpgroup-wait
// RUN: %{run} | FileCheck %s

// CHECK: product: result 0 differs at {{.*}} with wgmma on the emulator
// FENCE: error: in kernel 'kernel_0_linalg_matmul', thread 0 of block 0 copies a box for a barrier that copies do not see
// LATE: error: in kernel 'kernel_0_linalg_matmul', block 0 ends while copies to it are on their way
// NEVER: error: in kernel 'kernel_0_linalg_matmul', {{[0-9]+}} of 128 threads of block 0 wait for copies that never come
func.func @product(%x0: tensor<40x264xbf16>, %x1: tensor<264x40xbf16>) -> (tensor<40x40xf32>) {
  %r1 = ckpt.kernel(%a0 = %x0 : tensor<40x264xbf16>, %a1 = %x1 : tensor<264x40xbf16>) slots [-1 : 4] {
    %c = arith.constant 0.5 : f32
    %e = tensor.empty() : tensor<40x40xf32>
    %f = linalg.fill ins(%c : f32) outs(%e : tensor<40x40xf32>) -> tensor<40x40xf32>
    %0 = linalg.matmul ins(%a0, %a1 : tensor<40x264xbf16>, tensor<264x40xbf16>) outs(%f : tensor<40x40xf32>) -> tensor<40x40xf32>
    ckpt.yield %0 : tensor<40x40xf32>
  } -> tensor<40x40xf32>
  return %r1 : tensor<40x40xf32>
}
