//===- Problem.cpp - Problems are planned through C -----------------------===//

#include "Plans.h"
#include "ckpt-c/Plan.h"
#include "ckpt/Plan/Budget.h"
#include "ckpt/Plan/Explain.h"
#include "ckpt/Plan/ResultScratch.h"
#include "ckpt/Plan/Text.h"
#include "ckpt/Report/Measure.h"

using namespace ckpt;
using namespace ckpt::capi;

CkptStatus ckptProblemParse(const char *text, CkptProblem *problem) {
  if (!text || !problem)
    return failNull(text ? "problem" : "text");
  auto object = std::make_shared<ProblemObject>();
  std::string error;
  if (!plan::parseProblem(text, object->problem, error))
    return fail(CKPT_INVALID_INPUT, error);
  problem->number = add(std::move(object));
  return CKPT_SUCCESS;
}

CkptStatus ckptProblemDestroy(CkptProblem problem) {
  return destroy<ProblemObject>(problem.number);
}

/// The best plan within \p bytes.
static CkptStatus solveWithin(const plan::Problem &problem, int64_t bytes,
                              const plan::SolverOptions &options,
                              const plan::Solution &baseline,
                              const plan::Bound &bound,
                              plan::Solution &solution, int64_t &smallest) {
  plan::BudgetResult result =
      plan::solveBudget(problem, bytes, options, &baseline);
  if (!result.best && !result.smallest.verdict.error.empty())
    return fail(CKPT_INVALID_INPUT, result.smallest.verdict.error);
  smallest = result.smallest.plan.arenaBytes;
  if (result.shortage)
    return fail(CKPT_INFEASIBLE,
                plan::describeShortage(problem, *result.shortage, bound));
  if (!result.best)
    return fail(CKPT_INFEASIBLE,
                plan::describeBudget(
                    bytes, smallest,
                    plan::minimumArenaBytes(problem, bound.minimumBytes())));
  solution = std::move(*result.best);
  return CKPT_SUCCESS;
}

CkptStatus ckptProblemPlan(CkptProblem problem, const char *budget,
                           int64_t timeLimitMs, CkptPlan *plan) {
  auto object = get<ProblemObject>(problem.number);
  if (!object)
    return failHandle(problem.number, ProblemObject::what);
  if (!plan)
    return failNull("plan");
  plan::Budget limit;
  std::string error;
  if (budget && !plan::parseBudget(budget, limit, error))
    return fail(CKPT_INVALID_ARGUMENT, error);
  plan::SolverOptions options;
  if (timeLimitMs >= 0)
    options.timeLimitMs = timeLimitMs;
  options.beginLimit();

  plan::Solution baseline = plan::solveUnlimited(object->problem, options);
  if (!baseline.verdict.error.empty())
    return fail(CKPT_INVALID_INPUT, baseline.verdict.error);
  plan::Solution solution = baseline;
  plan::report::ProblemFigures given;
  int64_t bytes = baseline.plan.arenaBytes;
  if (budget)
    bytes = given.budgetBytes = limit.resolve(bytes);
  const plan::Bound bound(object->problem, options);
  if (budget || !object->problem.regions.empty())
    if (CkptStatus status =
            solveWithin(object->problem, bytes, options, baseline, bound,
                        solution, given.smallestBytes);
        status != CKPT_SUCCESS)
      return status;
  auto made = std::make_shared<PlanObject>();
  made->report = plan::report::reportProblem(object->problem, solution,
                                             baseline, bound, given);
  made->report.text.strategy = budget ? "budget" : "none";
  made->plan = std::move(solution.plan);
  plan->number = add(std::move(made));
  return CKPT_SUCCESS;
}
