//===- PebblePlan.h - Plans of least memory ---------------------*- C++ -*-===//

#ifndef CKPT_LIB_PLAN_CONSTRUCT_PEBBLE_PEBBLEPLAN_H
#define CKPT_LIB_PLAN_CONSTRUCT_PEBBLE_PEBBLEPLAN_H

#include "Plan/Construct/Pebble/PebbleSearch.h"
#include "ckpt/Plan/Validate.h"

#include <optional>

namespace ckpt::plan {

/// Makes every result from nothing, one after the other, as if repeating
/// kernels cost nothing.
class PebblePlan {
public:
  explicit PebblePlan(const RematGraph &graph);

  /// A plan with a live peak of at most \p limitBytes; empty if none was found
  /// before \p deadline.
  Plan within(int64_t limitBytes, Deadline deadline = Deadline());

private:
  const RematGraph &graph;
  PebbleSearch ways;
  /// The results; where the last search failed, first.
  std::vector<ValueId> goals;
};

/// A plan whose arena is notably smaller than \p knownBytes, or nothing if none
/// was found before \p deadline. No plan takes less than \p leastBytes, and
/// \p enoughBytes end the search. Every result is made as if repeating kernels
/// cost nothing.
std::optional<Solution> solvePebble(const RematGraph &graph, int64_t leastBytes,
                                    int64_t enoughBytes, int64_t knownBytes,
                                    Deadline deadline);

} // namespace ckpt::plan

#endif // CKPT_LIB_PLAN_CONSTRUCT_PEBBLE_PEBBLEPLAN_H
