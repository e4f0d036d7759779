//===- Svg.h - Numbers, texts and axes of pictures --------------*- C++ -*-===//
//
// Shared by the curve of peak against time and the picture of the report.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_PLAN_SVG_H
#define CKPT_PLAN_SVG_H

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>

namespace ckpt::plan::svg {

inline std::string number(double value, int decimals = 1) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", decimals, value);
  return text;
}

/// \p text between tags or quotes; control characters are left out.
inline std::string escape(const std::string &text) {
  std::string result;
  for (char c : text) {
    if (c == '&')
      result += "&amp;";
    else if (c == '<')
      result += "&lt;";
    else if (c == '>')
      result += "&gt;";
    else if (c == '"')
      result += "&quot;";
    else if (static_cast<unsigned char>(c) >= ' ')
      result += c;
  }
  return result;
}

/// A range of numbers on the page, with ticks at 1, 2 or 5 times a power of 10.
struct Axis {
  double low, high, lowAt, highAt;

  double at(double value) const {
    return lowAt + (value - low) / (high - low) * (highAt - lowAt);
  }
  double step() const {
    double power = std::pow(10, std::floor(std::log10((high - low) / 5)));
    for (double factor : {1, 2, 5})
      if ((high - low) / (power * factor) <= 7)
        return power * factor;
    return power * 10;
  }
  int decimals() const {
    return std::clamp(static_cast<int>(-std::floor(std::log10(step()))), 0, 9);
  }
};

} // namespace ckpt::plan::svg

#endif // CKPT_PLAN_SVG_H
