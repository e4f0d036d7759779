//===- Budget.h - Memory budgets as people write them -----------*- C++ -*-===//

#ifndef CKPT_PLAN_BUDGET_H
#define CKPT_PLAN_BUDGET_H

#include <cstdint>
#include <string>
#include <string_view>

namespace ckpt::plan {

/// A budget in bytes, or as a share of the baseline peak.
struct Budget {
  int64_t bytes = 0;
  /// Parts per million of the baseline; 0 if `bytes` counts.
  int64_t partsPerMillion = 0;

  /// The budget in bytes, rounded down.
  int64_t resolve(int64_t baselineBytes) const;
};

/// Reads "4096" (MiB), "512KiB", "1.5GB", "4294967296B" or "50%". Returns false
/// with a sentence in \p error for anything else: zero, negative, not a number,
/// an unknown unit, beyond 63 bits.
bool parseBudget(std::string_view text, Budget &budget, std::string &error);

/// "1,276.0 MiB": bytes for people, in binary units.
std::string formatBytes(int64_t bytes);

/// "12,345,678".
std::string formatCount(int64_t number);

} // namespace ckpt::plan

#endif // CKPT_PLAN_BUDGET_H
