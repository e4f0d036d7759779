//===- ExpandRemainders.cpp - Remainders of floats on a GPU ---------------===//
//
// Long division: the largest t = |y| 2^k that is at most |x| is subtracted and
// halved until it is below |y|. Every step is exact, so the bits are the same
// as of C's fmod, which the CPU calls. The pipeline for GPUs runs this pass;
// the trip count is the difference of the exponents.
//
//===----------------------------------------------------------------------===//

#include "ckpt/Conversion/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Dialect/Vector/Utils/VectorUtils.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace ckpt {
#define GEN_PASS_DEF_EXPANDREMAINDERS
#include "ckpt/Conversion/Passes.h.inc"
} // namespace ckpt

using namespace mlir;

using arith::CmpFPredicate;

namespace {
/// Emits the remainder of two floats of one scalar type.
class Remainder {
public:
  Remainder(OpBuilder &builder, Location loc, FloatType type)
      : builder(loc, builder), type(type) {}

  Value emit(Value x, Value y) {
    Value size = math::AbsFOp::create(builder, x);
    Value divisor = math::AbsFOp::create(builder, y);
    Value infinity = number(APFloat::getInf(type.getFloatSemantics()));
    Value zero = number(APFloat::getZero(type.getFloatSemantics()));
    // Ordered comparisons are false for NaN.
    Value isNumber = arith::AndIOp::create(
        builder, compare(CmpFPredicate::OLT, size, infinity),
        compare(CmpFPredicate::OGT, divisor, zero));
    Value isDivided = arith::AndIOp::create(
        builder, isNumber, compare(CmpFPredicate::OLT, divisor, infinity));
    Value rest = divide(select(isDivided, size, zero),
                        select(isDivided, divisor, number(1.0)));
    // The NaN that C's fmod makes.
    Value product = arith::MulFOp::create(builder, x, y);
    Value nan = arith::DivFOp::create(builder, product, product);
    Value exact = math::CopySignOp::create(builder, rest, x);
    return select(isDivided, exact, select(isNumber, x, nan));
  }

private:
  ImplicitLocOpBuilder builder;
  FloatType type;

  Value number(const APFloat &value) {
    return arith::ConstantOp::create(builder,
                                     builder.getFloatAttr(type, value));
  }
  Value number(double value) {
    return arith::ConstantOp::create(builder,
                                     builder.getFloatAttr(type, value));
  }
  Value compare(CmpFPredicate predicate, Value a, Value b) {
    return arith::CmpFOp::create(builder, predicate, a, b);
  }
  Value select(Value condition, Value a, Value b) {
    return arith::SelectOp::create(builder, condition, a, b);
  }
  Value scale(Value value, double by) {
    return arith::MulFOp::create(builder, value, number(by));
  }

  /// A loop that runs \p next on \p inits as long as \p holds is true.
  SmallVector<Value> repeat(ArrayRef<Value> inits,
                            function_ref<Value(ValueRange)> holds,
                            function_ref<SmallVector<Value>(ValueRange)> next) {
    ImplicitLocOpBuilder outer = builder;
    auto loop = scf::WhileOp::create(
        outer, SmallVector<Type>(inits.size(), type), inits,
        [&](OpBuilder &inner, Location loc, ValueRange values) {
          builder.setInsertionPoint(inner.getInsertionBlock(),
                                    inner.getInsertionPoint());
          scf::ConditionOp::create(builder, holds(values), values);
        },
        [&](OpBuilder &inner, Location loc, ValueRange values) {
          builder.setInsertionPoint(inner.getInsertionBlock(),
                                    inner.getInsertionPoint());
          scf::YieldOp::create(builder, next(values));
        });
    builder = outer;
    return loop.getResults();
  }

  /// The remainder of finite \p size and positive, finite \p divisor.
  Value divide(Value size, Value divisor) {
    SmallVector<Value> largest = repeat(
        {divisor},
        [&](ValueRange t) {
          return compare(CmpFPredicate::OLE, t[0], scale(size, 0.5));
        },
        [&](ValueRange t) { return SmallVector<Value>{scale(t[0], 2.0)}; });
    return repeat(
        {size, largest[0]},
        [&](ValueRange values) {
          return compare(CmpFPredicate::OGE, values[1], divisor);
        },
        [&](ValueRange values) {
          Value fits = compare(CmpFPredicate::OGE, values[0], values[1]);
          Value less = arith::SubFOp::create(builder, values[0], values[1]);
          return SmallVector<Value>{select(fits, less, values[0]),
                                    scale(values[1], 0.5)};
        })[0];
  }
};

struct ExpandRemainders
    : public ckpt::impl::ExpandRemaindersBase<ExpandRemainders> {
  void runOnOperation() override {
    getOperation()->walk([](arith::RemFOp op) {
      OpBuilder builder(op);
      op.replaceAllUsesWith(expand(builder, op));
      op.erase();
    });
  }

  /// A vector is taken apart: each element has a trip count of its own.
  static Value expand(OpBuilder &builder, arith::RemFOp op) {
    Location loc = op.getLoc();
    auto type = cast<FloatType>(getElementTypeOrSelf(op.getType()));
    auto vector = dyn_cast<VectorType>(op.getType());
    if (!vector)
      return Remainder(builder, loc, type).emit(op.getLhs(), op.getRhs());
    SmallVector<Value> elements;
    SmallVector<int64_t> strides = computeStrides(vector.getShape());
    for (int64_t i = 0; i < vector.getNumElements(); ++i) {
      SmallVector<int64_t> at = delinearize(i, strides);
      Value x = vector::ExtractOp::create(builder, loc, op.getLhs(), at);
      Value y = vector::ExtractOp::create(builder, loc, op.getRhs(), at);
      elements.push_back(Remainder(builder, loc, type).emit(x, y));
    }
    return vector::FromElementsOp::create(builder, loc, vector, elements);
  }
};
} // namespace
