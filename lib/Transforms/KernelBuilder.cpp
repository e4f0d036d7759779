//===- KernelBuilder.cpp - From a plan to ckpt.kernel ops -----------------===//

#include "KernelBuilder.h"
#include "ckpt/Analysis/NameStack.h"
#include "ckpt/ExternalModels/UnreadTensors.h"
#include "ckpt/IR/CkptDialect.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"

using namespace ckpt;

/// Moves the bodies of all layers before them. A planned function has no layers
/// in layers only by nesting, which this walk (inner first) handles.
static void dissolveLayers(mlir::func::FuncOp function) {
  function.walk([](LayerOp layer) {
    auto yield = cast<YieldOp>(layer.getBody().front().getTerminator());
    layer.getResults().replaceAllUsesWith(yield.getValues());
    yield.erase();
    layer->getBlock()->getOperations().splice(
        layer->getIterator(), layer.getBody().front().getOperations());
    layer.erase();
  });
}

namespace {
class KernelBuilder {
public:
  KernelBuilder(ProgramProblem &program, const plan::Plan &plan,
                const plan::Verdict &verdict)
      : program(program), plan(plan), verdict(verdict),
        builder(program.function.getBody().front().getTerminator()),
        current(program.values.begin(), program.values.end()),
        instancesOf(plan.kernels.size()),
        firstMade(program.values.size(), plan::none),
        firstRun(program.ops.size(), plan::none) {
    for (auto [i, instance] : llvm::enumerate(verdict.instances))
      instancesOf[instance.kernel].push_back(i);
  }

  void run() {
    Block &block = program.function.getBody().front();
    Operation *firstOld = &block.front();
    for (size_t k = 0; k < plan.kernels.size(); ++k)
      build(k);
    finish(block, firstOld);
  }

private:
  void build(int32_t k);
  void cloneOps(const plan::Kernel &kernel, KernelOp op,
                mlir::IRMapping &mapping);
  void cloneFree(Value value, OpBuilder &inside, mlir::IRMapping &mapping);
  int32_t originalOf(int32_t k);
  SmallVector<Value> chooseAfter(int32_t k, int32_t original,
                                 ArrayRef<plan::ValueId> reads);
  SmallVector<int64_t> slots(const plan::Kernel &kernel);
  std::string layerName(const plan::Kernel &kernel) const;
  Location location(const plan::Kernel &kernel) const;
  void finish(Block &block, Operation *firstOld);

  ProgramProblem &program;
  const plan::Plan &plan;
  const plan::Verdict &verdict;
  OpBuilder builder;
  /// The latest instance of each value.
  SmallVector<Value> current;
  /// Indices into `Verdict::instances`, by the kernel that writes them.
  std::vector<SmallVector<int32_t, 1>> instancesOf;
  /// The first kernel up to now that wrote each value, and that ran each
  /// anchor, or `none`.
  std::vector<int32_t> firstMade, firstRun;
};
} // namespace

/// Constants and empty tensors are not ops of the problem: each kernel has its
/// own.
void KernelBuilder::cloneFree(Value value, OpBuilder &inside,
                              mlir::IRMapping &mapping) {
  if (mapping.contains(value))
    return;
  Operation *source = value.getDefiningOp();
  for (Value operand : source->getOperands())
    cloneFree(operand, inside, mapping);
  inside.clone(*source, mapping);
}

