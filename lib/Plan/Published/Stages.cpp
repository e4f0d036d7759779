//===- Stages.cpp - The forward pass as a chain of stages -----------------===//
//
// Finds the stages of a problem once per strategy that speaks of a chain.
//
//===----------------------------------------------------------------------===//

#include "Plan/Published/Stages.h"
#include "ckpt/Plan/ConstrainLayers.h"

#include <algorithm>

using namespace ckpt::plan;

/// An op outside of layers belongs to the stage of the op before it.
static std::vector<int32_t> stagesByLayers(const Problem &problem) {
  std::vector<int32_t> ofOp(problem.ops.size(), none);
  int32_t stage = 0;
  for (size_t op = 0; op < problem.ops.size(); ++op) {
    if (problem.ops[op].backward)
      continue;
    stage = std::max(stage, problem.ops[op].layer);
    ofOp[op] = stage;
  }
  return ofOp;
}

static std::vector<int32_t> stagesByAnchors(const Problem &problem) {
  std::vector<int32_t> ofOp(problem.ops.size(), none);
  int32_t anchors = 0;
  for (size_t op = 0; op < problem.ops.size(); ++op) {
    if (problem.ops[op].backward)
      continue;
    anchors += isAnchor(problem.ops[op]);
    ofOp[op] = std::max(0, anchors - 1);
  }
  return ofOp;
}

Stages::Stages(const Problem &problem)
    : ofOp(problem.layers.size() > 1 ? stagesByLayers(problem)
                                     : stagesByAnchors(problem)) {
  // A step without a forward pass is one stage with a backward part.
  count = 1;
  for (int32_t stage : ofOp)
    count = std::max(count, stage + 1);
  keptBytes.assign(count, 0);
  std::vector<char> counted(problem.values.size(), 0);
  for (const Op &op : problem.ops) {
    if (!op.backward)
      continue;
    for (const Read &read : op.reads) {
      ValueId value = throughViews(problem, read.value);
      OpId maker = problem.values[value].op;
      if (maker == none || ofOp[maker] == none || counted[value])
        continue;
      counted[value] = 1;
      keptBytes[ofOp[maker]] += problem.values[value].bytes;
    }
  }
}
