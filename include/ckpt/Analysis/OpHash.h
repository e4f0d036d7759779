//===- OpHash.h - Fingerprints of ops that survive a file -------*- C++ -*-===//

#ifndef CKPT_ANALYSIS_OPHASH_H
#define CKPT_ANALYSIS_OPHASH_H

#include "ckpt/Analysis/ProblemBuilder.h"

namespace ckpt {

/// 24 bits per op of the problem, the same on every machine: name, attributes
/// but those of ckpt, types, operands by number, regions. Locations do not
/// count.
SmallVector<int64_t> hashOps(const ProgramProblem &program);

/// One number for all `ckpt.decision` attributes of ops and layers.
uint64_t hashDecisions(mlir::func::FuncOp function);

} // namespace ckpt

#endif // CKPT_ANALYSIS_OPHASH_H
