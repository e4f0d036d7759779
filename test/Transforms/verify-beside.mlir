// Data beside the program is compared by its contents: its name is another one
// when both files are read. Nested modules without names go by their order.
// RUN: ckpt-opt %s --ckpt-plan="quiet=true func=main" --ckpt-apply-plan -o %t.mlir
// RUN: ckpt-opt %t.mlir --ckpt-verify=original=%s -o %t.same

// RUN: sed 's/0x040000000000803F/0x040000000000003F/' %t.mlir > %t.data.mlir
// RUN: not ckpt-opt %t.data.mlir --ckpt-verify=original=%s -o %t.none 2>&1 | FileCheck %s --check-prefix=DATA
// DATA: error: 'arith.constant': attribute 'value' of this op is not that of the original

// RUN: sed 's/math.sin/math.cos/' %t.mlir > %t.module.mlir
// RUN: not ckpt-opt %t.module.mlir --ckpt-verify=original=%s -o %t.none 2>&1 | FileCheck %s --check-prefix=MODULE
// MODULE: error: 'builtin.module' is not that of the original
// MODULE: note: the original

// RUN: sed 's/^module attributes/module @named attributes/' %s > %t.named.mlir
// RUN: not ckpt-opt %t.mlir --ckpt-verify=original=%t.named.mlir -o %t.none 2>&1 | FileCheck %s --check-prefix=NAMED
// NAMED: error: the original has no such 'builtin.module'
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c = arith.constant dense_resource<w> : tensor<4xf32>
  %y = arith.addf %x, %c : tensor<4xf32>
  return %y : tensor<4xf32>
}
module {
  func.func @a(%x: tensor<4xf32>) -> tensor<4xf32> {
    return %x : tensor<4xf32>
  }
}
module attributes {test.second} {
  func.func @b(%x: tensor<4xf32>) -> tensor<4xf32> {
    %y = math.sin %x : tensor<4xf32>
    return %y : tensor<4xf32>
  }
}

{-#
  dialect_resources: {
    builtin: {
      w: "0x040000000000803F000000400000404000008040"
    }
  }
#-}
