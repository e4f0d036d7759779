//===- StrategyOptions.cpp - Strategies and their parameters as text ------===//
//
// One place reads the user's text, from a pass option or from the attribute
// `ckpt.strategy`. `selectLayers` checks ranges, as it also sees options from
// C++.
//
//===----------------------------------------------------------------------===//

#include "Plan/Model/TextLines.h"
#include "ckpt/Plan/Strategies.h"

#include <cstdlib>

using namespace ckpt::plan;

static std::string expected(std::string_view key, const char *what,
                            std::string_view value) {
  return "expected '" + std::string(key) + "' to be " + what + ", but got '" +
         std::string(value) + "'";
}

template <typename Number>
static std::string readInteger(std::string_view key, std::string_view value,
                               Number &number) {
  int64_t parsed = 0;
  if (!parseInteger(value, parsed))
    return expected(key, "an integer", value);
  number = parsed;
  return "";
}

static std::string readReal(std::string_view key, std::string_view value,
                            std::optional<double> &number) {
  std::string text(value);
  char *end = nullptr;
  double parsed = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0')
    return expected(key, "a number", value);
  number = parsed;
  return "";
}

static std::string readBool(std::string_view key, std::string_view value,
                            bool &flag) {
  if (value != "true" && value != "false")
    return expected(key, "'true' or 'false'", value);
  flag = value == "true";
  return "";
}

static std::string readIntegers(std::string_view key, std::string_view value,
                                std::vector<int64_t> &numbers) {
  numbers.clear();
  if (value.empty())
    return "";
  for (std::string_view part : split(value, ','))
    if (!parseInteger(part, numbers.emplace_back()))
      return expected(key, "a list of integers", value);
  return "";
}

static std::string readNames(std::string_view key, std::string_view value,
                             std::vector<std::string> &names) {
  names.clear();
  if (value.empty())
    return "";
  for (std::string_view part : split(value, ',')) {
    if (part.empty())
      return expected(key, "a list of names", value);
    names.emplace_back(part);
  }
  return "";
}

std::string ckpt::plan::setStrategyOption(StrategyOptions &options,
                                          std::string_view key,
                                          std::string_view value, bool &known) {
  known = true;
  if (key == "strategy") {
    options.strategy = value;
    return "";
  }
  if (key == "policy") {
    options.policy = value;
    return "";
  }
  if (key == "policy-script") {
    options.policyScript = value;
    return "";
  }
  if (key == "ratio")
    return readReal(key, value, options.ratio);
  if (key == "n")
    return readInteger(key, value, options.n);
  if (key == "top-k")
    return readInteger(key, value, options.topK);
  if (key == "ops")
    return readNames(key, value, options.ops);
  if (key == "heavy-flops")
    return readInteger(key, value, options.heavyFlops);
  if (key == "min-params")
    return readInteger(key, value, options.minParams);
  if (key == "layers")
    return readIntegers(key, value, options.layers);
  if (key == "interval")
    return readInteger(key, value, options.interval);
  if (key == "boundaries")
    return readIntegers(key, value, options.boundaries);
  if (key == "memory-fraction")
    return readReal(key, value, options.memoryFraction);
  if (key == "recompute-attention")
    return readBool(key, value, options.recomputeAttention);
  if (key == "recompute-ffn")
    return readBool(key, value, options.recomputeFFN);
  if (key == "min-interval")
    return readInteger(key, value, options.minInterval);
  known = false;
  return "";
}

std::string ckpt::plan::parseStrategy(std::string_view text,
                                      StrategyOptions &options) {
  bool first = true;
  for (std::string_view word : split(text, ' ')) {
    if (word.empty())
      continue;
    size_t equals = word.find('=');
    bool isName = first && equals == std::string_view::npos;
    first = false;
    if (isName) {
      options.strategy = word;
      continue;
    }
    if (equals == std::string_view::npos)
      return "expected 'name=value', but got '" + std::string(word) + "'";
    bool known = false;
    std::string error = setStrategyOption(options, word.substr(0, equals),
                                          word.substr(equals + 1), known);
    if (!known)
      return "unknown parameter '" + std::string(word.substr(0, equals)) + "'";
    if (!error.empty())
      return error;
  }
  return first ? "expected the name of a strategy" : "";
}
