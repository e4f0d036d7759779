//===- PlanNotes.h - The text of a plan on a value --------------*- C++ -*-===//

#ifndef CKPT_TOOLS_LSP_PLANNOTES_H
#define CKPT_TOOLS_LSP_PLANNOTES_H

#include "ckpt/IR/CkptDialect.h"
#include "ckpt/Transforms/PlanStep.h"

namespace ckpt::lsp {

/// Reads the plan of a function, in any of its forms: attributes that
/// `--ckpt-plan` wrote, or the kernels of `--ckpt-apply-plan`.
class PlanNotes {
public:
  explicit PlanNotes(mlir::func::FuncOp function);

  /// Bytes, live range, decision and its reason, as Markdown; empty where
  /// \p value is no tensor of the step.
  std::string describe(mlir::Value value);

private:
  void readKernels();
  void readAttributes();
  std::string describeKernelResult(KernelOp kernel, unsigned result);
  std::string describePlanned(plan::ValueId id);
  std::string describePlace(plan::ValueId id);
  std::string describeSaved(plan::ValueId id);
  std::string describeRecomputed(plan::ValueId id);
  std::string describeInlined(plan::ValueId id);
  /// "kernel 3 (`h/0 · dot_general`)".
  std::string kernelName(int32_t kernel);

  mlir::func::FuncOp function;
  /// Kernel numbers of a function of kernels.
  llvm::DenseMap<mlir::Operation *, int64_t> kernels;
  /// The problem of a planned function.
  std::optional<ProgramProblem> program;
  plan::Solution solution;
  plan::report::StepReport report;
  std::vector<plan::PlannedAs> decisions;
  /// Why the plan cannot be read.
  std::string error;
};

} // namespace ckpt::lsp

#endif // CKPT_TOOLS_LSP_PLANNOTES_H
