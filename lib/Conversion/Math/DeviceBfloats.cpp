//===- DeviceBfloats.cpp - Roundings to bf16 by a GPU's instructions ------===//
//
// Upstream rounds an f32 to bf16 by six instructions on its bits. Devices since
// sm_80 round two at a time by one, to nearest even as well. A bf16 that is
// widened at once stays where it is, in the upper half of an f32.
//
// A quotient of two bf16 that is rounded to bf16 takes no exact division. By a
// reciprocal it is wrong by less than 2^-21 of itself. It lies at least 2^-17
// of itself from every number m in the middle between two bf16: m has 9 bits
// and is odd, so m times the divisor is a whole number below 2^17, and never
// the dividend, which has 8 bits. Where the divisor or the quotient is smaller
// than normal numbers are, the division is exact.
//
//===----------------------------------------------------------------------===//

#include "ckpt/Conversion/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace ckpt {
#define GEN_PASS_DEF_DEVICEBFLOATS
#include "ckpt/Conversion/Passes.h.inc"
} // namespace ckpt

using namespace mlir;

static bool isElement(Value value, llvm::function_ref<bool(Type)> isType) {
  return isType(getElementTypeOrSelf(value.getType()));
}
static bool isBfloat(Value value) {
  return isElement(value, [](Type type) { return type.isBF16(); });
}
static bool isSingle(Value value) {
  return isElement(value, [](Type type) { return type.isF32(); });
}

/// Whether all numbers of the f32 \p value are bf16.
static bool isWidened(Value value) {
  if (auto extension = value.getDefiningOp<arith::ExtFOp>())
    return isBfloat(extension.getIn());
  auto constant = value.getDefiningOp<arith::ConstantOp>();
  if (!constant)
    return false;
  auto isExact = [](APFloat number) {
    bool losesInfo = false;
    number.convert(APFloat::BFloat(), APFloat::rmNearestTiesToEven, &losesInfo);
    return !losesInfo;
  };
  if (auto number = dyn_cast<FloatAttr>(constant.getValue()))
    return isExact(number.getValue());
  auto numbers = dyn_cast<DenseFPElementsAttr>(constant.getValue());
  return numbers && llvm::all_of(numbers.getValues<APFloat>(), isExact);
}

namespace {
/// Writes code in place of one op.
class DeviceCode {
public:
  explicit DeviceCode(Operation *op) : builder(op->getLoc(), op) {}

  Value widenRounded(Value x);
  Value round(Value x, Type type);
  Value divide(arith::DivFOp op);

private:
  SmallVector<Value> lanes(Value x);
  Value join(ArrayRef<Value> lanes, Type type);
  Value roundPair(Value upper, Value lower);
  Value isRisky(Value dividend, Value divisor, Value quotient);
  Value number(double value);
  Value compare(arith::CmpFPredicate predicate, Value a, Value b);

  ImplicitLocOpBuilder builder;
};
} // namespace

SmallVector<Value> DeviceCode::lanes(Value x) {
  auto type = dyn_cast<VectorType>(x.getType());
  if (!type)
    return {x};
  auto elements = vector::ToElementsOp::create(builder, x);
  return SmallVector<Value>(elements.getResults());
}

Value DeviceCode::join(ArrayRef<Value> lanes, Type type) {
  if (!isa<VectorType>(type))
    return lanes.front();
  return vector::FromElementsOp::create(builder, cast<VectorType>(type), lanes);
}

Value DeviceCode::number(double value) {
  return arith::ConstantOp::create(builder, builder.getF32FloatAttr(value));
}

Value DeviceCode::compare(arith::CmpFPredicate predicate, Value a, Value b) {
  return arith::CmpFOp::create(builder, predicate, a, b);
}

/// The bits of two f32 as bf16, in one integer. The intrinsic of LLVM has a
/// result of bf16, of which `ckpt-bfloats-to-integers` may leave none.
Value DeviceCode::roundPair(Value upper, Value lower) {
  return LLVM::InlineAsmOp::create(
             builder, builder.getI32Type(), ValueRange{upper, lower},
             "cvt.rn.bf16x2.f32 $0, $1, $2;", "=r,f,f",
             /*has_side_effects=*/false, /*is_align_stack=*/false,
             LLVM::TailCallKind::None, LLVM::AsmDialectAttr(), ArrayAttr())
      .getResult(0);
}

/// The f32 \p x as a bf16, widened.
Value DeviceCode::widenRounded(Value x) {
  Value zero = number(0);
  SmallVector<Value> rounded;
  for (Value lane : lanes(x))
    rounded.push_back(arith::BitcastOp::create(builder, builder.getF32Type(),
                                               roundPair(lane, zero)));
  return join(rounded, x.getType());
}

