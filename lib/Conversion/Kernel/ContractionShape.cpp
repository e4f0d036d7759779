//===- ContractionShape.cpp - A contraction as strides in memory ----------===//

#include "Conversion/Kernel/ContractionShape.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"

using namespace ckpt;
using namespace mlir;

int64_t LoopGroup::getExtent() const {
  int64_t extent = 1;
  for (const LoopDigit &digit : digits)
    extent *= digit.extent;
  return extent;
}

bool LoopGroup::isContiguous(bool right) const {
  for (const StridedLoop &part : llvm::reverse(parts))
    if (part.extent > 1)
      return (right ? part.rightStride : part.leftStride) == 1;
  return false;
}

namespace {

/// Wants a loop to be cut where a sum cannot be divided.
class LoopCutter : public IndexDivider {
public:
  bool varies(AtomId) const override { return false; }
  std::pair<LinearIndex, LinearIndex> divide(const LinearIndex &dividend,
                                             int64_t divisor) override {
    if (divisor == 1)
      return {dividend, 0};
    ArrayRef<LinearIndex::Term> terms = dividend.getTerms();
    bool isAtom = terms.size() == 1 && terms.front().factor == 1 &&
                  dividend.getConstant() == 0;
    if (isAtom && terms.front().extent % divisor == 0)
      cut = {terms.front().atom, divisor};
    failed = true;
    return {0, 0};
  }

  bool failed = false;
  /// The atom to cut and the extent of its inner part.
  std::optional<std::pair<AtomId, int64_t>> cut;
};

/// The loops of an op in parts, and addresses as sums over the parts.
class StrideFinder {
public:
  StrideFinder(KernelCode &code, linalg::LinalgOp op) : code(code), op(op) {
    for (int64_t extent : op.getStaticLoopRanges())
      parts.push_back({extent});
  }

  /// Address of both operands of \p body; cuts loops until it is a sum.
  bool find(const ContractionBody &body) {
    for (;;) {
      LoopCutter cutter;
      number();
      borders.clear();
      coordinates.clear();
      left = address(body.left, /*isRight=*/false, cutter, leftTensor);
      if (left && !cutter.failed)
        right = address(body.right, /*isRight=*/true, cutter, rightTensor);
      if (!cutter.failed)
        return left && right;
      if (!cutter.cut || !applyCut(*cutter.cut))
        return false;
    }
  }

  LoopGroup group(ArrayRef<unsigned> loops) const {
    LoopGroup group;
    for (unsigned loop : loops)
      append(group, loop, 0, parts[loop].size());
    return group;
  }

  /// The rows \p loops, of which neighbours in the left operand are neighbours:
  /// in the gradient of a filter, channels rather than its windows. A group
  /// holds the channels of one line of cache memory, so that all their windows
  /// come soon.
  LoopGroup groupRows(ArrayRef<unsigned> loops, const ContractionBody &body) {
    constexpr int64_t line = 16;
    auto isLong = [&](unsigned loop) {
      return ShapedType::getNumElements(parts[loop]) > 1;
    };
    auto close = llvm::find_if(loops, [&](unsigned l) { return isClose(l); });
    if (close == loops.end() || llvm::count_if(loops, isLong) == 1)
      return group(loops);
    SmallVector<int64_t> &cut = parts[*close];
    if (cut.size() == 1 && cut.front() % line == 0) {
      cut = {cut.front() / line, line};
      find(body);
    }
    LoopGroup group;
    for (unsigned loop : loops)
      append(group, loop, 0, parts[loop].size() - (loop == *close));
    append(group, *close, parts[*close].size() - 1, parts[*close].size());
    return group;
  }

  std::optional<LinearIndex> left, right;
  Value leftTensor, rightTensor;
  SmallVector<Border, 2> borders;

private:
  /// Appends the parts of \p loop from \p begin to \p end.
  void append(LoopGroup &group, unsigned loop, size_t begin, size_t end) const {
    ArrayRef<int64_t> all = parts[loop];
    int64_t extent = ShapedType::getNumElements(all.slice(begin, end - begin));
    int64_t factor = ShapedType::getNumElements(all.drop_front(end));
    if (begin < end)
      group.digits.push_back({loop, extent, factor});
    for (size_t part = begin; part < end; ++part) {
      AtomId atom = atoms[loop][part];
      StridedLoop strided{
          all[part], left->factorOf(atom), right->factorOf(atom), {}};
      for (const LinearIndex &coordinate : coordinates)
        strided.borderStrides.push_back(coordinate.factorOf(atom));
      group.parts.push_back(strided);
    }
  }

  /// Whether neighbours along \p loop are neighbours in the left operand.
  bool isClose(unsigned loop) const {
    return parts[loop].back() > 1 && left->factorOf(atoms[loop].back()) == 1;
  }

