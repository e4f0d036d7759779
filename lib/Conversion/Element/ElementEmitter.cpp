//===- ElementEmitter.cpp - The value of any tensor at an index -----------===//

#include "Conversion/Element/ElementEmitter.h"
#include "ckpt/Analysis/Supported.h"
#include "ckpt/Support/ElementBytes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/ProgramStack.h"
#include <numeric>

using namespace ckpt;
using namespace mlir;

//===----------------------------------------------------------------------===//
// Elements and vectors of them
//===----------------------------------------------------------------------===//

Value ElementEmitter::broadcast(Value element) {
  if (index.getLanes() == 1 || isa<VectorType>(element.getType()))
    return element;
  auto type = VectorType::get(index.getLanes(), element.getType());
  return vector::BroadcastOp::create(builder, type, element);
}

Value ElementEmitter::select(Value condition, Value ifTrue, Value ifFalse) {
  if (!condition)
    return ifTrue;
  if (isa<VectorType>(condition.getType()) ||
      ifTrue.getType() != ifFalse.getType()) {
    ifTrue = broadcast(ifTrue);
    ifFalse = broadcast(ifFalse);
  }
  return arith::SelectOp::create(builder, condition, ifTrue, ifFalse);
}

Value ElementEmitter::both(Value first, Value second) {
  if (!first || !second)
    return first ? first : second;
  if (first.getType() != second.getType()) {
    first = broadcast(first);
    second = broadcast(second);
  }
  return arith::AndIOp::create(builder, first, second);
}

Value ElementEmitter::orZero(Value condition, Value element) {
  if (!condition)
    return element;
  return select(condition, element,
                arith::ConstantOp::create(
                    builder, builder.getZeroAttr(element.getType())));
}

/// Alignment of an access to all lanes that begins at element \p start.
llvm::MaybeAlign ElementEmitter::alignmentOf(const LinearIndex &start,
                                             Value flat) const {
  if (alignment == 0)
    return llvm::MaybeAlign();
  int64_t elements = std::abs(start.getConstant());
  for (const LinearIndex::Term &term : start.getTerms())
    elements = std::gcd(elements, term.factor);
  Type type = cast<MemRefType>(flat.getType()).getElementType();
  return llvm::commonAlignment(llvm::Align(alignment),
                               elements * elementBytes(type));
}

Value ElementEmitter::loadMasked(Value flat, LinearIndex position, Value inside,
                                 Value other) {
  Type element = cast<MemRefType>(flat.getType()).getElementType();
  if (!masks || !hasMaskedReads(element, index.getLanes()))
    return Value();
  std::optional<MaskedNeighbours> lanes =
      index.maskedNeighbours(index.simplify(position));
  if (!lanes)
    return Value();
  auto type = VectorType::get(index.getLanes(), element);
  if (!other) {
    inside = lanes->inside;
    // Divisors that nobody uses must not be zero either.
    other =
        memref::LoadOp::create(builder, flat, index.materialize(lanes->any));
  }
  if (getElementTypeOrSelf(other.getType()) != element)
    return Value();
  return vector::MaskedLoadOp::create(builder, type, flat,
                                      index.materialize(lanes->start),
                                      broadcast(inside), broadcast(other));
}

