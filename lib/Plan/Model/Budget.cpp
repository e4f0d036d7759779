//===- Budget.cpp - Memory budgets as people write them -------------------===//
//
// Parses `budget=` of passes and tools, once per run.
//
//===----------------------------------------------------------------------===//

#include "ckpt/Plan/Budget.h"

#include <array>
#include <cctype>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>

using namespace ckpt::plan;

int64_t Budget::resolve(int64_t baselineBytes) const {
  if (partsPerMillion == 0)
    return bytes;
  return static_cast<int64_t>(static_cast<__int128>(baselineBytes) *
                              partsPerMillion / 1000000);
}

/// Bytes of one unit; 0 if there is no such unit. Nothing means MiB.
static double unitBytes(std::string_view unit) {
  struct Unit {
    std::string_view name;
    double bytes;
  };
  static constexpr std::array<Unit, 10> units = {{{"", 1048576.0},
                                                  {"B", 1.0},
                                                  {"KB", 1e3},
                                                  {"MB", 1e6},
                                                  {"GB", 1e9},
                                                  {"TB", 1e12},
                                                  {"KiB", 1024.0},
                                                  {"MiB", 1048576.0},
                                                  {"GiB", 1073741824.0},
                                                  {"TiB", 1099511627776.0}}};
  for (const Unit &known : units)
    if (known.name == unit)
      return known.bytes;
  return 0;
}

bool ckpt::plan::parseBudget(std::string_view text, Budget &budget,
                             std::string &error) {
  auto fail = [&](const std::string &why) {
    error = "expected a budget such as 4096 (MiB), 512KiB, 1.5GB or 50%, but "
            "got '" +
            std::string(text) + "'" + why;
    return false;
  };
  size_t length = 0;
  while (length < text.size() &&
         (std::isdigit(static_cast<unsigned char>(text[length])) ||
          text[length] == '.'))
    ++length;
  std::string number(text.substr(0, length));
  std::string_view unit = text.substr(length);
  char *end = nullptr;
  double amount = std::strtod(number.c_str(), &end);
  if (number.empty() || *end != '\0')
    return fail(!text.empty() && text[0] == '-' ? ", which is negative" : "");
  if (unit == "%") {
    if (!(amount * 1e4 >= 1.0) || amount > 1e6)
      return fail(
          ": a share of the baseline is above 0 % and at most 1000000 %");
    budget = {0, static_cast<int64_t>(std::llround(amount * 1e4))};
    return true;
  }
  double scale = unitBytes(unit);
  if (scale == 0)
    return fail(": unknown unit '" + std::string(unit) + "'");
  double bytes = amount * scale;
  if (bytes < 1)
    return fail(": a budget is at least one byte");
  // Whole bytes are read exactly, also beyond the 53 bits of a double.
  bool whole = unit == "B" && number.find('.') == std::string::npos;
  errno = 0;
  int64_t exactly = whole ? std::strtoll(number.c_str(), nullptr, 10) : 0;
  if (whole ? errno == ERANGE : bytes >= 9223372036854775808.0)
    return fail(": a budget is below 2^63 bytes");
  budget = {whole ? exactly : static_cast<int64_t>(bytes), 0};
  return true;
}

std::string ckpt::plan::formatCount(int64_t number) {
  std::string digits = std::to_string(number);
  int64_t first = number < 0; // After the sign.
  for (int64_t at = static_cast<int64_t>(digits.size()) - 3; at > first;
       at -= 3)
    digits.insert(at, ",");
  return digits;
}

std::string ckpt::plan::formatBytes(int64_t bytes) {
  static constexpr std::array<const char *, 3> units = {"KiB", "MiB", "GiB"};
  if (bytes < 1024)
    return std::to_string(bytes) + " B";
  double amount = static_cast<double>(bytes) / 1024;
  size_t unit = 0;
  // Up to four digits before the point: "1,276.0 MiB" says more than "1.2 GiB".
  while (amount >= 10000 && unit + 1 < units.size()) {
    amount /= 1024;
    ++unit;
  }
  char fraction[16];
  std::snprintf(fraction, sizeof fraction, "%.1f", amount - std::floor(amount));
  bool carried = fraction[0] == '1';
  return formatCount(static_cast<int64_t>(amount) + carried) + (fraction + 1) +
         " " + units[unit];
}
