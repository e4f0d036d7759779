//===- Overwrite.h - Outputs over values that die ---------------*- C++ -*-===//
//
// The bytes that a kernel takes beyond its reads depend on the outputs that may
// take the places of dying values. Both cuts ask it before the kernel exists.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_LIB_PLAN_CONSTRUCT_KEEPCUT_OVERWRITE_H
#define CKPT_LIB_PLAN_CONSTRUCT_KEEPCUT_OVERWRITE_H

#include "Plan/Model/RematGraph.h"

namespace ckpt::plan {

/// Whether \p output may be written over a value that is in memory and that no
/// later kernel demands.
template <typename IsInMemory, typename IsDemanded>
bool mayOverwrite(const RematGraph &graph, ValueId output,
                  IsInMemory isInMemory, IsDemanded isDemanded) {
  constexpr size_t mostVisited = 16;
  const Problem &problem = graph.problem;
  std::vector<ValueId> chain = {output};
  for (size_t i = 0; i < chain.size(); ++i)
    for (const Read &read : problem.ops[problem.values[chain[i]].op].reads) {
      bool keepsPlace =
          read.destination ||
          (problem.takesOver && (read.access == Access::Pointwise ||
                                 read.access == Access::Reshape ||
                                 read.access == Access::Aligned));
      if (!keepsPlace || graph.isFree(read.value))
        continue;
      if (!isInMemory(read.value)) {
        if (!graph.rooted[problem.values[read.value].op] &&
            chain.size() < mostVisited)
          chain.push_back(read.value);
      } else if (!isDemanded(read.value) &&
                 graph.slot[read.value] == graph.slot[output] &&
                 problem.values[read.value].bytes ==
                     problem.values[output].bytes) {
        return true;
      }
    }
  return false;
}

} // namespace ckpt::plan

#endif // CKPT_LIB_PLAN_CONSTRUCT_KEEPCUT_OVERWRITE_H
