//===- MarkLayers.cpp - Strategies that mark layers to recompute ----------===//
//
// Strategies of family A: one function each. `selectLayers` calls the one that
// the user names.
//
//===----------------------------------------------------------------------===//

#include "Plan/Layers/LayerChain.h"

#include <algorithm>
#include <cmath>
#include <numeric>

using namespace ckpt::plan;

static void markKind(Chain &chain, LayerKind kind) {
  for (int64_t index = 0; index < chain.size(); ++index)
    if (chain.layers[index].kind == kind)
      chain.marked[index] = true;
}

static std::string markNone(Chain &) { return ""; }

static std::string markAll(Chain &chain) {
  markEvery(chain, 1);
  return "";
}

/// Spreads n layers evenly; halves round up.
static std::string markSelective(Chain &chain) {
  double ratio = 0;
  std::string error = requireShare(chain, "ratio", chain.options.ratio, ratio);
  if (!error.empty())
    return error;
  int64_t size = chain.size();
  auto count =
      static_cast<int64_t>(std::floor(ratio * static_cast<double>(size) + 0.5));
  if (count == 0)
    return "";
  int64_t step = std::max<int64_t>(1, (2 * size + count) / (2 * count));
  for (int64_t index = 0; index < size && count > 0; index += step, --count)
    chain.marked[index] = true;
  return "";
}

static std::string markAttention(Chain &chain) {
  markKind(chain, LayerKind::Attention);
  return "";
}

static std::string markFFN(Chain &chain) {
  markKind(chain, LayerKind::FFN);
  return "";
}

static std::string markEveryNth(Chain &chain) {
  int64_t n = 0;
  std::string error = require(chain, "n", chain.options.n, 1, n);
  if (!error.empty())
    return error;
  markEvery(chain, n);
  chain.summary = everyLayers(n);
  return "";
}

static std::string markAlternate(Chain &chain) {
  markEvery(chain, 2);
  chain.summary = everyLayers(2);
  return "";
}

static std::string markLargest(Chain &chain) {
  int64_t count = 0;
  std::string error = require(chain, "top-k", chain.options.topK, 0, count);
  if (!error.empty())
    return error;
  std::vector<int64_t> order(chain.layers.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    return chain.layers[a].activationBytes > chain.layers[b].activationBytes;
  });
  order.resize(std::min(count, chain.size()));
  for (int64_t index : order)
    chain.marked[index] = true;
  return "";
}

/// Whether \p name of the list of `heavy-ops` means the op or layer.
static bool isHeavy(const LayerInfo &layer, const std::string &name) {
  if (name == layerKindName(layer.kind))
    return true;
  return std::any_of(
      layer.ops.begin(), layer.ops.end(), [&](const LayerOp &op) {
        bool isConvolution = op.name.find("conv") != std::string::npos;
        return op.name == name ||
               (op.isContraction &&
                name == (isConvolution ? "convolution" : "matmul"));
      });
}

static std::string checkHeavyNames(const Chain &chain) {
  auto isKind = [](const std::string &name) {
    for (LayerKind kind :
         {LayerKind::Other, LayerKind::Attention, LayerKind::FFN,
          LayerKind::Embedding, LayerKind::Norm})
      if (name == layerKindName(kind))
        return true;
    return name == "matmul" || name == "convolution";
  };
  auto isHeld = [&](const std::string &name) {
    return std::any_of(
        chain.layers.begin(), chain.layers.end(),
        [&](const LayerInfo &layer) { return isHeavy(layer, name); });
  };
  for (const std::string &name : chain.options.ops) {
    if (isKind(name) || isHeld(name) ||
        (chain.options.isKnownOp && chain.options.isKnownOp(name)))
      continue;
    return "expected 'ops' to hold layer kinds, 'matmul', 'convolution' or "
           "names of ops, but got '" +
           name + "'";
  }
  return "";
}

