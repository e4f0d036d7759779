//===- KernelBuilder.cpp - From a plan to ckpt.kernel ops -----------------===//

#include "Transforms/Apply/KernelBuilder.h"
#include "ckpt/Analysis/ReturnedParts.h"
#include "ckpt/Analysis/ValueShape.h"
#include "ckpt/ExternalModels/ContiguousSlice.h"
#include "ckpt/ExternalModels/UnreadTensors.h"
#include "ckpt/IR/CkptDialect.h"
#include "ckpt/Import/Donation.h"
#include "ckpt/Import/NameStack.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include <map>
#include <set>

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
        firstRun(program.ops.size(), plan::none),
        lastMade(program.values.size(), plan::none) {
    for (auto [i, instance] : llvm::enumerate(verdict.instances))
      instancesOf[instance.kernel].push_back(i);
    for (auto [k, kernel] : llvm::enumerate(plan.kernels))
      for (plan::ValueId output : kernel.outputs)
        lastMade[output] = k;
  }

  void run() {
    Block &block = program.function.getBody().front();
    Operation *firstOld = &block.front();
    for (size_t k = 0; k < plan.kernels.size(); ++k)
      build(k);
    finish(block, firstOld);
  }

private:
  /// Inputs of a kernel: values of the program, and their present forms.
  using Inputs = llvm::MapVector<Value, Value>;

  void build(int32_t k);
  Value outside(plan::ValueId value, const plan::Kernel &kernel);
  plan::ValueId shownBy(plan::ValueId value, const plan::Kernel &kernel) const;
  llvm::DenseSet<plan::OpId> stretchesOf(const plan::Kernel &kernel,
                                         const plan::KernelInfo &info) const;
  Inputs takeStretches(plan::Kernel &kernel, const plan::KernelInfo &info);
  void cloneOps(const plan::Kernel &kernel, KernelOp op,
                mlir::IRMapping &mapping);
  void cloneFree(Value value, OpBuilder &inside, mlir::IRMapping &mapping);
  int32_t originalOf(int32_t k);
  void keepApart(KernelOp op);
  SmallVector<Value> chooseAfter(int32_t k, int32_t original,
                                 const Inputs &inputs);
  std::pair<int64_t, int64_t> slotOf(int32_t k, size_t number) const;
  std::string layerName(const plan::Kernel &kernel) const;
  Location location(const plan::Kernel &kernel) const;
  Value returned(Value value, mlir::IRMapping &latest);
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
  /// The last kernel of the plan that writes each value, or `none`.
  std::vector<int32_t> lastMade;
  /// How many kernels have the same attributes, operands and types of results.
  std::map<std::vector<const void *>, int32_t> turns;
  /// Views that stand outside of kernels, by op and by the value that they
  /// show.
  llvm::DenseMap<std::pair<plan::OpId, Value>, Value> views;
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
    // If only the shape matters, an empty tensor has it.
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

/// The first kernel that made a value which kernel \p k makes again (a value in
/// memory, or the work of an anchor), or `none`.
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

/// The value for which kernel \p k, which repeats \p original, waits: the
/// youngest value that lives across it anyway and is no input of it. It was not
/// there when the original ran. Without such a value, the reads of the kernel
/// keep it in its place.
SmallVector<Value> KernelBuilder::chooseAfter(int32_t k, int32_t original,
                                              const Inputs &inputs) {
  for (int32_t since = k - 1; since > original; --since)
    for (int32_t i : instancesOf[since]) {
      const plan::Instance &instance = verdict.instances[i];
      if (instance.lastRead >= k &&
          !inputs.contains(program.values[instance.value]))
        return {current[instance.value]};
    }
  return {};
}

/// Numbers kernels that only differ in their bodies.
void KernelBuilder::keepApart(KernelOp op) {
  std::vector<const void *> outside = {
      op->getAttrDictionary().getAsOpaquePointer()};
  for (Value operand : op->getOperands())
    outside.push_back(operand.getAsOpaquePointer());
  for (Type type : op->getResultTypes())
    outside.push_back(type.getAsOpaquePointer());
  if (int32_t turn = turns[std::move(outside)]++)
    op->setAttr(CkptDialect::turnAttrName(), builder.getI32IntegerAttr(turn));
}

