//===- EmitGpuOpaque.cpp - Loops of the user by the threads of a block ----===//
//
// A kernel that is not made element by element keeps the order of its loops.
// Where its elements do not need each other, EmitGpuOwned.cpp makes it; else
// every thread of one block runs them, and the threads share the elements of
// each op inside (a row of a matrix, the outputs of a reduction) between two
// barriers. Each element is therefore updated in the order of the program,
// without atomics, and each reduction has the order of kernels.
//
//===----------------------------------------------------------------------===//

#include "Conversion/Gpu/GpuEmitters.h"
#include "Conversion/Kernel/Epilogue.h"
#include "Conversion/Kernel/InnerKernel.h"
#include "Conversion/Kernel/ReductionOrder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

using namespace ckpt;
using namespace mlir;

/// Whether all memory that \p op writes is written by ops that are shared out
/// below. Memory of a single thread is not: the others would not see it.
static bool isShareable(Operation *op) {
  if (isa<linalg::LinalgOp, memref::StoreOp>(op) ||
      op->hasTrait<OpTrait::HasRecursiveMemoryEffects>())
    return true;
  auto effects = dyn_cast<MemoryEffectOpInterface>(op);
  return effects && !effects.hasEffect<MemoryEffects::Write>() &&
         !effects.hasEffect<MemoryEffects::Allocate>();
}

/// Puts barriers before and after \p op, between it and the other work of
/// threads.
static void putBarriers(Operation *op) {
  OpBuilder builder(op);
  gpu::BarrierOp::create(builder, op->getLoc());
  builder.setInsertionPointAfter(op);
  gpu::BarrierOp::create(builder, op->getLoc());
}

/// One thread writes; all have the same value to write.
static void shareStore(memref::StoreOp store, Value thread) {
  ImplicitLocOpBuilder builder(store.getLoc(), store);
  Value isFirst =
      arith::CmpIOp::create(builder, arith::CmpIPredicate::eq, thread,
                            arith::ConstantIndexOp::create(builder, 0));
  auto choice = scf::IfOp::create(builder, isFirst, /*withElseRegion=*/false);
  store->moveBefore(choice.thenBlock()->getTerminator());
  putBarriers(choice);
}

void ckpt::replaceCounters(scf::ParallelOp parallel, Value number,
                           ImplicitLocOpBuilder &builder) {
  SmallVector<Value> counters = parallel.getInductionVars();
  if (counters.empty())
    return;
  auto inner =
      llvm::drop_begin(llvm::zip_equal(counters, parallel.getUpperBound()));
  for (auto [counter, extent] : llvm::reverse(inner)) {
    counter.replaceAllUsesWith(arith::RemUIOp::create(builder, number, extent));
    number = arith::DivUIOp::create(builder, number, extent);
  }
  counters.front().replaceAllUsesWith(number);
}

/// Thread number t makes the iterations t, t + 256, ... of \p parallel, whose
/// loops start at 0 and advance by 1, as linalg's do.
static void shareLoops(scf::ParallelOp parallel, Value thread) {
  ImplicitLocOpBuilder builder(parallel.getLoc(), parallel);
  Value total = arith::ConstantIndexOp::create(builder, 1);
  for (Value extent : parallel.getUpperBound())
    total = arith::MulIOp::create(builder, total, extent);
  Value step = arith::ConstantIndexOp::create(builder, threadsPerBlock);
  auto loop = scf::ForOp::create(builder, thread, total, step);
  builder.setInsertionPointToStart(loop.getBody());
  replaceCounters(parallel, loop.getInductionVar(), builder);
  Block *body = parallel.getBody();
  loop.getBody()->getOperations().splice(
      loop.getBody()->getTerminator()->getIterator(), body->getOperations(),
      body->begin(), body->getTerminator()->getIterator());
  parallel.erase();
  putBarriers(loop);
}

