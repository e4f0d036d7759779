/*===- ckpt-c/Plan.h - Problems and plans -------------------------*- C -*-===*\
|*                                                                            *|
|* A problem is a text (docs/PlanFormat.md): ops, values, bytes and work. It  *|
|* needs no MLIR. Plans come from problems or from steps (ckpt-c/Step.h).     *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/

#ifndef CKPT_C_PLAN_H
#define CKPT_C_PLAN_H

#include "ckpt-c/Support.h"

#ifdef __cplusplus
extern "C" {
#endif

CKPT_DEFINE_C_API_HANDLE(CkptProblem);
CKPT_DEFINE_C_API_HANDLE(CkptPlan);

/*===----------------------------------------------------------------------===*\
|* Problems
\*===----------------------------------------------------------------------===*/

/** Reads a problem. Destroy it with ckptProblemDestroy. */
CKPT_C_EXPORTED CkptStatus ckptProblemParse(const char *text,
                                            CkptProblem *problem);
CKPT_C_EXPORTED CkptStatus ckptProblemDestroy(CkptProblem problem);

/** Plans a problem. The budget is a text as people write it ("4096" MiB,
 *  "512KiB", "50%" of the plan without a budget), or null for none. A search
 *  ends after so many milliseconds; 0 is one round, negative the default.
 *  Destroy the plan with ckptPlanDestroy; it outlives the problem. */
CKPT_C_EXPORTED CkptStatus ckptProblemPlan(CkptProblem problem,
                                           const char *budget,
                                           int64_t timeLimitMs, CkptPlan *plan);

/*===----------------------------------------------------------------------===*\
|* Plans
\*===----------------------------------------------------------------------===*/

CKPT_C_EXPORTED CkptStatus ckptPlanDestroy(CkptPlan plan);

/** A figure of the report (docs/Report.md): "peak_bytes", "budget_bytes",
 *  "cost_ns", "extra_flops"; the bounds, which hold for any plan,
 *  "extra_flops_bound", "cost_bound_ns", "minimum_budget_bound_bytes". */
CKPT_C_EXPORTED CkptStatus ckptPlanGetFigure(CkptPlan plan, const char *name,
                                             int64_t *figure);

CKPT_C_EXPORTED CkptStatus ckptPlanGetNumKernels(CkptPlan plan, size_t *count);

/** An output of a kernel: a value of the problem, and its offset in the arena,
 *  or -1 where it lies in a buffer of the caller. If `host` is not -1, it is
 * the result in whose buffer the value lies at the offset. */
typedef struct CkptOutput {
  int32_t value;
  int64_t offset;
  int32_t host;
} CkptOutput;

/** The ops of the problem that a kernel computes, in order. Writes at most
 *  `capacity` numbers to `ops`, which may be null if that is 0, and to `count`
 *  how many there are. */
CKPT_C_EXPORTED CkptStatus ckptPlanGetKernelOps(CkptPlan plan, size_t kernel,
                                                int32_t *ops, size_t capacity,
                                                size_t *count);
/** The same for the outputs of a kernel. */
CKPT_C_EXPORTED CkptStatus ckptPlanGetKernelOutputs(CkptPlan plan,
                                                    size_t kernel,
                                                    CkptOutput *outputs,
                                                    size_t capacity,
                                                    size_t *count);

/** The plan as text, which `ckpt-plan --check-plan` reads. */
CKPT_C_EXPORTED CkptStatus ckptPlanPrint(CkptPlan plan,
                                         CkptStringCallback callback,
                                         void *userData);

typedef enum CkptReportFormat {
  CKPT_REPORT_JSON = 0,
  CKPT_REPORT_HTML = 1,
  CKPT_REPORT_SVG = 2
} CkptReportFormat;

/** The report of the plan: data, page or picture. */
CKPT_C_EXPORTED CkptStatus ckptPlanPrintReport(CkptPlan plan,
                                               CkptReportFormat format,
                                               CkptStringCallback callback,
                                               void *userData);

#ifdef __cplusplus
}
#endif

#endif /* CKPT_C_PLAN_H */
