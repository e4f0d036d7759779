//===- KernelBuilder.h - From a plan to ckpt.kernel ops ---------*- C++ -*-===//
//
// `--ckpt-apply-plan` calls it with a plan that is valid; the planner has no
// part in it any more.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_LIB_TRANSFORMS_APPLY_KERNELBUILDER_H
#define CKPT_LIB_TRANSFORMS_APPLY_KERNELBUILDER_H

#include "ckpt/Import/ProblemBuilder.h"
#include "ckpt/Plan/Validate.h"

namespace ckpt {

/// Rewrites the function of \p program into the kernels of \p plan, which must
/// be valid with slots; \p verdict is the simulator's. Layers are dissolved,
/// all other ops but constants are gone, and the function carries the size of
/// its arena.
void buildKernels(ProgramProblem &program, const plan::Plan &plan,
                  const plan::Verdict &verdict);

} // namespace ckpt

#endif // CKPT_LIB_TRANSFORMS_APPLY_KERNELBUILDER_H
