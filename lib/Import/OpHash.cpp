//===- OpHash.cpp - Fingerprints of ops that survive a file ---------------===//

#include "ckpt/Import/OpHash.h"
#include "ckpt/Analysis/StepOps.h"
#include "llvm/Support/xxhash.h"

using namespace ckpt;

namespace {
class OpHasher {
public:
  explicit OpHasher(const ProgramProblem &program) {
    mlir::func::FuncOp function = program.function;
    for (BlockArgument argument : function.getArguments())
      number(argument);
    for (auto [i, value] : llvm::enumerate(program.values))
      numbers[value] = i;
    outside = inside;
  }

  /// Numbers the values within its regions from one start for every op: the
  /// hash does not depend on the ops before or behind.
  uint64_t hashOf(Operation *op) {
    inside = outside;
    return hash(op);
  }

private:
  uint64_t hash(Operation *op) {
    uint64_t state = llvm::xxh3_64bits(op->getName().getStringRef());
    for (mlir::NamedAttribute attribute : op->getAttrDictionary()) {
      if (attribute.getName().getValue().starts_with("ckpt."))
        continue;
      mix(state, llvm::xxh3_64bits(attribute.getName().getValue()));
      mix(state, text(attribute.getValue()));
    }
    for (Value operand : op->getOperands())
      mix(state, valueHash(operand));
    for (Value result : op->getResults())
      mix(state, text(result.getType()));
    for (Region &region : op->getRegions())
      for (Block &block : region)
        hashBlock(block, state);
    return state;
  }

  void hashBlock(Block &block, uint64_t &state) {
    for (BlockArgument argument : block.getArguments()) {
      number(argument);
      mix(state, text(argument.getType()));
    }
    for (Operation &op : block) {
      mix(state, hash(&op));
      for (Value result : op.getResults())
        number(result);
    }
  }

  /// By number; a value without one (a constant, an empty tensor) by its maker.
  uint64_t valueHash(Value value) {
    value = lookThroughLayers(value);
    auto found = numbers.find(value);
    if (found != numbers.end())
      return found->second;
    Operation *maker = value.getDefiningOp();
    return maker ? hash(maker) : 0;
  }

  /// Apart from the numbers of `program.values`.
  void number(Value value) { numbers[value] = (uint64_t(1) << 32) + inside++; }

  static void mix(uint64_t &state, uint64_t more) {
    uint64_t both[2] = {state, more};
    state = llvm::xxh3_64bits(
        ArrayRef(reinterpret_cast<const uint8_t *>(both), sizeof both));
  }

  /// Attributes and types are unique, so their text is hashed once.
  template <typename T>
  uint64_t text(T thing) {
    auto [found, isNew] =
        texts.try_emplace(thing.getAsOpaquePointer(), uint64_t(0));
    if (isNew) {
      std::string printed;
      llvm::raw_string_ostream(printed) << thing;
      texts[thing.getAsOpaquePointer()] = llvm::xxh3_64bits(printed);
    }
    return texts[thing.getAsOpaquePointer()];
  }

  llvm::DenseMap<Value, uint64_t> numbers;
  /// Next number of a value without one, and the first behind the arguments.
  uint64_t inside = 0, outside = 0;
  llvm::DenseMap<const void *, uint64_t> texts;
};
} // namespace

SmallVector<int64_t> ckpt::hashOps(const ProgramProblem &program) {
  OpHasher hasher(program);
  SmallVector<int64_t> hashes;
  for (Operation *op : program.ops)
    hashes.push_back(hasher.hashOf(op) & 0xFFFFFF);
  // The returned values, under the number after the last op.
  mlir::func::FuncOp function = program.function;
  Operation *terminator = function.getBody().front().getTerminator();
  hashes.push_back(hasher.hashOf(terminator) & 0xFFFFFF);
  return hashes;
}

uint64_t ckpt::hashDecisions(mlir::func::FuncOp function) {
  std::string text;
  llvm::raw_string_ostream os(text);
  uint64_t place = 0;
  auto add = [&](StringRef what, Attribute decision) {
    if (decision)
      os << place << what << decision;
  };
  function.getBody().walk<mlir::WalkOrder::PreOrder>([&](Operation *op) {
    ++place;
    if (auto layer = dyn_cast<LayerOp>(op)) {
      add("pin", layer.getPinAttr());
      add("decision", layer.getDecisionAttr());
    }
    add("pin", op->getDiscardableAttr(CkptDialect::pinAttrName()));
    add("decision", op->getDiscardableAttr(CkptDialect::decisionAttrName()));
  });
  return llvm::xxh3_64bits(text);
}