Value ElementEmitter::load(Value flat, LinearIndex position) {
  position = index.simplify(position);
  if (reads)
    reads->push_back({flat, position});
  int64_t laneFactor = position.factorOf(laneAtom);
  LinearIndex base =
      position - LinearIndex::atom(laneAtom, index.getLanes()) * laneFactor;
  if (index.varies(base) || (laneFactor != 0 && laneFactor != 1)) {
    if (Value element = loadMasked(flat, position))
      return element;
    Value lanes = index.materialize(position);
    int64_t count = index.getLanes();
    Type element = cast<MemRefType>(flat.getType()).getElementType();
    Value zero = arith::ConstantIndexOp::create(builder, 0);
    auto maskType = VectorType::get(count, builder.getI1Type());
    auto type = VectorType::get(count, element);
    Value mask = arith::ConstantOp::create(
        builder, DenseElementsAttr::get(maskType, true));
    Value none = arith::ConstantOp::create(builder, builder.getZeroAttr(type));
    return vector::GatherOp::create(builder, type, flat, zero, lanes, mask,
                                    none);
  }
  Value start = index.materialize(base);
  Type element = cast<MemRefType>(flat.getType()).getElementType();
  if (laneFactor == 0)
    return memref::LoadOp::create(builder, flat, start);
  return vector::LoadOp::create(
      builder, VectorType::get(index.getLanes(), element), flat, start,
      /*nontemporal=*/false, alignmentOf(base, flat));
}

Value ElementEmitter::alignedStart(Value flat, LinearIndex position) {
  position = index.simplify(position);
  LinearIndex base = position - index.lane();
  if (index.varies(base) || position.factorOf(laneAtom) != 1)
    return Value();
  Type type = cast<MemRefType>(flat.getType()).getElementType();
  uint64_t bytes = index.getLanes() * type.getIntOrFloatBitWidth() / 8;
  llvm::MaybeAlign known = alignmentOf(base, flat);
  return known && known->value() >= bytes ? index.materialize(base) : Value();
}

