//===- KernelEnumerator.h - Kernels that make one value ---------*- C++ -*-===//

#ifndef CKPT_LIB_PLAN_CONSTRUCT_PEBBLE_KERNELENUMERATOR_H
#define CKPT_LIB_PLAN_CONSTRUCT_PEBBLE_KERNELENUMERATOR_H

#include "Plan/Model/MinCut.h"
#include "Plan/Model/RematGraph.h"
#include "ckpt/Plan/Kernel.h"

#include <vector>

namespace ckpt::plan {

/// A legal kernel with one output, or with all results of an opaque op, which
/// needs a place for each of them.
struct KernelChoice {
  Kernel kernel;
  /// Values that it reads from memory, without arguments, ascending.
  std::vector<ValueId> reads;
  /// Values over which it may write its only output.
  std::vector<ValueId> overwrites;
  int64_t workspaceBytes = 0;
};

/// For every node, some kernels that make it.
class KernelEnumerator {
public:
  explicit KernelEnumerator(const RematGraph &graph);
  const std::vector<KernelChoice> &of(ValueId value) const {
    return choices[value];
  }

private:
  /// Ops that one kernel may hold, the core first; the values that they read,
  /// without arguments and results of the core; and the places of both in these
  /// lists, per read.
  struct Region {
    std::vector<OpId> ops;
    std::vector<ValueId> values;
    std::vector<std::pair<int32_t, int32_t>> uses;
  };
  bool mayBeInside(OpId op, const Read &read) const;
  Region reach(const std::vector<OpId> &core, bool beyondNodes) const;
  std::vector<OpId> cutOff(const Region &region, size_t coreSize,
                           bool farthest);
  std::vector<OpId> epilogue(const std::vector<OpId> &ops, OpId anchor) const;
  void findChoices(ValueId value);
  void add(ValueId value, std::vector<OpId> ops);
  std::vector<ValueId> outputsWith(ValueId value) const;

  const RematGraph &graph;
  MinCut cut;
  std::vector<std::vector<KernelChoice>> choices; // per value
};

} // namespace ckpt::plan

#endif // CKPT_LIB_PLAN_CONSTRUCT_PEBBLE_KERNELENUMERATOR_H
