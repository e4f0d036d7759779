//===- Explain.h - Why a plan needs its bytes -------------------*- C++ -*-===//
//
// For users whose budget cannot be met: the values at the peak, the op or
// demand that keeps each there, and a way to lower it. It calls only proven
// things impossible.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_PLAN_EXPLAIN_H
#define CKPT_PLAN_EXPLAIN_H

#include "ckpt/Plan/Solvers.h"

namespace ckpt::plan {

/// The reason why bytes stand at the peak of a plan.
enum class Holder : uint8_t {
  /// The kernel at the peak reads them, writes them, or works in them.
  Kernel,
  /// `Keep::Save`: a pin or a strategy.
  Pin,
  /// Its op may not run again: effects, random state, or unknown.
  Once,
  /// A later reader, as plans that were found go; it could be made again.
  Reader,
};

struct HeldAtPeak {
  /// `none`: the workspace of the kernel at the peak.
  ValueId value = none;
  int64_t bytes = 0;
  Holder holder = Holder::Reader;
  /// The main op of the kernel that reads it last, or of the one at the peak if
  /// that holds it.
  OpId reader = none;
};

/// All that lies in the arena in the peak kernel of a plan; most bytes first.
std::vector<HeldAtPeak> explainPeak(const Problem &problem, const Plan &plan,
                                    const Verdict &verdict);

/// "'h · exp' takes 4.0 MiB there and is to be saved, by a pin or the strategy;
/// without that it could be made again".
std::string describe(const Problem &problem, const HeldAtPeak &held);

/// Describes a budget without a plan: the smallest budget with a known plan,
/// and the proven bound. Calls the budget infeasible only if that is proven.
std::string describeBudget(int64_t budgetBytes, int64_t smallestBytes,
                           int64_t boundBytes);

/// The same of a region that has to have more than its budget.
std::string describeShortage(const Problem &problem,
                             const RegionShortage &shortage,
                             const Bound &bound);

/// The reason for the least bytes that \p bound proves for \p problem; empty if
/// it has no words for it.
std::string describeBound(const Problem &problem, const Bound &bound);

} // namespace ckpt::plan

#endif // CKPT_PLAN_EXPLAIN_H
