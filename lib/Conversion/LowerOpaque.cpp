//===- LowerOpaque.cpp - Kernels of loops and of unknown ops --------------===//
//
// A kernel that is not made element by element (a scatter as a loop, a
// conditional) is bufferized by itself with upstream's one-shot bufferization.
// The inits of a loop are copied to its results first, so it updates them in
// place; what an iteration makes elsewhere is copied there at its end.
//
//===----------------------------------------------------------------------===//

#include "KernelCode.h"
#include "ckpt/ExternalModels/LoopScratch.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/Transforms/OneShotAnalysis.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace ckpt;
using namespace mlir;

/// The operand whose buffer \p result may be made in.
static OpOperand *destinationOf(OpResult result) {
  Operation *op = result.getOwner();
  if (auto loop = dyn_cast<LoopLikeOpInterface>(op))
    return loop.getTiedLoopInit(result);
  if (auto dps = dyn_cast<DestinationStyleOpInterface>(op))
    return dps.getTiedOpOperand(result);
  return nullptr;
}

/// Lets the anchor start from a copy of its init in the output's buffer. Where
/// the output lies over the init, the copy is one onto itself.
static void writeIntoOutput(KernelCode &code, Value tensor, BlockArgument out) {
  auto result = dyn_cast<OpResult>(tensor);
  if (!result || result.getOwner() != code.anchor)
    return;
  OpOperand *init = destinationOf(result);
  if (!init || init->get().getDefiningOp<tensor::EmptyOp>())
    return;
  OpBuilder builder(code.anchor);
  Location loc = code.anchor->getLoc();
  Value destination = bufferization::ToTensorOp::create(
      builder, loc, init->get().getType(), out, /*restrict=*/true,
      /*writable=*/true);
  DenseElementsAttr splat;
  Value started;
  if (matchPattern(init->get(), m_Constant(&splat)) && splat.isSplat()) {
    Value scalar = arith::ConstantOp::create(
        builder, loc, cast<TypedAttr>(splat.getSplatValue<Attribute>()));
    started =
        linalg::FillOp::create(builder, loc, scalar, destination).getResult(0);
  } else {
    started = linalg::CopyOp::create(builder, loc, init->get(), destination)
                  .getResult(0);
  }
  init->set(started);
}

namespace {
/// A value that an iteration passes to the next one in the wrong buffer.
struct Moved {
  OpOperand *operand;
  /// What it becomes.
  BlockArgument argument;
  /// It lies in the buffer of another such argument, as in a rotation.
  bool isShared;
};
} // namespace

/// Adds those of \p passed that do not lie in the buffer of the argument of
/// \p block that they become.
static void collectMoved(MutableArrayRef<OpOperand> passed, Block &block,
                         const bufferization::OneShotAnalysisState &state,
                         SmallVectorImpl<Moved> &moved) {
  if (passed.size() > block.getNumArguments())
    return;
  auto arguments = block.getArguments().take_back(passed.size());
  for (auto [operand, argument] : llvm::zip_equal(passed, arguments)) {
    Value value = operand.get();
    if (!isa<TensorType>(value.getType()) ||
        argument.getType() != value.getType() ||
        state.areEquivalentBufferizedValues(value, argument))
      continue;
    bool isShared = llvm::any_of(arguments, [&](BlockArgument other) {
      return isa<TensorType>(other.getType()) &&
             state.areAliasingBufferizedValues(value, other);
    });
    moved.push_back({&operand, argument, isShared});
  }
}

static Value copyInto(Value destination, OpOperand *operand) {
  OpBuilder builder(operand->getOwner());
  return linalg::CopyOp::create(builder, operand->getOwner()->getLoc(),
                                operand->get(), destination)
      .getResult(0);
}