  /// Gives every part an atom.
  void number() {
    atoms.clear();
    AtomId next = laneAtom + 1;
    for (ArrayRef<int64_t> extents : parts) {
      atoms.emplace_back();
      for (size_t part = 0; part < extents.size(); ++part)
        atoms.back().push_back(next++);
    }
  }

  bool applyCut(std::pair<AtomId, int64_t> cut) {
    for (auto [loop, ids] : llvm::enumerate(atoms))
      for (auto [part, id] : llvm::enumerate(ids))
        if (id == cut.first) {
          parts[loop][part] /= cut.second;
          parts[loop].insert(parts[loop].begin() + part + 1, cut.second);
          return true;
        }
    return false;
  }

  LinearIndex loopIndex(unsigned loop) const {
    LinearIndex index;
    for (auto [extent, atom] : llvm::zip_equal(parts[loop], atoms[loop]))
      index = index * extent + LinearIndex::atom(atom, extent);
    return index;
  }

  std::optional<LinearIndex> address(OpOperand *operand, bool isRight,
                                     LoopCutter &cutter, Value &tensor) {
    SmallVector<LinearIndex> loops;
    for (unsigned loop = 0; loop < op.getNumLoops(); ++loop)
      loops.push_back(loopIndex(loop));
    tensor = operand->get();
    SmallVector<LinearIndex> at =
        applyMap(op.getMatchingIndexingMap(operand), loops, cutter);
    while (!cutter.failed && !isReshapeOfMemory(tensor)) {
      auto pad = tensor.getDefiningOp<tensor::PadOp>();
      if (pad ? !stepUpPad(pad, isRight, tensor, at)
              : !stepUp(tensor, at, cutter))
        return std::nullopt;
    }
    LinearIndex position = linearize(at, shapeOf(tensor));
    while (!cutter.failed && !isInMemory(tensor))
      tensor = tensor.getDefiningOp()->getOperand(0);
    return position;
  }

  /// Reshapes do not move a value in memory.
  bool isReshapeOfMemory(Value tensor) const {
    while (!isInMemory(tensor)) {
      Operation *producer = tensor.getDefiningOp();
      if (!isa_and_nonnull<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(
              producer))
        return false;
      tensor = producer->getOperand(0);
    }
    return true;
  }

  /// The dimensions that are longer than the source of \p pad get borders.
  bool stepUpPad(tensor::PadOp pad, bool isRight, Value &tensor,
                 SmallVector<LinearIndex> &at) {
    Value padding = pad.getConstantPaddingValue();
    if (!padding || !matchPattern(padding, m_PosZeroFloat()))
      return false;
    tensor = pad.getSource();
    for (auto [dim, extent] : llvm::enumerate(shapeOf(tensor))) {
      at[dim] = at[dim] - pad.getStaticLow()[dim];
      if (at[dim].min() >= 0 && at[dim].max() < extent)
        continue;
      borders.push_back({isRight, at[dim].getConstant(), extent});
      coordinates.push_back(at[dim]);
    }
    return true;
  }

  static ArrayRef<int64_t> shapeOf(Value tensor) {
    return cast<RankedTensorType>(tensor.getType()).getShape();
  }

  bool isInMemory(Value tensor) const {
    return llvm::any_of(
               code.inputs,
               [&](const auto &input) { return input.first == tensor; }) ||
           llvm::any_of(code.constants, [&](arith::ConstantOp constant) {
             return constant.getResult() == tensor;
           });
  }

  /// Replaces \p tensor by the value that it is a view of.
  static bool stepUp(Value &tensor, SmallVector<LinearIndex> &at,
                     LoopCutter &cutter) {
    Operation *producer = tensor.getDefiningOp();
    if (auto expand = dyn_cast_or_null<tensor::ExpandShapeOp>(producer))
      return stepUpExpand(expand, tensor, at);
    if (auto collapse = dyn_cast_or_null<tensor::CollapseShapeOp>(producer))
      return stepUpCollapse(collapse, tensor, at, cutter);
    if (auto slice = dyn_cast_or_null<tensor::ExtractSliceOp>(producer))
      return stepUpSlice(slice, tensor, at);
    auto copy = dyn_cast_or_null<linalg::LinalgOp>(producer);
    return copy && stepUpCopy(copy, tensor, at, cutter);
  }

  static bool stepUpExpand(tensor::ExpandShapeOp expand, Value &tensor,
                           SmallVector<LinearIndex> &at) {
    SmallVector<LinearIndex> source;
    for (const ReassociationIndices &dims : expand.getReassociationIndices()) {
      LinearIndex position;
      for (int64_t dim : dims)
        position = position * shapeOf(tensor)[dim] + at[dim];
      source.push_back(position);
    }
    tensor = expand.getSrc();
    at = source;
    return true;
  }

