//===- KernelGraph.h - The kernels of a plan as a graph ---------*- C++ -*-===//
//
// Strategies that know no fusion see the unlimited plan as their program: its
// kernels are their instructions, and the values in memory their tensors. They
// answer with a list of kernels in which some appear several times. Remats of
// the plan itself are left out: the strategies decide on these.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_LIB_PLAN_MODEL_KERNELGRAPH_H
#define CKPT_LIB_PLAN_MODEL_KERNELGRAPH_H

#include "ckpt/Plan/Plan.h"

namespace ckpt::plan {

/// A kernel of the plan. Numbers follow the plan's order; inputs come first.
struct KernelNode {
  Kernel kernel;
  /// The values of other kernels that it reads.
  std::vector<ValueId> reads;
  int64_t timeNs = 0;
  int64_t workspaceBytes = 0;
  bool mayRepeat = true;
  /// Writes only values of backward ops, or depends on such a node. (Another
  /// kernel may compute along a value that the forward pass makes for the
  /// backward pass alone.)
  bool backward = false;
};

/// One execution of a node; an execution after the first may write less.
struct KernelRun {
  int32_t node;
  std::vector<ValueId> outputs;
};

class KernelGraph {
public:
  KernelGraph(const Problem &problem, const Plan &plan);

  const Problem &problem;
  std::vector<KernelNode> nodes;
  /// By value: the node that writes it, or `none`.
  std::vector<int32_t> maker;
  /// By value: the nodes that read it, ascending.
  std::vector<std::vector<int32_t>> readers;

  /// Bytes that the value takes in the arena.
  int64_t slot(ValueId value) const;
  /// Whether strategies may drop the value and make it again.
  bool mayDrop(ValueId value) const;
  KernelRun firstRun(int32_t node) const {
    return {node, nodes[node].kernel.outputs};
  }
  /// The plan that runs \p runs, without outputs that have no reader.
  Plan emit(const std::vector<KernelRun> &runs) const;

private:
  void addNode(const Kernel &kernel);
};

} // namespace ckpt::plan

#endif // CKPT_LIB_PLAN_MODEL_KERNELGRAPH_H
