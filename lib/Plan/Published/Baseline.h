//===- Baseline.h - One published strategy at work --------------*- C++ -*-===//
//
// Every strategy is one function that adds points to a `BaselineRun`. Most put
// demands on values and leave fusion and order to `solveUnlimited`; the others
// repeat kernels of the unlimited plan (KernelGraph.h).
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_LIB_PLAN_PUBLISHED_BASELINE_H
#define CKPT_LIB_PLAN_PUBLISHED_BASELINE_H

#include "ckpt/Plan/Baselines.h"
#include "ckpt/Plan/Budget.h"

namespace ckpt::plan {

class BaselineRun {
public:
  BaselineRun(const Problem &problem, std::optional<int64_t> budgetBytes,
              const SolverOptions &options, const Solution *unlimited);

  const Problem &problem;
  const SolverOptions &options;
  const Solution unlimited;
  /// Byte targets of strategies that steer by bytes, descending.
  std::vector<int64_t> targets;
  BaselineCurve curve;

  /// Fuses and orders \p constrained, which is `problem` with more demands.
  void addConstrained(const std::string &setting, const Problem &constrained);
  /// Places the slots of \p plan.
  void addPlan(const std::string &setting, Plan plan);
  void add(const std::string &setting, Solution solution);
};

// Checkmate.cpp
void addCheckmate(BaselineRun &run);

// Dtr.cpp
void addDtr(BaselineRun &run);

// Revolve.cpp
void addRevolve(BaselineRun &run);

// Rotor.cpp
void addRotor(BaselineRun &run);

// SavedBytes.cpp
void addMinCut(BaselineRun &run);
void addKnapsack(BaselineRun &run);

// Segments.cpp
void addSaveAll(BaselineRun &run);
void addRecomputeAll(BaselineRun &run);
void addSqrt(BaselineRun &run);
void addChenGreedy(BaselineRun &run);

// XlaGreedy.cpp
void addXlaGreedy(BaselineRun &run);

} // namespace ckpt::plan

#endif // CKPT_LIB_PLAN_PUBLISHED_BASELINE_H
