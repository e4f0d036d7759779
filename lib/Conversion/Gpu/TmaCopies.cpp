//===- TmaCopies.cpp - Copies to shared memory by TMA ---------------------===//

#include "Conversion/Gpu/TmaCopies.h"
#include "Conversion/Gpu/SharedMemoryStaging.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace ckpt;
using namespace mlir;

/// Elements of a line, in which the hardware swaps chunks.
static constexpr int64_t lineElements = 64;
static constexpr int64_t barrierBytes = 8;
static constexpr int64_t elementBytes = cuda::tensorElementBytes;

/// Lines of steps are one box, lines of rows (columns) one for each panel.
static int64_t boxLines(const StagedOperand &operand, const Staging &staging) {
  return operand.alongSteps ? staging.side : staging.steps;
}

static int64_t partBytes(const Staging &staging) {
  return staging.side * staging.steps * elementBytes;
}

//===----------------------------------------------------------------------===//
// Maps
//===----------------------------------------------------------------------===//

namespace {
/// A counter, or a part of one, with one stride in an operand.
struct Dimension {
  int64_t extent, stride;
  /// Its number: neighbours, lines, then counters of the batch, outer to inner.
  unsigned counter;
};
} // namespace

/// The counter of \p group in as few parts as it has strides.
static SmallVector<Dimension> dimensionsOf(const LoopGroup &group,
                                           bool isRight) {
  SmallVector<Dimension> dimensions;
  for (const StridedLoop &part : group.parts) {
    int64_t stride = isRight ? part.rightStride : part.leftStride;
    if (part.extent == 1)
      continue;
    int64_t extent = part.extent;
    if (!dimensions.empty() && dimensions.back().stride == stride * extent)
      extent *= dimensions.pop_back_val().extent;
    dimensions.push_back({extent, stride, 0});
  }
  return dimensions;
}

/// The limits of the driver's manual: each dimension lies inside of one step of
/// the next, of which it is a divisor, in multiples of 16 bytes.
static bool areMapped(ArrayRef<Dimension> dimensions) {
  constexpr int64_t mostExtent = int64_t(1) << 32, endBytes = int64_t(1) << 40;
  if (dimensions.size() > cuda::mostTensorDims ||
      dimensions.front().stride != 1)
    return false;
  for (size_t i = 0; i < dimensions.size(); ++i) {
    const Dimension &here = dimensions[i];
    int64_t bytes = here.stride * elementBytes;
    if (here.extent > mostExtent ||
        (i > 0 &&
         (bytes % accessBytes != 0 || bytes >= endBytes ||
          here.stride % dimensions[i - 1].stride != 0 ||
          here.stride < dimensions[i - 1].stride * dimensions[i - 1].extent)))
      return false;
  }
  return true;
}

/// Stride of the only line of a tensor: any stride that a map may have.
static int64_t roundUp(int64_t extent) {
  return static_cast<int64_t>(llvm::alignTo(extent, lineElements));
}

/// Dimensions of the memory of \p operand, innermost first, if a map may have
/// them; \p batches are the extents of the counters that make the batch.
static std::optional<SmallVector<Dimension>>
findDimensions(const ContractionShape &shape, const StagedOperand &operand,
               SmallVectorImpl<int64_t> &batches) {
  bool isRight = operand.isRight;
  const LoopGroup &outer = isRight ? shape.columns : shape.rows;
  SmallVector<Dimension> dimensions =
      dimensionsOf(operand.alongSteps ? shape.reduced : outer, isRight);
  SmallVector<Dimension> lines =
      dimensionsOf(operand.alongSteps ? outer : shape.reduced, isRight);
  if (dimensions.size() != 1 || lines.size() > 1)
    return std::nullopt;
  if (lines.empty())
    lines.push_back({1, roundUp(dimensions[0].extent), 0});
  dimensions.push_back({lines[0].extent, lines[0].stride, 1});
  for (const Dimension &one : dimensionsOf(shape.batch, isRight)) {
    unsigned counter = 2 + batches.size();
    batches.push_back(one.extent);
    // Broadcasts take no place.
    if (one.stride != 0)
      dimensions.push_back({one.extent, one.stride, counter});
  }
  std::stable_sort(dimensions.begin() + 1, dimensions.end(),
                   [](const Dimension &left, const Dimension &right) {
                     return left.stride < right.stride;
                   });
  if (!areMapped(dimensions))
    return std::nullopt;
  return dimensions;
}

bool TmaCopies::take(const StagedOperand &operand) {
  const StridedOperand &memory = operand.isRight ? shape.right : shape.left;
  Boxes boxes{&operand, Value(), {}, {}};
  auto argument = code.inputArgument(memory.tensor);
  auto dimensions = findDimensions(shape, operand, boxes.batches);
  if (!argument || !dimensions || shape.hasBorders(operand.isRight) ||
      memory.offset * elementBytes % accessBytes != 0)
    return false;
  cuda::TensorMap map = {};
  map.operand = argument->getArgNumber();
  map.offset = memory.offset * elementBytes;
  map.rank = dimensions->size();
  for (auto [i, one] : llvm::enumerate(*dimensions)) {
    map.extents[i] = one.extent;
    map.strides[i] = one.stride * elementBytes;
    map.box[i] = one.counter == 0   ? lineElements
                 : one.counter == 1 ? boxLines(operand, staging)
                                    : 1;
    boxes.counters.push_back(one.counter);
  }
  boxes.map = thread.tensorMap(map);
  taken.push_back(boxes);
  return true;
}

