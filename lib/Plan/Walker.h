//===- Walker.h - Walks with the settings of the portfolio ------*- C++ -*-===//
//
// What the searches for one budget and for a whole curve share: the settings
// that proved good, and guides, which are made once for all caps.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_LIB_PLAN_WALKER_H
#define CKPT_LIB_PLAN_WALKER_H

#include "Search.h"

#include <array>

namespace ckpt::plan {

/// Prices of one walk (`RollOptions`).
struct Setting {
  bool guided, delayHeld;
  double reserve, floorPrice, contractionWeight, readWeight;
};

/// In the order in which they run.
inline constexpr std::array<Setting, 12> walkSettings = {{
    {false, false, 0, 1.5, 8, 0.5},
    {false, true, 0, 0.3, 8, 1},
    {false, false, 0, 1.5, 4, 0.5},
    {true, true, 0, 0.3, 8, 1},
    {true, true, 0, 1.5, 4, 0.5},
    {false, false, 0, 4, 8, 0.5},
    {true, true, 0.15, 4, 8, 0.5},
    {true, false, 0, 1.5, 4, 0.5},
    {true, false, 0.15, 4, 8, 0.5},
    {false, false, 0, 6, 4, 0},
    {false, false, 0.2, 1.5, 4, 0.5},
    {true, false, 0.15, 4, 8, 0},
}};

/// Caps for the smallest plan, as shares of the plan that recomputes nothing,
/// and what to walk with.
inline constexpr std::array<double, 6> ladderShares = {0.25, 0.32, 0.2,
                                                       0.4,  0.16, 0.5};
inline constexpr std::array<Setting, 3> ladderSettings = {{
    {false, false, 0.2, 6, 1, 0.5},
    {true, true, 0, 6, 1, 0.5},
    {false, false, 0, 1.5, 8, 0.5},
}};

class Walker {
public:
  using TimePoint = std::chrono::steady_clock::time_point;

  Walker(const Problem &problem, const SolverOptions &options)
      : problem(problem), options(options), graph(problem, options.fusion),
        rolling(graph) {}

  /// Why no plan is legal, or empty; then nothing else may be called.
  const std::string &error() const { return graph.error; }
  /// Not usable if the walk gave up: at \p deadline, or with more than
  /// \p kernelsPerRoot kernels per root.
  Draft walk(const Setting &setting, double capBytes, int64_t allowedBytes,
             size_t kernelsPerRoot, TimePoint deadline);
  /// `draftUnlimited`.
  Draft walkUnlimited(int64_t hopelessBytes) {
    return draftUnlimited(rolling, graph, options, hopelessBytes);
  }
  /// Of the first plan; 0 before there is one.
  double nsPerFlop() const { return timePerFlop; }

private:
  /// The order of a walk without a limit and its tightest root.
  struct Loose {
    double floorPrice, contractionWeight, readWeight;
    std::vector<OpId> order;
    OpId tightest;
  };

  std::optional<Guide> guideFor(const RollOptions &rollOptions);
  void measure(const Verdict &verdict);

  const Problem &problem;
  const SolverOptions &options;
  Graph graph;
  Rolling rolling;
  std::vector<Loose> loose;
  double timePerFlop = 0;
};

} // namespace ckpt::plan

#endif // CKPT_LIB_PLAN_WALKER_H
