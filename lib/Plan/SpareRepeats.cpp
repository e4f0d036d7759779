//===- SpareRepeats.cpp - Walks that repeat one anchor less ---------------===//
//
// The prices of a walk see only what differs between two corners of its cuts;
// one repeat too many may remain for a few bytes of what is cheap. Asks for
// each repeat of the best plan whether the rest can do without it.
//
//===----------------------------------------------------------------------===//

#include "BudgetSearch.h"

#include <map>

using namespace ckpt::plan;

/// Anchors that \p plan runs more than once, in program order.
static std::vector<OpId> repeatedAnchors(const Problem &problem,
                                         const Plan &plan) {
  std::vector<int32_t> runs(problem.ops.size(), 0);
  for (const Kernel &kernel : plan.kernels)
    for (OpId op : kernel.ops)
      runs[op] += isAnchor(problem.ops[op]);
  std::vector<OpId> repeated;
  for (size_t op = 0; op < runs.size(); ++op)
    if (runs[op] > 1)
      repeated.push_back(static_cast<OpId>(op));
  return repeated;
}

/// The costliest first. Of those with the same work only a few: in models of
/// equal blocks they are alike.
static std::vector<OpId> worthSparing(const Problem &problem,
                                      const std::vector<OpId> &repeated) {
  constexpr size_t mostAlike = 4;
  std::map<int64_t, std::vector<OpId>, std::greater<>> byFlops;
  for (OpId op : repeated)
    byFlops[problem.ops[op].flops].push_back(op);
  std::vector<OpId> chosen;
  for (const auto &[flops, alike] : byFlops) {
    size_t count = std::min(alike.size(), mostAlike);
    for (size_t i = 0; i < count; ++i)
      chosen.push_back(
          alike[count > 1 ? i * (alike.size() - 1) / (count - 1) : 0]);
  }
  return chosen;
}

/// A walk may repeat what \p repeated holds but for \p spared, and what costs
/// less than that.
static std::vector<char> allBut(const Problem &problem, OpId spared,
                                const std::vector<OpId> &repeated) {
  std::vector<char> runOnce(problem.ops.size(), 0);
  for (size_t op = 0; op < problem.ops.size(); ++op)
    runOnce[op] = isAnchor(problem.ops[op]) &&
                  problem.ops[op].flops >= problem.ops[spared].flops;
  for (OpId op : repeated)
    runOnce[op] = op == spared;
  return runOnce;
}

/// Tries a few caps for each of \p batch; true once there is a better plan.
bool BudgetSearch::spare(std::vector<Attempt *> batch) {
  constexpr int mostCaps = 4;
  double before = bestScore;
  for (int cap = 0; cap < mostCaps && !batch.empty() && !isOver(); ++cap) {
    runAttempts(batch);
    if (bestScore < before)
      return true;
    // What is no better with too much memory is not with less.
    for (Attempt *attempt : batch)
      attempt->finished |= attempt->bytes ? *attempt->bytes > budget &&
                                                attempt->score >= bestScore
                                          : attempt->runs == 1;
    dropFinished(batch);
  }
  return false;
}

void BudgetSearch::spareRepeats() {
  bool better = bestCap > 0;
  while (better) {
    std::vector<Attempt> spares;
    std::vector<OpId> repeated = repeatedAnchors(problem, result.best->plan);
    for (OpId spared : worthSparing(problem, repeated)) {
      Attempt attempt;
      attempt.setting = bestSetting;
      attempt.cap = bestCap;
      attempt.runOnce = allBut(problem, spared, repeated);
      spares.push_back(std::move(attempt));
    }
    better = false;
    for (size_t i = 0; i < spares.size() && !better; i += 2) {
      std::vector<Attempt *> batch = {&spares[i]};
      if (i + 1 < spares.size())
        batch.push_back(&spares[i + 1]);
      better = spare(std::move(batch));
    }
  }
}
