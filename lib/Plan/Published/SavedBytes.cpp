//===- SavedBytes.cpp - PyTorch's two strategies on saved bytes -----------===//
//
// PyTorch's default partitioner and its activation memory budget, as strategies
// that put demands on values.
//
//===----------------------------------------------------------------------===//

#include "Plan/Published/Baseline.h"
#include "Plan/Published/Knapsack.h"
#include "Plan/Published/SavedBytesCut.h"

#include <cstdio>
#include <set>

using namespace ckpt::plan;

namespace {
/// `choose_saved_values_set` of torch/_functorch/partitioners.py at one ratio:
/// of the expensive ops, a knapsack keeps the most work within that share of
/// the bytes that the default saves; all others may lie behind the cut.
class BudgetedCut {
public:
  explicit BudgetedCut(BaselineRun &run);
  void addPoint(double ratio, bool greedy);

private:
  BaselineRun &run;
  SavedBytesCut cut;
  int64_t defaultBytes = 0;
  std::vector<char> banned;
  std::vector<OpId> bannedOps;
  std::vector<KnapsackItem> items;
  std::set<std::vector<char>> tried;
};
} // namespace

static void addAnswer(BaselineRun &run, const SavedBytesCut &cut,
                      const std::string &setting,
                      const SavedBytesCut::Answer &answer) {
  Problem constrained = run.problem;
  cut.constrain(constrained, answer);
  run.addConstrained(setting, constrained);
}

/// The default partitioner: recomputes only cheap ops that fuse.
void ckpt::plan::addMinCut(BaselineRun &run) {
  SavedBytesCut cut(run.problem);
  addAnswer(run, cut, "", cut.solve(cut.bansOf(SavedBytesCut::Bans::Default)));
}

BudgetedCut::BudgetedCut(BaselineRun &run) : run(run), cut(run.problem) {
  const Problem &problem = run.problem;
  defaultBytes = cut.solve(cut.bansOf(SavedBytesCut::Bans::Default)).savedBytes;
  banned = cut.bansOf(SavedBytesCut::Bans::Expensive);
  for (OpId id = 0; id < static_cast<OpId>(problem.ops.size()); ++id) {
    const Op &op = problem.ops[id];
    if (!banned[id] || op.backward || !op.mayRepeat)
      continue;
    KnapsackItem item;
    item.value = op.flops;
    for (ValueId value : op.results)
      if (problem.values[value].home == Home::Arena)
        item.bytes += problem.values[value].bytes;
    bannedOps.push_back(id);
    items.push_back(item);
  }
}

void BudgetedCut::addPoint(double ratio, bool greedy) {
  auto capacity =
      static_cast<int64_t>(static_cast<double>(defaultBytes) * ratio);
  std::vector<char> kept =
      greedy ? greedyKnapsack(items, capacity) : exactKnapsack(items, capacity);
  std::vector<char> stillBanned = banned;
  for (size_t i = 0; i < items.size(); ++i)
    stillBanned[bannedOps[i]] = kept[i];
  SavedBytesCut::Answer answer = cut.solve(stillBanned);
  if (!tried.insert(answer.saved).second)
    return;
  char setting[40];
  std::snprintf(setting, sizeof(setting), "ratio %.2f%s", ratio,
                greedy ? ", greedy" : "");
  addAnswer(run, cut, setting, answer);
}

/// `activation_memory_budget`: a share of saved bytes, with both of PyTorch's
/// own solvers.
void ckpt::plan::addKnapsack(BaselineRun &run) {
  BudgetedCut cut(run);
  for (double ratio : {1.0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0.0})
    for (bool greedy : {false, true})
      cut.addPoint(ratio, greedy);
}
