//===- CutWalk.h - One setting of prices, walked ----------------*- C++ -*-===//
//
// One walk and its draft. Portfolios run many, on several threads.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_LIB_PLAN_CONSTRUCT_KEEPCUT_CUTWALK_H
#define CKPT_LIB_PLAN_CONSTRUCT_KEEPCUT_CUTWALK_H

#include "Plan/Construct/KeepCut/CutDraft.h"

#include <array>
#include <memory>
#include <mutex>
#include <optional>

namespace ckpt::plan {

/// Prices of a walk; see CutOptions.
struct Setting {
  bool guided, delayHeld;
  double reserve, floorPrice, contractionWeight, readWeight, urgency;
};

/// In the order in which they run: the settings that win most often first.
inline constexpr std::array<Setting, 16> walkSettings = {{
    {false, false, 0, 1.5, 8, 0.5, 0.02},
    {true, true, 0, 0.3, 8, 1, 0},
    {false, true, 0, 0.3, 8, 1, 0},
    {true, true, 0, 1.5, 4, 0.5, 0},
    {true, false, 0, 4, 8, 0.5, 0},
    {false, false, 0.15, 4, 8, 0.5, 0},
    {false, false, 0, 1.5, 4, 0.5, -0.02},
    {true, false, 0, 0.3, 1, 1, 0.02},
    {false, false, 0, 4, 8, 0.5, 0.02},
    {true, false, 0.15, 4, 8, 0, 0},
    {false, false, 0, 1.5, 8, 0.5, -0.02},
    {false, false, 0.2, 1.5, 4, 0.5, 0},
    {true, false, 0, 1.5, 8, 0.5, 0.02},
    {false, false, 0, 6, 4, 0, 0},
    {true, true, 0.15, 4, 8, 0.5, 0},
    {true, false, 0, 1.5, 4, 0.5, -0.02},
}};

/// When a walk gives up.
struct WalkLimits {
  int64_t extraFlops = std::numeric_limits<int64_t>::max();
  /// See `CutOptions::runOnce`.
  const std::vector<char> *runOnce = nullptr;
  Deadline deadline;
  /// See `CutOptions::cutoff`.
  const Cutoff *cutoff = nullptr;
};

/// The walks without a limit that guided ones start from: one per prices.
class LooseWalks {
public:
  struct Walk {
    std::vector<OpId> order;
    /// The root at which memory is tightest; `none` if the walk gave up.
    OpId tightest = none;
  };
  /// Walks with \p scheduler unless another call did before. Several threads
  /// may call it.
  const Walk &get(const Problem &problem, CutScheduler &scheduler,
                  const CutOptions &options);

private:
  struct Entry {
    double floorPrice, contractionWeight, readWeight, urgency;
    std::unique_ptr<Walk> walk;
  };
  std::mutex mutex;
  std::vector<Entry> entries;
};

/// Walks for one thread.
class CutWalk {
public:
  CutWalk(const RematGraph &graph, const SolverOptions &options,
          LooseWalks &loose)
      : graph(graph), options(options), loose(loose), scheduler(graph) {}

  /// A walk with cap \p capBytes, improved as long as it stays within
  /// \p allowedBytes. Not usable if it gave up.
  Draft run(const Setting &setting, double capBytes, int64_t allowedBytes,
            const WalkLimits &limits);

  CutScheduler &walker() { return scheduler; }

private:
  const RematGraph &graph;
  const SolverOptions &options;
  LooseWalks &loose;
  CutScheduler scheduler;
};

} // namespace ckpt::plan

#endif // CKPT_LIB_PLAN_CONSTRUCT_KEEPCUT_CUTWALK_H