  static bool stepUpCollapse(tensor::CollapseShapeOp collapse, Value &tensor,
                             SmallVector<LinearIndex> &at, LoopCutter &cutter) {
    tensor = collapse.getSrc();
    ArrayRef<int64_t> shape = shapeOf(tensor);
    SmallVector<LinearIndex> source(shape.size());
    for (auto [index, dims] :
         llvm::zip_equal(at, collapse.getReassociationIndices())) {
      SmallVector<int64_t> extents, longer;
      for (int64_t dim : dims)
        if (shape[dim] != 1) {
          longer.push_back(dim);
          extents.push_back(shape[dim]);
        }
      // Outside of a border there is nothing to divide.
      bool isOutside =
          index.min() < 0 || index.max() >= ShapedType::getNumElements(extents);
      if (longer.size() > 1 && isOutside)
        return false;
      for (auto [dim, part] :
           llvm::zip_equal(longer, delinearize(index, extents, cutter)))
        source[dim] = part;
    }
    at = source;
    return true;
  }

  static bool stepUpSlice(tensor::ExtractSliceOp slice, Value &tensor,
                          SmallVector<LinearIndex> &at) {
    if (ShapedType::isDynamicShape(slice.getStaticOffsets()))
      return false;
    llvm::SmallBitVector dropped = slice.getDroppedDims();
    SmallVector<LinearIndex> source;
    size_t next = 0;
    for (auto [dim, offset] : llvm::enumerate(slice.getStaticOffsets())) {
      LinearIndex inside = dropped.test(dim) ? LinearIndex(0) : at[next++];
      source.push_back(inside * slice.getStaticStrides()[dim] + offset);
    }
    tensor = slice.getSource();
    at = source;
    return true;
  }

  /// Transposes and broadcasts: the body yields an input as it is.
  static bool stepUpCopy(linalg::LinalgOp copy, Value &tensor,
                         SmallVector<LinearIndex> &at, LoopCutter &cutter) {
    if (copy.getNumParallelLoops() != copy.getNumLoops() ||
        copy.getNumDpsInits() != 1)
      return false;
    AffineMap map = copy.getMatchingIndexingMap(copy.getDpsInitOperand(0));
    auto argument = dyn_cast<BlockArgument>(
        copy.getBlock()->getTerminator()->getOperand(0));
    if (!map.isPermutation() || !argument ||
        argument.getOwner() != copy.getBlock())
      return false;
    OpOperand *source = copy.getMatchingOpOperand(argument);
    if (!isa<RankedTensorType>(source->get().getType()))
      return false;
    SmallVector<LinearIndex> loops(copy.getNumLoops());
    for (auto [expr, index] : llvm::zip_equal(map.getResults(), at))
      loops[cast<AffineDimExpr>(expr).getPosition()] = index;
    at = applyMap(copy.getMatchingIndexingMap(source), loops, cutter);
    tensor = source->get();
    return true;
  }

  KernelCode &code;
  linalg::LinalgOp op;
  /// Extents of the parts of every loop, outer to inner, and their atoms.
  SmallVector<SmallVector<int64_t>> parts;
  SmallVector<SmallVector<AtomId>> atoms;
  /// Coordinates of the borders.
  SmallVector<LinearIndex> coordinates;
};

} // namespace

std::optional<ContractionShape>
ckpt::matchContractionShape(KernelCode &code, linalg::LinalgOp op) {
  std::optional<ContractionBody> body = matchContraction(op);
  AffineMap out = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  if (!body || !out.isProjectedPermutation() ||
      out.getNumResults() != op.getNumParallelLoops())
    return std::nullopt;
  // Neighbours in the result lie in lanes.
  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  std::optional<unsigned> innermost;
  for (AffineExpr expr : out.getResults())
    if (extents[cast<AffineDimExpr>(expr).getPosition()] > 1)
      innermost = cast<AffineDimExpr>(expr).getPosition();
  if (!innermost)
    return std::nullopt;
  if (!op.getMatchingIndexingMap(body->right).isFunctionOfDim(*innermost))
    std::swap(body->left, body->right);

  StrideFinder finder(code, op);
  if (!finder.find(*body))
    return std::nullopt;
  SmallVector<unsigned> batch, rows, columns, reduced;
  AffineMap leftMap = op.getMatchingIndexingMap(body->left);
  AffineMap rightMap = op.getMatchingIndexingMap(body->right);
  for (AffineExpr expr : out.getResults()) {
    unsigned loop = cast<AffineDimExpr>(expr).getPosition();
    bool inLeft = leftMap.isFunctionOfDim(loop);
    bool inRight = rightMap.isFunctionOfDim(loop);
    (inLeft == inRight ? batch : inLeft ? rows : columns).push_back(loop);
  }
  op.getReductionDims(reduced);
  LoopGroup rowGroup = finder.groupRows(rows, *body);
  ContractionShape shape{*body,
                         {finder.leftTensor, finder.left->getConstant()},
                         {finder.rightTensor, finder.right->getConstant()},
                         finder.borders,
                         finder.group(batch),
                         rowGroup,
                         finder.group(columns),
                         finder.group(reduced)};
  if (shape.columns.getExtent() == 1)
    return std::nullopt;
  return shape;
}

