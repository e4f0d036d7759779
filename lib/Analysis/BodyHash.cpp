//===- BodyHash.cpp - Notices that a planned function was edited ----------===//

#include "ckpt/Analysis/BodyHash.h"
#include "ckpt/Analysis/Program.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/Support/raw_ostream.h"

using namespace ckpt;

namespace {

/// FNV-1a over bytes; every string is followed by a zero.
class Hasher {
public:
  void add(uint64_t number) {
    for (int shift = 0; shift < 64; shift += 8)
      addByte(number >> shift);
  }
  void add(StringRef text) {
    for (char c : text)
      addByte(c);
    addByte(0);
  }
  uint64_t get() const { return state; }

private:
  void addByte(uint8_t byte) { state = (state ^ byte) * 0x100000001b3; }
  uint64_t state = 0xcbf29ce484222325;
};

class BodyHasher {
public:
  uint64_t run(mlir::func::FuncOp function) {
    for (Type type : function.getResultTypes())
      addPrinted(type);
    for (Block &block : function.getBody())
      addBlock(block);
    return hasher.get();
  }

private:
  void addBlock(Block &block);
  void addOp(Operation &op);
  /// Types and attributes by their text, which is printed once each.
  template <typename Printable>
  void addPrinted(Printable item) {
    auto [entry, isNew] = texts.try_emplace(item.getAsOpaquePointer());
    if (isNew) {
      llvm::raw_string_ostream os(entry->second);
      item.print(os);
    }
    hasher.add(entry->second);
  }
  void define(Value value) {
    numbers.try_emplace(value, numbers.size());
    addPrinted(value.getType());
  }

  Hasher hasher;
  llvm::DenseMap<Value, uint64_t> numbers;
  llvm::DenseMap<const void *, std::string> texts;
};

void BodyHasher::addBlock(Block &block) {
  hasher.add("block");
  for (BlockArgument argument : block.getArguments())
    define(argument);
  for (const PlacedOp &placed : opsInOrder(block))
    addOp(*placed.op);
  if (block.mightHaveTerminator())
    addOp(*block.getTerminator());
}

void BodyHasher::addOp(Operation &op) {
  hasher.add(op.getName().getStringRef());
  for (Value operand : op.getOperands())
    hasher.add(numbers.lookup(lookThroughLayers(operand)));
  // Properties too, in the order of their names.
  for (mlir::NamedAttribute attribute : op.getAttrDictionary()) {
    if (attribute.getName().getValue().starts_with("ckpt."))
      continue;
    hasher.add(attribute.getName().getValue());
    addPrinted(attribute.getValue());
  }
  for (Region &region : op.getRegions())
    for (Block &block : region)
      addBlock(block);
  for (Value result : op.getResults())
    define(result);
}

} // namespace

uint64_t ckpt::hashBody(mlir::func::FuncOp function) {
  return BodyHasher().run(function);
}

uint64_t ckpt::hashDecisions(mlir::func::FuncOp function) {
  Hasher hasher;
  uint64_t place = 0;
  auto add = [&](StringRef what, Attribute decision) {
    if (!decision)
      return;
    hasher.add(place);
    hasher.add(what);
    std::string text;
    llvm::raw_string_ostream(text) << decision;
    hasher.add(text);
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
  return hasher.get();
}
