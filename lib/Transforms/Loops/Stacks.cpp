//===- Stacks.cpp - Tensors that are put together from pieces -------------===//

#include "Transforms/Loops/Stacks.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/ReshapeOpsUtils.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace ckpt;
namespace linalg = mlir::linalg;
namespace tensor = mlir::tensor;
using mlir::RankedTensorType;
using Reassociation = SmallVector<mlir::ReassociationIndices>;

static RankedTensorType typeOf(Value value) {
  return cast<RankedTensorType>(value.getType());
}

static RankedTensorType withRows(RankedTensorType type, int64_t dim,
                                 int64_t rows) {
  SmallVector<int64_t> shape(type.getShape());
  shape[dim] = rows;
  return type.clone(shape);
}

static RankedTensorType withoutDim(RankedTensorType type, int64_t dim) {
  SmallVector<int64_t> shape(type.getShape());
  shape.erase(shape.begin() + dim);
  return type.clone(shape);
}

/// Groups of a shape of \p rank dimensions where the one at \p dim, of size
/// one, joins its neighbour; no groups if it is the only one.
static Reassociation unitDimGroups(int64_t rank, int64_t dim) {
  Reassociation groups;
  for (int64_t i = 0; i < rank; ++i) {
    bool joins = !groups.empty() && (i == dim ? i == rank - 1 : i == dim + 1);
    if (joins)
      groups.back().push_back(i);
    else if (rank > 1)
      groups.push_back({i});
  }
  return groups;
}

Value ckpt::insertUnitDim(OpBuilder &builder, Location loc, Value value,
                          int64_t dim) {
  SmallVector<int64_t> shape(typeOf(value).getShape());
  shape.insert(shape.begin() + dim, 1);
  return builder.createOrFold<tensor::ExpandShapeOp>(
      loc, typeOf(value).clone(shape), value, unitDimGroups(shape.size(), dim));
}

static Value dropUnitDim(OpBuilder &builder, Location loc, Value value,
                         int64_t dim) {
  RankedTensorType type = typeOf(value);
  return builder.createOrFold<tensor::CollapseShapeOp>(
      loc, withoutDim(type, dim), value, unitDimGroups(type.getRank(), dim));
}

Value ckpt::withDroppedDims(OpBuilder &builder, Location loc, Value value,
                            RankedTensorType type) {
  if (value.getType() == type)
    return value;
  auto groups = mlir::getReassociationIndicesForCollapse(
      typeOf(value).getShape(), type.getShape());
  if (type.getRank() == 0)
    groups = Reassociation();
  return builder.createOrFold<tensor::CollapseShapeOp>(loc, type, value,
                                                       *groups);
}

Value ckpt::sliceRows(OpBuilder &builder, Location loc, Value value,
                      int64_t dim, int64_t begin, int64_t size, bool drop) {
  RankedTensorType type = typeOf(value);
  if (begin == 0 && size == type.getDimSize(dim))
    return drop ? dropUnitDim(builder, loc, value, dim) : value;
  RankedTensorType rows = withRows(type, dim, size);
  if (drop)
    rows = withoutDim(rows, dim);
  mlir::DenseElementsAttr constant;
  if (matchPattern(value, mlir::m_Constant(&constant)) && constant.isSplat())
    return mlir::arith::ConstantOp::create(builder, loc,
                                           constant.resizeSplat(rows));
  auto empty = [&] {
    return tensor::EmptyOp::create(builder, loc, rows.getShape(),
                                   rows.getElementType());
  };
  if (value.getDefiningOp<tensor::EmptyOp>())
    return empty();
  if (auto fill = value.getDefiningOp<linalg::FillOp>())
    return linalg::FillOp::create(builder, loc, fill.getInputs(),
                                  ValueRange(empty()))
        .getResult(0);
  SmallVector<mlir::OpFoldResult> offsets(type.getRank(),
                                          builder.getIndexAttr(0));
  SmallVector<mlir::OpFoldResult> strides(type.getRank(),
                                          builder.getIndexAttr(1));
  SmallVector<mlir::OpFoldResult> sizes =
      mlir::getAsIndexOpFoldResult(builder.getContext(), type.getShape());
  offsets[dim] = builder.getIndexAttr(begin);
  sizes[dim] = builder.getIndexAttr(size);
  return tensor::ExtractSliceOp::create(builder, loc, rows, value, offsets,
                                        sizes, strides);
}

Value ckpt::pieceValue(OpBuilder &builder, Location loc, Type whole,
                       int64_t dim, const Piece &piece, bool drop) {
  if (piece.source)
    return sliceRows(builder, loc, piece.source, dim, piece.offset, piece.size,
                     drop);
  auto type = withRows(cast<RankedTensorType>(whole), dim, piece.size);
  if (drop)
    type = withoutDim(type, dim);
  return mlir::arith::ConstantOp::create(
      builder, loc, cast<mlir::TypedAttr>(builder.getZeroAttr(type)));
}

