//===- ReduceStep.cpp - The pass --ckpt-reduce-step -----------------------===//
//
// Upstream's reduction-tree erases ops, and in a step nearly every op has a
// reader. This pass cuts the end of a step off, drops results and replaces ops by
// zeros, in ever smaller chunks. Upstream's Tester runs the script.
//
//===----------------------------------------------------------------------===//

#include "ReduceStep.h"
#include "ckpt/Support/LLVM.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Reducer/Tester.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace ckpt;
using namespace mlir;

using Module = OwningOpRef<ModuleOp>;

//===----------------------------------------------------------------------===//
// Parts of a module that can be left out, by their numbers
//===----------------------------------------------------------------------===//

/// A zero of \p type, or nothing.
static TypedAttr zeroOf(Type type, Builder &builder) {
  auto shaped = dyn_cast<ShapedType>(type);
  Type element = shaped ? shaped.getElementType() : type;
  if ((shaped && !shaped.hasStaticShape()) || !element.isIntOrIndexOrFloat())
    return {};
  return builder.getZeroAttr(type);
}

/// Ops that zeros can stand for, in order.
static SmallVector<Operation *> replaceableOps(ModuleOp module) {
  SmallVector<Operation *> ops;
  Builder builder(module.getContext());
  module.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (op->getNumResults() > 0 && !op->hasTrait<OpTrait::ConstantLike>() &&
        llvm::all_of(op->getResultTypes(),
                     [&](Type type) { return zeroOf(type, builder); }))
      ops.push_back(op);
  });
  return ops;
}

static void replaceByZeros(ModuleOp module, size_t begin, size_t end) {
  SmallVector<Operation *> ops = replaceableOps(module);
  IRRewriter rewriter(module.getContext());
  // The last first, since replacing an op erases the ops inside.
  for (size_t i = end; i-- > begin;) {
    rewriter.setInsertionPoint(ops[i]);
    SmallVector<Value> zeros;
    for (Type type : ops[i]->getResultTypes())
      zeros.push_back(arith::ConstantOp::create(rewriter, ops[i]->getLoc(),
                                                zeroOf(type, rewriter)));
    rewriter.replaceOp(ops[i], zeros);
  }
}

static void eraseUnread(ModuleOp module) {
  IRRewriter rewriter(module.getContext());
  for (auto function : module.getOps<func::FuncOp>())
    (void)runRegionDCE(rewriter, function->getRegions());
}

/// A result of a function that nothing in the module calls.
struct FunctionResult {
  func::FuncOp function;
  unsigned number;
};

static SmallVector<func::FuncOp> uncalledFunctions(ModuleOp module) {
  SmallVector<func::FuncOp> functions;
  for (auto function : module.getOps<func::FuncOp>())
    if (!function.isExternal() &&
        SymbolTable::symbolKnownUseEmpty(function, module))
      functions.push_back(function);
  return functions;
}

static SmallVector<FunctionResult> functionResults(ModuleOp module) {
  SmallVector<FunctionResult> results;
  for (func::FuncOp function : uncalledFunctions(module))
    for (unsigned i = 0; i < function.getNumResults(); ++i)
      results.push_back({function, i});
  return results;
}

static void dropResults(ModuleOp module, size_t begin, size_t end) {
  SmallVector<FunctionResult> results = functionResults(module);
  for (size_t i = end; i-- > begin;) {
    auto [function, number] = results[i];
    (void)function.eraseResult(number);
    function.walk([number = number](func::ReturnOp op) {
      op->eraseOperand(number);
    });
  }
}

static void eraseFunctions(ModuleOp module, size_t begin, size_t end) {
  SmallVector<func::FuncOp> functions = uncalledFunctions(module);
  for (size_t i = end; i-- > begin;)
    functions[i].erase();
}

/// Leaves the first \p count ops of \p function, which then returns all tensors
/// that lost their readers.
static void cutEnd(func::FuncOp function, size_t count) {
  Block &block = function.getBody().front();
  Operation *terminator = block.getTerminator();
  terminator->setOperands({});
  while (block.getOperations().size() > count + 1)
    terminator->getPrevNode()->erase();
  SmallVector<Value> results;
  for (Operation &op : block.without_terminator())
    llvm::copy_if(op.getResults(), std::back_inserter(results),
                  [](Value value) {
                    return value.use_empty() && isa<TensorType>(value.getType());
                  });
  terminator->setOperands(results);
  function.setType(
      FunctionType::get(function.getContext(), function.getArgumentTypes(),
                        TypeRange(ValueRange(results))));
  function.setResAttrsAttr({});
}

