//===- RootRanks.h - Which root runs first if several can -------*- C++ -*-===//
//
// What the walk (Rolling.h) and the order without a budget (RootOrder.h) have
// in common.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_LIB_PLAN_ROOTRANKS_H
#define CKPT_LIB_PLAN_ROOTRANKS_H

#include "Graph.h"

namespace ckpt::plan {

/// Whether the results of \p op take little memory compared with its operands.
bool makesLittle(const Graph &graph, OpId op);

/// Whether the backward pass has to make something again.
bool hasRecomputed(const Graph &graph);

/// Per op: roots that run after it though they do not read what it makes: the
/// next op with effects, and the result in whose buffer lies what it reads.
std::vector<std::vector<OpId>> findFollowers(const Graph &graph);

/// Results first, then roots that feed nothing but results and make little
/// (weight gradients), the rest in program order; all of the forward pass
/// before all of the backward pass if that has to make something again.
struct RootRanks {
  /// Without \p reorder, program order.
  RootRanks(const Graph &graph, bool reorder);

  std::vector<int32_t> rank; // per op, or `none`
  std::vector<OpId> byRank;
  /// Per op: a root that feeds nothing but results and makes much.
  std::vector<char> held;
};

} // namespace ckpt::plan

#endif // CKPT_LIB_PLAN_ROOTRANKS_H
