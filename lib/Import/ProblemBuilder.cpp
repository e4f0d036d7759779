//===- ProblemBuilder.cpp - From a function to a planning problem ---------===//

#include "ckpt/Import/ProblemBuilder.h"
#include "ckpt/Analysis/OpaqueBuffers.h"
#include "ckpt/Analysis/ReturnedParts.h"
#include "ckpt/Analysis/StepOps.h"
#include "ckpt/Analysis/Supported.h"
#include "ckpt/Analysis/ValueShape.h"
#include "ckpt/Import/Donation.h"
#include "ckpt/Import/KernelProblem.h"
#include "ckpt/Import/NameStack.h"
#include "ckpt/Import/Regions.h"
#include "ckpt/Interfaces/RematOpInterface.h"
#include "ckpt/Plan/FusionDuplication.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/DenseSet.h"
#include <map>

using namespace ckpt;
using plan::OpKind;

namespace {

class Builder {
public:
  Builder(mlir::func::FuncOp function, const Device &device,
          bool isChecked = true)
      : function(function), device(device), isChecked(isChecked) {
    program.function = function;
  }

  FailureOr<ProgramProblem> run();

private:
  LogicalResult checkFunction();
  void summarizeOps();
  void markNeeded();
  LogicalResult checkNeeded();
  LogicalResult addArguments();
  LogicalResult addOps();
  LogicalResult addSplatsReadBy(Operation *op);
  LogicalResult addUndefinedResults();
  LogicalResult addOp(const PlacedOp &placed);
  LogicalResult addConstant(Operation *op);
  FailureOr<plan::ValueId> addValue(Value value, plan::OpId op,
                                    std::string name);
  void addReads(const OpSummary &summary, plan::Op &op);
  LogicalResult addResults();
  void markSame(Operation *op, plan::ValueId id);
  LogicalResult setSpeed();
  bool isInNearestCache() const {
    return !device.caches.empty() && device.cacheOf(program.outsideBytes) == 0;
  }
  void markBackward(plan::OpId id);
  LogicalResult addPins(const PlacedOp &placed);
  int32_t layerNumber(LayerOp layer);

  mlir::func::FuncOp function;
  const Device &device;
  bool isChecked;
  ProgramProblem program;
  SmallVector<PlacedOp> placedOps;
  SmallVector<ReturnedPart> parts;
  llvm::DenseMap<Operation *, OpSummary> summaries;
  llvm::DenseSet<Operation *> needed;
  std::map<std::vector<int64_t>, int32_t> shapes;
  std::map<std::string, int32_t> layers;
};

} // namespace

//===----------------------------------------------------------------------===//
// Kinds of ops and values
//===----------------------------------------------------------------------===//

/// Undefined contents or a scalar that the code holds: nothing to plan.
static bool isFree(Operation *op) {
  return isa<mlir::tensor::EmptyOp>(op) ||
         (op->hasTrait<mlir::OpTrait::ConstantLike>() &&
          !isa<mlir::ShapedType>(op->getResult(0).getType()));
}

/// Data of the program, which stands in memory like an argument.
static bool isData(Operation *op) {
  mlir::ElementsAttr elements;
  return mlir::matchPattern(op, mlir::m_Constant(&elements)) &&
         !elements.isSplat();
}

/// A tensor constant whose elements are equal.
static bool isSplat(Operation *op) {
  mlir::SplatElementsAttr elements;
  return mlir::matchPattern(op, mlir::m_Constant(&elements));
}

FailureOr<plan::ValueId> Builder::addValue(Value value, plan::OpId op,
                                           std::string name) {
  auto shape = shapeOfValue(value);
  if (failed(shape))
    return failure();
  plan::Value planned;
  planned.name = std::move(name);
  planned.op = op;
  planned.elements = shape->elements;
  planned.bytes = shape->bytes;
  planned.shape =
      shapes.try_emplace(shape->sizes.vec(), shapes.size()).first->second;
  planned.home = op == plan::none ? plan::Home::Argument : plan::Home::Arena;
  plan::ValueId id = program.values.size();
  program.problem.values.push_back(std::move(planned));
  program.values.push_back(value);
  program.valueIds[value] = id;
  return id;
}

//===----------------------------------------------------------------------===//
// Needed ops
//===----------------------------------------------------------------------===//

