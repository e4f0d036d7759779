//===- SmallestPlan.h - Plans for which only memory counts ------*- C++ -*-===//

#ifndef CKPT_LIB_PLAN_SMALLESTPLAN_H
#define CKPT_LIB_PLAN_SMALLESTPLAN_H

#include "FromNothing.h"
#include "ckpt/Plan/Solvers.h"

#include <functional>
#include <optional>

namespace ckpt::plan {

/// Makes every result from nothing, one after the other, as if repeating
/// kernels cost nothing.
class SmallestPlan {
public:
  explicit SmallestPlan(const Graph &graph);

  /// A plan with a live peak of at most \p limitBytes; empty if none was found
  /// before \p isOver.
  Plan within(
      int64_t limitBytes,
      const std::function<bool()> &isOver = [] { return false; });

private:
  const Graph &graph;
  FromNothing ways;
  /// The results; where the last search failed, first.
  std::vector<ValueId> goals;
};

/// A plan whose arena is notably smaller than \p knownBytes, or nothing if none
/// was found before \p isOver. Every result is made as if repeating kernels
/// cost nothing.
std::optional<Solution> solveSmallest(const Graph &graph, int64_t knownBytes,
                                      const std::function<bool()> &isOver);

} // namespace ckpt::plan

#endif // CKPT_LIB_PLAN_SMALLESTPLAN_H
