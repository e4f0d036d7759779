//===- ElementEmitter.cpp - The value of any tensor at an index -----------===//

#include "ElementEmitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace ckpt;
using namespace mlir;

static ArrayRef<int64_t> shapeOf(Value tensor) {
  return cast<ShapedType>(tensor.getType()).getShape();
}

//===----------------------------------------------------------------------===//
// Elements and vectors of them
//===----------------------------------------------------------------------===//

bool ckpt::supportsLanes(Block &body) {
  auto isSupported = [](Operation &op) {
    return OpTrait::hasElementwiseMappableTraits(&op) ||
           isa<arith::ConstantOp, linalg::IndexOp, tensor::ExtractOp>(op) ||
           op.hasTrait<OpTrait::IsTerminator>();
  };
  return llvm::all_of(body, [&](Operation &op) {
    return llvm::all_of(op.getRegions(), [&](Region &region) {
      return llvm::all_of(region.getOps(), isSupported);
    });
  });
}

Value ElementEmitter::broadcast(Value element) {
  if (index.getLanes() == 1 || isa<VectorType>(element.getType()))
    return element;
  auto type = VectorType::get(index.getLanes(), element.getType());
  return vector::BroadcastOp::create(builder, type, element);
}

/// The kernel's numbers must not hang on what LLVM makes of its neighbours.
static void dropFastMath(Operation *op) {
  auto fastMath = dyn_cast<arith::ArithFastMathInterface>(op);
  if (fastMath && fastMath.getFastMathFlagsAttr())
    op->setAttr(fastMath.getFastMathAttrName(),
                arith::FastMathFlagsAttr::get(op->getContext(),
                                              arith::FastMathFlags::none));
}

Value ElementEmitter::emitElementwise(Operation &op,
                                      ArrayRef<Value> operands) {
  bool vector = llvm::any_of(
      operands, [](Value value) { return isa<VectorType>(value.getType()); });
  IRMapping mapping;
  for (auto [from, to] : llvm::zip_equal(op.getOperands(), operands))
    mapping.map(from, vector ? broadcast(to) : to);
  Operation *clone = builder.clone(op, mapping);
  dropFastMath(clone);
  Type type = getElementTypeOrSelf(op.getResult(0).getType());
  clone->getResult(0).setType(
      vector ? VectorType::get(index.getLanes(), type) : type);
  return clone->getResult(0);
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

Value ElementEmitter::load(Value flat, LinearIndex position) {
  position = index.simplify(position);
  int64_t laneFactor = position.factorOf(laneAtom);
  LinearIndex base =
      position - LinearIndex::atom(laneAtom, index.getLanes()) * laneFactor;
  if (index.varies(base) || (laneFactor != 0 && laneFactor != 1)) {
    Value lanes = index.materialize(position);
    int64_t count = index.getLanes();
    Type element = cast<MemRefType>(flat.getType()).getElementType();
    Value zero = arith::ConstantIndexOp::create(builder, 0);
    auto maskType = VectorType::get(count, builder.getI1Type());
    auto type = VectorType::get(count, element);
    Value mask = arith::ConstantOp::create(
        builder, DenseElementsAttr::get(maskType, true));
    Value none =
        arith::ConstantOp::create(builder, builder.getZeroAttr(type));
    return vector::GatherOp::create(builder, type, flat, zero, lanes, mask,
                                    none);
  }
  Value start = index.materialize(base);
  Type element = cast<MemRefType>(flat.getType()).getElementType();
  if (laneFactor == 0)
    return memref::LoadOp::create(builder, flat, start);
  return vector::LoadOp::create(
      builder, VectorType::get(index.getLanes(), element), flat, start);
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
    vector::StoreOp::create(builder, element, flat, index.materialize(base));
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
    // A bool takes a byte in memory.
    if (getElementTypeOrSelf(tensor.getType()).isInteger(1)) {
      Type type = builder.getI1Type();
      if (auto vector = dyn_cast<VectorType>(element.getType()))
        type = VectorType::get(vector.getShape(), type);
      element = arith::TruncIOp::create(builder, type, element);
    }
  } else if (auto result = dyn_cast<OpResult>(tensor)) {
    element = emitResult(result, at);
  }
  if (element)
    known[key] = {element};
  return element;
}

Value ElementEmitter::emitScalar(Value scalar) {
  if (Value argument = memory.lookup(scalar))
    return argument;
  IRMapping mapping;
  Operation *op = scalar.getDefiningOp();
  if (!op)
    return Value();
  Key key{scalar.getAsOpaquePointer(), {}};
  auto found = known.find(key);
  if (found != known.end())
    return found->second.front();
  Value value = emitBlockOp(*op, mapping, {});
  if (value)
    known[key] = {value};
  return value;
}

