//===- OpenLoops.cpp - Loops and branches as the ops in them --------------===//

#include "Transforms/Prepare/OpenLoops.h"
#include "Transforms/Loops/FlattenBranches.h"
#include "Transforms/Loops/ForwardStacks.h"
#include "Transforms/Loops/InlineSplats.h"
#include "Transforms/Loops/PushSlices.h"
#include "Transforms/Loops/SplitStacks.h"
#include "Transforms/Loops/UnrollLoops.h"
#include "ckpt/Analysis/CarryInOrder.h"
#include "ckpt/Analysis/OpaqueBuffers.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/CSE.h"

using namespace ckpt;

/// Each of these makes work for the others: a slice that is pushed before an op
/// may meet a stack there. Nothing makes an op that another one undoes.
static int64_t openStacks(Block &block) {
  int64_t all = 0, changes = 0;
  do {
    changes = forwardStacks(block) + splitStacks(block) + pushSlices(block);
    all += changes;
  } while (changes);
  return all;
}

/// Gives named ops the bodies that their names say. Common subexpressions
/// inside have become one, or are read from outside; but the text of a named op
/// has no body, and whoever reads it would see another op.
static void rebuildNamedBodies(mlir::func::FuncOp function) {
  function.walk([](mlir::linalg::LinalgOp op) {
    auto build = op.getRegionBuilder();
    if (!build)
      return;
    Block &body = *op.getBlock();
    while (!body.empty())
      body.back().erase();
    mlir::ImplicitLocOpBuilder builder(op.getLoc(), op.getContext());
    builder.setInsertionPointToStart(&body);
    build(builder, body, op->getAttrs(), [&] { return op.emitOpError(); });
  });
}

void ckpt::openLoops(mlir::func::FuncOp function, int64_t unrollLimit,
                     PreparationSummary &summary) {
  openRegions(function);
  int64_t unrolled = 0, flattened = 0;
  // Each may open the op around the other.
  do {
    unrolled += unrollLoops(function, unrollLimit);
    flattened = flattenBranches(function);
    summary.branches += flattened;
  } while (flattened);
  for (mlir::scf::WhileOp loop : whileLoops(function))
    carryInOrder(loop);
  if (unrolled)
    eraseUnreadOps(function.front());
  summary.stacks += openStacks(function.front());
  summary.loops += unrolled;
  if (!unrolled)
    return;
  // `jax.checkpoint` in a loop computes in the backward loop the values of the
  // forward loop again. Side by side they are one op; the planner decides
  // whether it runs again.
  mlir::IRRewriter rewriter(function.getContext());
  mlir::DominanceInfo dominance(function);
  mlir::eliminateCommonSubExpressions(rewriter, dominance, function);
  rebuildNamedBodies(function);
  inlineSplats(function.front());
  summary.stacks += openStacks(function.front());
}
