//===- Baselines.cpp - The table of published strategies ------------------===//
//
// Finds a strategy by its name and adds its points to a curve, for `ckpt-plan
// --baseline` and `scripts/compare`.
//
//===----------------------------------------------------------------------===//

#include "Plan/Construct/Greedy/Eviction.h"
#include "Plan/Published/Baseline.h"
#include "ckpt/Plan/Pack.h"

#include <algorithm>

using namespace ckpt::plan;

namespace {
struct Entry {
  std::string_view name;
  void (*addPoints)(BaselineRun &);
  std::string_view source;
};

constexpr Entry entries[] = {
    {"save-all", addSaveAll, "every framework's default"},
    {"recompute-all", addRecomputeAll,
     "a jax.checkpoint or torch.utils.checkpoint around every layer"},
    {"sqrt", addSqrt,
     "Chen, Xu, Zhang and Guestrin 2016 (arXiv 1604.06174), section 4.1"},
    {"chen-greedy", addChenGreedy,
     "Chen, Xu, Zhang and Guestrin 2016 (arXiv 1604.06174), algorithm 3"},
    {"revolve", addRevolve,
     "Griewank and Walther, Algorithm 799, ACM TOMS 26 (2000)"},
    {"rotor", addRotor, "Beaumont et al. 2019 (arXiv 1911.13214), section 4"},
    {"min-cut", addMinCut, "PyTorch, torch/_functorch/partitioners.py"},
    {"knapsack", addKnapsack,
     "PyTorch, torch/_functorch/_activation_checkpointing/knapsack.py"},
    {"xla-greedy", addXlaGreedy,
     "XLA, xla/hlo/transforms/simplifiers/hlo_rematerialization.cc"},
    {"dtr", addDtr, "Kirisame et al., ICLR 2021 (arXiv 2006.09616)"},
    {"checkmate", addCheckmate,
     "Jain et al., MLSys 2020 (arXiv 1910.02653), sections 4 and 5"},
};
} // namespace

static const Entry *findEntry(std::string_view name) {
  for (const Entry &entry : entries)
    if (entry.name == name)
      return &entry;
  return nullptr;
}

const std::vector<std::string_view> &ckpt::plan::baselineNames() {
  static const std::vector<std::string_view> names = [] {
    std::vector<std::string_view> result;
    for (const Entry &entry : entries)
      result.push_back(entry.name);
    return result;
  }();
  return names;
}

bool ckpt::plan::isBaseline(std::string_view name) { return findEntry(name); }

std::string_view ckpt::plan::baselineSource(std::string_view name) {
  const Entry *entry = findEntry(name);
  return entry ? entry->source : std::string_view();
}

/// Strategies that steer by bytes see neither the other needs of a kernel nor
/// the gaps of a packing, so they meet a budget only by aiming lower.
static std::vector<int64_t> targetsFor(int64_t bytes, bool isBudget) {
  constexpr int sweep[] = {130, 110, 100, 95, 90, 80, 70, 60,
                           50,  40,  30,  25, 20, 15, 10};
  std::vector<int64_t> targets;
  auto addShares = [&](const auto &percents) {
    for (int percent : percents)
      targets.push_back(
          static_cast<int64_t>(static_cast<double>(bytes) * percent / 100));
  };
  if (isBudget)
    addShares(approachPercents);
  else
    addShares(sweep);
  return targets;
}

BaselineRun::BaselineRun(const Problem &problem,
                         std::optional<int64_t> budgetBytes,
                         const SolverOptions &options,
                         const Solution *unlimited)
    : problem(problem), options(options),
      unlimited(unlimited ? *unlimited : solveUnlimited(problem, options)),
      targets(targetsFor(budgetBytes.value_or(this->unlimited.plan.arenaBytes),
                         budgetBytes.has_value())) {}

void BaselineRun::addConstrained(const std::string &setting,
                                 const Problem &constrained) {
  add(setting, solveUnlimited(constrained, options));
}

void BaselineRun::addPlan(const std::string &setting, Plan plan) {
  Solution solution;
  solution.verdict = validate(problem, plan, /*slots=*/false);
  if (solution.verdict.error.empty()) {
    packSlots(problem, plan, 0);
    solution.plan = std::move(plan);
    solution.verdict = validate(problem, solution.plan, /*slots=*/true);
  }
  add(setting, std::move(solution));
}

static bool isSamePlan(const Solution &a, const Solution &b) {
  return a.plan.arenaBytes == b.plan.arenaBytes &&
         a.plan.kernels.size() == b.plan.kernels.size() &&
         a.verdict.timeNs == b.verdict.timeNs &&
         a.verdict.extraFlops == b.verdict.extraFlops;
}

void BaselineRun::add(const std::string &setting, Solution solution) {
  if (!solution.verdict.error.empty()) {
    curve.refused.push_back(setting + ": " + solution.verdict.error);
    return;
  }
  for (const BaselinePoint &point : curve.points)
    if (isSamePlan(point.solution, solution))
      return;
  curve.points.push_back({setting, std::move(solution)});
}

BaselineCurve ckpt::plan::baselineCurve(const Problem &problem,
                                        std::string_view name,
                                        std::optional<int64_t> budgetBytes,
                                        const SolverOptions &options,
                                        const Solution *unlimited) {
  const Entry *entry = findEntry(name);
  BaselineRun run(problem, budgetBytes, options, unlimited);
  if (!entry)
    run.curve.error = "unknown strategy '" + std::string(name) + "'";
  else if (!run.unlimited.verdict.error.empty())
    run.curve.error = run.unlimited.verdict.error;
  else
    entry->addPoints(run);
  if (run.curve.error.empty() && run.curve.points.empty()) {
    run.curve.error = "strategy '" + std::string(name) + "' has no plan";
    if (!run.curve.refused.empty())
      run.curve.error += "; " + run.curve.refused.front();
  }
  return std::move(run.curve);
}

static bool isBetter(const Solution &a, const Solution &b) {
  if (a.verdict.timeNs != b.verdict.timeNs)
    return a.verdict.timeNs < b.verdict.timeNs;
  return a.plan.arenaBytes < b.plan.arenaBytes;
}

Solution ckpt::plan::solveBaseline(const Problem &problem,
                                   std::string_view name,
                                   std::optional<int64_t> budgetBytes,
                                   const SolverOptions &options) {
  BaselineCurve curve = baselineCurve(problem, name, budgetBytes, options);
  Solution best;
  best.verdict.error = curve.error;
  if (!curve.error.empty())
    return best;
  int64_t smallest = INT64_MAX;
  for (BaselinePoint &point : curve.points) {
    int64_t bytes = point.solution.plan.arenaBytes;
    smallest = std::min(smallest, bytes);
    if (budgetBytes && bytes > *budgetBytes)
      continue;
    if (best.plan.kernels.empty() || isBetter(point.solution, best))
      best = std::move(point.solution);
  }
  if (smallest > budgetBytes.value_or(INT64_MAX))
    best.verdict.error =
        "strategy '" + std::string(name) + "' has no plan within " +
        std::to_string(*budgetBytes) + " bytes; its smallest takes " +
        std::to_string(smallest) + " bytes";
  return best;
}
