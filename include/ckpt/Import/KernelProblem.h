//===- KernelProblem.h - The ops of one kernel as a problem -----*- C++ -*-===//
//
// `--ckpt-verify` asks for the inputs of a kernel that a result may overwrite:
// the rules of the planner for one kernel, on ops that may be of any kind.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_IMPORT_KERNELPROBLEM_H
#define CKPT_IMPORT_KERNELPROBLEM_H

#include "ckpt/Import/ProblemBuilder.h"

namespace ckpt {

/// Reads \p function, which holds the ops of a kernel and nothing else that is
/// to run, as `buildProblem` does, but asks for no op whether it can be run.
FailureOr<ProgramProblem> buildKernelProblem(mlir::func::FuncOp function);

} // namespace ckpt

#endif // CKPT_IMPORT_KERNELPROBLEM_H
