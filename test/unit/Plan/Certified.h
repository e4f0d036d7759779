//===- Certified.h - Problems with certificates for tests -------*- C++ -*-===//

#ifndef CKPT_TEST_UNIT_PLAN_CERTIFIED_H
#define CKPT_TEST_UNIT_PLAN_CERTIFIED_H

#include "RandomProblem.h"
#include "SolverEffort.h"
#include "TextOf.h"

#include "ckpt/Plan/Certificate.h"

namespace ckpt::plan {

/// A problem, a plan within a budget, and the certificate.
struct Certified {
  Problem problem;
  std::string text, certificate;
  Solution solution;
  int64_t budgetBytes = 0;
};

/// None if no plan was found.
inline std::optional<Certified> certifyWithin(Problem problem,
                                              int64_t budgetBytes) {
  Certified made;
  made.problem = std::move(problem);
  made.budgetBytes = budgetBytes;
  BudgetResult result = solveBudget(made.problem, budgetBytes, oneRound());
  if (!result.best)
    return std::nullopt;
  made.solution = std::move(*result.best);
  made.text = textOf(made.problem);
  made.certificate =
      certify(made.problem, made.solution, budgetBytes, Bound(made.problem));
  return made;
}

inline std::optional<Certified> certifyRandom(uint64_t seed, int ops,
                                              int percent) {
  RandomOptions options;
  options.ops = ops;
  options.keeps = seed % 4 == 0;
  options.runOnce = seed % 3 == 0;
  Problem problem = randomProblem(seed, options);
  Solution unlimited = solveUnlimited(problem, oneRound());
  if (!unlimited.verdict.error.empty())
    return std::nullopt;
  int64_t budgetBytes = unlimited.plan.arenaBytes * percent / 100;
  return certifyWithin(std::move(problem), budgetBytes);
}

} // namespace ckpt::plan

#endif // CKPT_TEST_UNIT_PLAN_CERTIFIED_H