void KernelBuilder::cloneOps(const plan::Kernel &kernel, KernelOp op,
                             mlir::IRMapping &mapping) {
  OpBuilder inside = OpBuilder::atBlockEnd(&op.getBody().front());
  for (plan::OpId id : kernel.ops) {
    Operation *source = program.ops[id];
    // Where only the shape matters, an empty tensor has it.
    for (Value value : unreadTensors(source))
      if (auto type = cast<mlir::RankedTensorType>(value.getType());
          !mapping.contains(value) &&
          !value.getDefiningOp<mlir::tensor::EmptyOp>())
        mapping.map(value, mlir::tensor::EmptyOp::create(
                               inside, value.getLoc(), type.getShape(),
                               type.getElementType(), type.getEncoding()));
    llvm::SetVector<Value> used(source->operand_begin(), source->operand_end());
    mlir::getUsedValuesDefinedAbove(source->getRegions(), used);
    for (Value value : used)
      cloneFree(value, inside, mapping);
    Operation *copy = inside.clone(*source, mapping);
    copy->removeDiscardableAttr(CkptDialect::decisionAttrName());
    copy->removeDiscardableAttr(CkptDialect::pinAttrName());
  }
  SmallVector<Value> yielded;
  for (plan::ValueId output : kernel.outputs)
    yielded.push_back(mapping.lookup(program.values[output]));
  YieldOp::create(inside, op.getLoc(), yielded);
}

/// The first kernel that made what kernel \p k makes again (what stood in
/// memory before, or the work of an anchor), or `none`.
int32_t KernelBuilder::originalOf(int32_t k) {
  int32_t original = k;
  auto enter = [&](int32_t &first) {
    if (first == plan::none)
      first = k;
    original = std::min(original, first);
  };
  for (int32_t i : instancesOf[k])
    enter(firstMade[verdict.instances[i].value]);
  for (plan::OpId op : plan.kernels[k].ops)
    if (plan::isAnchor(program.problem.ops[op]))
      enter(firstRun[op]);
  return original == k ? plan::none : original;
}

/// What kernel \p k, which repeats \p original, waits for: the youngest value
/// that lives across it anyway and is no input of it. It was not there when the
/// original ran. Where there is none, what it reads keeps it in its place.
SmallVector<Value> KernelBuilder::chooseAfter(int32_t k, int32_t original,
                                              ArrayRef<plan::ValueId> reads) {
  for (int32_t since = k - 1; since > original; --since)
    for (int32_t i : instancesOf[since]) {
      const plan::Instance &instance = verdict.instances[i];
      bool caller =
          program.problem.values[instance.value].home == plan::Home::Result;
      if ((instance.lastRead >= k || caller) &&
          !llvm::is_contained(reads, instance.value))
        return {current[instance.value]};
    }
  return {};
}

std::string KernelBuilder::layerName(const plan::Kernel &kernel) const {
  // The anchor names the kernel, else what it writes.
  plan::OpId named =
      program.problem
          .values[kernel.outputs.empty() ? 0 : kernel.outputs.front()]
          .op;
  for (plan::OpId op : kernel.ops)
    if (plan::isAnchor(program.problem.ops[op]))
      named = op;
  if (kernel.outputs.empty())
    named = kernel.ops.back();
  int32_t layer = program.problem.ops[named].layer;
  return layer == plan::none ? readNameStack(program.ops[named]->getLoc()).scope
                             : program.problem.layers[layer];
}

Location KernelBuilder::location(const plan::Kernel &kernel) const {
  SmallVector<Location> locations;
  for (plan::ValueId output : kernel.outputs)
    locations.push_back(program.values[output].getLoc());
  for (plan::OpId op : kernel.ops)
    if (plan::isAnchor(program.problem.ops[op]))
      locations.push_back(program.ops[op]->getLoc());
  if (locations.empty())
    return program.ops[kernel.ops.back()]->getLoc();
  return mlir::FusedLoc::get(builder.getContext(), locations);
}

/// The slots of a kernel: offsets as in the plan, but for values in the buffer
/// of a result that is written later, which name that result.
SmallVector<int64_t> KernelBuilder::slots(const plan::Kernel &kernel) {
  auto returned =
      program.function.getBody().front().getTerminator()->getOperands();
  SmallVector<int64_t> offsets(kernel.offsets.begin(), kernel.offsets.end());
  for (auto [offset, output] : llvm::zip_equal(offsets, kernel.outputs)) {
    plan::ValueId host = program.problem.values[output].host;
    if (host == plan::none)
      continue;
    auto result = llvm::find(returned, program.values[host]);
    offset = hostedOffset(result - returned.begin());
  }
  return offsets;
}

