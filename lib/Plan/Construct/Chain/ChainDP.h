//===- ChainDP.h - Deep budgets on chains of blocks -------------*- C++ -*-===//
//
// A walk decides at one moment after the other and does not see that its remats
// need remats in turn. Deep budgets need a whole hierarchy of kept values. Most
// training steps are chains: between blocks few values pass. For the kernels of
// a given plan, a dynamic programme (ChainTable.h) finds the least cost of such
// a hierarchy.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_LIB_PLAN_CONSTRUCT_CHAIN_CHAINDP_H
#define CKPT_LIB_PLAN_CONSTRUCT_CHAIN_CHAINDP_H

#include "Plan/Construct/Chain/ChainCosts.h"
#include "Plan/Packing/AssignOffsets.h"

#include <functional>
#include <optional>

namespace ckpt::plan {

/// How a plan is cut into stages, and the limits of its table.
struct ChainOptions {
  KernelStages::Places places = KernelStages::Places::Narrow;
  KernelChain::Backward backward = KernelChain::Backward::Early;
  /// Above it, only the smallest point is found.
  int64_t mostBytes = INT64_MAX;
  /// Time grows with the cube of the stages and with the points of a piece.
  int32_t mostStages = 64;
  size_t mostPoints = 64;
  Deadline deadline;
};

class ChainDP {
public:
  /// \p start writes every value once, as the unlimited plan does.
  ChainDP(const Problem &problem, const Plan &start,
          const ChainOptions &options);

  /// By rising bytes, as far as the chain's figures tell, and falling costs;
  /// empty where there is no chain, or the deadline came first.
  const std::vector<ChainTable::Point> &points() const {
    return table.points();
  }
  /// The number of the cheapest point of at most \p bytes, or `none`.
  int32_t within(int64_t bytes) const;
  /// A plan without slots.
  Plan plan(size_t point) const;
  /// Makes the plan of the cheapest point within \p bytes and, if it turns out
  /// to need more, the plans of a few smaller ones. \p bytesOf returns the
  /// bytes of a plan, or nothing if it is of no use.
  void
  tryWithin(int64_t bytes,
            const std::function<std::optional<int64_t>(Plan)> &bytesOf) const;

private:
  const KernelGraph graph;
  const KernelChain chain;
  const ChainTable table;
};

/// A plan of the chain of \p start's blocks, cut where little passes, with an
/// arena of at most \p budgetBytes; nothing if none is found by \p deadline.
std::optional<Solution> placedChainPlan(const Problem &problem,
                                        const Plan &start, int64_t budgetBytes,
                                        Deadline deadline = Deadline());

} // namespace ckpt::plan

#endif // CKPT_LIB_PLAN_CONSTRUCT_CHAIN_CHAINDP_H
