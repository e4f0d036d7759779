// Programs in bytecode, whose resources stand at aligned places.
// RUN: ckpt-opt %s --emit-bytecode -o %t.mlirbc
// RUN: ckpt-runner %t.mlirbc --verify --repeat=1 | FileCheck %s
// RUN: ckpt-opt %s --ckpt-plan=quiet=true --ckpt-apply-plan --emit-bytecode -o %t.planned.mlirbc
// RUN: ckpt-opt %t.planned.mlirbc --ckpt-verify=original=%t.mlirbc -o /dev/null
// CHECK: results: bit-equal to the program as written
func.func @step(%a: tensor<2xf32>) -> tensor<2xf32> {
  %w = arith.constant dense_resource<w> : tensor<2xf32>
  %r = arith.mulf %a, %w : tensor<2xf32>
  return %r : tensor<2xf32>
}
{-#
  dialect_resources: {
    builtin: {
      w: "0x400000000000803F00000040"
    }
  }
#-}