static void dropUnreadArguments(ModuleOp module) {
  for (func::FuncOp function : uncalledFunctions(module)) {
    llvm::BitVector unread(function.getNumArguments());
    for (BlockArgument argument : function.getArguments())
      if (argument.use_empty())
        unread.set(argument.getArgNumber());
    (void)function.eraseArguments(unread);
  }
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {
struct ReduceStepPass
    : PassWrapper<ReduceStepPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ReduceStepPass)

  ReduceStepPass() = default;
  ReduceStepPass(const ReduceStepPass &other) : PassWrapper(other) {}

  StringRef getArgument() const override { return "ckpt-reduce-step"; }
  StringRef getDescription() const override {
    return "Shrink a step while a test calls it interesting";
  }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<arith::ArithDialect>();
  }
  void runOnOperation() override;

private:
  using Count = llvm::function_ref<size_t(ModuleOp)>;
  using LeaveOut = llvm::function_ref<void(ModuleOp, size_t, size_t)>;

  /// Keeps the outcome of \p change on a copy if it is still interesting.
  bool attempt(llvm::function_ref<void(ModuleOp)> change);
  /// Cuts function \p number behind the op that shows the fault, if one does.
  void findEnd(size_t number);
  /// Leaves out parts in ever smaller chunks, the last parts first.
  void shrink(Count count, LeaveOut leaveOut);

  Module best;
  Tester tester;
  Option<std::string> test{
      *this, "test",
      llvm::cl::desc("Script that gets a file's name and exits with another "
                     "code than 0 if the program is interesting")};
};
} // namespace

bool ReduceStepPass::attempt(llvm::function_ref<void(ModuleOp)> change) {
  // The verifier's complaints about candidates are none of the user's program.
  ScopedDiagnosticHandler handler(&getContext(),
                                  [](Diagnostic &) { return success(); });
  Module candidate = best->clone();
  change(*candidate);
  if (tester.isInteresting(*candidate).first != Tester::Interestingness::True)
    return false;
  best = std::move(candidate);
  return true;
}

void ReduceStepPass::findEnd(size_t number) {
  func::FuncOp function = uncalledFunctions(*best)[number];
  if (!function.getBody().hasOneBlock() ||
      !isa<func::ReturnOp>(function.getBody().front().getTerminator()))
    return;
  size_t low = 0;
  size_t high = function.getBody().front().getOperations().size() - 1;
  while (low < high) {
    size_t middle = (low + high) / 2;
    if (attempt([&](ModuleOp module) {
          cutEnd(uncalledFunctions(module)[number], middle);
        }))
      high = middle;
    else
      low = middle + 1;
  }
  attempt(eraseUnread);
}

void ReduceStepPass::shrink(Count count, LeaveOut leaveOut) {
  for (size_t chunk = count(*best); chunk > 0; chunk /= 2)
    for (size_t end = count(*best); end > 0;) {
      size_t begin = end > chunk ? end - chunk : 0;
      attempt([&](ModuleOp module) {
        leaveOut(module, begin, end);
        eraseUnread(module);
      });
      end = std::min(begin, count(*best));
    }
}

void ReduceStepPass::runOnOperation() {
  if (!llvm::sys::fs::can_execute(test)) {
    emitError(getOperation().getLoc())
        << "expected 'test' to be a script that can run, but got '" << test
        << "'";
    return signalPassFailure();
  }
  tester.setTestScript(test);
  best = getOperation().clone();
  if (!attempt([](ModuleOp) {})) {
    emitError(getOperation().getLoc())
        << "expected a program that '" << test << "' calls interesting";
    best = {};
    return signalPassFailure();
  }
  auto count = [](auto parts) {
    return [parts](ModuleOp module) { return parts(module).size(); };
  };
  auto size = [&] {
    return uncalledFunctions(*best).size() + functionResults(*best).size() +
           replaceableOps(*best).size();
  };
  for (size_t before = SIZE_MAX; size() < before;) {
    before = size();
    shrink(count(uncalledFunctions), eraseFunctions);
    for (size_t i = uncalledFunctions(*best).size(); i-- > 0;)
      findEnd(i);
    shrink(count(functionResults), dropResults);
    shrink(count(replaceableOps), replaceByZeros);
  }
  attempt(dropUnreadArguments);
  getOperation().getBodyRegion().takeBody(best->getBodyRegion());
  best = {};
}

void ckpt::registerReduceStepPass() { PassRegistration<ReduceStepPass>(); }
