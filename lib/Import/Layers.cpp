//===- Layers.cpp - The layers of a program -------------------------------===//

#include "ckpt/Import/Layers.h"
#include "ckpt/Analysis/StepOps.h"
#include "ckpt/Interfaces/RematOpInterface.h"
#include "ckpt/Plan/ConstrainLayers.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringMap.h"

using namespace ckpt;

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

static plan::LayerKind kindOf(LayerKind kind) {
  switch (kind) {
  case LayerKind::Attention:
    return plan::LayerKind::Attention;
  case LayerKind::FFN:
    return plan::LayerKind::FFN;
  case LayerKind::Embedding:
    return plan::LayerKind::Embedding;
  case LayerKind::Norm:
    return plan::LayerKind::Norm;
  case LayerKind::Other:
    break;
  }
  return plan::LayerKind::Other;
}

/// Takes over the attribute of \p region; \p known is the one of earlier
/// regions of this layer.
template <typename AttributeT>
static LogicalResult merge(LayerOp region, StringRef what, AttributeT attribute,
                           AttributeT &known) {
  if (attribute && known && attribute != known)
    return region.emitError()
           << "expected " << what << " of layer '" << region.getName()
           << "' to be " << known << " as in its region before, but got "
           << attribute;
  if (attribute)
    known = attribute;
  return success();
}

namespace {
/// The attributes of the regions of one layer.
struct GivenFigures {
  LayerKindAttr kind;
  PinAttr pin;
  mlir::StringAttr budget;
  mlir::IntegerAttr activationBytes, recomputeFlops, parameters;
};

class Collector {
public:
  explicit Collector(ProgramProblem &program) : program(program) {}

  FailureOr<LayerChain> run();

private:
  LogicalResult addRegion(LayerOp region);
  void assignOps();
  void deriveActivationBytes();
  void deriveParameters();
  void applyGiven();

  ProgramProblem &program;
  LayerChain chain;
  std::vector<GivenFigures> given;
  llvm::StringMap<int32_t> numbers;
};
} // namespace

LogicalResult Collector::addRegion(LayerOp region) {
  auto [entry, isNew] =
      numbers.try_emplace(region.getName(), chain.layers.size());
  int32_t number = entry->second;
  if (isNew) {
    chain.layers.emplace_back().name = region.getName().str();
    chain.regions.emplace_back();
    given.emplace_back();
  }
  chain.regions[number].push_back(region);
  GivenFigures &figures = given[number];
  return failure(
      failed(merge(region, "kind", region.getKindAttr(), figures.kind)) ||
      failed(merge(region, "pin", region.getPinAttr(), figures.pin)) ||
      failed(merge(region, "budget", region.getBudgetAttr(), figures.budget)) ||
      failed(merge(region, "activation bytes", region.getActivationBytesAttr(),
                   figures.activationBytes)) ||
      failed(merge(region, "recompute FLOPs", region.getRecomputeFlopsAttr(),
                   figures.recomputeFlops)) ||
      failed(merge(region, "parameters", region.getParametersAttr(),
                   figures.parameters)));
}

//===----------------------------------------------------------------------===//
// Derived figures
//===----------------------------------------------------------------------===//

void Collector::assignOps() {
  const plan::Problem &problem = program.problem;
  chain.layerOfOp.assign(problem.ops.size(), plan::none);
  for (auto [id, op] : llvm::enumerate(program.ops)) {
    const plan::Op &planned = problem.ops[id];
    chain.hasBackward |= planned.backward;
    auto region = op->getParentOfType<LayerOp>();
    if (!region)
      continue;
    int32_t number = numbers.lookup(region.getName());
    chain.layerOfOp[id] = number;
    plan::LayerInfo &layer = chain.layers[number];
    layer.recomputeFlops = saturatingSum(layer.recomputeFlops, planned.flops);
    layer.ops.push_back({planned.name, planned.flops,
                         planned.kind == plan::OpKind::Contraction});
  }
}

