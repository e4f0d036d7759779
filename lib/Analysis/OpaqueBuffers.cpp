//===- OpaqueBuffers.cpp - Ops without emitters, on buffers ---------------===//
//
// Upstream's one-shot bufferization, for one op at a time. The inits of a loop
// are copied to its results first, so it updates them in place; a value that an
// iteration makes elsewhere is copied there at its end.
//
//===----------------------------------------------------------------------===//

#include "ckpt/Analysis/OpaqueBuffers.h"
#include "Analysis/ClampIndices.h"
#include "ckpt/ExternalModels/KernelFunction.h"
#include "ckpt/Support/RewriteExactly.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/Transforms/BufferViewFlowAnalysis.h"
#include "mlir/Dialect/Bufferization/Transforms/OneShotAnalysis.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"

using namespace ckpt;
using namespace mlir;

//===----------------------------------------------------------------------===//
// To buffers
//===----------------------------------------------------------------------===//

/// The operand whose buffer \p result may be made in.
static OpOperand *destinationOf(OpResult result) {
  Operation *op = result.getOwner();
  if (auto loop = dyn_cast<LoopLikeOpInterface>(op))
    return loop.getTiedLoopInit(result);
  if (auto dps = dyn_cast<DestinationStyleOpInterface>(op))
    return dps.getTiedOpOperand(result);
  return nullptr;
}

/// Lets \p anchor start from a copy of its init in the output's buffer. If the
/// output lies over the init, the copy is one onto itself; undefined contents
/// need none.
static void writeIntoOutput(Operation *anchor, Value tensor, Value out) {
  auto result = dyn_cast<OpResult>(tensor);
  if (!result || result.getOwner() != anchor)
    return;
  OpOperand *init = destinationOf(result);
  if (!init)
    return;
  OpBuilder builder(anchor);
  Location loc = anchor->getLoc();
  Value destination = bufferization::ToTensorOp::create(
      builder, loc, init->get().getType(), out, /*restrict=*/true,
      /*writable=*/true);
  if (init->get().getDefiningOp<tensor::EmptyOp>())
    return init->set(destination);
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
  /// The block argument that it becomes.
  BlockArgument argument;
  /// It lies in the buffer of another such argument, as in a rotation.
  bool isShared;
};
} // namespace

