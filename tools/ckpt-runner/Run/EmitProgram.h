//===- EmitProgram.h - A step as a program of its own -----------*- C++ -*-===//
//
// `--emit=executable`: from the options and the signature of a run to
// ckpt/Runtime/EmitExecutable.h.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_TOOLS_CKPTRUNNER_RUN_EMITPROGRAM_H
#define CKPT_TOOLS_CKPTRUNNER_RUN_EMITPROGRAM_H

#include "Run/MeasureStep.h"

namespace ckpt {

/// Writes the rewritten \p module as a program for a GPU to \p path. Reports
/// failures.
LogicalResult emitProgram(ModuleOp module, const RunOptions &options,
                          StringRef title, const Signature &signature,
                          StringRef path);

} // namespace ckpt

#endif // CKPT_TOOLS_CKPTRUNNER_RUN_EMITPROGRAM_H