/// The outputs of a reduction, each made by one of \p threads in the order of
/// the CPU.
static LogicalResult shareReduction(KernelCode &code, Value thread,
                                    int64_t threads) {
  ImplicitLocOpBuilder builder(code.site.getLoc(), code.site);
  auto op = cast<linalg::LinalgOp>(code.anchor);
  auto shape = cast<ShapedType>(op->getResult(0).getType()).getShape();
  int64_t outputs = ShapedType::getNumElements(shape);
  TaskTarget target = enterSite(code, builder);
  auto loop = scf::ForOp::create(
      builder, thread, arith::ConstantIndexOp::create(builder, outputs),
      arith::ConstantIndexOp::create(builder, threads));
  putBarriers(loop);
  builder.setInsertionPointToStart(loop.getBody());
  ElementEmitter emitter(builder, target.memory, /*lanes=*/1);
  IndexEmitter &index = emitter.indices();
  SmallVector<LinearIndex> at =
      delinearize(index.atom(loop.getInductionVar(), outputs), shape, index);
  Reduction reduction = analyzeReduction(op);
  ReductionEmitter reducer(reduction, builder, /*partialLanes=*/1);
  SmallVector<Value> results = reducer.emit(emitter, parallelLoops(op, at));
  if (results.empty())
    return failure();
  for (auto [result, value] : llvm::zip_equal(op->getResults(), results))
    emitter.setElement(result, value);
  return emitOutputs(code, target, emitter, at);
}

/// Shares all writes of \p function, except the writes of \p reductions.
static LogicalResult shareOthers(gpu::GPUFuncOp function,
                                 ArrayRef<KernelCode> reductions,
                                 Value thread) {
  SmallVector<linalg::LinalgOp> parallel;
  function.walk([&](linalg::LinalgOp op) {
    if (llvm::none_of(reductions, [&](const KernelCode &code) {
          return linalg::LinalgOp(code.site) == op;
        }))
      parallel.push_back(op);
  });
  for (linalg::LinalgOp op : parallel) {
    IRRewriter rewriter(op);
    if (failed(linalg::linalgOpToParallelLoops(rewriter, op)))
      return op.emitError("expected an op that can become loops");
    rewriter.eraseOp(op);
  }
  SmallVector<Operation *> shared;
  function.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (isa<scf::ParallelOp, memref::StoreOp>(op))
      shared.push_back(op);
    return isa<scf::ParallelOp>(op) ? WalkResult::skip()
                                    : WalkResult::advance();
  });
  for (Operation *op : shared) {
    if (auto store = dyn_cast<memref::StoreOp>(op))
      shareStore(store, thread);
    else
      shareLoops(cast<scf::ParallelOp>(op), thread);
  }
  return success();
}

FailureOr<LaunchSize> ckpt::emitGpuOpaque(gpu::GPUFuncOp function) {
  FailureOr<std::optional<LaunchSize>> owned = emitGpuOwned(function);
  if (failed(owned))
    return failure();
  if (*owned)
    return **owned;
  WalkResult shareable = function.walk([&](Operation *op) {
    bool isFine = op == function || isShareable(op);
    return isFine ? WalkResult::advance() : WalkResult::interrupt();
  });
  LaunchSize size{/*blocks=*/1};
  if (shareable.wasInterrupted())
    size.threads = 1;
  SmallVector<KernelCode> reductions;
  function.walk([&](linalg::LinalgOp op) {
    if (std::optional<KernelCode> code = readInnerKernel(op))
      reductions.push_back(*code);
  });
  OpBuilder entry = OpBuilder::atBlockBegin(&function.getBody().front());
  Value thread =
      gpu::ThreadIdOp::create(entry, function.getLoc(), gpu::Dimension::x);
  if (size.threads > 1 && failed(shareOthers(function, reductions, thread)))
    return failure();
  for (KernelCode &code : reductions) {
    if (failed(shareReduction(code, thread, size.threads)))
      return failure();
    code.function->erase();
    code.site->erase();
  }
  return size;
}