void ElementEmitter::store(Value element, Value flat, LinearIndex position) {
  element = broadcast(element);
  position = index.simplify(position);
  if (index.getLanes() == 1) {
    memref::StoreOp::create(builder, element, flat,
                            index.materialize(position));
    return;
  }
  LinearIndex base = position - index.lane();
  if (!index.varies(base)) {
    vector::StoreOp::create(builder, element, flat, index.materialize(base),
                            /*nontemporal=*/false, alignmentOf(base, flat));
    return;
  }
  int64_t lanes = index.getLanes();
  auto maskType = VectorType::get(lanes, builder.getI1Type());
  Value mask = arith::ConstantOp::create(
      builder, DenseElementsAttr::get(maskType, true));
  Value zero = arith::ConstantIndexOp::create(builder, 0);
  vector::ScatterOp::create(builder, /*resultType=*/Type(), flat, zero,
                            index.materialize(position), mask, element);
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

Value ElementEmitter::emit(Value tensor, ArrayRef<LinearIndex> at) {
  if (Value element = current.lookup(tensor))
    return element;
  Key key{tensor.getAsOpaquePointer(), SmallVector<LinearIndex>(at)};
  auto found = known.find(key);
  if (found != known.end())
    return found->second.front();
  Value element;
  if (Value flat = memory.lookup(tensor)) {
    element = load(flat, linearize(at, shapeOf(tensor)));
    // A narrow integer takes whole bytes in memory.
    Type type = getElementTypeOrSelf(tensor.getType());
    if (type != getElementTypeOrSelf(element.getType())) {
      if (auto vector = dyn_cast<VectorType>(element.getType()))
        type = VectorType::get(vector.getShape(), type);
      element = arith::TruncIOp::create(builder, type, element);
    }
  } else if (auto result = dyn_cast<OpResult>(tensor)) {
    // A kernel may be a chain of 100,000 ops.
    constexpr int32_t depthOfStack = 500;
    auto emitHere = [&] { element = emitResult(result, at); };
    if (++depth % depthOfStack == 0)
      llvm::runOnNewStack(llvm::getDefaultStackSize(), emitHere);
    else
      emitHere();
    --depth;
  }
  if (element)
    known[key] = {element};
  return element;
}

Value ElementEmitter::emitScalar(Value scalar) {
  if (Value argument = memory.lookup(scalar))
    return argument;
  IRMapping mapping;
  auto result = dyn_cast<OpResult>(scalar);
  if (!result)
    return Value();
  Key key{result.getOwner(), {}};
  auto found = known.find(key);
  if (found != known.end())
    return found->second[result.getResultNumber()];
  SmallVector<Value> values = emitBlockOp(*result.getOwner(), mapping, {});
  if (values.empty())
    return Value();
  return (known[key] = values)[result.getResultNumber()];
}

Value ElementEmitter::emitResult(OpResult result, ArrayRef<LinearIndex> at) {
  using Ats = ArrayRef<LinearIndex>;
  Operation *op = result.getOwner();
  auto reshape = [&](Value source, Ats at) {
    LinearIndex position = linearize(at, shapeOf(result));
    return emit(source,
                delinearize(index.simplify(position), shapeOf(source), index));
  };
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case([&](linalg::LinalgOp op) {
        return emitLinalg(op, result.getResultNumber(), at);
      })
      .Case<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(
          [&](auto op) { return reshape(op.getSrc(), at); })
      .Case([&](tensor::ReshapeOp op) { return reshape(op.getSource(), at); })
      .Case([&](tensor::CastOp op) { return emit(op.getSource(), at); })
      .Case([&](tensor::ExtractSliceOp op) { return emitExtractSlice(op, at); })
      .Case([&](tensor::InsertSliceOp op) { return emitInsertSlice(op, at); })
      .Case([&](tensor::PadOp op) { return emitPad(op, at); })
      .Case([&](tensor::ConcatOp op) { return emitConcat(op, at); })
      .Case([&](tensor::SplatOp op) { return emitScalar(op.getInput()); })
      .Case([&](tensor::FromElementsOp op) { return emitFromElements(op, at); })
      .Case([&](tensor::GenerateOp op) -> Value {
        IRMapping mapping;
        Block &body = op.getBody().front();
        for (auto [argument, at] : llvm::zip_equal(body.getArguments(), at))
          mapping.map(argument, index.materialize(at));
        SmallVector<Value> elements = emitBlock(body, mapping, at);
        return elements.empty() ? Value() : elements.front();
      })
      .Case([&](tensor::BitcastOp op) -> Value {
        Value element = emit(op.getSource(), at);
        if (!element)
          return Value();
        Type type = op.getType().getElementType();
        if (auto vector = dyn_cast<VectorType>(element.getType()))
          type = vector.clone(type);
        return arith::BitcastOp::create(builder, type, element);
      })
      .Case([&](tensor::EmptyOp op) { // Any value will do.
        return emitZero(op.getType().getElementType());
      })
      .Case([&](arith::ConstantOp op) { return emitConstant(op, at); })
      .Default([&](Operation *op) -> Value {
        if (!OpTrait::hasElementwiseMappableTraits(op)) {
          (void)refuseToLower(op);
          return Value();
        }
        SmallVector<Value> operands;
        for (Value operand : op->getOperands())
          operands.push_back(isa<ShapedType>(operand.getType())
                                 ? emit(operand, at)
                                 : emitScalar(operand));
        return llvm::is_contained(operands, Value())
                   ? Value()
                   : emitElementwise(*op, operands)[result.getResultNumber()];
      });
}

Value ElementEmitter::emitConstant(arith::ConstantOp op,
                                   ArrayRef<LinearIndex> at) {
  auto splat = dyn_cast<SplatElementsAttr>(op.getValue());
  if (!splat) {
    op.emitError("expected constants other than splats to stand in memory");
    return Value();
  }
  Type type = getElementTypeOrSelf(op.getType());
  auto element = splat.getSplatValue<Attribute>();
  if (isa<ComplexType>(type))
    return complex::ConstantOp::create(builder, type, cast<ArrayAttr>(element));
  return arith::ConstantOp::create(builder, cast<TypedAttr>(element));
}

Value ElementEmitter::emitZero(Type type) {
  auto pair = dyn_cast<ComplexType>(type);
  if (!pair)
    return arith::ConstantOp::create(builder, builder.getZeroAttr(type));
  Attribute zero = builder.getZeroAttr(pair.getElementType());
  return complex::ConstantOp::create(builder, type,
                                     builder.getArrayAttr({zero, zero}));
}

Value ElementEmitter::emitFromElements(tensor::FromElementsOp op,
                                       ArrayRef<LinearIndex> at) {
  LinearIndex position = index.simplify(linearize(at, shapeOf(op)));
  if (position.isConstant())
    return emitScalar(op.getElements()[position.getConstant()]);
  Value result;
  for (auto [number, element] : llvm::enumerate(op.getElements())) {
    int64_t here = number;
    ClampedIndex clamped = index.clamp(position, {here, here + 1});
    Value value = emitScalar(element);
    if (!value)
      return Value();
    result = result ? select(clamped.inside, value, result) : value;
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Linalg
//===----------------------------------------------------------------------===//

static LinearIndex applyExpr(AffineExpr expr, ArrayRef<LinearIndex> loops,
                             IndexDivider &divider) {
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return loops[dim.getPosition()];
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return constant.getValue();
  auto binary = cast<AffineBinaryOpExpr>(expr);
  LinearIndex left = applyExpr(binary.getLHS(), loops, divider);
  LinearIndex right = applyExpr(binary.getRHS(), loops, divider);
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return left + right;
  case AffineExprKind::Mul:
    return left * right.getConstant();
  case AffineExprKind::FloorDiv:
    return divideIndex(left, right.getConstant(), divider).first;
  case AffineExprKind::Mod:
    return divideIndex(left, right.getConstant(), divider).second;
  default:
    return divideIndex(left + (right.getConstant() - 1), right.getConstant(),
                       divider)
        .first; // Rounded up.
  }
}

SmallVector<LinearIndex> ckpt::applyMap(AffineMap map,
                                        ArrayRef<LinearIndex> loops,
                                        IndexDivider &divider) {
  return llvm::map_to_vector(map.getResults(), [&](AffineExpr expr) {
    return applyExpr(expr, loops, divider);
  });
}

Value ElementEmitter::emitOperand(OpOperand &operand,
                                  ArrayRef<LinearIndex> loops) {
  if (!isa<ShapedType>(operand.get().getType()))
    return emitScalar(operand.get());
  auto op = cast<linalg::LinalgOp>(operand.getOwner());
  return emit(operand.get(),
              applyMap(op.getMatchingIndexingMap(&operand), loops, index));
}

SmallVector<Value> ElementEmitter::emitBody(linalg::LinalgOp op,
                                            ArrayRef<LinearIndex> loops,
                                            ArrayRef<Value> inits) {
  IRMapping mapping;
  for (OpOperand &operand : op->getOpOperands()) {
    BlockArgument argument = op.getMatchingBlockArgument(&operand);
    if (argument.use_empty())
      continue;
    Value value;
    if (op.isDpsInit(&operand) && !inits.empty())
      value = inits[operand.getOperandNumber() - op.getNumDpsInputs()];
    else
      value = emitOperand(operand, loops);
    if (!value)
      return {};
    mapping.map(argument, value);
  }
  return emitBlock(*op.getBlock(), mapping, loops);
}

Value ElementEmitter::emitLinalg(linalg::LinalgOp op, unsigned result,
                                 ArrayRef<LinearIndex> at) {
  AffineMap map = op.getMatchingIndexingMap(op.getDpsInitOperand(result));
  if (op.getNumParallelLoops() != op.getNumLoops() || !map.isPermutation()) {
    op.emitOpError("expected only parallel loops inside a kernel, but got a "
                   "reduction that is not its anchor");
    return Value();
  }
  SmallVector<LinearIndex> loops(op.getNumLoops());
  for (auto [expr, at] : llvm::zip_equal(map.getResults(), at))
    loops[cast<AffineDimExpr>(expr).getPosition()] = at;
  Key key{op.getOperation(), loops};
  auto found = known.find(key);
  if (found != known.end())
    return found->second[result];
  SmallVector<Value> yielded = emitBody(op, loops, {});
  if (yielded.empty())
    return Value();
  return (known[key] = yielded)[result];
}