void KernelBuilder::build(int32_t k) {
  const plan::Kernel &kernel = plan.kernels[k];
  plan::KernelInfo info = plan::analyze(program.problem, kernel);
  SmallVector<Value> inputs;
  SmallVector<Type> results;
  SmallVector<int64_t> bytes;
  for (plan::ValueId read : info.memoryReads)
    inputs.push_back(current[read]);
  for (plan::ValueId output : kernel.outputs) {
    results.push_back(program.values[output].getType());
    bytes.push_back(program.problem.values[output].bytes);
  }
  int32_t original = originalOf(k);
  bool recompute = original != plan::none;
  SmallVector<Value> after;
  if (recompute)
    after = chooseAfter(k, original, info.memoryReads);

  Location loc = location(kernel);
  auto op = KernelOp::create(builder, loc, results, inputs, after,
                             slots(kernel), bytes, kernel.workspaceOffset,
                             info.workspaceBytes, layerName(kernel), recompute);
  Block &body = op.getBody().emplaceBlock();
  mlir::IRMapping mapping;
  for (plan::ValueId read : info.memoryReads) {
    Value value = program.values[read];
    mapping.map(value, body.addArgument(value.getType(), value.getLoc()));
  }
  cloneOps(kernel, op, mapping);
  for (auto [output, result] : llvm::zip_equal(kernel.outputs, op.getResults()))
    current[output] = result;
}

/// Returns the latest instances and erases the program as it was. What is
/// returned through reshapes of a result keeps those reshapes.
void KernelBuilder::finish(Block &block, Operation *firstOld) {
  Operation *terminator = block.getTerminator();
  llvm::DenseMap<Value, Value> latest;
  for (auto [old, now] : llvm::zip_equal(program.values, current))
    latest.try_emplace(old, now);
  mlir::IRMapping mapping;
  for (auto [old, now] : latest)
    mapping.map(old, now);
  for (OpOperand &operand : terminator->getOpOperands()) {
    // Views between the written value and the returned one.
    SmallVector<Operation *> views;
    Value value = operand.get();
    auto written = [&](Value v) {
      auto found = latest.find(v);
      return !v.getDefiningOp() ||
             (found != latest.end() && found->second != v) ||
             v.getDefiningOp()->hasTrait<mlir::OpTrait::ConstantLike>();
    };
    while (!written(value)) {
      views.push_back(value.getDefiningOp());
      value = views.back()->getOperand(0);
    }
    builder.setInsertionPoint(terminator);
    for (Operation *view : llvm::reverse(views))
      builder.clone(*view, mapping);
    operand.set(mapping.lookupOrDefault(operand.get()));
  }
  SmallVector<Operation *> old;
  for (Operation *op = firstOld; op && !isa<KernelOp>(op);
       op = op->getNextNode())
    old.push_back(op);
  for (Operation *op : llvm::reverse(old))
    if (op->use_empty() && op != terminator)
      op->erase();
}

void ckpt::buildKernels(ProgramProblem &program, const plan::Plan &plan,
                        const plan::Verdict &verdict) {
  dissolveLayers(program.function);
  KernelBuilder(program, plan, verdict).run();
  mlir::func::FuncOp function = program.function;
  function->removeAttr(CkptDialect::planAttrName());
  function->removeAttr(CkptDialect::strategyAttrName());
  OpBuilder builder(function.getContext());
  function->setAttr(CkptDialect::arenaBytesAttrName(),
                    builder.getI64IntegerAttr(plan.arenaBytes));
  // Inlined into another function, the places would mean nothing.
  function.setNoInlineAttr(builder.getUnitAttr());
}
