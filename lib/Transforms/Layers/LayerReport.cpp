//===- LayerReport.cpp - The report of a strategy of layers ---------------===//

#include "Transforms/Layers/LayerReport.h"
#include "ckpt/Plan/Budget.h"

#include <algorithm>
#include <cstdio>

using namespace ckpt;

static std::string list(const std::vector<int32_t> &indices) {
  constexpr size_t shown = 24;
  std::string text;
  for (size_t i = 0; i < std::min(indices.size(), shown); ++i)
    text += " " + std::to_string(indices[i]);
  if (indices.size() > shown)
    text += " and " + std::to_string(indices.size() - shown) + " more";
  return indices.empty() ? " none" : text;
}

static std::vector<int32_t> others(size_t count,
                                   const std::vector<int32_t> &indices) {
  std::vector<int32_t> result;
  for (size_t i = 0; i < count; ++i)
    if (!std::binary_search(indices.begin(), indices.end(),
                            static_cast<int32_t>(i)))
      result.push_back(i);
  return result;
}

static std::string format(const char *pattern, double number) {
  char text[64];
  std::snprintf(text, sizeof text, pattern, number);
  return text;
}

std::vector<std::string>
ckpt::describeLayers(const std::vector<plan::LayerInfo> &layers,
                     const plan::Selection &selection) {
  plan::LayerSum sum = plan::layerSum(layers, selection.recomputed);
  std::vector<std::string> lines = {
      "layers recomputed:" + list(selection.recomputed) +
          "; saved:" + list(others(layers.size(), selection.recomputed)) +
          " (" + format("%.1f %%", sum.reductionPercent) + " of " +
          std::to_string(layers.size()) + " recomputed)",
      "layer sums, without live ranges: saved " +
          std::to_string(sum.savedBytes) + " bytes + transient " +
          std::to_string(sum.transientBytes) + " bytes = " +
          std::to_string(sum.estimatedBytes) + " bytes; recompute FLOPs " +
          std::to_string(sum.recomputeFlops) + "; mean activation " +
          format("%.1f", sum.meanActivationBytes) + " bytes"};
  if (selection.storesBoundaries) {
    plan::BoundaryFigures figures =
        plan::boundaryFigures(selection, layers.size());
    lines.push_back("boundaries saved:" + list(selection.boundaries) +
                    "; in closed form " +
                    format("%.1f %%", 100 * figures.savedFraction) +
                    " of activation memory saved, " +
                    format("%.3f", figures.computeFactor) + " times the work");
  }
  return lines;
}

std::map<std::string, int64_t>
ckpt::layerFigures(const std::vector<plan::LayerInfo> &layers,
                   const plan::Selection &selection) {
  plan::LayerSum sum = plan::layerSum(layers, selection.recomputed);
  return {{"layers", layers.size()},
          {"layers_recomputed", selection.recomputed.size()},
          {"layer_sum_saved_bytes", sum.savedBytes},
          {"layer_sum_transient_bytes", sum.transientBytes},
          {"layer_sum_estimated_bytes", sum.estimatedBytes},
          {"layer_sum_recompute_flops", sum.recomputeFlops}};
}
