//===- LayerPatterns.h - Layers that a user means by a pattern --*- C++ -*-===//
//
// `h/*/attn` stands for the attention of every block. Options that say
// something about layers (pins, budgets of regions) name them by patterns.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_PLAN_LAYERPATTERNS_H
#define CKPT_PLAN_LAYERPATTERNS_H

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ckpt::plan {

/// One `PATTERN=VALUE` of an option.
struct LayerSetting {
  std::string pattern;
  std::string value;
};

/// Reads `PATTERN=VALUE,…` of the option \p key; the last `=` of an item ends
/// its pattern. Returns an error or an empty string.
std::string parseLayerSettings(std::string_view key, std::string_view text,
                               std::vector<LayerSetting> &settings);

/// Ascending indices of the \p layers that \p pattern matches: fnmatch(3)
/// without flags, so that `*` stands for any text, `/` included. A leading `!`
/// means all other layers.
std::vector<int32_t> matchLayers(std::string_view pattern,
                                 const std::vector<std::string> &layers);

/// Why \p pattern matches none of \p layers, with names that it could match.
std::string describeNoMatch(std::string_view pattern,
                            const std::vector<std::string> &layers);

} // namespace ckpt::plan

#endif // CKPT_PLAN_LAYERPATTERNS_H
