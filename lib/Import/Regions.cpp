//===- Regions.cpp - Budgets of layers in a program -----------------------===//

#include "ckpt/Import/Regions.h"

#include "ckpt/Plan/Budget.h"
#include "ckpt/Plan/Regions.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringMap.h"

using namespace ckpt;

NamedLayers ckpt::namedLayers(mlir::func::FuncOp function) {
  llvm::MapVector<StringRef, SmallVector<LayerOp, 1>> byName;
  function.walk<mlir::WalkOrder::PreOrder>(
      [&](LayerOp layer) { byName[layer.getName()].push_back(layer); });
  NamedLayers named;
  for (const auto &[name, layers] : byName) {
    named.names.push_back(name.str());
    named.layers.push_back(layers);
  }
  return named;
}

FailureOr<SmallVector<StringRef>>
ckpt::layersOfRegion(mlir::func::FuncOp function, StringRef pattern) {
  auto [names, layers] = namedLayers(function);
  std::vector<int32_t> matched =
      plan::matchLayers({pattern.data(), pattern.size()}, names);
  if (matched.empty())
    return mlir::emitError(function.getLoc())
           << plan::describeNoMatch({pattern.data(), pattern.size()}, names);
  llvm::SetVector<StringRef> members;
  for (int32_t number : matched)
    for (LayerOp layer : layers[number])
      layer.walk<mlir::WalkOrder::PreOrder>(
          [&](LayerOp inner) { members.insert(inner.getName()); });
  return SmallVector<StringRef>(members.begin(), members.end());
}

static FailureOr<plan::Region> makeRegion(const ProgramProblem &program,
                                          StringRef pattern, int64_t bytes) {
  FailureOr<SmallVector<StringRef>> members =
      layersOfRegion(program.function, pattern);
  if (failed(members))
    return failure();
  plan::Region region;
  region.name = pattern.str();
  region.budgetBytes = bytes;
  for (auto [number, name] : llvm::enumerate(program.problem.layers))
    if (llvm::is_contained(*members, name))
      region.layers.push_back(static_cast<int32_t>(number));
  return region;
}

LogicalResult ckpt::setRegions(ProgramProblem &program,
                               const std::map<std::string, int64_t> &budgets) {
  std::vector<plan::Region> regions;
  for (const auto &[pattern, bytes] : budgets) {
    FailureOr<plan::Region> region = makeRegion(program, pattern, bytes);
    if (failed(region))
      return failure();
    if (!region->layers.empty())
      regions.push_back(std::move(*region));
  }
  program.problem.regions = std::move(regions);
  std::string error = plan::check(program.problem);
  if (!error.empty())
    return mlir::emitError(program.function.getLoc()) << error;
  return success();
}

LogicalResult ckpt::readRegions(ProgramProblem &program) {
  auto attribute = program.function->getAttrOfType<mlir::DictionaryAttr>(
      CkptDialect::regionBudgetsAttrName());
  if (!attribute)
    return success();
  std::map<std::string, int64_t> budgets;
  for (mlir::NamedAttribute region : attribute)
    budgets[region.getName().str()] =
        cast<mlir::IntegerAttr>(region.getValue()).getInt();
  return setRegions(program, budgets);
}

void ckpt::writeRegions(const ProgramProblem &program) {
  mlir::func::FuncOp function = program.function;
  if (program.problem.regions.empty()) {
    function->removeAttr(CkptDialect::regionBudgetsAttrName());
    return;
  }
  mlir::Builder builder(function.getContext());
  SmallVector<mlir::NamedAttribute> budgets;
  for (const plan::Region &region : program.problem.regions)
    budgets.push_back(builder.getNamedAttr(
        region.name, builder.getI64IntegerAttr(region.budgetBytes)));
  function->setAttr(CkptDialect::regionBudgetsAttrName(),
                    builder.getDictionaryAttr(budgets));
}

/// \p text in bytes, at \p location; shares refer to the bytes of the region in
/// \p baseline.
static FailureOr<int64_t> resolve(const ProgramProblem &program,
                                  StringRef pattern, StringRef text,
                                  const plan::Solution &baseline,
                                  mlir::Location location) {
  plan::Budget budget;
  std::string error;
  auto fail = [&](const Twine &message) {
    return mlir::emitError(location)
           << "region '" << pattern << "': " << message;
  };
  if (!plan::parseBudget({text.data(), text.size()}, budget, error))
    return fail(error);
  FailureOr<plan::Region> region = makeRegion(program, pattern, 1);
  if (failed(region))
    return failure();
  plan::Problem alone = plan::withoutRegions(program.problem);
  alone.regions = {*region};
  plan::Verdict verdict = baseline.verdict;
  plan::measureRegions(alone, verdict);
  int64_t bytes = budget.resolve(verdict.regionPeakBytes.front());
  if (bytes <= 0)
    return fail("takes " + Twine(verdict.regionPeakBytes.front()) +
                " bytes in the plan without a limit, of which '" + text +
                "' is nothing; give its budget in bytes");
  return bytes;
}

LogicalResult ckpt::requestRegions(ProgramProblem &program,
                                   ArrayRef<plan::LayerSetting> settings,
                                   const plan::Solution &baseline) {
  std::map<std::string, std::pair<std::string, mlir::Location>> wanted;
  program.function.walk([&](LayerOp layer) {
    if (std::optional<StringRef> budget = layer.getBudget())
      wanted.try_emplace(layer.getName().str(), budget->str(), layer.getLoc());
  });
  for (const plan::LayerSetting &setting : settings)
    wanted.insert_or_assign(
        setting.pattern, std::pair(setting.value, program.function.getLoc()));
  if (wanted.empty())
    return success();
  std::map<std::string, int64_t> budgets;
  for (const auto &[pattern, text] : wanted) {
    FailureOr<int64_t> bytes =
        resolve(program, pattern, text.first, baseline, text.second);
    if (failed(bytes))
      return failure();
    budgets[pattern] = *bytes;
  }
  return setRegions(program, budgets);
}