//===----------------------------------------------------------------------===//
// Barriers
//===----------------------------------------------------------------------===//

/// The place \p bytes after the begin of \p memory.
Value TmaCopies::shared(Value memory, Value bytes) {
  Value begin = memref::ExtractAlignedPointerAsIndexOp::create(builder, memory);
  Value address =
      arith::IndexCastOp::create(builder, builder.getI64Type(),
                                 arith::AddIOp::create(builder, begin, bytes));
  auto space = static_cast<unsigned>(NVVM::NVVMMemorySpace::Shared);
  return LLVM::IntToPtrOp::create(
      builder, LLVM::LLVMPointerType::get(builder.getContext(), space),
      address);
}

Value TmaCopies::barrierAt(Value place) {
  return shared(barriers, arith::MulIOp::create(builder, place,
                                                thread.constant(barrierBytes)));
}

void TmaCopies::begin(const LinearIndex &ofBlock) {
  batch = ofBlock;
  if (taken.empty())
    return;
  barriers = thread.dynamicShared({staging.parts}, builder.getI64Type());
  (void)thread.ifBelow(thread.thread(), 1, staging.threads, [&] {
    Value one = arith::ConstantIntOp::create(builder, 1, /*width=*/32);
    for (int64_t place = 0; place < staging.parts; ++place)
      NVVM::MBarrierInitOp::create(builder, barrierAt(thread.constant(place)),
                                   one, /*predicate=*/Value());
    thread.fenceProxies();
    return success();
  });
}

/// The barrier of a place ends its phase once per turn, so which turn it is
/// tells which parity the phase has.
void TmaCopies::wait(Value number, Value place) {
  if (taken.empty())
    return;
  Value turn =
      arith::DivUIOp::create(builder, number, thread.constant(staging.parts));
  Value parity = arith::IndexCastOp::create(
      builder, builder.getI32Type(),
      arith::RemUIOp::create(builder, turn, thread.constant(2)));
  Value barrier = barrierAt(place);
  auto loop = scf::WhileOp::create(builder, TypeRange(), ValueRange());
  OpBuilder::InsertionGuard guard(builder);
  builder.createBlock(&loop.getBefore());
  Value done = NVVM::MBarrierTryWaitOp::create(
      builder, builder.getI1Type(), barrier, parity, /*ticks=*/Value());
  Value isLeft = arith::CmpIOp::create(
      builder, arith::CmpIPredicate::eq, done,
      arith::ConstantIntOp::create(builder, 0, /*width=*/1));
  scf::ConditionOp::create(builder, isLeft, ValueRange());
  builder.createBlock(&loop.getAfter());
  scf::YieldOp::create(builder);
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

void TmaCopies::copy(Value number, Value place) {
  if (taken.empty())
    return;
  (void)thread.ifBelow(thread.thread(), 1, staging.threads, [&] {
    int64_t bytes = taken.size() * partBytes(staging);
    NVVM::MBarrierArriveExpectTxOp::create(
        builder, /*res=*/Type(), barrierAt(place),
        arith::ConstantIntOp::create(builder, bytes, /*width=*/32),
        NVVM::MemScopeKind::CTA, /*relaxed=*/false, /*predicate=*/Value());
    for (const Boxes &boxes : taken)
      copyBoxes(boxes, number, place);
    return success();
  });
}

void TmaCopies::copyBoxes(const Boxes &boxes, Value number, Value place) {
  const StagedOperand &operand = *boxes.operand;
  ElementEmitter inside = emitter.nested(/*lanes=*/1);
  IndexEmitter &at = inside.indices();
  int64_t boxBytes = boxLines(operand, staging) * lineElements * elementBytes;
  auto cluster = LLVM::LLVMPointerType::get(
      builder.getContext(),
      static_cast<unsigned>(NVVM::NVVMMemorySpace::SharedCluster));
  int64_t count = llvm::divideCeil(shape.reduced.getExtent(), staging.steps);
  LinearIndex step = at.atom(number, count) * staging.steps;
  LinearIndex first = at.atom(place, staging.parts) * partBytes(staging);
  for (int64_t panel = 0; panel < partBytes(staging) / boxBytes; ++panel) {
    LinearIndex outer = operand.firstOuter + panel * lineElements;
    SmallVector<LinearIndex> counters = {operand.alongSteps ? step : outer,
                                         operand.alongSteps ? outer : step};
    counters.append(delinearize(batch, boxes.batches, at));
    SmallVector<Value> corner;
    for (unsigned counter : boxes.counters)
      corner.push_back(arith::IndexCastOp::create(
          builder, builder.getI32Type(), at.materialize(counters[counter])));
    Value target = LLVM::AddrSpaceCastOp::create(
        builder, cluster,
        shared(operand.shared, at.materialize(first + panel * boxBytes)));
    NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp::create(
        builder, target, boxes.map, corner, barrierAt(place),
        /*im2colOffsets=*/ValueRange(), /*multicastMask=*/Value(),
        /*l2CacheHint=*/Value(), NVVM::TMALoadMode::TILE, /*isCTAOnly=*/false,
        /*group=*/NVVM::CTAGroupKindAttr(), /*predicate=*/Value());
  }
}
