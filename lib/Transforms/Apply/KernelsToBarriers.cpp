//===- KernelsToBarriers.cpp - Dissolve kernels for other compilers -------===//
//
// --ckpt-kernels-to-barriers, for users whose code another compiler makes; it
// runs on the output of --ckpt-apply-plan. The bodies of kernels stand in the
// planned order, and a chain of barriers holds them there: a kernel reads its
// inputs through a barrier that also takes the results of the kernel before.
//
//===----------------------------------------------------------------------===//

#include "ckpt/IR/CkptDialect.h"
#include "ckpt/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/StringExtras.h"

namespace ckpt {
#define GEN_PASS_DEF_KERNELSTOBARRIERSPASS
#include "ckpt/Transforms/Passes.h.inc"
} // namespace ckpt

using namespace ckpt;

/// How a barrier is written: the option's value and the op.
namespace {
struct Form {
  StringRef name, op;
};
} // namespace

static constexpr Form forms[] = {
    {"ckpt", "ckpt.barrier"},
    {"stablehlo", "stablehlo.optimization_barrier"},
    {"util", "util.optimization_barrier"}};

static const Form *findForm(StringRef name) {
  const Form *found =
      llvm::find_if(forms, [&](const Form &form) { return form.name == name; });
  return found == std::end(forms) ? nullptr : found;
}

namespace {
/// Dissolves the kernels of one block, in order.
class Chain {
public:
  explicit Chain(const Form &form) : form(form) {}
  void dissolve(KernelOp kernel);

private:
  bool isFixed(Value value) const;
  bool takes(Value value) const;
  void noteFixed(Operation &op);
  SmallVector<Value> behindBarrier(KernelOp kernel);
  ValueRange createBarrier(Location loc, OpBuilder &builder, ValueRange inputs,
                           ValueRange after) const;

  const Form &form;
  /// Values that depend on constants alone.
  llvm::DenseSet<Value> fixed;
  /// Results that no barrier waits for yet.
  SmallVector<Value> waiting;
};
} // namespace

bool Chain::isFixed(Value value) const {
  Operation *maker = value.getDefiningOp();
  return fixed.contains(value) ||
         (maker && maker->hasTrait<mlir::OpTrait::ConstantLike>());
}

void Chain::noteFixed(Operation &op) {
  llvm::SetVector<Value> reads(op.operand_begin(), op.operand_end());
  mlir::getUsedValuesDefinedAbove(op.getRegions(), reads);
  if (llvm::all_of(reads, [&](Value read) { return isFixed(read); }))
    fixed.insert(op.result_begin(), op.result_end());
}

/// Compilers of the other dialects give arguments, results and constants, which
/// they evaluate, storage of another kind than values in between, and refuse a
/// barrier on both kinds.
bool Chain::takes(Value value) const {
  if (!isa<mlir::RankedTensorType>(value.getType()))
    return false;
  if (form.name == "ckpt")
    return true;
  return value.getDefiningOp() && !isFixed(value) &&
         llvm::none_of(value.getUsers(), [](Operation *user) {
           return isa<mlir::func::ReturnOp>(user);
         });
}

ValueRange Chain::createBarrier(Location loc, OpBuilder &builder,
                                ValueRange inputs, ValueRange after) const {
  if (form.name == "ckpt")
    return BarrierOp::create(builder, loc, inputs.getTypes(), inputs, after)
        .getResults();
  mlir::OperationState state(loc, form.op);
  state.addOperands(inputs);
  state.addOperands(after);
  state.addTypes(inputs.getTypes());
  state.addTypes(after.getTypes());
  return builder.create(state)->getResults().take_front(inputs.size());
}

/// The inputs of a kernel, as its body reads them. A kernel without an input
/// that a barrier takes runs at any place, and the next barrier waits for it.
SmallVector<Value> Chain::behindBarrier(KernelOp kernel) {
  SmallVector<Value> inputs(kernel.getInputs());
  llvm::SetVector<Value> taken;
  for (Value input : inputs)
    if (takes(input))
      taken.insert(input);
  if (taken.empty() || waiting.empty())
    return inputs;
  llvm::erase_if(waiting, [&](Value value) { return taken.contains(value); });
  OpBuilder builder(kernel);
  mlir::IRMapping behind;
  behind.map(taken.getArrayRef(), createBarrier(kernel.getLoc(), builder,
                                                taken.getArrayRef(), waiting));
  waiting.clear();
  return llvm::map_to_vector(
      inputs, [&](Value input) { return behind.lookupOrDefault(input); });
}

void Chain::dissolve(KernelOp kernel) {
  OpBuilder builder(kernel);
  mlir::IRMapping mapping;
  mapping.map(kernel.getBody().getArguments(), behindBarrier(kernel));
  for (Operation &op : kernel.getBody().front().without_terminator())
    noteFixed(*builder.clone(op, mapping));
  auto yield = cast<YieldOp>(kernel.getBody().front().getTerminator());
  for (auto [result, inside] :
       llvm::zip_equal(kernel.getResults(), yield.getValues())) {
    Value value = mapping.lookupOrDefault(inside);
    result.replaceAllUsesWith(value);
    if (takes(value))
      waiting.push_back(value);
  }
  kernel.erase();
}

namespace {
struct KernelsToBarriersPass
    : impl::KernelsToBarriersPassBase<KernelsToBarriersPass> {
  using KernelsToBarriersPassBase::KernelsToBarriersPassBase;

  LogicalResult initialize(MLIRContext *context) override {
    if (findForm(form))
      return success();
    auto names =
        llvm::map_range(forms, [](const Form &each) { return each.name; });
    return mlir::emitError(mlir::UnknownLoc::get(context))
           << "expected 'form' to be one of " << llvm::join(names, ", ")
           << ", but got '" << form << "'";
  }

  void runOnOperation() override {
    const Form &chosen = *findForm(form);
    mlir::OperationName name(chosen.op, &getContext());
    if (!name.isRegistered() && !getContext().allowsUnregisteredDialects()) {
      mlir::emitError(getOperation().getLoc())
          << "'" << chosen.op
          << "' is unknown here: pass --allow-unregistered-dialect";
      return signalPassFailure();
    }
    llvm::MapVector<mlir::Block *, SmallVector<KernelOp>> kernels;
    getOperation().walk([&](KernelOp kernel) {
      kernels[kernel->getBlock()].push_back(kernel);
    });
    for (auto &[block, inOrder] : kernels) {
      Chain chain(chosen);
      llvm::for_each(inOrder, [&](KernelOp kernel) { chain.dissolve(kernel); });
    }
    for (auto function : getOperation().getOps<mlir::func::FuncOp>())
      function->removeAttr(CkptDialect::arenaBytesAttrName());
  }
};
} // namespace
