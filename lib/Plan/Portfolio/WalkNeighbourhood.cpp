//===- WalkNeighbourhood.cpp - Walks near the best one --------------------===//
//
// The prices of a walk see only the difference between two corners of its cuts;
// one remat too many may remain for a few bytes of cheap values. This part asks
// of each remat of the best plan whether a walk can do without it.
//
//===----------------------------------------------------------------------===//

#include "Plan/Portfolio/BudgetSearch.h"

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

/// A few of the ops with the same work: in models of equal blocks they are
/// alike. One of each kind comes first, the costliest first among these.
static std::vector<OpId> worthSparing(const Problem &problem,
                                      const std::vector<OpId> &repeated) {
  constexpr size_t mostAlike = 4;
  std::map<int64_t, std::vector<OpId>, std::greater<>> byFlops;
  for (OpId op : repeated)
    byFlops[problem.ops[op].flops].push_back(op);
  std::vector<OpId> chosen;
  for (size_t i = 0; i < mostAlike; ++i)
    for (const auto &[flops, alike] : byFlops) {
      size_t count = std::min(alike.size(), mostAlike);
      if (i < count)
        chosen.push_back(
            alike[count > 1 ? i * (alike.size() - 1) / (count - 1) : 0]);
    }
  return chosen;
}

/// A walk may repeat the ops of \p repeated except \p spared, and ops that cost
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

/// Parts after the walks shall have some of the time.
static constexpr double shareOfWalks = 0.65;

/// Two at a time until one of \p attempts gives a better plan; whether one did.
/// Each is tried once before any gets another cap.
bool BudgetSearch::tryInPairs(std::vector<Attempt> attempts) {
  constexpr int mostCaps = 4;
  double before = bestScore;
  std::vector<Attempt *> open;
  for (Attempt &attempt : attempts)
    open.push_back(&attempt);
  for (int cap = 0; cap < mostCaps; ++cap) {
    for (size_t i = 0; i < open.size(); i += 2) {
      if (isOver(shareOfWalks))
        return false;
      size_t end = std::min(i + 2, open.size());
      runAttempts({open.begin() + i, open.begin() + end});
      if (bestScore < before)
        return true;
    }
    // An attempt that is no better with too much memory is not with less.
    for (Attempt *attempt : open)
      attempt->finished |= attempt->bytes ? *attempt->bytes > budget &&
                                                attempt->score >= bestScore
                                          : attempt->runs == 1;
    dropFinished(open);
  }
  return false;
}

void BudgetSearch::spareRepeats() {
  Running part(*this, part::walkSpare);
  bool better = part && bestCap > 0;
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
    better = tryInPairs(std::move(spares));
  }
}
