//===- Frontier.h - The whole curve of peak against time --------*- C++ -*-===//
//
// A search for one budget makes many plans and returns one. Here all of them
// count: plans for any budget stand in one pool, and each budget gets the
// fastest that fits it. More memory never costs more time, and a curve of many
// points takes little more time than one plan.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_PLAN_FRONTIER_H
#define CKPT_PLAN_FRONTIER_H

#include "ckpt/Plan/Solvers.h"

#include <iosfwd>
#include <map>

namespace ckpt::plan {

/// Plans of which none is both as small and as fast as another: less memory
/// costs more time or, in equal time, more FLOPs.
class PlanPool {
public:
  /// Enters \p solution, which needs \p bytes, unless a plan of the pool is as
  /// small and as fast; removes plans that it makes superfluous. Between
  /// equals, fewer extra FLOPs win. Returns whether it was entered.
  bool add(int64_t bytes, Solution solution);
  /// The fastest plan that needs at most \p bytes, or null.
  const Solution *fastestWithin(int64_t bytes) const;
  /// Takes out one that `fastestWithin` returned.
  void remove(const Solution *solution);

  /// By the bytes that they need; from each to the next, time falls or is
  /// equal.
  const std::map<int64_t, Solution> &plans() const { return byBytes; }

  /// Time that \p stepBytes more than \p bytes save, by the plans of the pool,
  /// for a plan that takes \p timeNs: the steepest slope to any larger plan.
  int64_t savedNs(int64_t bytes, int64_t timeNs, int64_t stepBytes) const;

private:
  std::map<int64_t, Solution> byBytes;
};

/// One budget of the curve.
struct FrontierPoint {
  int64_t budgetBytes = 0;
  /// The fastest plan found that fits; its arena may be smaller.
  Solution solution;
  /// No plan within the budget has fewer extra FLOPs.
  int64_t extraFlopsBound = 0;
  /// None is faster.
  int64_t timeBoundNs = 0;
};

struct Frontier {
  /// From the smallest budget to the largest; times never rise.
  std::vector<FrontierPoint> points;
  /// The unlimited plan, and the figures of the program as written.
  Solution baseline;
  AsWritten written;
  /// No plan has a smaller arena.
  int64_t minimumBoundBytes = 0;
  int64_t planningMs = 0;
  /// Why there is no plan at all; then there are no points.
  std::string error;

  /// Time that each byte between a point and the next larger plan of the curve
  /// saves, in nanoseconds per MiB; 0 for the last plan.
  double nsPerMiB(size_t point) const;
};

/// Plans for \p points budgets (at least 2), in geometric steps from the
/// smallest for which a plan is found to the arena of the plan without a limit.
/// The time limit holds for all of them together.
Frontier solveFrontier(const Problem &problem, int32_t points,
                       const SolverOptions &options);

/// Writes the curve as a table for people, as JSON, or as a picture (SVG) that
/// needs no other file. \p title names the program.
void printFrontier(const Frontier &frontier, const std::string &title,
                   std::ostream &os);
void printFrontierJson(const Frontier &frontier, std::ostream &os);
void printFrontierSvg(const Frontier &frontier, const std::string &title,
                      std::ostream &os);

} // namespace ckpt::plan

#endif // CKPT_PLAN_FRONTIER_H
