//===- PlanScore.h - The objective of every search --------------*- C++ -*-===//
//
// Plans compete by their time plus a multiple of the arithmetic of their extra
// FLOPs: a remat that hides behind bytes on the described device may not hide
// on another one. The searches of a budget and of regions make one each.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_LIB_PLAN_PORTFOLIO_PLANSCORE_H
#define CKPT_LIB_PLAN_PORTFOLIO_PLANSCORE_H

#include "Plan/Model/RematGraph.h"

namespace ckpt::plan {

struct PlanScore {
  /// Extra FLOPs count on top of the time of a plan as if their arithmetic took
  /// it so many times more.
  static constexpr double flopWeight = 12;

  /// \p averageNs: the time of the step, if its arithmetic takes none.
  PlanScore(const RematGraph &graph, int64_t averageNs) {
    double ns = 0;
    for (size_t op = 0; op < graph.problem.ops.size(); ++op)
      if (graph.live[op] && isAnchor(graph.problem.ops[op])) {
        stepFlops += static_cast<double>(graph.problem.ops[op].flops);
        ns += static_cast<double>(graph.problem.ops[op].computePs) / 1000;
      }
    if (stepFlops > 0)
      nsPerFlop = (ns == 0 ? static_cast<double>(averageNs) : ns) / stepFlops;
  }

  /// The cost of an extra FLOP on top of its time.
  double flopNs() const { return flopWeight * nsPerFlop; }
  double of(const Verdict &verdict) const {
    return static_cast<double>(verdict.timeNs) +
           flopNs() * static_cast<double>(verdict.extraFlops);
  }

  /// FLOPs of the step, and the time of one if arithmetic takes all of the
  /// time.
  double stepFlops = 0, nsPerFlop = 0;
};

} // namespace ckpt::plan

#endif // CKPT_LIB_PLAN_PORTFOLIO_PLANSCORE_H
