//===- CarryInOrder.cpp - Values that `scf.while` hands on ----------------===//
//
// Bufferization updates a carried tensor in place where the condition hands it
// on at its own position. Upstream's canonicalization leaves out the values that
// only the condition reads, and frontends may reorder or repeat values.
// Preparation calls this once loops with known trip counts are unrolled.
//
//===----------------------------------------------------------------------===//

#include "Transforms/Loops/CarryInOrder.h"
#include "ckpt/Support/LLVM.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"

using namespace ckpt;
namespace scf = mlir::scf;
using mlir::BlockArgument;
using mlir::ValueRange;

/// The carried value that each value handed on is; nothing if the condition
/// computes one of them.
static std::optional<SmallVector<unsigned>> carriedPositions(scf::WhileOp loop) {
  SmallVector<unsigned> positions;
  for (Value value : loop.getConditionOp().getArgs()) {
    auto argument = dyn_cast<BlockArgument>(value);
    if (!argument || argument.getOwner() != loop.getBeforeBody())
      return std::nullopt;
    positions.push_back(argument.getArgNumber());
  }
  return positions;
}

static bool isInOrder(scf::WhileOp loop) {
  return ValueRange(loop.getConditionOp().getArgs()) ==
         ValueRange(loop.getBeforeArguments());
}

static void carryInOrder(scf::WhileOp loop) {
  std::optional<SmallVector<unsigned>> positions = carriedPositions(loop);
  if (!positions || isInOrder(loop))
    return;
  mlir::OpBuilder builder(loop);
  auto whole = scf::WhileOp::create(builder, loop.getLoc(),
                                    loop.getInits().getTypes(), loop.getInits());
  whole->setDiscardableAttrs(llvm::to_vector(loop->getDiscardableAttrs()));
  whole.getBefore().takeBody(loop.getBefore());
  whole.getAfter().takeBody(loop.getAfter());
  whole.getConditionOp().getArgsMutable().assign(whole.getBeforeArguments());
  mlir::Block &body = *whole.getAfterBody();
  unsigned before = body.getNumArguments();
  for (BlockArgument argument : whole.getBeforeArguments())
    body.addArgument(argument.getType(), argument.getLoc());
  for (auto [number, position] : llvm::enumerate(*positions)) {
    body.getArgument(number).replaceAllUsesWith(
        body.getArgument(before + position));
    loop.getResult(number).replaceAllUsesWith(whole.getResult(position));
  }
  body.eraseArguments(0, before);
  loop.erase();
}

void ckpt::carryInOrder(mlir::func::FuncOp function) {
  SmallVector<scf::WhileOp> loops;
  function.walk([&](scf::WhileOp loop) { loops.push_back(loop); });
  for (scf::WhileOp loop : loops)
    ::carryInOrder(loop);
}