Value ElementEmitter::emitResult(OpResult result, ArrayRef<LinearIndex> at) {
  using Ats = ArrayRef<LinearIndex>;
  Operation *op = result.getOwner();
  auto reshape = [&](Value source, Ats at) {
    LinearIndex position = linearize(at, shapeOf(result));
    return emit(source, delinearize(index.simplify(position), shapeOf(source),
                                    index));
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
      .Case([&](tensor::GenerateOp op) {
        IRMapping mapping;
        Block &body = op.getBody().front();
        for (auto [argument, at] : llvm::zip_equal(body.getArguments(), at))
          mapping.map(argument, index.materialize(at));
        return emitBlock(body, mapping, at).front();
      })
      .Case([&](tensor::EmptyOp op) -> Value { // Any value will do.
        Type type = op.getType().getElementType();
        return arith::ConstantOp::create(builder, builder.getZeroAttr(type));
      })
      .Case([&](arith::ConstantOp op) { return emitConstant(op, at); })
      .Default([&](Operation *op) -> Value {
        if (!OpTrait::hasElementwiseMappableTraits(op)) {
          op->emitError("expected an op whose elements can be emitted one by "
                        "one, but got '")
              << op->getName() << "'";
          return Value();
        }
        SmallVector<Value> operands;
        for (Value operand : op->getOperands())
          operands.push_back(isa<ShapedType>(operand.getType())
                                 ? emit(operand, at)
                                 : emitScalar(operand));
        return llvm::is_contained(operands, Value())
                   ? Value()
                   : emitElementwise(*op, operands);
      });
}

Value ElementEmitter::emitConstant(arith::ConstantOp op,
                                   ArrayRef<LinearIndex> at) {
  auto splat = dyn_cast<SplatElementsAttr>(op.getValue());
  if (!splat) {
    op.emitError("expected constants other than splats to stand in memory");
    return Value();
  }
  return arith::ConstantOp::create(
      builder, cast<TypedAttr>(splat.getSplatValue<Attribute>()));
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
    else if (!isa<ShapedType>(operand.get().getType()))
      value = emitScalar(operand.get());
    else
      value = emit(operand.get(), applyMap(op.getMatchingIndexingMap(&operand),
                                           loops, index));
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

//===----------------------------------------------------------------------===//
// Bodies
//===----------------------------------------------------------------------===//

Value ElementEmitter::mapped(Value value, IRMapping &mapping) {
  if (Value known = mapping.lookupOrNull(value))
    return known;
  return emitScalar(value);
}

SmallVector<Value> ElementEmitter::emitBlock(Block &block, IRMapping &mapping,
                                             ArrayRef<LinearIndex> loops) {
  for (Operation &op : block.without_terminator()) {
    Value value = emitBlockOp(op, mapping, loops);
    if (!value)
      return {};
    mapping.map(op.getResult(0), value);
  }
  SmallVector<Value> yielded;
  for (Value value : block.getTerminator()->getOperands()) {
    yielded.push_back(mapped(value, mapping));
    if (!yielded.back())
      return {};
  }
  return yielded;
}

Value ElementEmitter::emitBlockOp(Operation &op, IRMapping &mapping,
                                  ArrayRef<LinearIndex> loops) {
  if (auto linalgIndex = dyn_cast<linalg::IndexOp>(op))
    return index.materialize(loops[linalgIndex.getDim()]);
  if (isa<arith::ConstantOp>(op))
    return builder.clone(op)->getResult(0);
  if (auto extract = dyn_cast<tensor::ExtractOp>(op))
    return emitExtract(extract, mapping, loops);
  SmallVector<Value> operands;
  for (Value operand : op.getOperands()) {
    operands.push_back(mapped(operand, mapping));
    if (!operands.back())
      return Value();
  }
  if (op.getNumResults() == 1 && OpTrait::hasElementwiseMappableTraits(&op))
    return emitElementwise(op, operands);
  if (op.getNumResults() != 1 || index.getLanes() != 1) {
    op.emitError("expected a scalar op with one result inside a kernel");
    return Value();
  }
  // Scalar control flow: cloned as it is, with the values that it captures.
  IRMapping scalars = mapping;
  op.walk([&](Operation *inner) {
    for (Value operand : inner->getOperands())
      if (!op.isProperAncestor(operand.getParentBlock()->getParentOp()) &&
          operand.getParentBlock()->getParentOp() != &op &&
          !scalars.contains(operand))
        if (Value value = mapped(operand, mapping))
          scalars.map(operand, value);
  });
  return builder.clone(op, scalars)->getResult(0);
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

//===----------------------------------------------------------------------===//
// Slices, padding, concatenation
//===----------------------------------------------------------------------===//

/// Offsets are kept so that the slice stays inside: at most \p limit.
LinearIndex ElementEmitter::offsetOf(OpFoldResult offset, int64_t limit) {
  if (std::optional<int64_t> constant = getConstantIntValue(offset))
    return *constant;
  return clampedIndex(emitScalar(cast<Value>(offset)), limit + 1);
}

Value ElementEmitter::emitExtractSlice(tensor::ExtractSliceOp op,
                                       ArrayRef<LinearIndex> at) {
  llvm::SmallBitVector dropped = op.getDroppedDims();
  SmallVector<LinearIndex> source;
  size_t next = 0;
  for (auto [dim, extent] : llvm::enumerate(shapeOf(op.getSource()))) {
    int64_t stride = op.getStaticStrides()[dim];
    int64_t size = op.getStaticSizes()[dim];
    LinearIndex offset =
        offsetOf(op.getMixedOffsets()[dim], extent - (size - 1) * stride - 1);
    source.push_back(dropped.test(dim) ? offset
                                       : offset + at[next++] * stride);
  }
  return emit(op.getSource(), source);
}

Value ElementEmitter::emitInsertSlice(tensor::InsertSliceOp op,
                                      ArrayRef<LinearIndex> at) {
  llvm::SmallBitVector dropped = op.getDroppedDims();
  SmallVector<LinearIndex> source;
  Value inside;
  auto require = [&](Value condition) {
    if (!condition)
      return;
    if (inside && isa<VectorType>(inside.getType()) !=
                      isa<VectorType>(condition.getType())) {
      inside = broadcast(inside);
      condition = broadcast(condition);
    }
    inside = inside ? Value(arith::AndIOp::create(builder, inside, condition))
                    : condition;
  };
  for (auto [dim, extent] : llvm::enumerate(shapeOf(op.getDest()))) {
    int64_t stride = op.getStaticStrides()[dim];
    int64_t size = op.getStaticSizes()[dim];
    int64_t span = (size - 1) * stride + 1;
    LinearIndex offset = offsetOf(op.getMixedOffsets()[dim], extent - span);
    ClampedIndex clamped = index.clamp(at[dim] - offset, {0, span});
    require(clamped.inside);
    require(index.isMultiple(clamped.index, stride));
    if (!dropped.test(dim))
      source.push_back(divideIndex(clamped.index, stride, index).first);
  }
  Value inserted = emit(op.getSource(), source);
  if (!inserted || !inside)
    return inserted;
  Value rest = emit(op.getDest(), at);
  return rest ? select(inside, inserted, rest) : Value();
}

Value ElementEmitter::emitPad(tensor::PadOp op, ArrayRef<LinearIndex> at) {
  SmallVector<LinearIndex> source;
  Value inside;
  for (auto [dim, extent] : llvm::enumerate(shapeOf(op.getSource()))) {
    ClampedIndex clamped =
        index.clamp(at[dim] - op.getStaticLow()[dim], {0, extent});
    source.push_back(clamped.index);
    if (!clamped.inside)
      continue;
    if (inside && inside.getType() != clamped.inside.getType()) {
      inside = broadcast(inside);
      clamped.inside = broadcast(clamped.inside);
    }
    inside = inside ? Value(arith::AndIOp::create(builder, inside,
                                                  clamped.inside))
                    : clamped.inside;
  }
  Value element = emit(op.getSource(), source);
  if (!element || !inside)
    return element;
  IRMapping mapping;
  Block &body = op.getRegion().front();
  for (auto [argument, at] : llvm::zip_equal(body.getArguments(), at))
    if (!argument.use_empty())
      mapping.map(argument, index.materialize(at));
  SmallVector<Value> padding = emitBlock(body, mapping, at);
  return padding.empty() ? Value() : select(inside, element, padding.front());
}

Value ElementEmitter::emitConcat(tensor::ConcatOp op,
                                 ArrayRef<LinearIndex> at) {
  uint64_t dim = op.getDim();
  int64_t begin = 0;
  Value result;
  for (Value input : op.getInputs()) {
    int64_t extent = shapeOf(input)[dim];
    SmallVector<LinearIndex> source(at);
    ClampedIndex clamped = index.clamp(at[dim] - begin, {0, extent});
    source[dim] = clamped.index;
    Value element = emit(input, source);
    if (!element)
      return Value();
    result = result ? select(clamped.inside, element, result) : element;
    begin += extent;
  }
  return result;
}
