//===- CutCosts.cpp - Costs of a keep-or-recompute cut --------------------===//
//
// A value counts as it will run: computed inside its readers, by an elementwise
// kernel, or by a kernel of its own.
//
//===----------------------------------------------------------------------===//

#include "Plan/Construct/KeepCut/CutCosts.h"

#include <algorithm>

using namespace ckpt::plan;

int64_t ckpt::plan::recomputePs(const RematGraph &graph, OpId op,
                                const CostWeights &weights) {
  const Problem &problem = graph.problem;
  const Op &o = problem.ops[op];
  int64_t readBytes = 0, ownBytes = 0, readers = 0;
  for (const Leaf &leaf : graph.leaves[op])
    readBytes += problem.values[leaf.value].bytes;
  bool toMemory = false;
  double evaluations = 0;
  for (ValueId value : o.results) {
    ownBytes += problem.values[value].bytes;
    toMemory |= graph.memoryRead[value];
    for (OpId reader : graph.readers[value])
      evaluations += graph.ratio(graph.iterations(reader), value);
    readers += static_cast<int64_t>(graph.readers[value].size());
  }
  if (graph.rooted[op]) {
    double time = static_cast<double>(
        std::max(graph.chainPs[op], graph.movePs(readBytes + ownBytes)) +
        problem.launchNs * 1000);
    bool weighted = o.kind == OpKind::Contraction;
    return static_cast<int64_t>(weighted ? time * weights.contractionWeight
                                         : time);
  }
  constexpr int64_t mostReaders = 3;
  double time = static_cast<double>(graph.chainPs[op]) * evaluations / 2;
  if (toMemory)
    time += static_cast<double>(graph.movePs(2 * ownBytes));
  int64_t moreBytes =
      std::max<int64_t>(0, readBytes + graph.argumentBytes[op] - ownBytes);
  time += weights.readWeight * static_cast<double>(graph.movePs(moreBytes)) *
          static_cast<double>(std::min(readers, mostReaders));
  return static_cast<int64_t>(time);
}

double ckpt::plan::writePs(const RematGraph &graph, ValueId value,
                           int32_t drops) {
  // A reader that needs the value in memory pays a part of the writing anyway.
  double share = graph.memoryRead[value] ? 1.2 : 1.5;
  return static_cast<double>(graph.movePs(graph.problem.values[value].bytes)) *
         (share + 3.0 * drops);
}