LogicalResult Builder::checkFunction() {
  if (function.isDeclaration())
    return mlir::emitError(function.getLoc())
           << "expected a body of '" << function.getName()
           << "', but got a declaration";
  if (!function.getBody().hasOneBlock())
    return mlir::emitError(function.getLoc())
           << "expected one block in '" << function.getName() << "', but got "
           << function.getBody().getBlocks().size();
  mlir::WalkResult planned = function.walk([](KernelOp kernel) {
    kernel.emitOpError("stands in a function that was planned already");
    return mlir::WalkResult::interrupt();
  });
  if (planned.wasInterrupted())
    return failure();
  return isChecked ? checkSignature(function) : success();
}

/// Before anything is planned: whatever is needed can be run. Planning then
/// knows the memory that ops without emitters take inside.
LogicalResult Builder::checkNeeded() {
  if (!isChecked)
    return success();
  OpaqueScratch scratch;
  for (const PlacedOp &placed : placedOps) {
    Operation *op = placed.op;
    if (!needed.contains(op) || isFree(op))
      continue;
    if (failed(checkSupported(op)))
      return failure();
    OpSummary &summary = summaries[op];
    if (summary.kind != OpKind::Opaque || isOfOtherDialect(op))
      continue;
    FailureOr<int64_t> bytes = scratch.bytesOf(op);
    if (failed(bytes))
      return failure();
    summary.workspaceBytes = *bytes;
  }
  return success();
}

void Builder::summarizeOps() {
  for (const PlacedOp &placed : placedOps) {
    OpSummary summary = summarize(placed.op);
    for (RematRead &read : summary.reads)
      read.value = lookThroughLayers(read.value);
    summaries[placed.op] = std::move(summary);
  }
}

/// Marks the ops on which results and effects depend. A returned reshape needs
/// no op, nor does a result in parts: the parts fill the buffer.
void Builder::markNeeded() {
  SmallVector<Operation *> work;
  auto need = [&](Operation *op) {
    if (op && needed.insert(op).second)
      work.push_back(op);
  };
  for (const ReturnedPart &part : parts)
    need(part.value.getDefiningOp());
  for (const PlacedOp &placed : placedOps)
    if (summaries[placed.op].hasEffects)
      need(placed.op);
  while (!work.empty())
    for (const RematRead &read : summaries[work.pop_back_val()].reads)
      need(read.value.getDefiningOp());
}

//===----------------------------------------------------------------------===//
// Values and ops
//===----------------------------------------------------------------------===//

LogicalResult Builder::addArguments() {
  for (BlockArgument argument : function.getArguments()) {
    std::string name = locationName(argument.getLoc());
    if (name.empty())
      name = "argument " + std::to_string(argument.getArgNumber());
    if (failed(addValue(argument, plan::none, std::move(name))))
      return failure();
  }
  return success();
}

/// Layer and op for people: "transformer/h/3/attn · dot_general".
static std::string nameOf(const PlacedOp &placed, const NameStack &stack) {
  LayerOp layer = placed.layer;
  std::string scope = layer ? layer.getName().str() : stack.scope;
  std::string primitive = stack.primitive.empty()
                              ? placed.op->getName().getStringRef().str()
                              : stack.primitive;
  return scope.empty() ? primitive : scope + " · " + primitive;
}

int32_t Builder::layerNumber(LayerOp layer) {
  auto [entry, isNew] =
      layers.try_emplace(layer.getName().str(), layers.size());
  if (isNew)
    program.problem.layers.push_back(entry->first);
  return entry->second;
}

/// Destination k belongs to result k, so a destination is an ordinary read
/// when an earlier one is free.
void Builder::addReads(const OpSummary &summary, plan::Op &op) {
  bool inOrder = true;
  for (const RematRead &read : summary.reads) {
    auto known = program.valueIds.find(read.value);
    if (known == program.valueIds.end()) {
      inOrder &= !read.destination;
      continue;
    }
    op.reads.push_back(
        {known->second, read.access, read.need, read.destination && inOrder});
  }
}

LogicalResult Builder::addConstant(Operation *op) {
  std::string name = locationName(op->getLoc());
  return addValue(op->getResult(0), plan::none,
                  name.empty() ? "constant" : name);
}

