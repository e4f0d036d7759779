//===- Plans.h - Problems and plans behind their handles --------*- C++ -*-===//

#ifndef CKPT_LIB_CAPI_PLANS_H
#define CKPT_LIB_CAPI_PLANS_H

#include "Handles.h"
#include "ckpt/Plan/Solvers.h"
#include "ckpt/Report/StepReport.h"

namespace ckpt::capi {

struct ProblemObject : Object {
  static constexpr const char *what = "a problem";
  plan::Problem problem;
};

struct PlanObject : Object {
  static constexpr const char *what = "a plan";
  plan::Plan plan;
  plan::report::StepReport report;
};

} // namespace ckpt::capi

#endif // CKPT_LIB_CAPI_PLANS_H