std::string KernelBuilder::layerName(const plan::Kernel &kernel) const {
  // The anchor names the kernel, else its first output.
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

/// The slot of output \p number of kernel \p k: its offset, and the part of the
/// results in whose buffer it lies, or -1. A result that is written again lies
/// as another value in its own buffer until then.
std::pair<int64_t, int64_t> KernelBuilder::slotOf(int32_t k,
                                                  size_t number) const {
  const plan::Kernel &kernel = plan.kernels[k];
  plan::ValueId output = kernel.outputs[number];
  const plan::Value &value = program.problem.values[output];
  if (value.home == plan::Home::Result && lastMade[output] != k)
    return {0, program.partOf(output)};
  if (value.home == plan::Home::Hosted)
    return {0, program.partOf(value.host)};
  plan::ValueId host = kernel.hostOf(number);
  return {kernel.offsets[number],
          host == plan::none ? -1 : program.partOf(host)};
}

/// Whether \p op shows a stretch of memory at a place where values may begin.
static bool isPlacedStretch(Operation *op) {
  auto slice = dyn_cast<mlir::tensor::ExtractSliceOp>(op);
  std::optional<int64_t> begin =
      slice ? contiguousBegin(slice) : std::optional<int64_t>();
  if (!begin)
    return false;
  FailureOr<ValueShape> shape = shapeOfValue(slice.getResult());
  return succeeded(shape) && shape->elements > 0 &&
         *begin * (shape->bytes / shape->elements) % partAlignment == 0;
}

/// \p value as it stands outside of \p kernel: by views that the kernel does
/// not make.
Value KernelBuilder::outside(plan::ValueId value, const plan::Kernel &kernel) {
  plan::OpId view = program.problem.values[value].op;
  if (!llvm::binary_search(kernel.ops, view))
    return current[value];
  Value source = outside(program.problem.ops[view].reads.front().value, kernel);
  Value &shown = views[{view, source}];
  if (shown)
    return shown;
  Operation *op = program.ops[view];
  mlir::IRMapping mapping;
  mapping.map(op->getOperand(0), source);
  Operation *copy = builder.clone(*op, mapping);
  copy->removeDiscardableAttr(CkptDialect::decisionAttrName());
  copy->removeDiscardableAttr(CkptDialect::pinAttrName());
  return shown = copy->getResult(0);
}

/// Views of \p kernel that show stretches of its reads and need not stand in
/// it. A value that a result may overwrite stays whole.
llvm::DenseSet<plan::OpId>
KernelBuilder::stretchesOf(const plan::Kernel &kernel,
                           const plan::KernelInfo &info) const {
  llvm::DenseSet<plan::ValueId> inMemory;
  for (plan::ValueId read : info.memoryReads) {
    Operation *maker = program.values[read].getDefiningOp();
    bool isConstant = maker && maker->hasTrait<mlir::OpTrait::ConstantLike>();
    bool isOverwritten =
        llvm::any_of(info.inPlace, [&](const plan::InPlacePair &pair) {
          return pair.input == read;
        });
    if (!isConstant && !isOverwritten)
      inMemory.insert(read);
  }
  llvm::DenseSet<plan::OpId> stretches;
  for (plan::OpId id : kernel.ops) {
    const plan::Op &op = program.problem.ops[id];
    if (op.kind != plan::OpKind::View ||
        !inMemory.contains(op.reads.front().value) ||
        llvm::is_contained(kernel.outputs, op.results.front()))
      continue;
    bool isStretch = isPlacedStretch(program.ops[id]);
    if (isStretch)
      stretches.insert(id);
    if (isStretch || op.reads.front().access == plan::Access::Reshape)
      inMemory.insert(op.results.front());
  }
  return stretches;
}

/// The value in memory of which the views of \p kernel make \p value.
plan::ValueId KernelBuilder::shownBy(plan::ValueId value,
                                     const plan::Kernel &kernel) const {
  const plan::Problem &problem = program.problem;
  while (llvm::binary_search(kernel.ops, problem.values[value].op))
    value = problem.ops[problem.values[value].op].reads.front().value;
  return value;
}

/// Takes stretches out of \p kernel and returns its reads. Layers that read
/// different parts of a stack then share their code.
KernelBuilder::Inputs
KernelBuilder::takeStretches(plan::Kernel &kernel,
                             const plan::KernelInfo &info) {
  llvm::DenseSet<plan::OpId> stretches = stretchesOf(kernel, info);
  std::vector<plan::OpId> rest;
  std::set<plan::ValueId> reads;
  for (plan::OpId id : llvm::reverse(kernel.ops)) {
    const plan::Op &op = program.problem.ops[id];
    // A reshape may be left without a reader.
    bool isNeeded = op.kind != plan::OpKind::View ||
                    reads.count(op.results.front()) ||
                    llvm::is_contained(kernel.outputs, op.results.front());
    if (stretches.contains(id) || !isNeeded)
      continue;
    rest.push_back(id);
    for (const plan::Read &read : op.reads)
      reads.insert(read.value);
  }
  std::reverse(rest.begin(), rest.end());
  // In the order of the shown values, which is the same for all layers.
  std::set<std::pair<plan::ValueId, plan::ValueId>> ordered;
  for (plan::ValueId read : reads)
    if (!llvm::binary_search(rest, program.problem.values[read].op))
      ordered.insert({shownBy(read, kernel), read});
  Inputs inputs;
  for (auto [shown, read] : ordered)
    inputs[program.values[read]] = outside(read, kernel);
  kernel.ops = std::move(rest);
  return inputs;
}

void KernelBuilder::build(int32_t k) {
  plan::Kernel kernel = plan.kernels[k];
  plan::KernelInfo info = plan::analyze(program.problem, kernel);
  std::string layer = layerName(kernel);
  Inputs inputs = takeStretches(kernel, info);
  SmallVector<Type> results;
  SmallVector<int64_t> offsets, hosts, bytes;
  for (auto [i, output] : llvm::enumerate(kernel.outputs)) {
    auto [offset, host] = slotOf(k, i);
    offsets.push_back(offset);
    hosts.push_back(host);
    results.push_back(program.values[output].getType());
    bytes.push_back(program.problem.values[output].bytes);
  }
  bool isHosted = llvm::any_of(hosts, [](int64_t host) { return host >= 0; });
  int32_t original = originalOf(k);
  bool recompute = original != plan::none;
  SmallVector<Value> after;
  if (recompute)
    after = chooseAfter(k, original, inputs);

  Location loc = location(kernel);
  auto op = KernelOp::create(
      builder, loc, results, llvm::to_vector(llvm::make_second_range(inputs)),
      after, offsets, bytes,
      isHosted ? builder.getDenseI64ArrayAttr(hosts)
               : mlir::DenseI64ArrayAttr(),
      kernel.workspaceOffset, info.workspaceBytes, layer, recompute);
  keepApart(op);
  Block &body = op.getBody().emplaceBlock();
  mlir::IRMapping mapping;
  for (Value value : llvm::make_first_range(inputs))
    mapping.map(value, body.addArgument(value.getType(), value.getLoc()));
  cloneOps(kernel, op, mapping);
  for (auto [output, result] : llvm::zip_equal(kernel.outputs, op.getResults()))
    current[output] = result;
}

/// The latest instance of \p value, which is returned. The program returns it
/// through the reshapes and concatenations that no kernel makes.
Value KernelBuilder::returned(Value value, mlir::IRMapping &latest) {
  Operation *maker = value.getDefiningOp();
  if (!maker || latest.contains(value) ||
      maker->hasTrait<mlir::OpTrait::ConstantLike>() ||
      isa<mlir::tensor::EmptyOp>(maker))
    return latest.lookupOrDefault(value);
  size_t shown =
      isa<mlir::tensor::ConcatOp>(maker) ? maker->getNumOperands() : 1;
  for (Value operand : maker->getOperands().take_front(shown))
    latest.map(operand, returned(operand, latest));
  return builder.clone(*maker, latest)->getResult(0);
}

/// Returns the latest instances and erases the program as it was.
void KernelBuilder::finish(Block &block, Operation *firstOld) {
  Operation *terminator = block.getTerminator();
  mlir::IRMapping latest;
  for (auto [old, now] : llvm::zip_equal(program.values, current))
    if (old != now)
      latest.map(old, now);
  builder.setInsertionPoint(terminator);
  for (OpOperand &operand : terminator->getOpOperands())
    operand.set(returned(operand.get(), latest));
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
  recordDonations(program, plan);
  // Inlined into another function, the places would mean nothing.
  function.setNoInlineAttr(builder.getUnitAttr());
}
