//===- WalkCap.cpp - The cap of the next walk -----------------------------===//
//
// Merging kernels and placing slots change the need of a plan, so that the cap
// of a walk differs from the bytes of its plan. Each setting of prices looks
// for the cap that uses the budget.
//
//===----------------------------------------------------------------------===//

#include "Plan/Portfolio/BudgetSearch.h"

using namespace ckpt::plan;

/// Factor for a cap whose plan fits only \p ratio of itself. Near the least
/// memory a small step often helps and a large one makes walks run away.
static double shrink(double ratio) {
  if (ratio < 0.85)
    return 0.998 * ratio;
  if (ratio > 0.998)
    return 0.9995 * ratio;
  return std::clamp(0.998 * ratio, 0.965, 0.995);
}

static double smallest(double known, double next) {
  return known > 0 ? std::min(known, next) : next;
}

void ckpt::plan::chooseNextCap(Attempt &attempt, int64_t budgetBytes,
                               bool anyPlan) {
  std::optional<int64_t> bytes = attempt.bytes;
  double target = static_cast<double>(budgetBytes);
  double next = attempt.cap;
  if (bytes && *bytes <= budgetBytes) {
    attempt.fits = std::max(attempt.fits, attempt.cap);
    next *= target / static_cast<double>(std::max<int64_t>(*bytes, 1));
    if (static_cast<double>(*bytes) > 0.995 * target)
      attempt.finished = true;
  } else if (bytes) {
    attempt.exceeds = smallest(attempt.exceeds, attempt.cap);
    next *= shrink(target / static_cast<double>(*bytes));
  } else if (attempt.exceeds > attempt.cap) {
    attempt.givesUp = std::max(attempt.givesUp, attempt.cap);
  } else {
    // It recomputes too much to win; with less memory it would not do less.
    attempt.finished |= anyPlan;
    attempt.exceeds = smallest(attempt.exceeds, attempt.cap);
    next *= 0.96;
  }
  double low = std::max(attempt.fits, attempt.givesUp);
  double high = attempt.exceeds;
  bool inside = next > low * 1.002 && (high == 0 || next < high * 0.998);
  if (!inside && high > 0 && low > 0)
    next = (low + high) / 2;
  double close = attempt.runOnce.empty() ? 0.99 : 0.999;
  if (high > 0 && low > high * close)
    attempt.finished = true;
  attempt.finished |= next < 1 || next > 8 * target;
  attempt.cap = next;
}