/// Adds the operands of \p passed that do not lie in the buffer of the one of
/// \p arguments that they become.
static void collectMoved(MutableArrayRef<OpOperand> passed,
                         Block::BlockArgListType arguments,
                         const bufferization::OneShotAnalysisState &state,
                         SmallVectorImpl<Moved> &moved) {
  for (auto [operand, argument] : llvm::zip(passed, arguments)) {
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

static Value copyToScratch(OpOperand *operand) {
  OpBuilder builder(operand->getOwner());
  auto type = cast<RankedTensorType>(operand->get().getType());
  Value scratch =
      tensor::EmptyOp::create(builder, operand->getOwner()->getLoc(),
                              type.getShape(), type.getElementType());
  return copyInto(scratch, operand);
}

/// Copies values that the branches of \p choice only pass on, where the other
/// branch has another buffer. Its result would tie both buffers together, and a
/// loop could not write over its value any more.
static void separateBranches(scf::IfOp choice,
                             const bufferization::OneShotAnalysisState &state) {
  SmallVector<OpOperand *> passed;
  for (auto [left, right] :
       llvm::zip_equal(choice.thenYield().getResultsMutable(),
                       choice.elseYield().getResultsMutable()))
    if (isa<TensorType>(left.get().getType()) &&
        !state.areEquivalentBufferizedValues(left.get(), right.get()))
      for (OpOperand *operand : {&left, &right})
        if (operand->get().getParentRegion()->isProperAncestor(
                operand->getOwner()->getParentRegion()))
          passed.push_back(operand);
  auto isOfLoop = [](OpOperand *operand) {
    auto argument = dyn_cast<BlockArgument>(operand->get());
    return argument &&
           isa<LoopLikeOpInterface>(argument.getOwner()->getParentOp());
  };
  if (llvm::any_of(passed, isOfLoop))
    for (OpOperand *operand : passed)
      operand->set(copyToScratch(operand));
}

static LogicalResult
separateBranches(func::FuncOp function,
                 const bufferization::OneShotBufferizationOptions &options) {
  bufferization::OneShotAnalysisState state(function, options);
  if (failed(bufferization::analyzeOp(function, state)))
    return failure();
  function.walk([&](scf::IfOp choice) {
    if (choice->getNumResults() > 0)
      separateBranches(choice, state);
  });
  return success();
}

/// Lets every iteration of a loop leave its values in the places of the
/// iteration before.
static LogicalResult
passInPlace(func::FuncOp function,
            bufferization::OneShotBufferizationOptions options) {
  options.allowReturnAllocsFromLoops = true;
  if (failed(separateBranches(function, options)))
    return failure();
  bufferization::OneShotAnalysisState state(function, options);
  if (failed(bufferization::analyzeOp(function, state)))
    return failure();
  SmallVector<Moved> moved;
  function.walk([&](Operation *op) {
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      collectMoved(*loop.getYieldedValuesMutable(), loop.getRegionIterArgs(),
                   state, moved);
    } else if (auto loop = dyn_cast<scf::WhileOp>(op)) {
      collectMoved(loop.getConditionOp().getArgsMutable(),
                   loop.getBeforeArguments(), state, moved);
      collectMoved(loop.getYieldOp().getResultsMutable(),
                   loop.getAfterArguments(), state, moved);
    }
  });
  // All are read before the first is overwritten.
  for (const Moved &move : moved)
    if (move.isShared)
      move.operand->set(copyToScratch(move.operand));
  for (const Moved &move : moved)
    move.operand->set(copyInto(move.argument, move.operand));
  return success();
}

/// Says where an iteration passes a buffer on that the next one fills again.
static LogicalResult checkIterations(func::FuncOp function) {
  BufferViewFlowAnalysis flow(function);
  WalkResult result = function.walk([&](memref::AllocOp alloc) {
    for (Value alias : flow.resolve(alloc)) {
      auto argument = dyn_cast<BlockArgument>(alias);
      Operation *loop = argument ? argument.getOwner()->getParentOp() : nullptr;
      bool isCarried = isa_and_nonnull<LoopLikeOpInterface>(loop) &&
                       argument.getOwner() == &loop->getRegion(0).front() &&
                       loop->isProperAncestor(alloc);
      if (!isCarried)
        continue;
      loop->emitError("expected every iteration to leave its tensors where it "
                      "found them, but got one in a buffer of its own");
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

void ckpt::registerBufferDialects(DialectRegistry &registry) {
  registry
      .insert<arith::ArithDialect, bufferization::BufferizationDialect,
              func::FuncDialect, linalg::LinalgDialect, memref::MemRefDialect,
              scf::SCFDialect, tensor::TensorDialect>();
}

/// Slices of one element in a dimension step by one there: upstream's subview
/// of a dimension that is dropped does not know it by another stride.
static void stepByOne(func::FuncOp function) {
  function.walk([](OffsetSizeAndStrideOpInterface slice) {
    SmallVector<int64_t> strides(slice.getStaticStrides());
    for (auto [stride, size] : llvm::zip_equal(strides, slice.getStaticSizes()))
      if (size == 1 && ShapedType::isStatic(stride))
        stride = 1;
    slice->setAttr("static_strides",
                   DenseI64ArrayAttr::get(slice->getContext(), strides));
  });
}

/// Whether \p op writes each element of \p init.
static bool writesAll(linalg::LinalgOp op, OpOperand &init) {
  return op.getMatchingIndexingMap(&init).isProjectedPermutation() &&
         !llvm::is_contained(op.getStaticLoopRanges(), 0);
}

/// Lets bodies read outputs of which they write a part. Upstream takes an
/// output that is not read for one that is written as a whole, and a buffer
/// that it makes for it would not hold the other elements.
static void keepUnwritten(func::FuncOp function) {
  function.walk([](linalg::GenericOp op) {
    for (OpOperand &init : op.getDpsInitsMutable()) {
      if (op.payloadUsesValueFromOperand(&init) || writesAll(op, init))
        continue;
      OpOperand &yielded = op.getBody()->getTerminator()->getOpOperand(
          op.getTiedOpResult(&init).getResultNumber());
      OpBuilder builder(yielded.getOwner());
      Value yes =
          arith::ConstantIntOp::create(builder, op.getLoc(), /*value=*/1,
                                       /*width=*/1);
      yielded.set(arith::SelectOp::create(builder, op.getLoc(), yes,
                                          yielded.get(),
                                          op.getMatchingBlockArgument(&init)));
    }
  });
}

/// The regions of \p choice from case \p number on, as conditionals.
static scf::IfOp chooseFrom(scf::IndexSwitchOp choice, unsigned number,
                            OpBuilder &builder) {
  Location loc = choice.getLoc();
  Value label =
      arith::ConstantIndexOp::create(builder, loc, choice.getCases()[number]);
  Value isTaken = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                        choice.getArg(), label);
  auto taken = scf::IfOp::create(builder, loc, choice.getResultTypes(), isTaken,
                                 /*addThenBlock=*/false,
                                 /*addElseBlock=*/false);
  taken.getThenRegion().takeBody(choice.getCaseRegions()[number]);
  if (number + 1 == choice.getNumCases()) {
    taken.getElseRegion().takeBody(choice.getDefaultRegion());
    return taken;
  }
  OpBuilder inside =
      OpBuilder::atBlockEnd(&taken.getElseRegion().emplaceBlock());
  scf::IfOp rest = chooseFrom(choice, number + 1, inside);
  scf::YieldOp::create(inside, loc, rest.getResults());
  return taken;
}

/// Makes conditionals of switches. Upstream's bufferization does not know that
/// the result of a switch may lie where its cases found it, and would write
/// over that.
static void chooseByConditions(func::FuncOp function) {
  SmallVector<scf::IndexSwitchOp> choices;
  function.walk([&](scf::IndexSwitchOp op) { choices.push_back(op); });
  for (scf::IndexSwitchOp choice : choices) {
    OpBuilder builder(choice);
    if (choice.getNumCases() > 0) {
      choice.replaceAllUsesWith(chooseFrom(choice, 0, builder));
    } else {
      auto only = scf::ExecuteRegionOp::create(builder, choice.getLoc(),
                                               choice.getResultTypes());
      only.getRegion().takeBody(choice.getDefaultRegion());
      choice.replaceAllUsesWith(only);
    }
    choice.erase();
  }
}

void ckpt::openRegions(func::FuncOp function) {
  SmallVector<scf::ExecuteRegionOp> regions;
  function.walk([&](scf::ExecuteRegionOp op) { regions.push_back(op); });
  for (scf::ExecuteRegionOp op : regions) {
    if (!op.getRegion().hasOneBlock())
      continue;
    Block &body = op.getRegion().front();
    auto yield = cast<scf::YieldOp>(body.getTerminator());
    for (Operation &inner :
         llvm::make_early_inc_range(body.without_terminator()))
      inner.moveBefore(op);
    op.replaceAllUsesWith(yield.getResults());
    op.erase();
  }
}

LogicalResult ckpt::bufferizeOpaque(func::FuncOp function, Operation *anchor) {
  for (auto output : llvm::to_vector(
           function.getOps<bufferization::MaterializeInDestinationOp>()))
    writeIntoOutput(anchor, output.getSource(), output.getDest());
  chooseByConditions(function);
  openRegions(function);
  clampIndices(function);
  stepByOne(function);
  RewritePatternSet patterns(function.getContext());
  linalg::populateElementwiseToLinalgConversionPatterns(patterns);
  // The body of a named op is fixed: arithmetic on narrow floats could not be
  // expanded in it.
  linalg::populateLinalgNamedOpsGeneralizationPatterns(patterns);
  tensor::populateDecomposeTensorConcatPatterns(patterns);
  if (failed(rewriteExactly(function, std::move(patterns))))
    return failure();
  keepUnwritten(function);
  bufferization::OneShotBufferizationOptions options;
  options.bufferAlignment = 64;
  // A loop that is lowered like any other, not a call into a runtime library.
  options.memCpyFn = [](OpBuilder &builder, Location loc, Value from,
                        Value to) {
    linalg::makeMemRefCopyOp(builder, loc, from, to);
    return success();
  };
  if (failed(passInPlace(function, options)))
    return failure();
  bufferization::BufferizationState state;
  if (failed(bufferization::runOneShotBufferize(function, options, state)))
    return failure();
  if (failed(checkIterations(function)))
    return failure();
  // Whoever calls gives the memory.
  function.walk([](memref::DeallocOp dealloc) { dealloc.erase(); });
  return success();
}

SmallVector<Scratch> ckpt::placeTemporaries(func::FuncOp function) {
  SmallVector<Value> temporaries;
  function.walk([&](memref::AllocOp alloc) {
    if (alloc.getType().hasStaticShape())
      temporaries.push_back(alloc);
  });
  SmallVector<Scratch> buffers = liveScratch(function, temporaries);
  placeScratch(buffers);
  return buffers;
}

//===----------------------------------------------------------------------===//
// The memory of bufferized ops
//===----------------------------------------------------------------------===//

/// Bytes that every kernel may have on the stack without asking.
static constexpr int64_t stackBytes = 4096;

/// Undefined contents and scalar constants, which kernels hold themselves.
static bool isHeld(Value value) {
  Operation *op = value.getDefiningOp();
  return op &&
         (isa<tensor::EmptyOp>(op) || (op->hasTrait<OpTrait::ConstantLike>() &&
                                       !isa<ShapedType>(value.getType())));
}

static void cloneHeld(Value value, OpBuilder &builder, IRMapping &mapping) {
  if (mapping.contains(value))
    return;
  Operation *op = value.getDefiningOp();
  for (Value operand : op->getOperands())
    cloneHeld(operand, builder, mapping);
  builder.clone(*op, mapping);
}

/// Makes a function for \p op like its kernel's: its reads, and all of its
/// results, stand in memory. Returns the op in it.
static Operation *isolate(Operation *op, ModuleOp module) {
  llvm::SetVector<Value> used(op->operand_begin(), op->operand_end());
  getUsedValuesDefinedAbove(op->getRegions(), used);
  SmallVector<Value> read =
      llvm::filter_to_vector(used, [](Value value) { return !isHeld(value); });
  SmallVector<Type> types;
  for (Value value : read)
    types.push_back(isa<RankedTensorType>(value.getType())
                        ? Type(memoryType(value.getType()))
                        : value.getType());
  for (Type type : op->getResultTypes())
    types.push_back(memoryType(type));
  OpBuilder builder(module.getBodyRegion());
  Location loc = op->getLoc();
  auto function = func::FuncOp::create(builder, loc, "opaque",
                                       builder.getFunctionType(types, {}));
  Block *entry = function.addEntryBlock();
  builder.setInsertionPointToStart(entry);
  IRMapping mapping;
  auto arguments = entry->getArguments();
  for (auto [value, argument] : llvm::zip(read, arguments))
    mapping.map(value, isa<MemRefType>(argument.getType())
                           ? loadInput(builder, loc, value.getType(), argument)
                           : Value(argument));
  for (Value value : used)
    if (isHeld(value))
      cloneHeld(value, builder, mapping);
  Operation *copy = builder.clone(*op, mapping);
  for (auto [result, buffer] :
       llvm::zip_equal(copy->getResults(), arguments.drop_front(read.size())))
    storeOutput(builder, loc, result, buffer);
  func::ReturnOp::create(builder, loc);
  return copy;
}

/// Planned memory that \p op takes inside; \p copy of it is alone in \p
/// function.
static FailureOr<int64_t> measure(Operation *op, func::FuncOp function,
                                  Operation *copy) {
  std::string message;
  {
    ScopedDiagnosticHandler handler(op->getContext(), [&](Diagnostic &error) {
      if (message.empty())
        message = error.str();
    });
    if (failed(bufferizeOpaque(function, copy)))
      message = message.empty() ? "unknown reason" : message;
    else
      message.clear();
  }
  if (!message.empty())
    return op->emitOpError("expected an op that upstream's one-shot "
                           "bufferization turns into buffers, but got: ")
           << message;
  memref::AllocOp unbounded;
  function.walk([&](memref::AllocOp alloc) {
    if (!alloc.getType().hasStaticShape())
      unbounded = alloc;
  });
  if (unbounded)
    return op->emitOpError("expected buffers of static shape inside, but got "
                           "one of type ")
           << unbounded.getType();
  int64_t bytes = 0;
  for (const Scratch &scratch : placeTemporaries(function))
    bytes = std::max(bytes, scratch.offset + scratch.bytes);
  return bytes > stackBytes ? int64_t(llvm::alignTo(bytes, 64)) : 0;
}

FailureOr<int64_t> OpaqueScratch::bytesOf(Operation *op) {
  OwningOpRef<ModuleOp> module = ModuleOp::create(op->getLoc());
  Operation *copy = isolate(op, *module);
  auto function = copy->getParentOfType<func::FuncOp>();
  std::string text;
  llvm::raw_string_ostream stream(text);
  function.print(stream,
                 OpPrintingFlags().useLocalScope().enableDebugInfo(false));
  auto [entry, isNew] = known.try_emplace(text);
  if (isNew) {
    FailureOr<int64_t> bytes = measure(op, function, copy);
    if (failed(bytes))
      return failure();
    entry->second = *bytes;
  }
  return entry->second;
}