const Piece *Stack::find(int64_t begin, int64_t size) const {
  const Piece *piece = llvm::partition_point(pieces, [&](const Piece &piece) {
    return piece.begin + piece.size <= begin;
  });
  bool holdsAll = piece != pieces.end() && begin >= piece->begin &&
                  begin + size <= piece->begin + piece->size;
  return holdsAll ? piece : nullptr;
}

void Stacks::keepView(Value view) {
  if (Operation *op = view.getDefiningOp())
    views.insert(op);
}

void Stacks::clear() {
  stacks.clear();
  for (Operation *view : llvm::reverse(views))
    if (mlir::isOpTriviallyDead(view))
      view->erase();
  views.clear();
}

const Stack *Stacks::find(Value value) const {
  auto found = stacks.find(value);
  return found == stacks.end() ? nullptr : &found->second;
}

void Stacks::read(Operation &op) {
  if (isa<tensor::InsertSliceOp>(op))
    readInsert(op);
  else if (isa<tensor::ConcatOp>(op))
    readConcat(op);
  else if (isa<tensor::PadOp>(op))
    readPad(op);
  else if (isa<tensor::ExtractSliceOp>(op))
    readSlice(op);
  else if (isa<tensor::CollapseShapeOp, tensor::ExpandShapeOp>(op))
    readReshape(op);
}

std::optional<int64_t> ckpt::slicedDim(mlir::OffsetSizeAndStrideOpInterface op,
                                       ArrayRef<int64_t> shape) {
  if (!llvm::all_of(op.getStaticStrides(), [](int64_t s) { return s == 1; }) ||
      mlir::ShapedType::isDynamicShape(op.getStaticOffsets()) ||
      mlir::ShapedType::isDynamicShape(op.getStaticSizes()) || shape.empty())
    return std::nullopt;
  int64_t dim = 0, found = 0;
  for (auto [i, size] : llvm::enumerate(op.getStaticSizes()))
    if (size != shape[i]) {
      dim = i;
      ++found;
    }
  return found <= 1 ? std::optional<int64_t>(dim) : std::nullopt;
}

/// Puts \p piece in place of the rows that it covers.
static void replaceRows(SmallVectorImpl<Piece> &pieces, const Piece &piece) {
  int64_t end = piece.begin + piece.size;
  auto *first = llvm::partition_point(pieces, [&](const Piece &old) {
    return old.begin + old.size <= piece.begin;
  });
  auto *last = first;
  while (last != pieces.end() && last->begin < end)
    ++last;
  SmallVector<Piece, 3> now;
  if (first->begin < piece.begin)
    now.push_back({first->begin, piece.begin - first->begin, first->source,
                   first->offset});
  now.push_back(piece);
  if (const Piece &old = last[-1]; old.begin + old.size > end)
    now.push_back({end, old.begin + old.size - end, old.source,
                   old.offset + end - old.begin});
  size_t at = first - pieces.begin();
  pieces.erase(first, last);
  pieces.insert(pieces.begin() + at, now.begin(), now.end());
}

void Stacks::readInsert(Operation &op) {
  auto insert = cast<tensor::InsertSliceOp>(op);
  ArrayRef<int64_t> shape = insert.getDestType().getShape();
  std::optional<int64_t> dim = slicedDim(insert, shape);
  if (!dim || insert.getSourceType().getNumElements() == 0)
    return;
  OpBuilder builder(insert);
  Value source = insert.getSource();
  ArrayRef<int64_t> sizes = insert.getStaticSizes();
  if (insert.getSourceType().getShape() != sizes) {
    auto groups = mlir::getReassociationIndicesForCollapse(
        sizes, typeOf(source).getShape());
    if (typeOf(source).getRank() == 0)
      groups = Reassociation();
    if (!groups)
      return;
    source = builder.createOrFold<tensor::ExpandShapeOp>(
        op.getLoc(), typeOf(source).clone(sizes), source, *groups);
    keepView(source);
  }
  Piece piece{insert.getStaticOffsets()[*dim], sizes[*dim], source};
  Value dest = insert.getDest();
  Stack stack{*dim, {{0, shape[*dim], dest}}, dest};
  if (auto found = stacks.find(dest); found != stacks.end()) {
    // One row more for each insert of a loop: no copy where none is needed.
    bool isLast = dest.hasOneUse();
    if (found->second.dim == *dim)
      stack = isLast ? std::move(found->second) : found->second;
    if (isLast)
      stacks.erase(dest);
  }
  replaceRows(stack.pieces, piece);
  set(insert.getResult(), std::move(stack));
}

void Stacks::readConcat(Operation &op) {
  auto concat = cast<tensor::ConcatOp>(op);
  int64_t dim = concat.getDim(), begin = 0;
  Stack stack{dim, {}};
  for (Value input : concat.getInputs()) {
    int64_t size = typeOf(input).getDimSize(dim);
    if (size > 0)
      stack.pieces.push_back({begin, size, input});
    begin += size;
  }
  set(concat.getResult(), std::move(stack));
}