//===----------------------------------------------------------------------===//
// Addresses
//===----------------------------------------------------------------------===//

bool ContractionShape::hasBorders(bool right) const {
  return llvm::any_of(
      borders, [&](const Border &border) { return border.isRight == right; });
}

void ContractionShape::transpose() {
  std::swap(body.left, body.right);
  std::swap(left, right);
  std::swap(rows, columns);
  for (Border &border : borders)
    border.isRight = !border.isRight;
  for (LoopGroup *group : {&batch, &rows, &columns, &reduced})
    for (StridedLoop &part : group->parts)
      std::swap(part.leftStride, part.rightStride);
}

/// The sum of \p strideOf each part of \p group by its counter.
static LinearIndex
sumOverParts(const LoopGroup &group, const LinearIndex &counter,
             IndexDivider &divider,
             llvm::function_ref<int64_t(const StridedLoop &)> strideOf) {
  SmallVector<int64_t> extents;
  for (const StridedLoop &part : group.parts)
    extents.push_back(part.extent);
  LinearIndex sum;
  for (auto [part, at] :
       llvm::zip_equal(group.parts, delinearize(counter, extents, divider)))
    sum = sum + at * strideOf(part);
  return sum;
}

LinearIndex ckpt::operandOffset(const LoopGroup &group,
                                const LinearIndex &counter, bool right,
                                IndexDivider &divider) {
  return sumOverParts(group, counter, divider, [&](const StridedLoop &part) {
    return right ? part.rightStride : part.leftStride;
  });
}

LinearIndex ckpt::borderOffset(const LoopGroup &group,
                               const LinearIndex &counter, size_t border,
                               IndexDivider &divider) {
  return sumOverParts(group, counter, divider, [&](const StridedLoop &part) {
    return part.borderStrides[border];
  });
}

Value ckpt::insideBorders(const ContractionShape &shape, bool right,
                          const OperandPoint &point, ElementEmitter &emitter) {
  IndexEmitter &at = emitter.indices();
  const LoopGroup &outer = right ? shape.columns : shape.rows;
  Value inside;
  for (auto [number, border] : llvm::enumerate(shape.borders)) {
    if (border.isRight != right)
      continue;
    LinearIndex coordinate =
        borderOffset(shape.batch, point.batch, number, at) +
        borderOffset(outer, point.outer, number, at) +
        borderOffset(shape.reduced, point.step, number, at) + border.first;
    inside =
        emitter.both(inside, at.clamp(coordinate, {0, border.extent}).inside);
  }
  return inside;
}

OperandPlace ckpt::operandPlace(const ContractionShape &shape, bool right,
                                const OperandPoint &point,
                                ElementEmitter &emitter) {
  IndexEmitter &at = emitter.indices();
  const LoopGroup &outer = right ? shape.columns : shape.rows;
  const StridedOperand &operand = right ? shape.right : shape.left;
  LinearIndex position = operandOffset(shape.batch, point.batch, right, at) +
                         operandOffset(outer, point.outer, right, at) +
                         operandOffset(shape.reduced, point.step, right, at) +
                         operand.offset;
  Value inside = insideBorders(shape, right, point, emitter);
  if (inside) {
    int64_t elements =
        cast<RankedTensorType>(operand.tensor.getType()).getNumElements();
    position = at.clamp(at.simplify(position), {0, elements}).index;
  }
  return {position, inside};
}

SmallVector<LinearIndex> ckpt::resultIndices(linalg::LinalgOp op,
                                             const ContractionShape &shape,
                                             const ContractionPoint &point,
                                             IndexDivider &divider) {
  SmallVector<LinearIndex> loops(op.getNumLoops());
  auto set = [&](const LoopGroup &group, const LinearIndex &counter) {
    SmallVector<int64_t> extents;
    for (const LoopDigit &digit : group.digits)
      extents.push_back(digit.extent);
    for (auto [digit, at] :
         llvm::zip_equal(group.digits, delinearize(counter, extents, divider)))
      loops[digit.loop] = loops[digit.loop] + at * digit.factor;
  };
  set(shape.batch, point.batch);
  set(shape.rows, point.row);
  set(shape.columns, point.column);
  return applyMap(op.getMatchingIndexingMap(op.getDpsInitOperand(0)), loops,
                  divider);
}
