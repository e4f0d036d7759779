//===- CkptDialect.td - The ckpt dialect -------------------*- tablegen -*-===//

#ifndef CKPT_IR_CKPTDIALECT_TD
#define CKPT_IR_CKPTDIALECT_TD

include "mlir/IR/OpBase.td"

def Ckpt_Dialect : Dialect {
  let name = "ckpt";
  let cppNamespace = "::ckpt";
  let summary = "Which values of a training step stand in memory";
  let description = [{
    A training step needs the activations of its forward pass again in the
    backward pass. This dialect says which of them are saved, which are computed
    inside the kernels that read them and which are recomputed, and where in one
    arena each value that stands in memory lies.

    | stage | content of the file |
    |---|---|
    | input | a function on tensors; optionally `ckpt.layer` regions and pins |
    | after `--ckpt-plan` | `ckpt.decision` on ops and layers, `ckpt.plan` on the function |
    | after `--ckpt-apply-plan` | `ckpt.kernel` ops in the planned order with their slots |
    | for other compilers | `--ckpt-kernels-to-barriers`: the kernels dissolved, `ckpt.barrier` where order has to hold |

    Words: a value is *saved* when it stays in memory until its last reader, and
    *recomputed* when it is made again; "checkpoint" means either in the
    literature and is not used here.
  }];
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let extraClassDeclaration = [{
    /// Discardable attributes on foreign ops.
    static constexpr ::llvm::StringLiteral decisionAttrName() {
      return ::llvm::StringLiteral("ckpt.decision");
    }
    static constexpr ::llvm::StringLiteral pinAttrName() {
      return ::llvm::StringLiteral("ckpt.pin");
    }
    static constexpr ::llvm::StringLiteral planAttrName() {
      return ::llvm::StringLiteral("ckpt.plan");
    }
    /// Strategy of a function, as text of the pass option.
    static constexpr ::llvm::StringLiteral strategyAttrName() {
      return ::llvm::StringLiteral("ckpt.strategy");
    }
    /// Largest bytes of regions, by the patterns that say which layers they
    /// hold: `{"h/*/attn" = 209715200 : i64}`, on a function.
    static constexpr ::llvm::StringLiteral regionBudgetsAttrName() {
      return ::llvm::StringLiteral("ckpt.region_budgets");
    }
    /// Unit: preparation leaves a loop one op.
    static constexpr ::llvm::StringLiteral rolledAttrName() {
      return ::llvm::StringLiteral("ckpt.rolled");
    }
    /// The number of earlier kernels with the same operands and places. Their
    /// bodies may become equal when they are simplified; this keeps CSE from
    /// merging the kernels, at whose time the place holds other values.
    static constexpr ::llvm::StringLiteral turnAttrName() {
      return ::llvm::StringLiteral("ckpt.turn");
    }
    /// Bytes of the arena of a function that `--ckpt-apply-plan` rewrote.
    static constexpr ::llvm::StringLiteral arenaBytesAttrName() {
      return ::llvm::StringLiteral("ckpt.arena_bytes");
    }
    void registerAttributes();
  }];
}

#endif // CKPT_IR_CKPTDIALECT_TD
