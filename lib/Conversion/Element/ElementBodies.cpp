//===- ElementBodies.cpp - Scalar code around an element ------------------===//
//
// The bodies of linalg ops, of `tensor.generate` and of padding, op by op: for
// one element, or for several lanes at a time.
//
//===----------------------------------------------------------------------===//

#include "Conversion/Element/ElementEmitter.h"
#include "ckpt/ExternalModels/ScalarCode.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

using namespace ckpt;
using namespace mlir;

/// Vectors hold no complex numbers.
static bool fitsInLanes(Type type) {
  return !isa<ComplexType>(getElementTypeOrSelf(type));
}

/// Whether \p op takes vectors as it takes scalars.
static bool worksInLanes(Operation &op) {
  return (OpTrait::hasElementwiseMappableTraits(&op) ||
          isa<arith::ConstantOp, linalg::IndexOp, tensor::ExtractOp>(op) ||
          op.hasTrait<OpTrait::IsTerminator>()) &&
         llvm::all_of(op.getOperandTypes(), fitsInLanes) &&
         llvm::all_of(op.getResultTypes(), fitsInLanes);
}

bool ckpt::supportsLanes(Block &body) {
  return llvm::all_of(body, [](Operation &op) {
    // Scalars are the same in all lanes.
    return llvm::all_of(op.getResultTypes(), fitsInLanes) &&
           llvm::all_of(op.getRegions(), [](Region &region) {
             return llvm::all_of(region.getOps(), worksInLanes);
           });
  });
}

/// The kernel's numbers must not depend on LLVM's rewrites of its neighbours.
static void dropFastMath(Operation *op) {
  auto fastMath = dyn_cast<arith::ArithFastMathInterface>(op);
  if (fastMath && fastMath.getFastMathFlagsAttr())
    op->setAttr(fastMath.getFastMathAttrName(),
                arith::FastMathFlagsAttr::get(op->getContext(),
                                              arith::FastMathFlags::none));
}

SmallVector<Value> ElementEmitter::emitElementwise(Operation &op,
                                                   ArrayRef<Value> operands) {
  bool vector = llvm::any_of(
      operands, [](Value value) { return isa<VectorType>(value.getType()); });
  IRMapping mapping;
  for (auto [from, to] : llvm::zip_equal(op.getOperands(), operands))
    mapping.map(from, vector ? broadcast(to) : to);
  Operation *clone = builder.clone(op, mapping);
  dropFastMath(clone);
  for (OpResult result : clone->getResults()) {
    Type type = getElementTypeOrSelf(result.getType());
    result.setType(vector ? VectorType::get(index.getLanes(), type) : type);
  }
  return SmallVector<Value>(clone->getResults());
}

Value ElementEmitter::mapped(Value value, IRMapping &mapping) {
  if (Value known = mapping.lookupOrNull(value))
    return known;
  return emitScalar(value);
}

SmallVector<Value> ElementEmitter::emitBlock(Block &block, IRMapping &mapping,
                                             ArrayRef<LinearIndex> loops) {
  for (Operation &op : block.without_terminator()) {
    SmallVector<Value> values = emitBlockOp(op, mapping, loops);
    if (values.empty())
      return {};
    mapping.map(op.getResults(), values);
  }
  SmallVector<Value> yielded;
  for (Value value : block.getTerminator()->getOperands()) {
    yielded.push_back(mapped(value, mapping));
    if (!yielded.back())
      return {};
  }
  return yielded;
}

SmallVector<Value> ElementEmitter::emitBlockOp(Operation &op,
                                               IRMapping &mapping,
                                               ArrayRef<LinearIndex> loops) {
  if (auto linalgIndex = dyn_cast<linalg::IndexOp>(op))
    return {index.materialize(loops[linalgIndex.getDim()])};
  if (op.hasTrait<OpTrait::ConstantLike>())
    return SmallVector<Value>(builder.clone(op)->getResults());
  if (auto extract = dyn_cast<tensor::ExtractOp>(op)) {
    Value element = emitExtract(extract, mapping, loops);
    return element ? SmallVector<Value>{element} : SmallVector<Value>();
  }
  if (!isScalarCode(&op) || (index.getLanes() != 1 && !worksInLanes(op))) {
    op.emitError("expected scalar code inside a kernel, but got '")
        << op.getName() << "'";
    return {};
  }
  SmallVector<Value> operands;
  for (Value operand : op.getOperands()) {
    operands.push_back(mapped(operand, mapping));
    if (!operands.back())
      return {};
  }
  return emitElementwise(op, operands);
}

std::optional<LinearIndex>
ElementEmitter::linearForm(Value value, ArrayRef<LinearIndex> loops) {
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return LinearIndex(constant.getSExtValue());
  Operation *op = value.getDefiningOp();
  if (auto linalgIndex = dyn_cast_or_null<linalg::IndexOp>(op))
    return loops[linalgIndex.getDim()];
  if (!isa_and_nonnull<arith::AddIOp, arith::SubIOp, arith::MulIOp>(op))
    return std::nullopt;
  auto left = linearForm(op->getOperand(0), loops);
  auto right = linearForm(op->getOperand(1), loops);
  if (!left || !right)
    return std::nullopt;
  if (isa<arith::AddIOp>(op))
    return *left + *right;
  if (isa<arith::SubIOp>(op))
    return *left - *right;
  if (!left->isConstant())
    std::swap(left, right);
  if (!left->isConstant())
    return std::nullopt;
  return *right * left->getConstant();
}

LinearIndex ElementEmitter::clampedIndex(Value value, int64_t extent) {
  bool vector = isa<VectorType>(value.getType());
  auto constant = [&](int64_t number) -> Value {
    Value scalar = arith::ConstantIndexOp::create(builder, number);
    return vector ? broadcast(scalar) : scalar;
  };
  value = arith::MaxSIOp::create(builder, value, constant(0));
  value = arith::MinSIOp::create(builder, value, constant(extent - 1));
  return index.atom(value, extent);
}

Value ElementEmitter::emitExtract(tensor::ExtractOp op, IRMapping &mapping,
                                  ArrayRef<LinearIndex> loops) {
  // A gather whose result is not used for indices out of range (JAX's "fill"
  // mode) still reads: keep it inside the tensor.
  SmallVector<LinearIndex> at;
  for (auto [value, extent] :
       llvm::zip_equal(op.getIndices(), shapeOf(op.getTensor()))) {
    if (auto linear = linearForm(value, loops)) {
      at.push_back(index.clamp(*linear, {0, extent}).index);
      continue;
    }
    Value dynamic = mapped(value, mapping);
    if (!dynamic)
      return Value();
    at.push_back(clampedIndex(dynamic, extent));
  }
  return emit(op.getTensor(), at);
}
