//===- BufferizeOpaque.cpp - Kernels of loops and of unknown ops ----------===//
//
// A kernel that is not made element by element (a scatter as a loop, a
// conditional) is brought to buffers by itself. Its temporaries lie in their
// planned bytes: the planner counted them by the same code.
//
//===----------------------------------------------------------------------===//

#include "Conversion/Kernel/BufferizeOpaque.h"
#include "ckpt/Analysis/CarryInOrder.h"
#include "ckpt/Analysis/OpaqueBuffers.h"
#include "ckpt/Analysis/Supported.h"
#include "ckpt/ExternalModels/KernelFunction.h"
#include "ckpt/Plan/Problem.h"
#include "ckpt/Support/ElementBytes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/CallInterfaces.h"

using namespace ckpt;
using namespace mlir;

/// The memory planned for the values that the anchor makes inside; null if
/// there is none.
static Value workspaceOf(KernelCode &code) {
  if (code.function.getNumArguments() == 0)
    return Value();
  BlockArgument last = code.function.getArguments().back();
  auto isLast = [&](auto &held) { return held.second == last; };
  auto type = dyn_cast<MemRefType>(last.getType());
  bool isPlanned =
      type && type.getRank() == 1 && type.getElementType().isInteger(8) &&
      llvm::none_of(code.inputs, isLast) && llvm::none_of(code.outputs, isLast);
  return isPlanned ? last : Value();
}

static int64_t bytesOf(Value workspace) {
  return workspace ? cast<MemRefType>(workspace.getType()).getNumElements() : 0;
}

static Value placeIn(OpBuilder &builder, Location loc, Value workspace,
                     int64_t offset, MemRefType type) {
  Value shift = arith::ConstantIndexOp::create(builder, loc, offset);
  return memref::ViewOp::create(builder, loc, type, workspace, shift,
                                ValueRange());
}

/// Lets results that the kernel does not write be made at the end of the
/// workspace, where the planner counts a slot for each. Returns the bytes
/// before them.
static int64_t placeDroppedResults(KernelCode &code, Value workspace) {
  int64_t end = bytesOf(workspace);
  OpBuilder builder(code.function.front().getTerminator());
  for (OpResult result : code.anchor->getResults()) {
    auto isWritten = [&](Operation *user) {
      return isa<bufferization::MaterializeInDestinationOp>(user) ||
             isa<arith::ExtUIOp, arith::ExtSIOp>(user);
    };
    auto type = dyn_cast<RankedTensorType>(result.getType());
    if (!type || type.getNumElements() == 0 ||
        llvm::any_of(result.getUsers(), isWritten))
      continue;
    MemRefType memory = memoryType(type);
    int64_t bytes = plan::slotBytes(memory.getNumElements() *
                                    elementBytes(memory.getElementType()));
    if (bytes > end)
      continue; // On the stack.
    end -= bytes;
    OpBuilder entry(code.anchor);
    Location loc = code.anchor->getLoc();
    storeOutput(builder, loc, result,
                placeIn(entry, loc, workspace, end, memory));
  }
  return end;
}

/// Puts temporaries into the first \p available bytes of the workspace. Where
/// these are too few, as for small temporaries that the planner does not count,
/// all lie in one piece of stack; `--ckpt-check-kernel-memory` limits that.
static void putTemporaries(func::FuncOp function, Value workspace,
                           int64_t available) {
  SmallVector<Scratch> buffers = placeTemporaries(function);
  int64_t bytes = 0;
  for (const Scratch &buffer : buffers)
    bytes = std::max(bytes, buffer.offset + buffer.bytes);
  if (buffers.empty())
    return;
  OpBuilder entry = OpBuilder::atBlockBegin(&function.front());
  if (!workspace || bytes > available) {
    auto type = MemRefType::get(bytes, entry.getI8Type());
    workspace = memref::AllocaOp::create(entry, function.getLoc(), type,
                                         entry.getI64IntegerAttr(64));
  }
  for (const Scratch &buffer : buffers) {
    auto alloc = buffer.value.getDefiningOp<memref::AllocOp>();
    alloc.replaceAllUsesWith(placeIn(entry, alloc.getLoc(), workspace,
                                     buffer.offset, alloc.getType()));
  }
  // One of them may be the place of the builder.
  for (const Scratch &buffer : buffers)
    buffer.value.getDefiningOp()->erase();
}

