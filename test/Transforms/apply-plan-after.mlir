// A second run waits for a value that is younger than the first. Here the second
// product's runs again beside its epilogue: all that lives past that is the first
// product, which is older, so what the epilogue reads keeps the run in its place.
// RUN: ckpt-opt %s --ckpt-plan="budget=100% quiet=true save-plan=%t.plan" -o /dev/null
// RUN: sed -e 's/^op 3 inline/op 3 save/; s/^op 1 save/op 1 recompute/; s/^kernels=5/kernels=6/; s/^extra-flops=0/extra-flops=524288/' -e 's|^kernel ops=3,4 .*|kernel ops=3 outputs=5@16384\nkernel ops=1,4 outputs=6@32768|' %t.plan > %t.again.plan
// RUN: ckpt-opt %s --ckpt-plan="quiet plan-file=%t.again.plan" --ckpt-apply-plan --ckpt-verify-slots --ckpt-verify=original=%s | FileCheck %s

// CHECK-COUNT-3: ckpt.kernel
// CHECK: %[[READ:.*]] = ckpt.kernel
// CHECK: ckpt.kernel(%{{.*}} = %{{.*}}, %{{.*}} = %[[READ]] : tensor<64x64xf32>) slots [32768 : 16384] layer "layer/1" recompute

func.func @waits(%x: tensor<64x64xf32>, %w: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %empty = tensor.empty() : tensor<64x64xf32>
  %a = linalg.matmul ins(%x, %w : tensor<64x64xf32>, tensor<64x64xf32>)
      outs(%empty : tensor<64x64xf32>) -> tensor<64x64xf32> loc("layer/0/dot")
  %d = linalg.matmul ins(%x, %x : tensor<64x64xf32>, tensor<64x64xf32>)
      outs(%empty : tensor<64x64xf32>) -> tensor<64x64xf32> loc("layer/1/dot")
  %e = linalg.matmul ins(%d, %a : tensor<64x64xf32>, tensor<64x64xf32>)
      outs(%empty : tensor<64x64xf32>) -> tensor<64x64xf32> loc("layer/2/dot")
  %g = linalg.matmul ins(%e, %w : tensor<64x64xf32>, tensor<64x64xf32>)
      outs(%empty : tensor<64x64xf32>) -> tensor<64x64xf32> loc("transpose(jvp(layer/2))/dot")
  %h = arith.mulf %d, %g : tensor<64x64xf32> loc("transpose(jvp(layer/1))/mul")
  %r = linalg.matmul ins(%h, %w : tensor<64x64xf32>, tensor<64x64xf32>)
      outs(%empty : tensor<64x64xf32>) -> tensor<64x64xf32> loc("transpose(jvp(layer/0))/dot")
  %s = arith.addf %r, %a : tensor<64x64xf32> loc("transpose(jvp(layer/0))/add")
  return %s : tensor<64x64xf32>
}
