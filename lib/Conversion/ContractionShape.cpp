//===- ContractionShape.cpp - A contraction as strides in memory ----------===//

#include "ContractionShape.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace ckpt;
using namespace mlir;

int64_t LoopGroup::getExtent() const {
  return ShapedType::getNumElements(extents);
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
      left = address(body.left, cutter, leftTensor);
      if (left && !cutter.failed)
        right = address(body.right, cutter, rightTensor);
      if (!cutter.failed)
        return left && right;
      if (!cutter.cut || !applyCut(*cutter.cut))
        return false;
    }
  }

  LoopGroup group(ArrayRef<unsigned> loops) const {
    LoopGroup group;
    for (unsigned loop : loops) {
      group.loops.push_back(loop);
      group.extents.push_back(ShapedType::getNumElements(parts[loop]));
      for (auto [part, extent] : llvm::enumerate(parts[loop]))
        group.parts.push_back({extent, left->factorOf(atoms[loop][part]),
                               right->factorOf(atoms[loop][part])});
    }
    return group;
  }

  std::optional<LinearIndex> left, right;
  Value leftTensor, rightTensor;

private:
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

  std::optional<LinearIndex> address(OpOperand *operand, LoopCutter &cutter,
                                     Value &tensor) {
    SmallVector<LinearIndex> loops;
    for (unsigned loop = 0; loop < op.getNumLoops(); ++loop)
      loops.push_back(loopIndex(loop));
    tensor = operand->get();
    SmallVector<LinearIndex> at =
        applyMap(op.getMatchingIndexingMap(operand), loops, cutter);
    while (!cutter.failed && !isInMemory(tensor))
      if (!stepUp(tensor, at, cutter))
        return std::nullopt;
    return linearize(at, shapeOf(tensor));
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

  /// Replaces \p tensor by what it is a view of.
  static bool stepUp(Value &tensor, SmallVector<LinearIndex> &at,
                     LoopCutter &cutter) {
    Operation *producer = tensor.getDefiningOp();
    if (isa_and_nonnull<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(
            producer)) {
      LinearIndex position = linearize(at, shapeOf(tensor));
      tensor = producer->getOperand(0);
      at = delinearize(position, shapeOf(tensor), cutter);
      return true;
    }
    if (auto slice = dyn_cast_or_null<tensor::ExtractSliceOp>(producer))
      return stepUpSlice(slice, tensor, at);
    auto copy = dyn_cast_or_null<linalg::LinalgOp>(producer);
    return copy && stepUpCopy(copy, tensor, at, cutter);
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
};

} // namespace

std::optional<ContractionShape>
ckpt::matchContractionShape(KernelCode &code, linalg::LinalgOp op) {
  std::optional<ContractionBody> body = matchContraction(op);
  AffineMap out = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  if (!body || !out.isProjectedPermutation() ||
      out.getNumResults() != op.getNumParallelLoops())
    return std::nullopt;
  // What lies next to each other in the result lies in lanes.
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
  ContractionShape shape{*body,
                         {finder.leftTensor, finder.left->getConstant()},
                         {finder.rightTensor, finder.right->getConstant()},
                         finder.group(batch),
                         finder.group(rows),
                         finder.group(columns),
                         finder.group(reduced)};
  if (shape.columns.getExtent() == 1)
    return std::nullopt;
  return shape;
}

//===----------------------------------------------------------------------===//
// Addresses
//===----------------------------------------------------------------------===//

LinearIndex ckpt::operandOffset(const LoopGroup &group,
                                const LinearIndex &counter, bool right,
                                IndexDivider &divider) {
  SmallVector<int64_t> extents;
  for (const StridedLoop &part : group.parts)
    extents.push_back(part.extent);
  LinearIndex sum;
  for (auto [part, at] :
       llvm::zip_equal(group.parts, delinearize(counter, extents, divider)))
    sum = sum + at * (right ? part.rightStride : part.leftStride);
  return sum;
}

SmallVector<LinearIndex> ckpt::resultIndices(linalg::LinalgOp op,
                                             const ContractionShape &shape,
                                             const ContractionPoint &point,
                                             IndexDivider &divider) {
  SmallVector<LinearIndex> loops(op.getNumLoops());
  auto set = [&](const LoopGroup &group, const LinearIndex &counter) {
    for (auto [loop, at] : llvm::zip_equal(
             group.loops, delinearize(counter, group.extents, divider)))
      loops[loop] = at;
  };
  set(shape.batch, point.batch);
  set(shape.rows, point.row);
  set(shape.columns, point.column);
  return applyMap(op.getMatchingIndexingMap(op.getDpsInitOperand(0)), loops,
                  divider);
}