LogicalResult Builder::addOp(const PlacedOp &placed) {
  const OpSummary &summary = summaries[placed.op];
  plan::OpId id = program.ops.size();
  NameStack stack = readNameStack(placed.op->getLoc());
  plan::Op op;
  op.name = placed.op->getName().getStringRef().str();
  op.kind = summary.kind;
  op.flops = summary.flops;
  op.computePs =
      device.computePs(workOf(placed.op, {device.lanes, isInNearestCache()}));
  op.workspaceBytes = summary.workspaceBytes;
  op.mayRepeat = summary.mayRepeat;
  op.hasEffects = summary.hasEffects;
  op.backward = stack.backward;
  if (placed.layer)
    op.layer = layerNumber(placed.layer);
  addReads(summary, op);
  if (op.kind == OpKind::View && op.reads.empty())
    return success(); // It shows undefined contents.
  for (OpResult result : placed.op->getResults()) {
    std::string name = nameOf(placed, stack);
    if (placed.op->getNumResults() > 1)
      name += " #" + std::to_string(result.getResultNumber());
    auto value = addValue(result, id, std::move(name));
    if (failed(value))
      return failure();
    op.results.push_back(*value);
  }
  if (op.kind == OpKind::View)
    markSame(placed.op, op.results[0]);
  program.problem.ops.push_back(std::move(op));
  program.ops.push_back(placed.op);
  program.opIds[placed.op] = id;
  markBackward(id);
  return success();
}

/// For a view that only permutes: the map from the indices of its result to the
/// indices of its source.
static mlir::AffineMap permutationOf(Operation *op) {
  auto linalgOp = dyn_cast<mlir::linalg::LinalgOp>(op);
  if (!linalgOp || linalgOp.getNumDpsInputs() != 1)
    return mlir::AffineMap();
  mlir::AffineMap from =
      linalgOp.getMatchingIndexingMap(linalgOp.getDpsInputOperand(0));
  mlir::AffineMap to =
      linalgOp.getMatchingIndexingMap(linalgOp.getDpsInitOperand(0));
  return from.compose(mlir::inversePermutation(to));
}

/// Looks for the value that a chain of permutations up to the view \p op leads
/// back to. A transposed gradient of a transposed weight is one.
void Builder::markSame(Operation *op, plan::ValueId id) {
  plan::Value &value = program.problem.values[id];
  mlir::AffineMap map;
  while (op && summaries.lookup(op).kind == OpKind::View) {
    mlir::AffineMap step = permutationOf(op);
    if (!step)
      return;
    map = map ? step.compose(map) : step;
    Value source = summaries[op].reads.front().value;
    auto known = program.valueIds.find(source);
    op = source.getDefiningOp();
    if (!map.isIdentity() || known == program.valueIds.end())
      continue;
    value.same = known->second;
    return;
  }
}

/// Splats that the op reads and that have no number yet.
LogicalResult Builder::addSplatsReadBy(Operation *op) {
  for (const RematRead &read : summaries[op].reads) {
    Operation *maker = read.value.getDefiningOp();
    if (maker && isSplat(maker) && !program.opIds.contains(maker) &&
        failed(addOp({maker, nullptr})))
      return failure();
  }
  return success();
}

/// In the order of the program. Other passes move constants to the top of the
/// function; that says nothing about when they have to exist, so a splat comes
/// directly before its first reader.
LogicalResult Builder::addOps() {
  OpaqueScratch scratch;
  for (const PlacedOp &placed : placedOps) {
    Operation *op = placed.op;
    if (!needed.contains(op) || isFree(op) || isSplat(op))
      continue;
    bool added =
        isData(op) ? succeeded(addConstant(op))
                   : succeeded(addSplatsReadBy(op)) && succeeded(addOp(placed));
    if (!added)
      return failure();
  }
  for (const PlacedOp &placed : placedOps)
    if (needed.contains(placed.op) && isSplat(placed.op) &&
        !program.opIds.contains(placed.op) && failed(addOp(placed)))
      return failure();
  return addUndefinedResults();
}

/// Tensors of undefined contents need no planning, except that the function has
/// to return them. They come after all ops, as no reader reads their bits.
LogicalResult Builder::addUndefinedResults() {
  for (const ReturnedPart &part : parts) {
    Value value = part.value;
    if (program.valueIds.contains(value) ||
        !isa<mlir::RankedTensorType>(value.getType()))
      continue;
    // A view of undefined contents makes its own, too.
    Operation *maker = value.getDefiningOp();
    summaries[maker].kind = OpKind::Fusible;
    summaries[maker].reads.clear();
    if (failed(addOp({maker, nullptr})))
      return failure();
  }
  return success();
}

