//===- PlanPipeline.h - From a tensor program to a planned one --*- C++ -*-===//

#ifndef CKPT_PIPELINES_PLANPIPELINE_H
#define CKPT_PIPELINES_PLANPIPELINE_H

#include "ckpt/Plan/SolverOptions.h"
#include "ckpt/Report/StepReport.h"
#include "ckpt/Support/LLVM.h"
#include "mlir/IR/BuiltinOps.h"

namespace ckpt {

/// Plans \p module: `--ckpt-plan` with \p planOptions, before it
/// `--ckpt-form-layers` if \p formLayers, since named strategies work on
/// layers. \p report receives the report, also where no plan fits, which is an
/// error with a diagnostic. \p solver is as in `createPlanPass`.
LogicalResult planModule(ModuleOp module, StringRef planOptions,
                         bool formLayers, plan::report::StepReport &report,
                         const plan::SolverOptions &solver = {});

/// Rewrites the planned \p module: `--ckpt-apply-plan`.
LogicalResult rewriteModule(ModuleOp module);

} // namespace ckpt

#endif // CKPT_PIPELINES_PLANPIPELINE_H
