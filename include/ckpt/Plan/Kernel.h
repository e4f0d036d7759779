//===- Kernel.h - The rules and the cost of one kernel ----------*- C++ -*-===//
//
// The rules of kernels, in one place: the planner, the simulator, the rewrite
// and the report all ask here. A kernel is
//
//   fusible producers -> at most one anchor -> epilogue in its output space
//
// Without an anchor all outputs have one shape. With one, every output is a
// result of the anchor, or a chain of one-to-one reads leads to it
// (`Pointwise`, or a `Reshape`/`Permute` view); all paths to an output pass the
// same views. The kernel of an opaque anchor holds only reshapes and stretches
// of its reads besides.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_PLAN_KERNEL_H
#define CKPT_PLAN_KERNEL_H

#include "ckpt/Plan/Plan.h"

#include <deque>

namespace ckpt::plan {

/// Output number `output` may be written over the value `input`, which the
/// kernel reads from memory: each element is read only to make the element at
/// the same linear position, and element sizes are equal.
struct InPlacePair {
  ValueId input;
  int32_t output;
};

/// Consequences of the ops and outputs of a kernel alone.
struct KernelInfo {
  /// Empty, or why this is no legal kernel (one sentence, lower case).
  std::string error;
  OpId anchor = none;
  /// Distinct values read from memory, ascending.
  std::vector<ValueId> memoryReads;
  std::vector<InPlacePair> inPlace;
  /// Distinct bytes read from memory (of a slice: the slice's) and written.
  int64_t bytesMoved = 0;
  /// Work done inside, evaluation counts included (an op inside a reader that
  /// evaluates it more often counts as often).
  int64_t flops = 0;
  /// Of its ops, and of the results of an opaque op that the kernel does not
  /// write: a loop needs a place for all of its results.
  int64_t workspaceBytes = 0;
  /// max(compute, bytes / bandwidth) + launch.
  int64_t timeNs = 0;
};

/// Applies the rules to \p kernel. Never asserts on a well-formed problem.
KernelInfo analyze(const Problem &problem, const Kernel &kernel);

/// Remembers the answers of `analyze`, as searches ask for the same kernels
/// many times. For one thread at a time.
class KernelCache {
public:
  explicit KernelCache(const Problem &problem) : problem(problem) {}
  /// Stays valid as long as the cache.
  const KernelInfo &get(const Kernel &kernel);

private:
  struct Entry {
    std::vector<OpId> ops;
    std::vector<ValueId> outputs;
    KernelInfo info;
  };
  /// Part of a hash and one more than the number of an entry, 0 if it is free.
  struct Slot {
    uint32_t tag = 0, entry = 0;
  };
  void grow();

  const Problem &problem;
  std::deque<Entry> entries;
  /// By a hash of ops and outputs; on a collision, the next free slot. A
  /// question touches few lines of memory, and there are millions of questions.
  std::vector<Slot> slots;
};

} // namespace ckpt::plan

#endif // CKPT_PLAN_KERNEL_H