/// The f32 \p x as \p type, which is bf16 or a vector of it.
Value DeviceCode::round(Value x, Type type) {
  SmallVector<Value> all = lanes(x);
  auto vectorType = dyn_cast<VectorType>(type);
  if (vectorType && all.size() % 2 == 0) {
    SmallVector<Value> pairs;
    for (size_t lane = 0; lane < all.size(); lane += 2)
      pairs.push_back(roundPair(all[lane + 1], all[lane]));
    auto ofPairs =
        VectorType::get({int64_t(pairs.size())}, builder.getI32Type());
    Value bits = vector::FromElementsOp::create(builder, ofPairs, pairs);
    return vector::BitCastOp::create(builder, vectorType, bits);
  }
  Value zero = number(0);
  SmallVector<Value> rounded;
  for (Value lane : all) {
    Value bits = arith::TruncIOp::create(builder, builder.getI16Type(),
                                         roundPair(zero, lane));
    rounded.push_back(
        arith::BitcastOp::create(builder, builder.getBF16Type(), bits));
  }
  return join(rounded, type);
}

/// Whether \p quotient by a reciprocal may become another bf16 than the exact
/// one.
Value DeviceCode::isRisky(Value dividend, Value divisor, Value quotient) {
  auto isSmall = [&](Value x) {
    return compare(arith::CmpFPredicate::ULT, math::AbsFOp::create(builder, x),
                   number(0x1p-126));
  };
  Value isSome = compare(arith::CmpFPredicate::UNE, dividend, number(0));
  return arith::OrIOp::create(
      builder, isSmall(divisor),
      arith::AndIOp::create(builder, isSmall(quotient), isSome));
}

/// A quotient that becomes the same bf16 as that of \p op. If one lane has to
/// divide exactly, all do, which is rare; lane by lane, since LLVM would always
/// divide a vector, and select.
Value DeviceCode::divide(arith::DivFOp op) {
  SmallVector<Value> dividends = lanes(op.getLhs()),
                     divisors = lanes(op.getRhs()), quotients;
  Value isAnyRisky;
  for (auto [dividend, divisor] : llvm::zip_equal(dividends, divisors)) {
    Value reciprocal =
        NVVM::RcpApproxFtzF32Op::create(builder, builder.getF32Type(), divisor);
    Value quotient = arith::MulFOp::create(builder, dividend, reciprocal);
    Value risk = isRisky(dividend, divisor, quotient);
    isAnyRisky =
        isAnyRisky ? arith::OrIOp::create(builder, isAnyRisky, risk) : risk;
    quotients.push_back(quotient);
  }
  auto choice =
      scf::IfOp::create(builder, TypeRange(ValueRange(quotients)), isAnyRisky,
                        /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(choice.elseBlock());
  scf::YieldOp::create(builder, quotients);
  builder.setInsertionPointToStart(choice.thenBlock());
  for (auto [dividend, divisor, quotient] :
       llvm::zip_equal(dividends, divisors, quotients))
    quotient = arith::DivFOp::create(builder, dividend, divisor);
  scf::YieldOp::create(builder, quotients);
  builder.setInsertionPointAfter(choice);
  return join(SmallVector<Value>(choice.getResults()), op.getType());
}

/// Calls \p replace, which gives a value or none, for the result of every
/// \p Op.
template <typename Op>
static void
replaceEach(Operation *root,
            llvm::function_ref<Value(Op op, DeviceCode &code)> replace) {
  SmallVector<Op> ops;
  root->walk([&](Op op) { ops.push_back(op); });
  for (Op op : ops) {
    DeviceCode code(op);
    if (Value value = replace(op, code)) {
      op->getResult(0).replaceAllUsesWith(value);
      op->erase();
    }
  }
}

/// Lanes lie along one dimension.
static bool isFlat(Value value) {
  auto type = dyn_cast<VectorType>(value.getType());
  return !type || (type.getRank() == 1 && !type.isScalable());
}

static bool isRounding(Operation *op) {
  auto rounding = dyn_cast<arith::TruncFOp>(op);
  return rounding && isBfloat(rounding.getOut()) &&
         isSingle(rounding.getIn()) && isFlat(rounding.getIn());
}

namespace {
struct DeviceBfloats : public ckpt::impl::DeviceBfloatsBase<DeviceBfloats> {
  void runOnOperation() override {
    replaceEach<arith::DivFOp>(
        getOperation(), [](arith::DivFOp op, DeviceCode &code) -> Value {
          bool isOfBfloats = isSingle(op) && isWidened(op.getLhs()) &&
                             isWidened(op.getRhs()) &&
                             llvm::all_of(op->getUsers(), isRounding);
          return isOfBfloats ? code.divide(op) : Value();
        });
    replaceEach<arith::ExtFOp>(
        getOperation(), [](arith::ExtFOp op, DeviceCode &code) -> Value {
          Operation *rounding = op.getIn().getDefiningOp();
          bool isRounded = rounding && isRounding(rounding) && isSingle(op);
          return isRounded ? code.widenRounded(rounding->getOperand(0))
                           : Value();
        });
    replaceEach<arith::TruncFOp>(
        getOperation(), [](arith::TruncFOp op, DeviceCode &code) -> Value {
          return isRounding(op) && !op->use_empty()
                     ? code.round(op.getIn(), op.getType())
                     : Value();
        });
  }
};
} // namespace
