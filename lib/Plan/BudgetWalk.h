//===- BudgetWalk.h - One setting of prices, walked -------------*- C++ -*-===//
//
// What SolveBudget.cpp tries many times, on several threads.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_LIB_PLAN_BUDGETWALK_H
#define CKPT_LIB_PLAN_BUDGETWALK_H

#include "Search.h"

#include <memory>
#include <mutex>
#include <optional>

namespace ckpt::plan {

/// Prices of a walk; see RollOptions.
struct Setting {
  bool guided, delayHeld;
  double reserve, floorPrice, contractionWeight, readWeight, urgency;
};

/// When a walk gives up.
struct WalkLimits {
  size_t kernelsPerRoot = 2;
  int64_t extraFlops = std::numeric_limits<int64_t>::max();
  std::chrono::steady_clock::time_point deadline =
      std::chrono::steady_clock::time_point::max();
};

/// The walks without a limit that guided ones start from: one per prices.
class LooseWalks {
public:
  struct Walk {
    std::vector<OpId> order;
    /// The root at which memory is tightest; `none` if the walk gave up.
    OpId tightest = none;
  };
  /// Walks with \p rolling if nobody did before. May be called by several
  /// threads.
  const Walk &get(const Problem &problem, Rolling &rolling,
                  const RollOptions &options);

private:
  struct Entry {
    double floorPrice, contractionWeight, readWeight, urgency;
    std::unique_ptr<Walk> walk;
  };
  std::mutex mutex;
  std::vector<Entry> entries;
};

/// Walks for one thread.
class BudgetWalk {
public:
  BudgetWalk(const Graph &graph, const SolverOptions &options,
             LooseWalks &loose)
      : graph(graph), options(options), loose(loose), rolling(graph) {}

  /// A walk with cap \p capBytes, improved as long as it stays within
  /// \p allowedBytes. Not usable if it gave up.
  Draft run(const Setting &setting, double capBytes, int64_t allowedBytes,
            const WalkLimits &limits);

  Rolling &walker() { return rolling; }

private:
  const Graph &graph;
  const SolverOptions &options;
  LooseWalks &loose;
  Rolling rolling;
};

} // namespace ckpt::plan

#endif // CKPT_LIB_PLAN_BUDGETWALK_H
