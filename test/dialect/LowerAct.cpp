//===- LowerAct.cpp - Activations as arithmetic on elements ---------------===//
//
// Runs on what --ckpt-apply-plan made: inside each kernel, an activation
// becomes a structured op, which ckpt fuses and lowers as its own.
//
//===----------------------------------------------------------------------===//

#include "Act.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Pass/Pass.h"

using namespace mlir;

static Value emitSilu(OpBuilder &builder, Location loc, Value x) {
  Value one =
      arith::ConstantOp::create(builder, loc, builder.getF32FloatAttr(1));
  Value negated = arith::NegFOp::create(builder, loc, x);
  Value power = math::ExpOp::create(builder, loc, negated);
  Value sum = arith::AddFOp::create(builder, loc, one, power);
  return arith::DivFOp::create(builder, loc, x, sum);
}

static void lower(act::SiluOp op) {
  OpBuilder builder(op);
  Location loc = op.getLoc();
  RankedTensorType type = op.getX().getType();
  Value out = tensor::EmptyOp::create(builder, loc, type.getShape(),
                                      type.getElementType());
  AffineMap identity = builder.getMultiDimIdentityMap(type.getRank());
  SmallVector<utils::IteratorType> loops(type.getRank(),
                                         utils::IteratorType::parallel);
  auto generic = linalg::GenericOp::create(
      builder, loc, type, op.getX(), out, ArrayRef{identity, identity}, loops,
      [](OpBuilder &builder, Location loc, ValueRange elements) {
        linalg::YieldOp::create(builder, loc,
                                emitSilu(builder, loc, elements[0]));
      });
  op.replaceAllUsesWith(generic.getResult(0));
  op.erase();
}

namespace {
struct LowerAct : PassWrapper<LowerAct, OperationPass<>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(LowerAct)

  StringRef getArgument() const final { return "act-to-linalg"; }
  StringRef getDescription() const final { return "lower act ops to linalg"; }
  void getDependentDialects(DialectRegistry &registry) const final {
    registry.insert<arith::ArithDialect, linalg::LinalgDialect,
                    math::MathDialect, tensor::TensorDialect>();
  }
  void runOnOperation() final { getOperation()->walk(lower); }
};
} // namespace

void act::registerLowering() { PassRegistration<LowerAct>(); }
