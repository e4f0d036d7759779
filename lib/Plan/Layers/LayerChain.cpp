//===- LayerChain.cpp - Shared parts of strategies per layer --------------===//
//
// Checks and numbers that several strategies need.
//
//===----------------------------------------------------------------------===//

#include "Plan/Layers/LayerChain.h"

using namespace ckpt::plan;

bool Chain::staysSaved(int64_t index) const {
  const LayerInfo &layer = layers[index];
  if (layer.pin != LayerPin::None)
    return layer.pin == LayerPin::Save;
  return (layer.kind == LayerKind::Attention && !options.recomputeAttention) ||
         (layer.kind == LayerKind::FFN && !options.recomputeFFN);
}

std::string ckpt::plan::needs(const Chain &chain, const char *parameter) {
  return "strategy '" + chain.options.strategy + "' needs '" + parameter + "'";
}

std::string ckpt::plan::require(const Chain &chain, const char *parameter,
                                std::optional<int64_t> value, int64_t smallest,
                                int64_t &result) {
  if (!value)
    return needs(chain, parameter);
  if (*value < smallest)
    return std::string("expected '") + parameter + "' to be at least " +
           std::to_string(smallest) + ", but got " + std::to_string(*value);
  result = *value;
  return "";
}

std::string ckpt::plan::requireShare(const Chain &chain, const char *parameter,
                                     std::optional<double> value,
                                     double &result) {
  if (!value)
    return needs(chain, parameter);
  if (!(*value >= 0 && *value <= 1)) // also catches NaN
    return std::string("expected '") + parameter +
           "' to be in [0, 1], but got " + std::to_string(*value);
  result = *value;
  return "";
}

std::string ckpt::plan::markListed(Chain &chain, const char *what,
                                   const std::vector<int64_t> &indices) {
  for (int64_t index : indices) {
    if (index < 0 || index >= chain.size())
      return std::string("expected ") + what + " to be in [0, " +
             std::to_string(chain.size()) + "), but got " +
             std::to_string(index);
    if (chain.marked[index])
      return std::string("expected distinct indices, but got ") + what + " " +
             std::to_string(index) + " twice";
    chain.marked[index] = true;
  }
  return "";
}

std::string ckpt::plan::everyLayers(int64_t interval) {
  return interval == 1 ? "every layer"
                       : "every " + std::to_string(interval) + " layers";
}

void ckpt::plan::markEvery(Chain &chain, int64_t interval) {
  for (int64_t index = 0; index < chain.size(); index += interval)
    chain.marked[index] = true;
}
