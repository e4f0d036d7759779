//===- SolveUnlimited.cpp - Fastest plan without recomputed anchors -------===//
//
// The same walk as with a budget, with infinite memory and anchors that may
// not run twice. A price on memory still pays off: a smaller value that stands
// in memory is faster to read, and dead values leave early.
//
//===----------------------------------------------------------------------===//

#include "Plan/Construct/KeepCut/CutDraft.h"
#include "Plan/Construct/List/QuickPlan.h"
#include "Plan/Improve/MergeMove.h"
#include "Plan/Improve/ReduceTime.h"
#include "Plan/Model/AsWrittenPlan.h"
#include "Plan/Model/Clock.h"
#include "Plan/Model/PlanEdit.h"
#include "Plan/Model/RunBoth.h"
#include "Plan/Packing/AssignOffsets.h"
#include "Plan/Portfolio/BudgetSearch.h"
#include "ckpt/Plan/Regions.h"
#include "ckpt/Plan/Solvers.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

using namespace ckpt::plan;

namespace {
struct Variant {
  double floorPrice, readWeight;
};
} // namespace

static constexpr std::array<Variant, 4> variants = {
    {{1.5, 1}, {3, 1}, {0, 1}, {0, 0.5}}};

/// Refits \p draft with a little more memory than it takes; with any, where
/// that saves a good part of the time.
static void refitUnlimited(const Problem &problem, Draft &draft,
                           Deadline deadline) {
  constexpr double goodPart = 0.03;
  auto refit = [&](Draft refitted, int64_t allowedBytes) {
    if (reduceTime(problem, refitted.plan, allowedBytes, deadline))
      refitted.verdict = mergeKernels(problem, refitted.plan, allowedBytes);
    return refitted;
  };
  int64_t bytes = draft.verdict.livePeakBytes;
  Draft within = refit(draft, bytes + bytes / 100);
  Draft fastest =
      refit(std::move(draft), std::numeric_limits<int64_t>::max() / 4);
  bool isFaster = static_cast<double>(fastest.verdict.timeNs) <
                  (1 - goodPart) * static_cast<double>(within.verdict.timeNs);
  draft = std::move(isFaster ? fastest : within);
}

/// Lets the values of \p draft that it writes again stand in memory instead,
/// unless `Keep::Recompute` demands them.
static void keepWritten(const Problem &problem, Draft &draft) {
  std::vector<char> written(problem.values.size(), 0);
  Plan kept;
  for (Kernel kernel : draft.plan.kernels) {
    size_t outputs = kernel.outputs.size();
    auto isAgain = [&](ValueId value) {
      return std::exchange(written[value], 1) &&
             problem.values[value].keep != Keep::Recompute;
    };
    kernel.outputs.erase(
        std::remove_if(kernel.outputs.begin(), kernel.outputs.end(), isAgain),
        kernel.outputs.end());
    if (kernel.outputs.empty() && outputs > 0)
      continue;
    if (kernel.outputs.size() < outputs)
      trimOps(problem, kernel);
    kept.kernels.push_back(std::move(kernel));
  }
  Verdict verdict = validate(problem, kept, /*slots=*/false);
  if (verdict.error.empty())
    draft = {std::move(kept), std::move(verdict)};
}

/// Walks with all variants, two at a time. Their times after moves that save
/// time decide which is the best.
static std::array<Draft, variants.size()>
walkVariants(const RematGraph &graph, const SolverOptions &options,
             Deadline deadline) {
  std::array<Draft, variants.size()> drafts;
  auto walk = [&](size_t lane) {
    CutScheduler scheduler(graph);
    for (size_t i = lane; i < variants.size(); i += 2) {
      CutOptions cutOptions;
      cutOptions.floorPrice = variants[i].floorPrice;
      cutOptions.readWeight = variants[i].readWeight;
      cutOptions.reorder = options.reorder;
      cutOptions.repeatAnchors = false;
      cutOptions.deadline = deadline;
      drafts[i] = makeDraft(scheduler, graph, cutOptions, options, 0);
      if (!drafts[i].usable())
        continue;
      if (options.fusion)
        refitUnlimited(graph.problem, drafts[i], deadline);
      keepWritten(graph.problem, drafts[i]);
    }
  };
  runLanes(walk);
  return drafts;
}

