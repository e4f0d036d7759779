//===- ContractionBody.cpp - Bodies that multiply and add -----------------===//

#include "Conversion/Kernel/ContractionBody.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

/// The input operand behind \p value, seen through widening casts.
static OpOperand *widenedInput(linalg::LinalgOp op, Value value) {
  while (auto cast = value.getDefiningOp<arith::ExtFOp>())
    value = cast.getIn();
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument || argument.getOwner() != op.getBlock())
    return nullptr;
  OpOperand *operand = op.getMatchingOpOperand(argument);
  return op.isDpsInput(operand) ? operand : nullptr;
}

std::optional<ckpt::ContractionBody>
ckpt::matchContraction(linalg::LinalgOp op) {
  if (op.getNumDpsInits() != 1 || op.getNumReductionLoops() == 0)
    return std::nullopt;
  Value out = op.getRegionOutputArgs().front();
  auto sum = op.getBlock()
                 ->getTerminator()
                 ->getOperand(0)
                 .getDefiningOp<arith::AddFOp>();
  if (!sum)
    return std::nullopt;
  Value other = sum.getLhs() == out   ? sum.getRhs()
                : sum.getRhs() == out ? sum.getLhs()
                                      : Value();
  auto product = other ? other.getDefiningOp<arith::MulFOp>() : nullptr;
  if (!product)
    return std::nullopt;
  OpOperand *left = widenedInput(op, product.getLhs());
  OpOperand *right = widenedInput(op, product.getRhs());
  if (!left || !right || left == right)
    return std::nullopt;
  auto type = cast<FloatType>(sum.getType());
  if (type.getWidth() < 32)
    type = Float32Type::get(op.getContext());
  return ContractionBody{left, right, type};
}

static constexpr int64_t fewResults = 1 << 14;
static constexpr int64_t manySteps = 1 << 12;

bool ckpt::hasLongSums(linalg::LinalgOp op) {
  int64_t results = 1, steps = 1;
  for (auto [extent, kind] :
       llvm::zip_equal(op.getStaticLoopRanges(), op.getIteratorTypesArray()))
    (kind == mlir::utils::IteratorType::reduction ? steps : results) *= extent;
  return results <= fewResults && steps >= manySteps;
}
