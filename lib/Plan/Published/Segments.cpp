//===- Segments.cpp - Strategies that save the inputs of segments ---------===//
//
// Between the passes, only the inputs of segments of the chain stand in memory;
// all other values of a segment are made again before its backward part.
//
//===----------------------------------------------------------------------===//

#include "Plan/Published/Baseline.h"
#include "Plan/Published/Stages.h"
#include "ckpt/Plan/ConstrainLayers.h"

#include <algorithm>
#include <cmath>
#include <set>

using namespace ckpt::plan;

/// Adds the plan that saves only the values that cross \p boundaries.
static void addBoundaries(BaselineRun &run, const Stages &stages,
                          const std::string &setting,
                          std::vector<int32_t> boundaries) {
  Selection selection;
  selection.storesBoundaries = true;
  selection.boundaries = std::move(boundaries);
  Problem constrained = run.problem;
  constrainLayers(constrained, stages.ofOp, selection);
  run.addConstrained(setting, constrained);
}

/// Nothing that stands in memory is made again.
void ckpt::plan::addSaveAll(BaselineRun &run) { run.add("", run.unlimited); }

/// Only the input of every layer is saved.
void ckpt::plan::addRecomputeAll(BaselineRun &run) {
  Stages stages(run.problem);
  std::vector<int32_t> boundaries(stages.count);
  for (int32_t stage = 0; stage < stages.count; ++stage)
    boundaries[stage] = stage;
  addBoundaries(run, stages, "", std::move(boundaries));
}

/// Chen et al., section 4.1: N layers in segments of √N.
void ckpt::plan::addSqrt(BaselineRun &run) {
  Stages stages(run.problem);
  int32_t length =
      std::max(1, static_cast<int32_t>(std::lround(std::sqrt(stages.count))));
  std::vector<int32_t> boundaries;
  for (int32_t stage = 0; stage < stages.count; stage += length)
    boundaries.push_back(stage);
  addBoundaries(run, stages, "segments of " + std::to_string(length),
                std::move(boundaries));
}

/// Algorithm 3 of Chen et al.: walks along the chain and saves a boundary
/// whenever the backward pass reads more than \p bytes made since the last one.
static std::vector<int32_t> greedyBoundaries(const Stages &stages,
                                             int64_t bytes) {
  std::vector<int32_t> boundaries = {0};
  int64_t sinceLast = 0;
  for (int32_t stage = 0; stage + 1 < stages.count; ++stage) {
    sinceLast += stages.keptBytes[stage];
    if (sinceLast <= bytes)
      continue;
    boundaries.push_back(stage + 1);
    sinceLast = 0;
  }
  return boundaries;
}

/// The search of section 4.4: the threshold is scanned, here from the largest
/// stage to the whole chain.
void ckpt::plan::addChenGreedy(BaselineRun &run) {
  Stages stages(run.problem);
  constexpr int steps = 12;
  int64_t total = 0, largest = 1;
  for (int64_t bytes : stages.keptBytes) {
    total += bytes;
    largest = std::max(largest, bytes);
  }
  double ratio = static_cast<double>(std::max(total, largest)) /
                 static_cast<double>(largest);
  std::set<std::vector<int32_t>> tried;
  for (int step = 0; step <= steps; ++step) {
    double factor = std::pow(ratio, static_cast<double>(step) / steps) / 2;
    auto bytes = static_cast<int64_t>(static_cast<double>(largest) * factor);
    std::vector<int32_t> boundaries = greedyBoundaries(stages, bytes);
    if (tried.insert(boundaries).second)
      addBoundaries(run, stages, "threshold " + formatBytes(bytes),
                    std::move(boundaries));
  }
}
