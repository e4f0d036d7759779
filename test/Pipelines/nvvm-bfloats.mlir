// bf16 is rounded by the device's instruction, and divided exactly behind a
// branch alone: LLVM would divide always, and select.
// RUN: ckpt-opt %s --ckpt-lower-to-nvvm-pipeline="chip=sm_90a" --mlir-print-debuginfo=false | FileCheck %s
// CHECK: .entry kernel_0_elementwise
// CHECK-SAME: cvt.rn.bf16x2.f32
// CHECK-SAME: rcp.approx.ftz.f32
// CHECK-NOT: div.rn.f32
// CHECK-SAME: bra
// CHECK-SAME: div.rn.f32
#all = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func @step(%x: tensor<64x64xbf16>, %sums: tensor<64xbf16>) -> tensor<64x64xbf16> {
  %0 = ckpt.kernel(%a = %x : tensor<64x64xbf16>, %b = %sums : tensor<64xbf16>) slots [-1 : 8192] {
    %e = tensor.empty() : tensor<64x64xbf16>
    %1 = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]}
        ins(%a, %b : tensor<64x64xbf16>, tensor<64xbf16>) outs(%e : tensor<64x64xbf16>) {
    ^bb0(%element: bf16, %sum: bf16, %out: bf16):
      %doubled = arith.addf %element, %element : bf16
      %share = arith.divf %doubled, %sum : bf16
      linalg.yield %share : bf16
    } -> tensor<64x64xbf16>
    ckpt.yield %1 : tensor<64x64xbf16>
  } -> tensor<64x64xbf16>
  return %0 : tensor<64x64xbf16>
}