void Collector::deriveActivationBytes() {
  const plan::Problem &problem = program.problem;
  std::vector<bool> isKept(problem.values.size(), !chain.hasBackward);
  for (const plan::Op &op : problem.ops)
    if (op.backward)
      for (const plan::Read &read : op.reads)
        isKept[plan::throughViews(problem, read.value)] = true;
  for (auto [id, value] : llvm::enumerate(problem.values)) {
    if (value.op == plan::none || !isKept[id] ||
        problem.ops[value.op].kind == plan::OpKind::View)
      continue;
    if (int32_t number = chain.layerOfOp[value.op]; number != plan::none) {
      int64_t &bytes = chain.layers[number].activationBytes;
      bytes = saturatingSum(bytes, value.bytes);
    }
  }
}

void Collector::deriveParameters() {
  const plan::Problem &problem = program.problem;
  // The only layer that reads a value in the forward pass; `shared` for none.
  constexpr int32_t unread = -2, shared = plan::none;
  std::vector<int32_t> reader(problem.values.size(), unread);
  for (auto [id, op] : llvm::enumerate(problem.ops)) {
    if (op.backward)
      continue;
    for (const plan::Read &read : op.reads) {
      int32_t &known = reader[read.value];
      known = known == unread || known == chain.layerOfOp[id]
                  ? chain.layerOfOp[id]
                  : shared;
    }
  }
  llvm::DenseSet<Type> resultTypes;
  for (Type type : program.function.getResultTypes())
    resultTypes.insert(type);
  for (BlockArgument argument : program.function.getArguments()) {
    auto type = dyn_cast<mlir::RankedTensorType>(argument.getType());
    auto id = program.valueIds.find(argument);
    if (!type || !isa<mlir::FloatType>(type.getElementType()) ||
        type.getRank() == 0 || id == program.valueIds.end() ||
        reader[id->second] < 0 ||
        (chain.hasBackward && !resultTypes.contains(type)))
      continue;
    int64_t &parameters = chain.layers[reader[id->second]].parameters;
    parameters = saturatingSum(parameters, problem.values[id->second].elements);
  }
}

void Collector::applyGiven() {
  for (auto [figures, layer] : llvm::zip_equal(given, chain.layers)) {
    if (figures.kind)
      layer.kind = kindOf(figures.kind.getValue());
    if (figures.pin)
      layer.pin = figures.pin.getValue() == Pin::Save
                      ? plan::LayerPin::Save
                      : plan::LayerPin::Recompute;
    if (figures.activationBytes)
      layer.activationBytes = figures.activationBytes.getInt();
    if (figures.recomputeFlops)
      layer.recomputeFlops = figures.recomputeFlops.getInt();
    if (figures.parameters)
      layer.parameters = figures.parameters.getInt();
  }
}

FailureOr<LayerChain> Collector::run() {
  mlir::WalkResult walked =
      program.function.walk<mlir::WalkOrder::PreOrder>([&](LayerOp region) {
        return failed(addRegion(region)) ? mlir::WalkResult::interrupt()
                                         : mlir::WalkResult::advance();
      });
  if (walked.wasInterrupted())
    return failure();
  assignOps();
  deriveActivationBytes();
  deriveParameters();
  applyGiven();
  return std::move(chain);
}

FailureOr<LayerChain> ckpt::collectLayers(ProgramProblem &program) {
  return Collector(program).run();
}

plan::Selection ckpt::selectLayers(const LayerChain &chain,
                                   plan::StrategyOptions options,
                                   MLIRContext *context) {
  options.isKnownOp = [context](const std::string &name) {
    return mlir::RegisteredOperationName::lookup(name, context).has_value();
  };
  return plan::selectLayers(chain.layers, options);
}

//===----------------------------------------------------------------------===//
// From decisions to constraints
//===----------------------------------------------------------------------===//

void ckpt::constrain(ProgramProblem &program, const LayerChain &chain,
                     const plan::Selection &selection) {
  for (plan::OpId op :
       plan::constrainLayers(program.problem, chain.layerOfOp, selection))
    program.ops[op]->emitRemark()
        << "is not recomputed, though the strategy asks for it: it may run "
           "only once";
}

void ckpt::annotateLayers(const LayerChain &chain,
                          const plan::Selection &selection) {
  std::vector<Decision> decisions(chain.layers.size(), Decision::Save);
  for (int32_t layer : selection.recomputed)
    decisions[layer] = Decision::Recompute;
  for (auto [decision, regions] : llvm::zip_equal(decisions, chain.regions))
    for (LayerOp region : regions)
      region.setDecisionAttr(DecisionAttr::get(region.getContext(), decision));
}
