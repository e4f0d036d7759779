//===- Passes.h - Passes that plan and rewrite ------------------*- C++ -*-===//
//
// The passes of lib/Transforms, which Passes.td describes. `registerAllPasses`
// makes them known to tools.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_TRANSFORMS_PASSES_H
#define CKPT_TRANSFORMS_PASSES_H

#include "ckpt/Plan/SolverOptions.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace ckpt {

namespace plan::report {
struct StepReport;
} // namespace plan::report

#define GEN_PASS_DECL
#include "ckpt/Transforms/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "ckpt/Transforms/Passes.h.inc"

/// The planning pass, which also hands its report to \p report. The report
/// stays unchanged if the pass fails before it has a plan. The caller sees
/// progress and interrupts by \p solver; the pass's options set all other
/// limits.
std::unique_ptr<mlir::Pass>
createPlanPass(plan::report::StepReport &report,
               const plan::SolverOptions &solver = {});

} // namespace ckpt

#endif // CKPT_TRANSFORMS_PASSES_H
