//===- DescribeSelection.cpp - What a strategy decided, in words ----------===//

#include "ckpt/Plan/Strategies.h"

#include <cstdio>

using namespace ckpt::plan;

static std::string listOf(const char *what,
                          const std::vector<int32_t> &indices) {
  std::string line = std::string(what) + ":";
  for (int32_t index : indices)
    line += " " + std::to_string(index);
  return indices.empty() ? line + " none" : line;
}

template <typename... Numbers>
static std::string format(const char *text, Numbers... numbers) {
  char line[160];
  std::snprintf(line, sizeof(line), text, numbers...);
  return line;
}

static std::vector<int32_t> others(size_t count,
                                   const std::vector<int32_t> &indices) {
  std::vector<bool> listed(count);
  for (int32_t index : indices)
    listed[index] = true;
  std::vector<int32_t> rest;
  for (size_t index = 0; index < count; ++index)
    if (!listed[index])
      rest.push_back(static_cast<int32_t>(index));
  return rest;
}

static std::vector<std::string>
describeLayers(const std::vector<LayerInfo> &layers,
               const Selection &selection) {
  LayerSum sum = layerSum(layers, selection.recomputed);
  return {listOf("layers recomputed", selection.recomputed),
          listOf("layers saved", others(layers.size(), selection.recomputed)),
          "layer sum: " + std::to_string(sum.recomputeFlops) +
              " FLOPs again, " + std::to_string(sum.savedBytes) +
              " bytes saved, " + std::to_string(sum.transientBytes) +
              " bytes transient, " + std::to_string(sum.estimatedBytes) +
              " bytes estimated",
          format("layer sum: ratio %.3f, reduction %.1f %%, mean %.1f bytes "
                 "per layer",
                 sum.recomputeRatio, sum.reductionPercent,
                 sum.meanActivationBytes)};
}

static std::vector<std::string>
describeBoundaries(size_t layers, const Selection &selection,
                   const StrategyOptions &options) {
  std::vector<std::string> lines = {
      listOf("boundaries saved", selection.boundaries)};
  if (!selection.keptWhole.empty())
    lines.push_back(listOf("layers left saved", selection.keptWhole));
  bool isUniform = options.strategy == "uniform" && options.minInterval == 1;
  auto count = static_cast<int64_t>(layers);
  BoundaryFigures figures =
      isUniform ? uniformFigures(*options.interval, count)
                : boundaryFigures(
                      static_cast<int64_t>(selection.boundaries.size()), count);
  lines.push_back(format("closed form: %.1f %% of activation memory not "
                         "stored, %.3f times the work",
                         100 * figures.savedFraction, figures.computeFactor));
  return lines;
}

std::vector<std::string>
ckpt::plan::describeSelection(const std::vector<LayerInfo> &layers,
                              const Selection &selection,
                              const StrategyOptions &options) {
  return selection.storesBoundaries
             ? describeBoundaries(layers.size(), selection, options)
             : describeLayers(layers, selection);
}
