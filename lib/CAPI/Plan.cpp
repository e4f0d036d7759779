//===- Plan.cpp - Plans are read through C --------------------------------===//

#include "ckpt-c/Plan.h"
#include "Plans.h"
#include "ckpt/Plan/Text.h"

#include <algorithm>
#include <sstream>

using namespace ckpt;
using namespace ckpt::capi;

CkptStatus ckptPlanDestroy(CkptPlan plan) {
  return destroy<PlanObject>(plan.number);
}

CkptStatus ckptPlanGetFigure(CkptPlan plan, const char *name, int64_t *figure) {
  auto object = get<PlanObject>(plan.number);
  if (!object)
    return failHandle(plan.number, PlanObject::what);
  if (!name || !figure)
    return failNull(name ? "figure" : "name");
  std::optional<int64_t> found =
      plan::report::integerOf(object->report.figures, name);
  if (!found)
    return fail(CKPT_INVALID_ARGUMENT,
                "expected a figure of the report, but got " +
                    plan::quote(name));
  *figure = *found;
  return CKPT_SUCCESS;
}

CkptStatus ckptPlanGetNumKernels(CkptPlan plan, size_t *count) {
  auto object = get<PlanObject>(plan.number);
  if (!object)
    return failHandle(plan.number, PlanObject::what);
  if (!count)
    return failNull("count");
  *count = object->plan.kernels.size();
  return CKPT_SUCCESS;
}

/// Hands out \p items of a kernel, as many as there is room for.
template <typename T>
static CkptStatus handOut(const std::vector<T> &items, const char *name, T *to,
                          size_t capacity, size_t *count) {
  if (!count || (!to && capacity > 0))
    return failNull(count ? name : "count");
  std::copy_n(items.begin(), std::min(capacity, items.size()), to);
  *count = items.size();
  return CKPT_SUCCESS;
}

static CkptStatus failKernel(const plan::Plan &plan, size_t kernel) {
  return fail(CKPT_INVALID_ARGUMENT, "expected one of " +
                                         std::to_string(plan.kernels.size()) +
                                         " kernels, counted from 0, but got " +
                                         std::to_string(kernel));
}

CkptStatus ckptPlanGetKernelOps(CkptPlan plan, size_t kernel, int32_t *ops,
                                size_t capacity, size_t *count) {
  auto object = get<PlanObject>(plan.number);
  if (!object)
    return failHandle(plan.number, PlanObject::what);
  if (kernel >= object->plan.kernels.size())
    return failKernel(object->plan, kernel);
  return handOut(object->plan.kernels[kernel].ops, "ops", ops, capacity, count);
}

CkptStatus ckptPlanGetKernelOutputs(CkptPlan plan, size_t kernel,
                                    CkptOutput *outputs, size_t capacity,
                                    size_t *count) {
  auto object = get<PlanObject>(plan.number);
  if (!object)
    return failHandle(plan.number, PlanObject::what);
  if (kernel >= object->plan.kernels.size())
    return failKernel(object->plan, kernel);
  const plan::Kernel &planned = object->plan.kernels[kernel];
  std::vector<CkptOutput> found;
  for (size_t i = 0; i < planned.outputs.size(); ++i)
    found.push_back(
        {planned.outputs[i], planned.offsets[i], planned.hostOf(i)});
  return handOut(found, "outputs", outputs, capacity, count);
}

CkptStatus ckptPlanPrint(CkptPlan plan, CkptStringCallback callback,
                         void *userData) {
  auto object = get<PlanObject>(plan.number);
  if (!object)
    return failHandle(plan.number, PlanObject::what);
  if (!callback)
    return failNull("callback");
  std::ostringstream text;
  plan::printPlan(object->plan, text);
  callback(text.str().data(), text.str().size(), userData);
  return CKPT_SUCCESS;
}

CkptStatus ckptPlanPrintReport(CkptPlan plan, CkptReportFormat format,
                               CkptStringCallback callback, void *userData) {
  using plan::report::Format;
  auto object = get<PlanObject>(plan.number);
  if (!object)
    return failHandle(plan.number, PlanObject::what);
  if (!callback)
    return failNull("callback");
  Format chosen = format == CKPT_REPORT_JSON   ? Format::Json
                  : format == CKPT_REPORT_HTML ? Format::Html
                                               : Format::Svg;
  if (chosen == Format::Svg && format != CKPT_REPORT_SVG)
    return fail(CKPT_INVALID_ARGUMENT,
                "expected a format of reports, but got " +
                    std::to_string(static_cast<int>(format)));
  if (std::string reason = plan::report::refuse(object->report, chosen);
      !reason.empty())
    return fail(CKPT_INVALID_ARGUMENT, reason);
  std::ostringstream text;
  plan::report::write(object->report, chosen, text);
  callback(text.str().data(), text.str().size(), userData);
  return CKPT_SUCCESS;
}
