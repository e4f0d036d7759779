//===- Baselines.h - Strategies of other systems ----------------*- C++ -*-===//
//
// Published strategies on the same problem: same kernels, same packer, same
// simulator. One run shows the cost of switching to another strategy.
// docs/Evaluation/Comparison.md describes each one and how it differs from its
// original.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_PLAN_BASELINES_H
#define CKPT_PLAN_BASELINES_H

#include "ckpt/Plan/Solvers.h"

#include <string_view>

namespace ckpt::plan {

/// A strategy at one setting of its parameter.
struct BaselinePoint {
  /// "interval 4", "ratio 0.5"; empty for strategies without a parameter.
  std::string setting;
  Solution solution;
};

/// A strategy at all settings worth trying. Points are distinct and in the
/// order of the settings; each is a legal plan with slots.
struct BaselineCurve {
  /// Why the strategy cannot be applied, one sentence; no points then.
  std::string error;
  std::vector<BaselinePoint> points;
  /// Settings whose constraints have no plan ("interval 4: why").
  std::vector<std::string> refused;
};

/// The names in the order in which docs/Evaluation/Comparison.md explains them.
const std::vector<std::string_view> &baselineNames();
bool isBaseline(std::string_view name);
/// The source of the strategy: paper and section, or system and file.
std::string_view baselineSource(std::string_view name);

/// The whole curve of \p name. Strategies that steer by a number of bytes aim
/// at shares of \p budgetBytes, or of the arena of the unlimited plan if there
/// is no budget; the others ignore it. \p unlimited saves making that plan once
/// more.
BaselineCurve baselineCurve(const Problem &problem, std::string_view name,
                            std::optional<int64_t> budgetBytes,
                            const SolverOptions &options,
                            const Solution *unlimited = nullptr);

/// The fastest plan of the curve, within \p budgetBytes if given. If there is
/// none, the plan is empty and the verdict says why.
Solution solveBaseline(const Problem &problem, std::string_view name,
                       std::optional<int64_t> budgetBytes,
                       const SolverOptions &options);

} // namespace ckpt::plan

#endif // CKPT_PLAN_BASELINES_H
