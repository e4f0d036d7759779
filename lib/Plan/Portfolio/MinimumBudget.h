//===- MinimumBudget.h - The smallest plan ----------------------*- C++ -*-===//
//
// A search knows the user's budget only as the bytes at which it may end. A
// smaller budget therefore continues the search of a larger one: a budget that
// a message names as the smallest has a plan when the user asks for it.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_LIB_PLAN_PORTFOLIO_MINIMUMBUDGET_H
#define CKPT_LIB_PLAN_PORTFOLIO_MINIMUMBUDGET_H

#include "Plan/Improve/ReduceMemory.h"
#include "Plan/Model/Clock.h"
#include "Plan/Model/RematGraph.h"
#include "ckpt/Plan/Pack.h"
#include "ckpt/Plan/Solvers.h"

namespace ckpt::plan {

class MinimumSearch {
public:
  /// \p clock limits the search, and \p flopNs is the cost of an extra FLOP on
  /// top of its time.
  MinimumSearch(const RematGraph &graph, const Solution &unlimited,
                const SolverOptions &options, const Clock &clock, double flopNs)
      : graph(graph), problem(graph.problem), options(options), clock(clock),
        flopNs(flopNs), unlimitedPlan(withoutSlots(unlimited.plan)),
        smallest(unlimited) {}

  /// The smallest plan, or the first of at most \p enoughBytes. It is empty if
  /// the unlimited plan is.
  Solution run(int64_t enoughBytes);

private:
  bool isEnough() const { return smallest.plan.arenaBytes <= enough; }
  void keep(Solution solution, const char *subSolver);
  Deadline part(double share) const;
  void runLadder();
  Plan plainWalk() const;
  Plan shrunk(Plan plan, MemoryOptions fit) const;
  void shrink(const Plan &plan, double share);
  void runPebble(double share);

  const RematGraph &graph;
  const Problem &problem;
  const SolverOptions &options;
  const Clock &clock;
  const double flopNs;
  const Plan unlimitedPlan;
  Solution smallest;
  int64_t enough = 0;
};

} // namespace ckpt::plan

#endif // CKPT_LIB_PLAN_PORTFOLIO_MINIMUMBUDGET_H