/// The best of the walks that end by \p deadline. Percent budgets refer to its
/// arena: with a limit that leaves the walks their time, they are the same
/// bytes on every machine.
static Draft draftUnlimited(const RematGraph &graph,
                            const SolverOptions &options, Deadline deadline) {
  // Times this close are equal: the smaller plan is the better one.
  constexpr double sameTime = 1.005;
  std::vector<Draft> drafts;
  std::string error;
  for (Draft &draft : walkVariants(graph, options, deadline))
    if (draft.usable())
      drafts.push_back(std::move(draft));
    else if (error.empty())
      error = std::move(draft.verdict.error);
  // Walks give up where they write much again.
  if (drafts.empty()) {
    Draft schedule =
        quickPlan(graph, std::numeric_limits<int64_t>::max(), options);
    if (schedule.usable())
      keepWritten(graph.problem, schedule);
    else
      schedule.verdict.error = std::move(error);
    return schedule;
  }
  int64_t fastest = drafts.front().verdict.timeNs;
  for (const Draft &draft : drafts)
    fastest = std::min(fastest, draft.verdict.timeNs);
  size_t best = drafts.size();
  for (size_t i = 0; i < drafts.size(); ++i) {
    if (static_cast<double>(drafts[i].verdict.timeNs) >
        static_cast<double>(fastest) * sameTime)
      continue;
    if (best == drafts.size() ||
        drafts[i].verdict.livePeakBytes < drafts[best].verdict.livePeakBytes)
      best = i;
  }
  return std::move(drafts[best]);
}

Solution ckpt::plan::solveUnlimited(const Problem &problem,
                                    const SolverOptions &options) {
  if (!problem.regions.empty())
    return solveUnlimited(withoutRegions(problem), options);
  Solution none;
  RematGraph graph(problem, options.fusion);
  none.verdict.error = graph.error;
  if (!graph.error.empty())
    return none;
  constexpr int64_t unlimited = std::numeric_limits<int64_t>::max();
  // The search for a budget gets the other half of the time.
  constexpr double share = 0.5;
  Clock clock(options.withoutEffort());
  const Deadline deadline = clock.at(share);
  Draft draft;
  if (isTooLargeToFinish(graph))
    draft = quickPlan(graph, unlimited, options);
  if (draft.usable())
    keepWritten(problem, draft);
  else
    draft = draftUnlimited(graph, options, deadline);
  // No plan shall be slower than the program as it is, which also stands in
  // for walks that the time limit ended.
  Draft written;
  written.plan = asWrittenPlan(problem);
  written.verdict = validate(problem, written.plan, /*slots=*/false);
  none.verdict.error = draft.verdict.error;
  bool isMade = none.verdict.error.empty();
  bool isFaster = written.verdict.error.empty() &&
                  (!isMade || written.verdict.timeNs < draft.verdict.timeNs);
  if (!isMade && !isFaster)
    return none;
  Solution solution =
      assignOffsets(problem, std::move(isFaster ? written : draft), 0,
                    PackEffort::Search, deadline);
  solution.subSolver = isFaster ? part::asWritten : part::unlimited;
  return solution;
}

Solution ckpt::plan::solveAsWritten(const Problem &problem) {
  Solution solution;
  solution.plan = asWrittenPlan(problem);
  packSlots(problem, solution.plan, 0);
  solution.verdict = validate(problem, solution.plan, /*slots=*/true);
  solution.subSolver = part::asWritten;
  return solution;
}
