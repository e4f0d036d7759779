//===- CarryInOrder.cpp - Values that `scf.while` hands on ----------------===//
//
// Bufferization updates a carried tensor in place where the condition hands it
// on at its own position. Upstream's canonicalization leaves out the values
// that only the condition reads, and frontends may reorder or repeat values, or
// hand on others that the condition makes. Preparation calls this once loops
// with known trip counts are unrolled; the lowering calls it again, as passes
// may have run behind the rewriting.
//
//===----------------------------------------------------------------------===//

#include "ckpt/Analysis/CarryInOrder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"

using namespace ckpt;
namespace scf = mlir::scf;
using mlir::BlockArgument;
using mlir::OpBuilder;

namespace {
/// What a loop carries once it hands on all of it, in order.
struct Places {
  /// The value that the condition hands on in each place; null if none yet.
  SmallVector<Value> values;
  /// The place of each value that the condition handed on before.
  SmallVector<unsigned> places;
};
} // namespace

/// The position of \p value among those that \p loop carries.
static std::optional<unsigned> carriedPosition(Value value, scf::WhileOp loop) {
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument || argument.getOwner() != loop.getBeforeBody())
    return std::nullopt;
  return argument.getArgNumber();
}

/// A place for \p value, which the condition makes, is preferably \p position.
static unsigned placeOf(Value value, unsigned position, scf::WhileOp loop,
                        Places &all) {
  unsigned carried = loop.getInits().size();
  auto fits = [&](unsigned place) {
    return place < carried && !all.values[place] &&
           loop.getBeforeArguments()[place].getType() == value.getType();
  };
  if (fits(position))
    return position;
  for (unsigned place = 0; place < carried; ++place)
    if (fits(place))
      return place;
  return all.values.size();
}

static Places arrange(scf::WhileOp loop) {
  auto handedOn = loop.getConditionOp().getArgs();
  Places all{SmallVector<Value>(loop.getInits().size()),
             SmallVector<unsigned>(handedOn.size())};
  for (auto [place, value] : llvm::zip_equal(all.places, handedOn))
    if (std::optional<unsigned> position = carriedPosition(value, loop)) {
      all.values[*position] = value;
      place = *position;
    }
  for (auto [position, value] : llvm::enumerate(handedOn)) {
    if (carriedPosition(value, loop))
      continue;
    unsigned place = placeOf(value, position, loop, all);
    if (place == all.values.size())
      all.values.emplace_back();
    all.values[place] = value;
    all.places[position] = place;
  }
  for (auto [value, argument] :
       llvm::zip(all.values, loop.getBeforeArguments()))
    if (!value)
      value = argument;
  return all;
}

/// Whether \p loop hands on tensors in their places as it is.
static bool isInOrder(scf::WhileOp loop, const Places &all) {
  return all.values.size() == all.places.size() &&
         all.places.size() == loop.getInits().size() &&
         llvm::all_of(llvm::enumerate(all.places), [](auto entry) {
           return entry.index() == entry.value();
         });
}

/// What the first iteration finds in the place of a value that each condition
/// makes anew. Numbers need no place in memory, so that a small one will do.
static Value makeUnread(OpBuilder &builder, Location loc, Type type) {
  if (auto tensor = dyn_cast<mlir::RankedTensorType>(type))
    return mlir::tensor::EmptyOp::create(builder, loc, tensor.getShape(),
                                         tensor.getElementType());
  return mlir::arith::ConstantIntOp::create(builder, loc, /*value=*/0,
                                            /*width=*/1);
}

SmallVector<scf::WhileOp> ckpt::whileLoops(mlir::func::FuncOp function) {
  SmallVector<scf::WhileOp> loops;
  function.walk([&](scf::WhileOp loop) { loops.push_back(loop); });
  return loops;
}

scf::WhileOp ckpt::carryInOrder(scf::WhileOp loop) {
  Places all = arrange(loop);
  if (isInOrder(loop, all))
    return loop;
  OpBuilder builder(loop);
  Location loc = loop.getLoc();
  unsigned carried = loop.getInits().size();
  SmallVector<Value> inits(loop.getInits());
  for (Value value : ArrayRef(all.values).drop_front(carried))
    inits.push_back(makeUnread(builder, loc, value.getType()));
  auto whole = scf::WhileOp::create(
      builder, loc, mlir::ValueRange(all.values).getTypes(), inits);
  whole->setDiscardableAttrs(llvm::to_vector(loop->getDiscardableAttrs()));
  whole.getBefore().takeBody(loop.getBefore());
  whole.getAfter().takeBody(loop.getAfter());
  for (Value init : ArrayRef(inits).drop_front(carried))
    whole.getBeforeBody()->addArgument(init.getType(), loc);
  whole.getConditionOp().getArgsMutable().assign(all.values);

  mlir::Block &body = *whole.getAfterBody();
  unsigned before = body.getNumArguments();
  for (Value value : all.values)
    body.addArgument(value.getType(), value.getLoc());
  for (auto [number, place] : llvm::enumerate(all.places)) {
    body.getArgument(number).replaceAllUsesWith(
        body.getArgument(before + place));
    loop.getResult(number).replaceAllUsesWith(whole.getResult(place));
  }
  body.eraseArguments(0, before);
  builder.setInsertionPoint(whole.getYieldOp());
  for (BlockArgument argument : body.getArguments().drop_front(carried))
    whole.getYieldOp().getResultsMutable().append(
        isa<mlir::RankedTensorType>(argument.getType())
            ? Value(argument)
            : makeUnread(builder, loc, argument.getType()));
  loop.erase();
  return whole;
}
