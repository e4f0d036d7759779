//===- Text.h - Problems and plans as text ----------------------*- C++ -*-===//

#ifndef CKPT_PLAN_TEXT_H
#define CKPT_PLAN_TEXT_H

#include "ckpt/Plan/Plan.h"
#include "ckpt/Plan/Quote.h"

#include <iosfwd>
#include <string>
#include <string_view>

namespace ckpt::plan {

/// Reads a problem (docs/PlanFormat.md). On error returns false and sets \p
/// error to "line N: MESSAGE".
bool parseProblem(std::string_view text, Problem &problem, std::string &error);
void printProblem(const Problem &problem, std::ostream &os);

/// The same for a plan of \p problem; ids are checked against it.
bool parsePlan(std::string_view text, const Problem &problem, Plan &plan,
               std::string &error);
void printPlan(const Plan &plan, std::ostream &os);

} // namespace ckpt::plan

#endif // CKPT_PLAN_TEXT_H