/// Planning has checked this, but for ops of dialects that it knows nothing of.
static LogicalResult checkAnchor(Operation *anchor) {
  WalkResult result = anchor->walk([](Operation *op) {
    if (isa<CallOpInterface>(op)) {
      op->emitError("expected no call in a step: inline it first, with "
                    "--inline");
      return WalkResult::interrupt();
    }
    if (!isOfOtherDialect(op) ||
        isa<bufferization::BufferizableOpInterface>(op))
      return WalkResult::advance();
    return WalkResult(refuseToLower(op));
  });
  return failure(result.wasInterrupted() || failed(checkSupported(anchor)));
}

/// Splits views that have steps and fewer dimensions than their source:
/// upstream finds the dropped dimensions by strides of the source, which have
/// no steps.
static void splitSteppedViews(func::FuncOp function) {
  function.walk([](memref::SubViewOp view) {
    if (view.getType().getRank() == view.getSourceType().getRank() ||
        llvm::all_of(view.getMixedStrides(),
                     [](OpFoldResult step) { return isOneInteger(step); }))
      return;
    OpBuilder builder(view);
    SmallVector<OpFoldResult> sizes = view.getMixedSizes();
    SmallVector<OpFoldResult> starts(sizes.size(), builder.getIndexAttr(0));
    SmallVector<OpFoldResult> ones(sizes.size(), builder.getIndexAttr(1));
    Value whole = memref::SubViewOp::create(
        builder, view.getLoc(), view.getSource(), view.getMixedOffsets(), sizes,
        view.getMixedStrides());
    view.replaceAllUsesWith(memref::SubViewOp::create(builder, view.getLoc(),
                                                      view.getType(), whole,
                                                      starts, sizes, ones)
                                .getResult());
    view.erase();
  });
}

/// Makes nested loops of loops that the program calls parallel: their sums must
/// have one order, whatever the threads. Only tasks of kernels run side by
/// side.
static void putInOrder(scf::ParallelOp parallel) {
  OpBuilder builder(parallel);
  Block &body = *parallel.getBody();
  auto reduce = cast<scf::ReduceOp>(body.getTerminator());
  scf::LoopNest nest = scf::buildLoopNest(
      builder, parallel.getLoc(), parallel.getLowerBound(),
      parallel.getUpperBound(), parallel.getStep(), parallel.getInitVals(),
      [&](OpBuilder &inner, Location, ValueRange counters, ValueRange sums) {
        IRMapping mapping;
        mapping.map(body.getArguments(), counters);
        for (Operation &op : body.without_terminator())
          inner.clone(op, mapping);
        scf::ValueVector next;
        for (auto [operand, sum, region] : llvm::zip_equal(
                 reduce.getOperands(), sums, reduce.getReductions())) {
          Block &combine = region.front();
          mapping.map(combine.getArgument(0), sum);
          mapping.map(combine.getArgument(1), mapping.lookupOrDefault(operand));
          for (Operation &op : combine.without_terminator())
            inner.clone(op, mapping);
          next.push_back(
              mapping.lookupOrDefault(combine.getTerminator()->getOperand(0)));
        }
        return next;
      });
  parallel.replaceAllUsesWith(nest.results);
  parallel.erase();
}

/// Loops may have lost values to canonicalization since they were planned.
static void carryLoopsInOrder(KernelCode &code) {
  for (scf::WhileOp loop : whileLoops(code.function)) {
    bool isAnchor = code.anchor == loop;
    scf::WhileOp whole = carryInOrder(loop);
    if (isAnchor)
      code.anchor = whole;
  }
}

LogicalResult ckpt::bufferizeOpaqueKernel(KernelCode &code) {
  carryLoopsInOrder(code);
  if (failed(checkAnchor(code.anchor)))
    return failure();
  Value workspace = workspaceOf(code);
  int64_t available = placeDroppedResults(code, workspace);
  if (failed(bufferizeOpaque(code.function, code.anchor)))
    return failure();
  splitSteppedViews(code.function);
  code.function.walk(putInOrder);
  putTemporaries(code.function, workspace, available);
  return success();
}
