//===- RootPriority.h - The priority of roots that can run ------*- C++ -*-===//
//
// Shared by the walk (CutScheduler.h) and the order without a budget
// (RootOrder.h).
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_LIB_PLAN_CONSTRUCT_KEEPCUT_ROOTPRIORITY_H
#define CKPT_LIB_PLAN_CONSTRUCT_KEEPCUT_ROOTPRIORITY_H

#include "Plan/Model/RematGraph.h"

namespace ckpt::plan {

/// Whether the results of \p op take little memory compared with its operands.
bool makesLittle(const RematGraph &graph, OpId op);

/// Whether the backward pass has to make something again.
bool hasRecomputed(const RematGraph &graph);

/// Per op: roots that run after it though they do not read its results: the
/// next op with effects, and the result whose buffer holds a value that it
/// reads.
std::vector<std::vector<OpId>> findFollowers(const RematGraph &graph);

/// Results first, then roots that feed nothing but results and make little
/// (weight gradients), then all others in program order. The whole forward pass
/// precedes the backward pass if that has to make values again.
struct RootPriority {
  /// Without \p reorder, program order.
  RootPriority(const RematGraph &graph, bool reorder);

  std::vector<int32_t> rank; // per op, or `none`
  std::vector<OpId> byRank;
  /// Per op: a root that feeds nothing but results and makes much.
  std::vector<char> held;
};

} // namespace ckpt::plan

#endif // CKPT_LIB_PLAN_CONSTRUCT_KEEPCUT_ROOTPRIORITY_H