static std::string markHeavyOps(Chain &chain) {
  const StrategyOptions &options = chain.options;
  std::string error = checkHeavyNames(chain);
  if (!error.empty())
    return error;
  for (int64_t index = 0; index < chain.size(); ++index) {
    const LayerInfo &layer = chain.layers[index];
    if (options.ops.empty())
      chain.marked[index] = layer.kind == LayerKind::Attention ||
                            std::any_of(layer.ops.begin(), layer.ops.end(),
                                        [&](const LayerOp &op) {
                                          return op.isContraction &&
                                                 op.flops >= options.heavyFlops;
                                        });
    for (const std::string &name : options.ops)
      if (isHeavy(layer, name))
        chain.marked[index] = true;
  }
  return "";
}

static std::string markAuto(Chain &chain) {
  for (int64_t index = 0; index < chain.size(); ++index)
    chain.marked[index] =
        chain.layers[index].parameters > chain.options.minParams;
  return "";
}

static std::string markCustom(Chain &chain) {
  const StrategyOptions &options = chain.options;
  if (options.policy.empty() && options.policyScript.empty())
    return needs(chain, "policy' or 'policy-script");
  if (options.policy.empty())
    return "";
  LayerPolicy policy = findPolicy(options.policy);
  if (!policy)
    return "no policy is registered as '" + options.policy + "'";
  for (int64_t index = 0; index < chain.size(); ++index)
    chain.marked[index] = policy(chain.layers[index]);
  return "";
}

static std::string markLayers(Chain &chain) {
  return markListed(chain, "layer", chain.options.layers);
}

/// Whether \p a frees more bytes per FLOP than \p b: compares bytes / (FLOPs +
/// 1) exactly.
static bool freesMore(const LayerInfo &a, const LayerInfo &b) {
  using Wide = unsigned __int128;
  return static_cast<Wide>(a.activationBytes) *
             (static_cast<Wide>(b.recomputeFlops) + 1) >
         static_cast<Wide>(b.activationBytes) *
             (static_cast<Wide>(a.recomputeFlops) + 1);
}

/// The greedy of the layer-sum model, a named baseline.
static std::string markLayerSumBudget(Chain &chain) {
  int64_t budget = 0;
  std::string error =
      require(chain, "budget", chain.options.budgetBytes, 0, budget);
  if (!error.empty())
    return error;
  std::vector<int64_t> order;
  __int128 remaining = 0, fixed = 0;
  for (int64_t index = 0; index < chain.size(); ++index) {
    const LayerInfo &layer = chain.layers[index];
    if (layer.pin == LayerPin::Recompute)
      continue;
    remaining += layer.activationBytes;
    if (chain.staysSaved(index))
      fixed += layer.activationBytes;
    else
      order.push_back(index);
  }
  if (fixed > budget)
    return "expected a budget of at least " +
           std::to_string(static_cast<int64_t>(fixed)) +
           " bytes, which layers that stay saved take, but got " +
           std::to_string(budget);
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    return freesMore(chain.layers[a], chain.layers[b]);
  });
  for (int64_t index : order) {
    if (remaining <= budget)
      break;
    chain.marked[index] = true;
    remaining -= chain.layers[index].activationBytes;
  }
  return "";
}

static constexpr NamedStrategy strategies[] = {
    {"none", markNone, false},
    {"full", markAll, false},
    {"all", markAll, false},
    {"selective", markSelective, false},
    {"attention-only", markAttention, false},
    {"ffn-only", markFFN, false},
    {"every-nth", markEveryNth, false},
    {"alternate", markAlternate, false},
    {"largest", markLargest, false},
    {"heavy-ops", markHeavyOps, false},
    {"auto", markAuto, false},
    {"custom", markCustom, false},
    {"layers", markLayers, false},
    {"budget", markLayerSumBudget, false},
};

const NamedStrategy *ckpt::plan::findLayerStrategy(std::string_view name) {
  for (const NamedStrategy &strategy : strategies)
    if (strategy.name == name)
      return &strategy;
  return nullptr;
}
