//===- ValueNumbering.cpp - The meaning of the values of programs ---------===//

#include "Verify/ValueNumbering.h"
#include "ckpt/ExternalModels/UnreadTensors.h"
#include "ckpt/Interfaces/RematOpInterface.h"
#include "mlir/IR/DialectResourceBlobManager.h"

using namespace ckpt;
using Number = ValueNumbering::Number;

bool ckpt::hasMeaning(mlir::NamedAttribute attribute) {
  return !attribute.getName().getValue().starts_with("ckpt.");
}

//===----------------------------------------------------------------------===//
// One op as words
//===----------------------------------------------------------------------===//

namespace {
/// Spells an op and the ops in its regions. Every list begins with its length,
/// so that no two ops have one spelling. A value defined inside goes by its
/// position, a value from outside by its number.
class OpSpelling {
public:
  OpSpelling(ValueNumbering &numbering,
             const llvm::DenseMap<Value, Number> &scope)
      : numbering(numbering), scope(scope) {}

  std::vector<uint64_t> spell(Operation *op) {
    words.push_back(3);
    op->walk([&](Block *block) {
      blocks.try_emplace(block, blocks.size());
      for (BlockArgument argument : block->getArguments())
        inside.try_emplace(argument, inside.size());
      for (Operation &inner : *block)
        for (Value result : inner.getResults())
          inside.try_emplace(result, inside.size());
    });
    for (Value operand : unreadTensors(op))
      unread.insert(operand);
    add(op);
    return std::move(words);
  }

private:
  void add(Operation *op) {
    add(op->getName().getAsOpaquePointer());
    auto attributes =
        llvm::make_filter_range(op->getAttrDictionary(), hasMeaning);
    words.push_back(llvm::range_size(attributes));
    for (mlir::NamedAttribute attribute : attributes) {
      add(attribute.getName().getAsOpaquePointer());
      add(numbering.attribute(attribute.getValue()).getAsOpaquePointer());
    }
    words.push_back(op->getNumOperands());
    for (Value operand : op->getOperands())
      add(operand);
    words.push_back(op->getNumResults());
    for (Type type : op->getResultTypes())
      add(type.getAsOpaquePointer());
    words.push_back(op->getNumSuccessors());
    for (Block *successor : op->getSuccessors())
      words.push_back(blocks.lookup(successor));
    words.push_back(op->getNumRegions());
    for (Region &region : op->getRegions()) {
      words.push_back(region.getBlocks().size());
      for (Block &block : region)
        add(block);
    }
  }

  void add(Block &block) {
    words.push_back(block.getNumArguments());
    for (Type type : block.getArgumentTypes())
      add(type.getAsOpaquePointer());
    words.push_back(block.getOperations().size());
    for (Operation &op : block)
      add(&op);
  }

  void add(Value value) {
    // Only the shape matters.
    if (unread.contains(value)) {
      words.push_back(2);
      return add(value.getType().getAsOpaquePointer());
    }
    auto local = inside.find(value);
    words.push_back(local != inside.end());
    words.push_back(local != inside.end() ? local->second
                                          : scope.lookup(value));
  }

  void add(const void *unique) {
    words.push_back(reinterpret_cast<uintptr_t>(unique));
  }

  ValueNumbering &numbering;
  const llvm::DenseMap<Value, Number> &scope;
  llvm::DenseMap<Value, uint64_t> inside;
  llvm::DenseSet<Value> unread;
  llvm::DenseMap<Block *, uint64_t> blocks;
  std::vector<uint64_t> words;
};
} // namespace

Number ValueNumbering::op(Operation *op,
                          const llvm::DenseMap<Value, Number> &scope) {
  return intern(OpSpelling(*this, scope).spell(op));
}

Attribute ValueNumbering::attribute(Attribute attribute) {
  auto resource = dyn_cast<mlir::DenseResourceElementsAttr>(attribute);
  mlir::AsmResourceBlob *blob =
      resource ? resource.getRawHandle().getBlob() : nullptr;
  if (!blob)
    return attribute;
  StringRef contents(blob->getData().data(), blob->getData().size());
  return resources.try_emplace({resource.getType(), contents}, attribute)
      .first->second;
}

//===----------------------------------------------------------------------===//
// All of a function
//===----------------------------------------------------------------------===//

ProgramMeaning::ProgramMeaning(mlir::func::FuncOp function,
                               ValueNumbering &numbering, Barriers barriers)
    : function(function), numbering(numbering), barriers(barriers) {
  for (BlockArgument argument : function.getArguments())
    scope[argument] = numbering.argument(argument.getArgNumber());
  addBlock(function.getBody().front(), /*kernel=*/-1);
}

void ProgramMeaning::bind(ValueRange to, ValueRange from) {
  for (auto [name, value] : llvm::zip_equal(to, from))
    scope[name] = scope.lookup(value);
}

void ProgramMeaning::addBlock(Block &block, int64_t kernel) {
  for (Operation &op : block)
    if (!op.hasTrait<mlir::OpTrait::IsTerminator>())
      addOp(&op, kernel);
}

void ProgramMeaning::addOp(Operation *op, int64_t kernel) {
  if (auto inner = dyn_cast<KernelOp>(op)) {
    Block &body = inner.getBody().front();
    bind(body.getArguments(), inner.getInputs());
    kernels.push_back(inner);
    addBlock(body, kernels.size() - 1);
    return bind(inner.getResults(), body.getTerminator()->getOperands());
  }
  if (auto layer = dyn_cast<LayerOp>(op)) {
    Block &body = layer.getBody().front();
    addBlock(body, kernel);
    return bind(layer.getResults(), body.getTerminator()->getOperands());
  }
  if (auto barrier = dyn_cast<BarrierOp>(op)) {
    if (barriers == Barriers::PassThrough)
      return bind(barrier.getResults(), barrier.getValues());
    for (OpResult result : op->getResults())
      scope[result] = numbering.hidden(barrierCount, result.getResultNumber());
    ++barrierCount;
    return;
  }
  Number number = numbering.op(op, scope);
  auto described = dyn_cast<RematOpInterface>(op);
  bool hasEffects =
      described ? described.hasSideEffects() : !mlir::isMemoryEffectFree(op);
  if (hasEffects)
    number = numbering.effect(number, effects++);
  for (OpResult result : op->getResults())
    scope[result] = numbering.result(number, result.getResultNumber());
  runs.push_back({op, number, hasEffects, kernel});
}