/// An op that depends on the backward pass belongs to it or comes after it.
void Builder::markBackward(plan::OpId id) {
  plan::Op &op = program.problem.ops[id];
  for (const plan::Read &read : op.reads) {
    plan::OpId maker = program.problem.values[read.value].op;
    op.backward |= maker != plan::none && program.problem.ops[maker].backward;
  }
}

//===----------------------------------------------------------------------===//
// Results and pins
//===----------------------------------------------------------------------===//

LogicalResult Builder::addResults() {
  for (const ReturnedPart &part : parts) {
    if (failed(shapeOfValue(part.value)))
      return failure();
    auto known = program.valueIds.find(part.value);
    ProgramResult &entry = program.results.emplace_back();
    entry.result = part.result;
    entry.beginBytes = part.beginBytes;
    if (known == program.valueIds.end())
      continue;
    entry.value = known->second;
    plan::Value &value = program.problem.values[entry.value];
    entry.copied = value.home != plan::Home::Arena;
    if (entry.copied)
      continue;
    value.home = plan::Home::Result;
    // The caller's buffer holds the elements in their new order.
    plan::Op &maker = program.problem.ops[value.op];
    if (maker.kind == OpKind::View) {
      maker.kind = OpKind::Fusible;
      value.same = plan::none;
      if (maker.reads[0].access == plan::Access::Permute ||
          maker.reads[0].access == plan::Access::Stretch)
        maker.reads[0].access = plan::Access::Any;
    }
  }
  return success();
}

LogicalResult Builder::addPins(const PlacedOp &placed) {
  const plan::Op &op = program.problem.ops[program.opIds.lookup(placed.op)];
  for (plan::ValueId id : op.results) {
    auto pin = pinOf(placed, program.values[id], plan::isAnchor(op));
    if (!pin)
      continue;
    if (*pin == Pin::Recompute && !op.mayRepeat)
      return placed.op->emitOpError(
          "is pinned to be recomputed, but may run only once");
    // A view stands in memory as the value that it shows.
    auto shown = program.valueIds.find(lookThroughViews(program.values[id]));
    if (shown == program.valueIds.end())
      continue;
    plan::Value &pinned = program.problem.values[shown->second];
    if (pinned.home != plan::Home::Argument)
      pinned.keep =
          *pin == Pin::Save ? plan::Keep::Save : plan::Keep::Recompute;
  }
  return success();
}

/// The caller's bytes tell whether a step fits a cache.
LogicalResult Builder::setSpeed() {
  FailureOr<int64_t> bytes = bytesOutside(function);
  if (failed(bytes))
    return failure();
  plan::Problem &problem = program.problem;
  program.outsideBytes = *bytes;
  problem.bytesPerMicrosecond = device.bandwidthOf(*bytes);
  problem.launchNs = device.launchNs;
  return success();
}

FailureOr<ProgramProblem> Builder::run() {
  if (failed(checkFunction()) || failed(setSpeed()))
    return failure();
  placedOps = opsInOrder(function.getBody().front());
  parts = returnedParts(function.getBody().front());
  summarizeOps();
  markNeeded();
  if (failed(checkNeeded()) || failed(addArguments()) || failed(addOps()) ||
      failed(addResults()) || failed(addDonations(program)))
    return failure();
  for (const PlacedOp &placed : placedOps)
    if (program.opIds.contains(placed.op) && failed(addPins(placed)))
      return failure();
  program.problem.scratchInResults = true;
  plan::limitFusionDuplication(program.problem);
  plan::hostInResults(program.problem);
  if (std::string error = plan::check(program.problem); !error.empty())
    return mlir::emitError(function.getLoc())
           << "function '" << function.getName()
           << "' cannot be planned: " << error;
  if (failed(readRegions(program)))
    return failure();
  return std::move(program);
}

FailureOr<ProgramProblem> ckpt::buildProblem(mlir::func::FuncOp function,
                                             const Device &device) {
  return Builder(function, device).run();
}

FailureOr<ProgramProblem>
ckpt::buildKernelProblem(mlir::func::FuncOp function) {
  return Builder(function, knownDevices().front(), /*isChecked=*/false).run();
}

FailureOr<ProgramProblem> ckpt::buildProblem(mlir::func::FuncOp function,
                                             StringRef device) {
  llvm::Expected<Device> found = findDevice(device);
  if (!found)
    return mlir::emitError(function.getLoc())
           << llvm::toString(found.takeError());
  return buildProblem(function, *found);
}
