//===- MarkBoundaries.cpp - Strategies that name boundaries to save -------===//
//
// Strategies of family B: one function each. `selectLayers` calls the one that
// the user names.
//
//===----------------------------------------------------------------------===//

#include "Plan/Layers/LayerChain.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

using namespace ckpt::plan;

static std::string storeUniform(Chain &chain) {
  int64_t interval = 0;
  std::string error =
      require(chain, "interval", chain.options.interval, 1, interval);
  if (!error.empty())
    return error;
  markEvery(chain, interval);
  if (chain.options.minInterval <= interval)
    chain.interval = interval;
  chain.summary = everyLayers(interval);
  return "";
}

static std::string storeListed(Chain &chain) {
  std::string error = markListed(chain, "boundary", chain.options.boundaries);
  chain.summary = std::to_string(chain.options.boundaries.size()) + " of " +
                  std::to_string(chain.size()) + " saved";
  return error;
}

static std::string storeDynamic(Chain &chain) {
  double fraction = 0;
  std::string error = requireShare(chain, "memory-fraction",
                                   chain.options.memoryFraction, fraction);
  if (!error.empty())
    return error;
  if (chain.layers.empty())
    return "strategy 'dynamic' needs at least one layer";
  // The slack keeps 0.29 * 100 from falling to 28.
  auto interval = static_cast<int64_t>(
      std::floor(fraction * static_cast<double>(chain.size()) + 1e-9));
  chain.interval = std::max({int64_t(1), interval, chain.options.minInterval});
  markEvery(chain, chain.interval);
  char percent[32];
  std::snprintf(percent, sizeof(percent), "%.1f %% target", 100 * fraction);
  chain.summary = std::to_string(chain.size()) + " layers, " + percent;
  return "";
}

static constexpr NamedStrategy strategies[] = {
    {"uniform", storeUniform, true},
    {"boundaries", storeListed, true},
    {"dynamic", storeDynamic, true},
};

const NamedStrategy *ckpt::plan::findBoundaryStrategy(std::string_view name) {
  for (const NamedStrategy &strategy : strategies)
    if (strategy.name == name)
      return &strategy;
  return nullptr;
}