/// Lets every iteration of a loop leave its values where it found those of the
/// iteration before.
static LogicalResult
passInPlace(func::FuncOp function,
            bufferization::OneShotBufferizationOptions options) {
  options.allowReturnAllocsFromLoops = true;
  bufferization::OneShotAnalysisState state(function, options);
  if (failed(bufferization::analyzeOp(function, state)))
    return failure();
  SmallVector<Moved> moved;
  function.walk([&](Operation *op) {
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      collectMoved(*loop.getYieldedValuesMutable(), *loop.getBody(), state,
                   moved);
    } else if (auto loop = dyn_cast<scf::WhileOp>(op)) {
      collectMoved(loop.getConditionOp().getArgsMutable(),
                   *loop.getBeforeBody(), state, moved);
      collectMoved(loop.getYieldOp().getResultsMutable(), *loop.getAfterBody(),
                   state, moved);
    }
  });
  // All are read before the first is overwritten.
  for (const Moved &move : moved)
    if (move.isShared) {
      OpBuilder builder(move.operand->getOwner());
      auto type = cast<RankedTensorType>(move.argument.getType());
      Value scratch =
          tensor::EmptyOp::create(builder, move.operand->getOwner()->getLoc(),
                                  type.getShape(), type.getElementType());
      move.operand->set(copyInto(scratch, move.operand));
    }
  for (const Moved &move : moved)
    move.operand->set(copyInto(move.argument, move.operand));
  return success();
}

/// The memory that was planned for what the anchor makes inside; null if none
/// was.
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

/// Puts temporaries into the workspace, and on the stack what has no place
/// there; `--ckpt-check-kernel-memory` limits that.
static void placeTemporaries(func::FuncOp function, Value workspace) {
  function.walk([](memref::DeallocOp dealloc) { dealloc.erase(); });
  SmallVector<Value> temporaries;
  function.walk([&](memref::AllocOp alloc) {
    if (alloc.getType().hasStaticShape())
      temporaries.push_back(alloc);
  });
  SmallVector<Scratch> buffers = liveScratch(function, temporaries);
  placeScratch(buffers);
  int64_t available =
      workspace ? cast<MemRefType>(workspace.getType()).getNumElements() : 0;
  for (const Scratch &buffer : buffers) {
    auto alloc = buffer.value.getDefiningOp<memref::AllocOp>();
    OpBuilder entry = OpBuilder::atBlockBegin(&function.front());
    Location loc = alloc.getLoc();
    Value place;
    if (buffer.offset + buffer.bytes <= available) {
      Value shift = arith::ConstantIndexOp::create(entry, loc, buffer.offset);
      place = memref::ViewOp::create(entry, loc, alloc.getType(), workspace,
                                     shift, ValueRange());
    } else {
      place = memref::AllocaOp::create(entry, loc, alloc.getType(),
                                       alloc.getAlignmentAttr());
    }
    alloc.replaceAllUsesWith(place);
    alloc.erase();
  }
}

/// Says what no later pass turns into loops and instructions.
static LogicalResult checkOps(func::FuncOp function) {
  WalkResult result = function.walk([](Operation *op) {
    bool isComposite =
        isa<linalg::LinalgDialect>(op->getDialect()) &&
        !isa<linalg::LinalgOp, linalg::YieldOp, linalg::IndexOp>(op);
    if (isa<CallOpInterface>(op))
      op->emitError("expected no call in a step: inline it first, with "
                    "--inline");
    else if (isComposite)
      op->emitError("expected ops that say what they do element by element, "
                    "but got '")
          << op->getName() << "': write it as 'linalg.generic' ops";
    else
      return WalkResult::advance();
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

LogicalResult ckpt::lowerOpaqueKernel(KernelCode &code) {
  if (failed(checkOps(code.function)))
    return failure();
  Value workspace = workspaceOf(code);
  for (auto [tensor, out] : code.outputs)
    writeIntoOutput(code, tensor, out);
  RewritePatternSet patterns(code.function.getContext());
  linalg::populateElementwiseToLinalgConversionPatterns(patterns);
  if (failed(applyPatternsGreedily(code.function, std::move(patterns))))
    return failure();
  bufferization::OneShotBufferizationOptions options;
  options.bufferAlignment = 64;
  // A loop that is lowered like any other, not a call into a runtime library.
  options.memCpyFn = [](OpBuilder &builder, Location loc, Value from,
                        Value to) {
    linalg::makeMemRefCopyOp(builder, loc, from, to);
    return success();
  };
  if (failed(passInPlace(code.function, options)))
    return failure();
  bufferization::BufferizationState state;
  if (failed(bufferization::runOneShotBufferize(code.function, options, state)))
    return failure();
  placeTemporaries(code.function, workspace);
  return success();
}
