//===- InlineSplats.cpp - Tensors of equal elements as numbers ------------===//

#include "Transforms/Loops/InlineSplats.h"
#include "ckpt/IR/CkptDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace ckpt;
namespace linalg = mlir::linalg;
using mlir::AffineMap;

/// The number that all elements of \p value are; null if they may differ.
static mlir::TypedAttr splatElement(Value value) {
  Operation *maker = value.getDefiningOp();
  if (!maker || maker->hasAttr(CkptDialect::pinAttrName()))
    return nullptr;
  mlir::Attribute element;
  mlir::SplatElementsAttr splat;
  if (mlir::matchPattern(maker, mlir::m_Constant(&splat)))
    element = splat.getSplatValue<mlir::Attribute>();
  else if (auto fill = dyn_cast<linalg::FillOp>(maker))
    mlir::matchPattern(fill.value(), mlir::m_Constant(&element));
  auto number = dyn_cast_or_null<mlir::TypedAttr>(element);
  return number && number.getType().isIntOrIndexOrFloat() ? number : nullptr;
}

/// Whether the operands of \p op other than \p input still say how often each
/// loop runs.
static bool isBoundWithout(linalg::GenericOp op, OpOperand &input) {
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  maps.erase(maps.begin() + input.getOperandNumber());
  return static_cast<bool>(mlir::inversePermutation(
      mlir::concatAffineMaps(maps, op.getContext())));
}

/// Lets the body of \p op compute with \p number in the place of \p input.
static void inlineNumber(linalg::GenericOp op, OpOperand &input,
                         mlir::TypedAttr number) {
  unsigned position = input.getOperandNumber();
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  maps.erase(maps.begin() + position);
  mlir::OpBuilder builder(op);
  auto constant =
      mlir::arith::ConstantOp::create(builder, op.getLoc(), number);
  op.getBody()->getArgument(position).replaceAllUsesWith(constant);
  op.getBody()->eraseArgument(position);
  op.getInputsMutable().erase(position);
  op.setIndexingMapsAttr(builder.getAffineMapArrayAttr(maps));
}

// Upstream's pattern for this comes only with the fusion of elementwise ops,
// whose other patterns change ops that need nothing.
void ckpt::inlineSplats(Block &block) {
  for (linalg::GenericOp op : block.getOps<linalg::GenericOp>()) {
    if (!op.hasPureTensorSemantics() ||
        op->hasAttr(CkptDialect::pinAttrName()))
      continue;
    for (int64_t i = op.getNumDpsInputs(); i-- > 0;) {
      OpOperand &input = *op.getDpsInputOperand(i);
      Operation *maker = input.get().getDefiningOp();
      mlir::TypedAttr number = splatElement(input.get());
      if (!number || !isBoundWithout(op, input))
        continue;
      inlineNumber(op, input, number);
      if (mlir::isOpTriviallyDead(maker))
        maker->erase();
    }
  }
}
