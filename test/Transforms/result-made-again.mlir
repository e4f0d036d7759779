// A result that is dropped and made again stands in its buffer until its last
// read. Another value may lie there before it is made again, and no kernel
// waits for it: kernel 4 waits for the result of tanh instead.
// RUN: rm -rf %t && mkdir %t
// RUN: ckpt-opt %s --ckpt-plan="budget=100% quiet=true save-plan=%t/fused.plan" -o /dev/null
// RUN: sed -e '/^kernel /d' -e 's/^budget=.*/budget=512/' -e 's/^arena=.*/arena=512/' \
// RUN:   -e 's/^kernels=.*/kernels=7/' -e 's/^op 2 save/op 2 recompute/' \
// RUN:   -e 's/^op 0 inline/op 0 recompute/' -e 's/^op \([34]\) inline/op \1 save/' \
// RUN:   %t/fused.plan > %t/step.plan
// RUN: sed -n -e 's|^// KERNEL |kernel |p' %s >> %t/step.plan
// RUN: ckpt-opt %s --ckpt-plan="plan-file=%t/step.plan quiet=true" --ckpt-apply-plan -o %t/applied.mlir
// RUN: FileCheck %s --input-file=%t/applied.mlir
// RUN: ckpt-opt %t/applied.mlir --ckpt-verify=original=%s -o /dev/null

// KERNEL ops=0 outputs=1@0
// KERNEL ops=1 outputs=2@-1
// KERNEL ops=2 outputs=3@-1
// KERNEL ops=3 outputs=4@0
// KERNEL ops=0,4 outputs=1@0/3,5@256
// KERNEL ops=5 outputs=6@-1
// KERNEL ops=2 outputs=3@-1

// CHECK: %[[TANH:.*]] = ckpt.kernel{{.*}} slots [-1 : 256]
// CHECK: ckpt.kernel{{.*}} slots [0 of 1 : 256]
// CHECK: ckpt.kernel{{.*}} after (%[[TANH]] : tensor<64xf32>) slots [0 of 1 : 256, 256 : 256] recompute
func.func @step(%a: tensor<64xf32>)
    -> (tensor<64xf32>, tensor<64xf32>, tensor<64xf32>) {
  %e = tensor.empty() : tensor<64xf32>
  %x = linalg.exp ins(%a : tensor<64xf32>)
      outs(%e : tensor<64xf32>) -> tensor<64xf32>
  %p = linalg.tanh ins(%x : tensor<64xf32>)
      outs(%e : tensor<64xf32>) -> tensor<64xf32>
  %r = linalg.sqrt ins(%a : tensor<64xf32>)
      outs(%e : tensor<64xf32>) -> tensor<64xf32>
  %b = linalg.negf ins(%r : tensor<64xf32>)
      outs(%e : tensor<64xf32>) -> tensor<64xf32>
  %c = linalg.add ins(%x, %b : tensor<64xf32>, tensor<64xf32>)
      outs(%e : tensor<64xf32>) -> tensor<64xf32>
  %q = linalg.mul ins(%c, %x : tensor<64xf32>, tensor<64xf32>)
      outs(%e : tensor<64xf32>) -> tensor<64xf32>
  return %p, %r, %q : tensor<64xf32>, tensor<64xf32>, tensor<64xf32>
}
