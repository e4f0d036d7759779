//===- Donation.h - Arguments that results may overwrite --------*- C++ -*-===//
//
// A caller that donates an argument does not use it after the step: a result
// may lie in its buffer, and the caller passes one buffer as both.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_IMPORT_DONATION_H
#define CKPT_IMPORT_DONATION_H

#include "ckpt/Import/ProblemBuilder.h"
#include "ckpt/Plan/Plan.h"

namespace ckpt {

/// Lets results of \p program lie in donated arguments.
///
/// `tf.aliasing_output` and an integer in `ckpt.donated` name the result. For
/// other donated arguments (`jax.buffer_donor`, `ckpt.donated` alone) it is the
/// first result of the type that nothing was donated to, as in JAX. Left out
/// are arguments that are returned as they are. An error where a named result
/// does not exist or has another size.
LogicalResult addDonations(ProgramProblem &program);

/// Writes down at the arguments of the rewritten \p program which results lie
/// in their buffers by \p plan, as `ckpt.donated`. Marks of frontends stay, for
/// other compilers.
void recordDonations(ProgramProblem &program, const plan::Plan &plan);

/// By argument of a rewritten function: the result that lies in its buffer, or
/// -1.
SmallVector<int64_t> donatedResults(mlir::func::FuncOp function);

/// Removes the marks of `recordDonations`.
void dropDonations(mlir::func::FuncOp function);

/// Marks arguments as donated: \p text is "all" or numbers such as "0,2".
LogicalResult markDonated(mlir::func::FuncOp function, StringRef text);

} // namespace ckpt

#endif // CKPT_IMPORT_DONATION_H