void Stacks::readPad(Operation &op) {
  auto pad = cast<tensor::PadOp>(op);
  Value filler = pad.getConstantPaddingValue();
  if (!pad.getResultType().hasStaticShape() || !filler ||
      !(matchPattern(filler, mlir::m_PosZeroFloat()) ||
        matchPattern(filler, mlir::m_Zero())))
    return;
  std::optional<int64_t> dim;
  for (auto [i, low, high] :
       llvm::enumerate(pad.getStaticLow(), pad.getStaticHigh())) {
    if (low < 0 || high < 0 || (dim && (low || high)))
      return;
    if (low || high)
      dim = i;
  }
  if (!dim)
    return;
  int64_t low = pad.getStaticLow()[*dim], high = pad.getStaticHigh()[*dim];
  int64_t size = pad.getSourceType().getDimSize(*dim);
  Stack stack{*dim, {}};
  if (low)
    stack.pieces.push_back({0, low, Value()});
  if (size)
    stack.pieces.push_back({low, size, pad.getSource()});
  if (high)
    stack.pieces.push_back({low + size, high, Value()});
  set(pad.getResult(), std::move(stack));
}

void Stacks::readSlice(Operation &op) {
  auto slice = cast<tensor::ExtractSliceOp>(op);
  const Stack *source = find(slice.getSource());
  if (!source || slice.getType().getRank() != slice.getSourceType().getRank())
    return;
  std::optional<int64_t> dim =
      slicedDim(slice, slice.getSourceType().getShape());
  if (!dim || (*dim != source->dim && slice.getType() != slice.getSourceType()))
    return;
  int64_t from = slice.getStaticOffsets()[source->dim];
  int64_t to = from + slice.getStaticSizes()[source->dim];
  Stack stack{source->dim, {}};
  for (Piece piece : source->pieces) {
    int64_t begin = std::max(piece.begin, from);
    int64_t end = std::min(piece.begin + piece.size, to);
    if (begin < end)
      stack.pieces.push_back({begin - from, end - begin, piece.source,
                              piece.offset + begin - piece.begin});
  }
  set(slice.getResult(), std::move(stack));
}

/// Rows stay together where no larger dimension stands before theirs in
/// \p group of \p shape.
static std::optional<int64_t> leadingDim(ArrayRef<int64_t> group,
                                         ArrayRef<int64_t> shape) {
  for (int64_t dim : group)
    if (shape[dim] != 1)
      return dim;
  return std::nullopt;
}

static int64_t rowsWithin(ArrayRef<int64_t> group, ArrayRef<int64_t> shape,
                          int64_t leading) {
  int64_t rows = 1;
  for (int64_t dim : group)
    if (dim > leading)
      rows *= shape[dim];
  return rows;
}

void Stacks::readReshape(Operation &op) {
  const Stack *found = find(op.getOperand(0));
  if (!found || found->pieces.size() < 2)
    return;
  Stack source = *found;
  auto collapse = dyn_cast<tensor::CollapseShapeOp>(op);
  Reassociation groups =
      collapse ? collapse.getReassociationIndices()
               : cast<tensor::ExpandShapeOp>(op).getReassociationIndices();
  auto from = typeOf(op.getOperand(0)), to = typeOf(op.getResult(0));
  RankedTensorType wide = collapse ? from : to;
  int64_t number =
      collapse ? llvm::find_if(groups,
                               [&](auto &group) {
                                 return llvm::is_contained(group, source.dim);
                               }) -
                     groups.begin()
               : source.dim;
  if (number >= int64_t(groups.size()))
    return;
  auto leading = leadingDim(groups[number], wide.getShape());
  if (!leading || (collapse && *leading != source.dim))
    return;
  int64_t factor = rowsWithin(groups[number], wide.getShape(), *leading);
  Stack result{collapse ? number : *leading, {}};
  for (Piece &piece : source.pieces) {
    bool isPart = piece.source &&
                  typeOf(piece.source).getDimSize(source.dim) != piece.size;
    if (isPart || (!collapse && (piece.begin % factor || piece.size % factor)))
      return;
    int64_t begin = collapse ? piece.begin * factor : piece.begin / factor;
    int64_t size = collapse ? piece.size * factor : piece.size / factor;
    result.pieces.push_back({begin, size, piece.source});
  }
  OpBuilder builder(&op);
  for (Piece &piece : result.pieces) {
    if (!piece.source)
      continue;
    auto type = withRows(to, result.dim, piece.size);
    piece.source = collapse ? builder.createOrFold<tensor::CollapseShapeOp>(
                                  op.getLoc(), type, piece.source, groups)
                            : builder.createOrFold<tensor::ExpandShapeOp>(
                                  op.getLoc(), type, piece.source, groups);
    keepView(piece.source);
  }
  set(op.getResult(0), std::move(result));
}
