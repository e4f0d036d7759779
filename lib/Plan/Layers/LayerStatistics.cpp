//===- LayerStatistics.cpp - Figures of a layer-level decision ------------===//
//
// Sums and closed forms that a chain of layers says about itself. They are
// figures for comparison with the literature; the true peak comes from live
// ranges (Validate.h).
//
//===----------------------------------------------------------------------===//

#include "ckpt/Plan/Strategies.h"

#include <algorithm>
#include <limits>

using namespace ckpt::plan;

/// Attributes come from a file and may hold anything up to 63 bits.
static int64_t saturatingAdd(int64_t a, int64_t b) {
  return b > std::numeric_limits<int64_t>::max() - a
             ? std::numeric_limits<int64_t>::max()
             : a + b;
}

double ckpt::plan::recomputeCostRatio(const LayerInfo &layer) {
  if (layer.activationBytes == 0)
    return 0;
  return static_cast<double>(layer.recomputeFlops) /
         static_cast<double>(layer.activationBytes);
}

LayerSum ckpt::plan::layerSum(const std::vector<LayerInfo> &layers,
                              const std::vector<int32_t> &recomputed) {
  LayerSum sum;
  if (layers.empty())
    return sum;
  std::vector<bool> isRecomputed(layers.size());
  for (int32_t index : recomputed)
    isRecomputed[index] = true;
  double total = 0;
  for (size_t index = 0; index < layers.size(); ++index) {
    const LayerInfo &layer = layers[index];
    total += static_cast<double>(layer.activationBytes);
    if (!isRecomputed[index]) {
      sum.savedBytes = saturatingAdd(sum.savedBytes, layer.activationBytes);
      continue;
    }
    sum.recomputeFlops =
        saturatingAdd(sum.recomputeFlops, layer.recomputeFlops);
    sum.transientBytes = std::max(sum.transientBytes, layer.activationBytes);
  }
  double count = static_cast<double>(layers.size());
  sum.estimatedBytes = saturatingAdd(sum.savedBytes, sum.transientBytes);
  sum.recomputeRatio = static_cast<double>(recomputed.size()) / count;
  sum.reductionPercent = 100 * sum.recomputeRatio;
  sum.meanActivationBytes = total / count;
  return sum;
}

/// \p interval layers between two boundaries, of which \p stored are saved.
static BoundaryFigures figures(double interval, double stored, double layers) {
  BoundaryFigures figures;
  figures.savedFraction = interval >= layers ? 0 : 1 - stored / layers;
  figures.computeFactor = 1 + interval / 2 / layers;
  return figures;
}

BoundaryFigures ckpt::plan::uniformFigures(int64_t interval, int64_t layers) {
  if (layers == 0)
    return {};
  int64_t stored = layers / interval + (layers % interval != 0);
  return figures(static_cast<double>(interval), static_cast<double>(stored),
                 static_cast<double>(layers));
}

BoundaryFigures ckpt::plan::boundaryFigures(int64_t boundaries,
                                            int64_t layers) {
  if (layers == 0 || boundaries == 0)
    return {};
  return figures(static_cast<double>(layers) / static_cast<double>(boundaries),
                 static_cast<double>(boundaries), static_cast<double>(layers));
}

BoundaryFigures ckpt::plan::boundaryFigures(const Selection &selection,
                                            int64_t layers) {
  return selection.interval
             ? uniformFigures(selection.interval, layers)
             : boundaryFigures(
                   static_cast<int64_t>(selection.boundaries.size()), layers);
}
