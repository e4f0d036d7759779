//===- SolverEffort.h - How long solvers search in tests --------*- C++ -*-===//
//
// Tests do not depend on a clock: solvers search one round, or until they have
// nothing more to try.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_TEST_UNIT_PLAN_SOLVEREFFORT_H
#define CKPT_TEST_UNIT_PLAN_SOLVEREFFORT_H

#include "ckpt/Plan/Solvers.h"

namespace ckpt::plan {

inline SolverOptions oneRound() {
  SolverOptions options;
  options.timeLimitMs = 0;
  return options;
}

inline SolverOptions allRounds() {
  SolverOptions options;
  options.timeLimitMs = 1000000;
  return options;
}

} // namespace ckpt::plan

#endif // CKPT_TEST_UNIT_PLAN_SOLVEREFFORT_H
