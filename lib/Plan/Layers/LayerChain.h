//===- LayerChain.h - A strategy at work on a chain of layers ---*- C++ -*-===//
//
// Shared by the strategies of Strategies.h. Each is one function that marks
// layers (MarkLayers.cpp) or boundaries (MarkBoundaries.cpp).
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_LIB_PLAN_LAYERS_LAYERCHAIN_H
#define CKPT_LIB_PLAN_LAYERS_LAYERCHAIN_H

#include "ckpt/Plan/Strategies.h"

namespace ckpt::plan {

/// A strategy at work on a chain.
struct Chain {
  const std::vector<LayerInfo> &layers;
  const StrategyOptions &options;
  /// Family A: layers to recompute. Family B: boundaries to save.
  std::vector<bool> marked;
  /// Family B: the distance of the boundaries; 0 if it varies.
  int64_t interval = 0;
  /// The summary where it is not just a count of layers.
  std::string summary;

  int64_t size() const { return static_cast<int64_t>(layers.size()); }

  /// Whether a modifier or a pin forbids recomputing the layer.
  bool staysSaved(int64_t index) const;
};

struct NamedStrategy {
  std::string_view name;
  /// Returns an error or an empty string.
  std::string (*mark)(Chain &chain);
  bool storesBoundaries;
};

/// The strategy, or null.
const NamedStrategy *findLayerStrategy(std::string_view name);
const NamedStrategy *findBoundaryStrategy(std::string_view name);

/// The error for a parameter that is missing.
std::string needs(const Chain &chain, const char *parameter);

/// Reads a parameter that has to be there and to be at least \p smallest.
/// Returns an error or an empty string.
std::string require(const Chain &chain, const char *parameter,
                    std::optional<int64_t> value, int64_t smallest,
                    int64_t &result);

/// The same for a share in [0, 1].
std::string requireShare(const Chain &chain, const char *parameter,
                         std::optional<double> value, double &result);

/// Marks the layers or boundaries that the user lists. Returns an error or an
/// empty string.
std::string markListed(Chain &chain, const char *what,
                       const std::vector<int64_t> &indices);

/// Marks positions 0, interval, 2 * interval, ….
void markEvery(Chain &chain, int64_t interval);

/// "every layer", "every 2 layers".
std::string everyLayers(int64_t interval);

} // namespace ckpt::plan

#endif // CKPT_LIB_PLAN_LAYERS_LAYERCHAIN_H
