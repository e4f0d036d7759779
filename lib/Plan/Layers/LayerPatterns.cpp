//===- LayerPatterns.cpp - Layers that a user means by a pattern ----------===//
//
// Patterns are those of POSIX. If one matches nothing, the message lists names
// that exist, so that a slip of the pen is seen at once.
//
//===----------------------------------------------------------------------===//

#include "ckpt/Plan/LayerPatterns.h"

#include "Plan/Model/TextLines.h"

#include <fnmatch.h>

using namespace ckpt::plan;

std::string
ckpt::plan::parseLayerSettings(std::string_view key, std::string_view text,
                               std::vector<LayerSetting> &settings) {
  for (std::string_view item : split(text, ',')) {
    size_t equals = item.rfind('=');
    if (equals == std::string_view::npos || equals == 0 ||
        item.substr(0, equals) == "!" || equals + 1 == item.size())
      return "expected '" + std::string(key) +
             "' to be PATTERN=VALUE, with commas between several, but got '" +
             std::string(item) + "'";
    settings.push_back({std::string(item.substr(0, equals)),
                        std::string(item.substr(equals + 1))});
  }
  return "";
}

std::vector<int32_t>
ckpt::plan::matchLayers(std::string_view pattern,
                        const std::vector<std::string> &layers) {
  bool isTurned = pattern.substr(0, 1) == "!";
  std::string wanted(pattern.substr(isTurned ? 1 : 0));
  std::vector<int32_t> matched;
  for (size_t i = 0; i < layers.size(); ++i)
    if ((fnmatch(wanted.c_str(), layers[i].c_str(), /*flags=*/0) == 0) !=
        isTurned)
      matched.push_back(static_cast<int32_t>(i));
  return matched;
}

std::string
ckpt::plan::describeNoMatch(std::string_view pattern,
                            const std::vector<std::string> &layers) {
  constexpr size_t shown = 8;
  std::string text = "expected a pattern that matches a layer, but got '" +
                     std::string(pattern) + "'; ";
  if (layers.empty())
    return text + "there are no layers: --ckpt-form-layers finds them";
  text += "layers are ";
  for (size_t i = 0; i < layers.size() && i < shown; ++i)
    text += (i ? ", '" : "'") + layers[i] + "'";
  if (layers.size() > shown)
    text += " and " + std::to_string(layers.size() - shown) + " more";
  return text;
}
