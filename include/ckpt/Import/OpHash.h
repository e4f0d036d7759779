//===- OpHash.h - Fingerprints of ops that survive a file -------*- C++ -*-===//
//
// `#ckpt.plan` follows op numbers, so it has to know whether the function is
// still the one that was planned, and where it is not. The hashes are the same
// on every machine and in every run: they are made from names and numbers,
// never from addresses.
//

#ifndef CKPT_IMPORT_OPHASH_H
#define CKPT_IMPORT_OPHASH_H

#include "ckpt/Import/ProblemBuilder.h"

namespace ckpt {

/// 24 bits per op of the problem, the same on every machine: name, attributes
/// except ckpt's, types, operands by number, regions. Locations do not count.
/// The last entry, after the last op, is the terminator's.
SmallVector<int64_t> hashOps(const ProgramProblem &program);

/// One number for all decisions and pins on ops and layers, by their place.
uint64_t hashDecisions(mlir::func::FuncOp function);

} // namespace ckpt

#endif // CKPT_IMPORT_OPHASH_H
