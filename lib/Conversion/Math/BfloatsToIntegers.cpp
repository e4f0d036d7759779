//===- BfloatsToIntegers.cpp - No bf16 for LLVM's instruction selection ---===//
//
// LLVM before version 23 takes the sign of a bf16 for zero where only that bit
// of it is read as an integer (pull request 189363 of llvm-project). Arithmetic
// is expanded by then, and the rest only moves bits, so both pipelines end with
// integers of 16 bits in the place of bf16.
//
//===----------------------------------------------------------------------===//

#include "ckpt/Conversion/Passes.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/BuiltinAttributes.h"

namespace ckpt {
#define GEN_PASS_DEF_BFLOATSTOINTEGERS
#include "ckpt/Conversion/Passes.h.inc"
} // namespace ckpt

using namespace mlir;

namespace {
struct BfloatsToIntegers
    : public ckpt::impl::BfloatsToIntegersBase<BfloatsToIntegers> {
  void runOnOperation() override {
    Type bits = IntegerType::get(&getContext(), 16);
    AttrTypeReplacer replacer;
    replacer.addReplacement([=](BFloat16Type) { return bits; });
    replacer.addReplacement([=](FloatAttr number) -> Replaced {
      if (!number.getType().isBF16())
        return std::nullopt;
      APInt value = number.getValue().bitcastToAPInt();
      return std::pair(IntegerAttr::get(bits, value), WalkResult::skip());
    });
    replacer.addReplacement([=](DenseElementsAttr numbers) -> Replaced {
      if (!numbers.getElementType().isBF16())
        return std::nullopt;
      return std::pair(numbers.bitcast(bits), WalkResult::skip());
    });
    replacer.recursivelyReplaceElementsIn(getOperation(), /*replaceAttrs=*/true,
                                          /*replaceLocs=*/false,
                                          /*replaceTypes=*/true);
    getOperation()->walk([](LLVM::BitcastOp cast) {
      if (cast.getType() != cast.getArg().getType())
        return;
      cast.replaceAllUsesWith(cast.getArg());
      cast.erase();
    });
  }

  using Replaced = std::optional<std::pair<Attribute, WalkResult>>;
};
} // namespace
