//===- Strategies.cpp - Selection of layers and boundaries ----------------===//
//
// A strategy is one function that marks layers or boundaries. Modifiers, pins
// and the summary are the same for all and come after it.
//
//===----------------------------------------------------------------------===//

#include "Plan/Layers/LayerChain.h"

#include <map>
#include <mutex>

using namespace ckpt::plan;

std::string_view ckpt::plan::layerKindName(LayerKind kind) {
  switch (kind) {
  case LayerKind::Attention:
    return "attention";
  case LayerKind::FFN:
    return "ffn";
  case LayerKind::Embedding:
    return "embedding";
  case LayerKind::Norm:
    return "norm";
  case LayerKind::Other:
    break;
  }
  return "other";
}

//===----------------------------------------------------------------------===//
// Custom policies
//===----------------------------------------------------------------------===//

namespace {
struct PolicyRegistry {
  std::mutex mutex;
  std::map<std::string, LayerPolicy> policies;
};
} // namespace

static PolicyRegistry &policyRegistry() {
  static PolicyRegistry registry;
  return registry;
}

void ckpt::plan::registerPolicy(std::string name, LayerPolicy policy) {
  PolicyRegistry &registry = policyRegistry();
  std::lock_guard<std::mutex> lock(registry.mutex);
  registry.policies[std::move(name)] = std::move(policy);
}

LayerPolicy ckpt::plan::findPolicy(const std::string &name) {
  PolicyRegistry &registry = policyRegistry();
  std::lock_guard<std::mutex> lock(registry.mutex);
  auto found = registry.policies.find(name);
  return found == registry.policies.end() ? LayerPolicy() : found->second;
}

//===----------------------------------------------------------------------===//
// Selection
//===----------------------------------------------------------------------===//

static const NamedStrategy *findStrategy(std::string_view name) {
  if (const NamedStrategy *strategy = findLayerStrategy(name))
    return strategy;
  return findBoundaryStrategy(name);
}

/// Drops boundaries that are nearer than \p interval layers to the one before.
static void keepApart(std::vector<bool> &boundaries, int64_t interval) {
  int64_t last = -1;
  for (int64_t index = 0; index < static_cast<int64_t>(boundaries.size());
       ++index) {
    if (!boundaries[index])
      continue;
    if (last >= 0 && index - last < interval)
      boundaries[index] = false;
    else
      last = index;
  }
}

bool ckpt::plan::isLayerStrategy(std::string_view name) {
  return name != "budget" && findStrategy(name);
}

/// Turns the marks into decisions, obeying modifiers and pins.
static void decide(Chain &chain, Selection &selection) {
  if (selection.storesBoundaries)
    keepApart(chain.marked, chain.options.minInterval);
  for (int64_t index = 0; index < chain.size(); ++index) {
    bool mustRecompute = chain.layers[index].pin == LayerPin::Recompute;
    bool mustSave = chain.staysSaved(index);
    bool saves = chain.marked[index] == selection.storesBoundaries;
    if (selection.storesBoundaries) {
      if (chain.marked[index] && !mustRecompute)
        selection.boundaries.push_back(static_cast<int32_t>(index));
      if (mustSave)
        selection.keptWhole.push_back(static_cast<int32_t>(index));
    }
    if (mustRecompute || (!saves && !mustSave))
      selection.recomputed.push_back(static_cast<int32_t>(index));
  }
}

static std::string summarize(const Chain &chain, const Selection &selection) {
  std::string name = chain.options.strategy;
  if (name == "custom")
    name += " '" +
            (chain.options.policy.empty() ? chain.options.policyScript
                                          : chain.options.policy) +
            "'";
  if (!chain.summary.empty())
    return name + ", " + chain.summary;
  return name + ", " + std::to_string(selection.recomputed.size()) + " of " +
         std::to_string(chain.size()) + " layers";
}

Selection ckpt::plan::selectLayers(const std::vector<LayerInfo> &layers,
                                   const StrategyOptions &options) {
  Selection selection;
  const NamedStrategy *strategy = findStrategy(options.strategy);
  if (!strategy) {
    selection.error = "unknown strategy '" + options.strategy + "'";
    return selection;
  }
  if (options.minInterval < 1) {
    selection.error = "expected 'min-interval' to be at least 1, but got " +
                      std::to_string(options.minInterval);
    return selection;
  }
  Chain chain{layers, options, std::vector<bool>(layers.size()), 0, ""};
  selection.error = strategy->mark(chain);
  if (!selection.error.empty())
    return selection;
  selection.storesBoundaries = strategy->storesBoundaries;
  selection.interval = chain.interval;
  decide(chain, selection);
  selection.summary = summarize(chain, selection);
  return selection;
}
