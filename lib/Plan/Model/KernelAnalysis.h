//===- KernelAnalysis.h - One kernel with its values numbered ---*- C++ -*-===//
//
// `analyze` numbers the values of a kernel locally, so that its cost depends on
// the size of the kernel alone: solvers ask for thousands of kernels of
// problems with thousands of ops. Kernel.cpp has the rules, KernelCost.cpp the
// cost and the takeovers.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_LIB_PLAN_MODEL_KERNELANALYSIS_H
#define CKPT_LIB_PLAN_MODEL_KERNELANALYSIS_H

#include "ckpt/Plan/Kernel.h"

#include <algorithm>

namespace ckpt::plan {

/// A value that a kernel makes or reads; `maker` is the position of its op in
/// the kernel, or `none` if it stands in memory.
struct LocalValue {
  ValueId value;
  int32_t maker;
};

class KernelAnalysis {
public:
  KernelAnalysis(const Problem &problem, const Kernel &kernel)
      : problem(problem), kernel(kernel), size(kernel.ops.size()) {}

  KernelInfo run();

private:
  const Op &op(int32_t position) const {
    return problem.ops[kernel.ops[position]];
  }
  std::string name(int32_t position) const {
    return "op " + std::to_string(kernel.ops[position]) + " (" +
           op(position).name + ")";
  }
  const Value &valueOf(int32_t local) const {
    return problem.values[locals[local].value];
  }
  bool fail(std::string error) {
    info.error = std::move(error);
    return false;
  }
  /// Position of \p id in the kernel, or `none`.
  int32_t positionOf(OpId id) const {
    auto found = std::lower_bound(kernel.ops.begin(), kernel.ops.end(), id);
    if (id == none || found == kernel.ops.end() || *found != id)
      return none;
    return found - kernel.ops.begin();
  }
  int32_t localResult(int32_t maker, ValueId value) const {
    const std::vector<ValueId> &results = op(maker).results;
    return firstResult[maker] +
           (std::find(results.begin(), results.end(), value) - results.begin());
  }
  /// The local number of `Value::same` of a view whose way there is inside the
  /// kernel, or `none`.
  int32_t localSame(int32_t position) const;
  int32_t localRead(int32_t position, size_t read) const {
    return reads[firstRead[position] + read];
  }

  bool checkLists();
  bool checkOneAnchor();
  void numberValues();
  bool checkNeeds();
  bool checkOpaque();
  bool checkEpilogue();
  bool checkOutputs();
  bool checkAllNeeded();
  bool standsInMemory(int32_t local, bool contiguous) const;

  void findInPlacePairs();
  std::vector<int32_t> placesFor(int32_t output) const;
  void spread(int32_t position, std::vector<int32_t> &places) const;
  int32_t readsOfAnchor(int32_t local) const;

  void countBytes();
  int64_t droppedBytes(int32_t position) const;
  void countWork();

  const Problem &problem;
  const Kernel &kernel;
  const int32_t size;
  KernelInfo info;
  /// Position of the anchor in the kernel, or `none`.
  int32_t anchor = none;
  /// Values made inside, then the memory reads in ascending order.
  std::vector<LocalValue> locals;
  std::vector<int32_t> firstResult, firstRead;
  /// Local number of each read of each op.
  std::vector<int32_t> reads;
  /// Local number of each output.
  std::vector<int32_t> outputs;
  /// Per op: whether it depends on the anchor, and the last view and the last
  /// permutation on the way from it (`none` if there is none).
  std::vector<char> inEpilogue;
  std::vector<OpId> lastView, lastPermute;
};

} // namespace ckpt::plan

#endif // CKPT_LIB_PLAN_MODEL_KERNELANALYSIS_H
