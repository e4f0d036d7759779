//===- Inputs.h - Where the arguments of a step come from -------*- C++ -*-===//
//
// Read, or made, once for all ways to run a step, before the first one.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_TOOLS_CKPTRUNNER_RUN_INPUTS_H
#define CKPT_TOOLS_CKPTRUNNER_RUN_INPUTS_H

#include "ckpt/Runtime/Arena.h"
#include "ckpt/Runtime/Signature.h"

#include <map>

namespace ckpt {

using Buffers = std::vector<std::unique_ptr<GuardedBuffer>>;

/// Values of one argument that is made from a seed: low <= value < high.
struct Range {
  double low = 0;
  double high = 1;
};

/// Reads "arg029:0:8192". The argument has to be one of \p signature.
llvm::Expected<std::pair<std::string, Range>>
parseRange(StringRef text, const Signature &signature);

/// Memory for \p tensors, fresh.
llvm::Expected<Buffers> allocate(ArrayRef<TensorSpec> tensors);

/// Fills \p buffers from the archive at \p path, which holds exactly one array
/// of the right shape and type for each of \p tensors; \p kind names them in
/// messages.
llvm::Error loadTensors(StringRef path, ArrayRef<TensorSpec> tensors,
                        StringRef kind, const Buffers &buffers);

/// Fills \p buffers with uniform random values that depend on nothing but
/// \p seed and their place. Without a range in \p ranges, floating-point values
/// are in [-0.1, 0.1) and integers in [0, 2).
void generateInputs(uint64_t seed, const std::map<std::string, Range> &ranges,
                    const Signature &signature, const Buffers &buffers);

} // namespace ckpt

#endif // CKPT_TOOLS_CKPTRUNNER_RUN_INPUTS_H
