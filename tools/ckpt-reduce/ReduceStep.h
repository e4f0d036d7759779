//===- ReduceStep.h - The pass --ckpt-reduce-step ---------------*- C++ -*-===//

#ifndef CKPT_TOOLS_REDUCESTEP_H
#define CKPT_TOOLS_REDUCESTEP_H

namespace ckpt {

/// Registers `--ckpt-reduce-step`, which shrinks a step while a test script
/// calls it interesting.
void registerReduceStepPass();

} // namespace ckpt

#endif // CKPT_TOOLS_REDUCESTEP_H
