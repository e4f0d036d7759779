//===- Mutations.cpp - Ways to break a rewritten program ------------------===//

#include "Mutations.h"

#include "ckpt/Analysis/ReturnedParts.h"
#include "ckpt/ExternalModels/UnreadTensors.h"

using namespace ckpt;

//===----------------------------------------------------------------------===//
// A simulation of the arena and of the results' buffers
//===----------------------------------------------------------------------===//

bool ckpt::isSound(mlir::func::FuncOp step) {
  struct Content {
    Value value;
    int64_t begin, end;
    /// The part of the results, or -1 for the arena.
    int64_t buffer = -1;
  };
  std::vector<Content> memory;
  llvm::DenseMap<Value, int64_t> partOf;
  for (auto [number, part] : llvm::enumerate(returnedParts(step.front())))
    partOf.try_emplace(part.value, number);
  auto stands = [&](Value value) {
    auto kernel = value.getDefiningOp<KernelOp>();
    if (!kernel)
      return true;
    return llvm::any_of(
        memory, [&](const Content &content) { return content.value == value; });
  };
  for (KernelOp kernel : step.getOps<KernelOp>()) {
    for (Value input : kernel.getOperands())
      if (!stands(input))
        return false;
    std::vector<Content> written;
    if (int64_t bytes = kernel.getWorkspaceBytes()) {
      int64_t offset = kernel.getWorkspaceOffset();
      written.push_back({Value(), offset, offset + bytes});
    }
    for (OpResult result : kernel->getResults()) {
      unsigned number = result.getResultNumber();
      int64_t offset = kernel.getOffsets()[number];
      int64_t buffer =
          offset < 0 ? partOf.lookup(result) : kernel.getHost(number);
      offset = std::max<int64_t>(offset, 0);
      written.push_back(
          {result, offset, offset + kernel.getBytes()[number], buffer});
    }
    for (size_t i = 0; i < written.size(); ++i) {
      const Content &now = written[i];
      auto overlaps = [&](const Content &content) {
        return content.buffer == now.buffer && content.begin < now.end &&
               now.begin < content.end;
      };
      if (std::any_of(written.begin(), written.begin() + i, overlaps))
        return false;
      for (const Content &content : memory)
        if (overlaps(content) &&
            llvm::is_contained(kernel.getOperands(), content.value) &&
            (content.begin != now.begin || content.end < now.end || !now.value))
          return false;
      llvm::erase_if(memory, overlaps);
    }
    memory.insert(memory.end(), written.begin(), written.end());
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Mutations
//===----------------------------------------------------------------------===//

static Mutation exchange(OpOperand &operand, Value other) {
  Value before = operand.get();
  return {[&operand, other] { operand.set(other); },
          [&operand, before] { operand.set(before); }};
}

static Value behindBarriers(Value value) {
  while (auto barrier = value.getDefiningOp<BarrierOp>())
    value = barrier.getValues()[cast<OpResult>(value).getResultNumber()];
  return value;
}

/// Whether two values could mean the same though they are not one value.
static bool mayBeEqual(Value a, Value b) {
  a = behindBarriers(a);
  b = behindBarriers(b);
  Operation *makesA = a.getDefiningOp(), *makesB = b.getDefiningOp();
  if (!makesA || !makesB)
    return a == b;
  return makesA->getName() == makesB->getName();
}

/// Operands that say what is computed: not those that only order.
static MutableArrayRef<OpOperand> meantOperands(Operation *op) {
  if (isa<KernelOp>(op))
    return {};
  if (auto barrier = dyn_cast<BarrierOp>(op))
    return op->getOpOperands().take_front(barrier.getValues().size());
  return op->getOpOperands();
}

/// The nearest value before \p op in its block that could be meant instead.
static Value otherThan(Value value, Operation *op) {
  auto fits = [&](Value other) {
    return other.getType() == value.getType() && !mayBeEqual(other, value);
  };
  for (Operation *earlier = op->getPrevNode(); earlier;
       earlier = earlier->getPrevNode())
    for (Value other : earlier->getResults())
      if (fits(other))
        return other;
  for (Value other : op->getBlock()->getArguments())
    if (fits(other))
      return other;
  return {};
}

SmallVector<Mutation> ckpt::wrongOperands(mlir::func::FuncOp step) {
  SmallVector<Mutation> mutations;
  step.getBody().walk([&](Operation *op) {
    SmallVector<Value> unread = unreadTensors(op);
    for (OpOperand &operand : meantOperands(op))
      if (Value other = otherThan(operand.get(), op);
          other && !llvm::is_contained(unread, operand.get()))
        mutations.push_back(exchange(operand, other));
  });
  return mutations;
}

SmallVector<Mutation> ckpt::wrongInputs(mlir::func::FuncOp step) {
  SmallVector<Mutation> mutations;
  for (KernelOp kernel : step.getOps<KernelOp>())
    for (OpOperand &operand : kernel.getInputsMutable())
      for (BlockArgument argument : step.getArguments())
        if (argument.getType() == operand.get().getType() &&
            argument != operand.get()) {
          mutations.push_back(exchange(operand, argument));
          break;
        }
  return mutations;
}

/// The attribute with a number in it one larger, or its parts in another order;
/// null if it is neither.
static Attribute offByOne(Attribute attribute) {
  MLIRContext *context = attribute.getContext();
  if (auto integer = dyn_cast<mlir::IntegerAttr>(attribute))
    return mlir::IntegerAttr::get(integer.getType(), integer.getValue() + 1);
  if (auto number = dyn_cast<mlir::FloatAttr>(attribute))
    return mlir::FloatAttr::get(
        number.getType(),
        number.getValue().isFinite() ? number.getValueAsDouble() + 1 : 1);
  if (auto numbers = dyn_cast<mlir::DenseI64ArrayAttr>(attribute)) {
    SmallVector<int64_t> changed(numbers.asArrayRef());
    if (changed.empty())
      return {};
    ++changed.back();
    return mlir::DenseI64ArrayAttr::get(context, changed);
  }
  if (auto elements = dyn_cast<mlir::DenseIntElementsAttr>(attribute)) {
    if (elements.getElementType().isInteger(1))
      return {};
    return elements.mapValues(elements.getElementType(),
                              [](const llvm::APInt &n) { return n + 1; });
  }
  if (auto map = dyn_cast<mlir::AffineMapAttr>(attribute)) {
    mlir::AffineMap old = map.getValue();
    SmallVector<mlir::AffineExpr> results(old.getResults());
    if (results.empty())
      return {};
    results.back() = results.back() + 1;
    return mlir::AffineMapAttr::get(mlir::AffineMap::get(
        old.getNumDims(), old.getNumSymbols(), results, context));
  }
  if (auto list = dyn_cast<mlir::ArrayAttr>(attribute)) {
    SmallVector<Attribute> changed(list.getValue());
    for (Attribute &element : llvm::reverse(changed))
      if (Attribute other = offByOne(element)) {
        element = other;
        return mlir::ArrayAttr::get(context, changed);
      }
  }
  return {};
}

SmallVector<Mutation> ckpt::wrongAttributes(mlir::func::FuncOp step) {
  SmallVector<Mutation> mutations;
  step.getBody().walk([&](Operation *op) {
    if (isa<KernelOp, BarrierOp>(op))
      return;
    for (mlir::NamedAttribute attribute : op->getAttrs()) {
      if (attribute.getName() == "operandSegmentSizes")
        continue;
      Attribute before = attribute.getValue(), other = offByOne(before);
      mlir::StringAttr name = attribute.getName();
      if (other && other != before)
        mutations.push_back(
            {[op, name, other] { op->setAttr(name, other); },
             [op, name, before] { op->setAttr(name, before); }});
    }
  });
  return mutations;
}

SmallVector<Mutation> ckpt::wrongResults(mlir::func::FuncOp step) {
  SmallVector<Mutation> mutations;
  SmallVector<Operation *> terminators;
  for (KernelOp kernel : step.getOps<KernelOp>())
    terminators.push_back(kernel.getBody().front().getTerminator());
  terminators.push_back(step.getBody().front().getTerminator());
  for (Operation *terminator : terminators)
    for (unsigned i = 0; i + 1 < terminator->getNumOperands(); ++i) {
      OpOperand &a = terminator->getOpOperand(i);
      OpOperand &b = terminator->getOpOperand(i + 1);
      Value before = a.get(), after = b.get();
      if (before == after || before.getType() != after.getType())
        continue;
      mutations.push_back({[&a, &b, before, after] {
                             a.set(after);
                             b.set(before);
                           },
                           [&a, &b, before, after] {
                             a.set(before);
                             b.set(after);
                           }});
    }
  return mutations;
}

SmallVector<Mutation> ckpt::droppedWaits(ArrayRef<KernelOp> kernels) {
  SmallVector<Mutation> mutations;
  for (KernelOp kernel : kernels) {
    SmallVector<Value> after(kernel.getAfter());
    if (!after.empty())
      mutations.push_back(
          {[kernel]() mutable { kernel.getAfterMutable().clear(); },
           [kernel, after]() mutable {
             kernel.getAfterMutable().assign(after);
           }});
  }
  return mutations;
}

SmallVector<Mutation> ckpt::movedPlaces(ArrayRef<KernelOp> kernels) {
  SmallVector<Mutation> mutations;
  for (KernelOp kernel : kernels)
    for (size_t i = 0; i < kernel.getOffsets().size(); ++i)
      for (int64_t distance : {-256, 256}) {
        SmallVector<int64_t> before(kernel.getOffsets()), moved = before;
        moved[i] += distance;
        if (before[i] < 0 || moved[i] < 0)
          continue;
        mutations.push_back(
            {[kernel, moved]() mutable { kernel.setOffsets(moved); },
             [kernel, before]() mutable { kernel.setOffsets(before); }});
      }
  return mutations;
}

SmallVector<Mutation> ckpt::movedKernels(ArrayRef<KernelOp> kernels) {
  SmallVector<Mutation> mutations;
  for (size_t k = 0; k < kernels.size(); ++k) {
    Operation *kernel = kernels[k], *after = kernel->getNextNode();
    for (Operation *later : kernels.drop_front(k + 1)) {
      if (llvm::is_contained(kernel->getUsers(), later))
        break;
      mutations.push_back({[kernel, later] { kernel->moveAfter(later); },
                           [kernel, after] { kernel->moveBefore(after); }});
    }
  }
  return mutations;
}

/// Puts a kernel in and out, with all uses of it.
static Mutation takeOut(KernelOp kernel, ArrayRef<Value> substitutes) {
  struct Use {
    OpOperand *operand;
    Value before, after;
  };
  SmallVector<Use> uses;
  for (auto [result, other] : llvm::zip(kernel->getResults(), substitutes))
    for (OpOperand &use : result.getUses())
      uses.push_back({&use, result, other});
  Operation *op = kernel, *next = op->getNextNode();
  SmallVector<Value> operands(op->getOperands());
  auto apply = [op, uses] {
    for (const Use &use : uses)
      use.operand->set(use.after);
    op->setOperands({});
    op->remove();
  };
  auto undo = [op, uses, next, operands] {
    next->getBlock()->getOperations().insert(next->getIterator(), op);
    op->setOperands(operands);
    for (const Use &use : uses)
      use.operand->set(use.before);
  };
  return {apply, undo};
}

SmallVector<Mutation> ckpt::removedKernels(mlir::func::FuncOp step) {
  SmallVector<Mutation> mutations;
  for (KernelOp kernel : step.getOps<KernelOp>()) {
    SmallVector<Value> substitutes;
    for (OpResult result : kernel->getResults())
      for (BlockArgument argument : step.getArguments())
        if (argument.getType() == result.getType()) {
          substitutes.push_back(argument);
          break;
        }
    if (substitutes.size() == kernel->getNumResults())
      mutations.push_back(takeOut(kernel, substitutes));
  }
  return mutations;
}

static bool hasCall(Operation *kernel) {
  return kernel
      ->walk([](mlir::func::CallOp) { return mlir::WalkResult::interrupt(); })
      .wasInterrupted();
}

SmallVector<Mutation> ckpt::repeatedEffects(ArrayRef<KernelOp> kernels) {
  SmallVector<Mutation> mutations;
  for (Operation *kernel : kernels) {
    if (!hasCall(kernel))
      continue;
    auto copy = std::make_shared<Operation *>();
    mutations.push_back({[kernel, copy] {
                           *copy = kernel->clone();
                           kernel->getBlock()->getOperations().insertAfter(
                               kernel->getIterator(), *copy);
                         },
                         [copy] { (*copy)->erase(); }});
  }
  return mutations;
}

SmallVector<Mutation> ckpt::exchangedEffects(ArrayRef<KernelOp> kernels) {
  SmallVector<KernelOp> calling;
  llvm::copy_if(kernels, std::back_inserter(calling), hasCall);
  return movedKernels(calling);
}
