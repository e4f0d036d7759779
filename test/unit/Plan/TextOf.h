//===- TextOf.h - Problems and plans as strings -----------------*- C++ -*-===//

#ifndef CKPT_TEST_UNIT_PLAN_TEXTOF_H
#define CKPT_TEST_UNIT_PLAN_TEXTOF_H

#include "ckpt/Plan/Text.h"

#include <sstream>

namespace ckpt::plan {

inline std::string textOf(const Problem &problem) {
  std::ostringstream os;
  printProblem(problem, os);
  return os.str();
}

inline std::string textOf(const Plan &plan) {
  std::ostringstream os;
  printPlan(plan, os);
  return os.str();
}

} // namespace ckpt::plan

#endif // CKPT_TEST_UNIT_PLAN_TEXTOF_H
