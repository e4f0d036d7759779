//===- Bound.h - Lower bounds on extra FLOPs, time and bytes ----*- C++ -*-===//
//
// Bounds hold for every plan of a problem. They know nothing of the search for
// plans, so that a wrong search cannot hide behind a wrong bound.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_PLAN_BOUND_H
#define CKPT_PLAN_BOUND_H

#include "ckpt/Plan/SolverOptions.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace ckpt::plan {

/// That a plan runs `op` again after a moment, or that it does not.
struct Decision {
  OpId op = none;
  bool again = false;
};

/// A moment in the plans that obey the decisions, and the price of a byte
/// there: the first run of the kernel of `anchor`, with `before` run by then
/// and `after` not (`none`: no condition).
struct BoundCase {
  OpId anchor = none, before = none, after = none;
  int64_t price = 0;
  std::vector<Decision> decisions = {};
};

/// Proof that no plan has fewer extra FLOPs than `value`: every plan obeys one
/// of the cases. Cases of one moment stand together. The decisions of each are
/// the way to a leaf of one binary tree. Prices are in FLOPs / `flopScale` per
/// byte.
struct ExtraFlopsProof {
  static constexpr int64_t flopScale = 16;
  int64_t value = 0;
  /// The FLOPs of every anchor count as whole multiples of this unit, rounded
  /// down. The sum over all remats is a multiple too: `value` is rounded up.
  int64_t unit = 1;
  /// Empty where `value` is 0 for lack of anything better.
  std::vector<BoundCase> cases;
};

/// The reason why no plan takes less than `Bound::minimumBytes`: bytes that the
/// kernel of an op takes, bytes at a moment, bytes while the operands of an op
/// are made, or a search through all sets of values before an anchor.
struct MinimumCause {
  enum class Kind : uint8_t { Kernel, Moment, Operands, Search };
  Kind kind = Kind::Kernel;
  OpId op = none;
};

/// The questions that a bound will be asked. Networks of others, which take most
/// of the time, are not built.
enum class BoundScope : uint8_t { Everything, ExtraFlops, MinimumBytes };

class BoundSearch;

/// The problem as a region sees it, and the bounds on its plans.
struct RegionBound {
  int64_t budgetBytes = 0;
  std::shared_ptr<const Problem> view;
  std::shared_ptr<const BoundSearch> search;
};

/// Lower bounds that hold for any order, any fusion and any number of
/// recomputations of kernels that obey the rules, and whose values lie in the
/// arena but for those that the problem hosts (see ResultScratch.h for others).
/// The constructor computes the parts that do not depend on the budget; each
/// budget is then refined at some moments. (Snapshot relaxation: first
/// execution of one anchor.) Answers are kept: the second question for a budget
/// takes no time.
class Bound {
public:
  /// \p problem must outlive the bound. It looks at no clock.
  explicit Bound(const Problem &problem);
  /// The time limit of \p options ends the constructor and each question: they
  /// then prove less. Questions after the limit take little time. Outside of
  /// \p scope, extra FLOPs and time have the bound 0.
  Bound(const Problem &problem, const SolverOptions &options,
        BoundScope scope = BoundScope::Everything);
  /// No plan with an arena of \p budgetBytes that keeps the budgets of regions
  /// has fewer extra FLOPs.
  int64_t extraFlops(int64_t budgetBytes) const;
  /// Holds for plans that exceed the budgets of regions, too.
  ExtraFlopsProof proveExtraFlops(int64_t budgetBytes) const;
  /// No plan with an arena of \p budgetBytes is faster, in nanoseconds
  /// (scope: any plan; bandwidth and launches included).
  int64_t timeNs(int64_t budgetBytes) const;
  /// No plan has a smaller arena.
  int64_t minimumBytes() const;
  /// In no plan does this region of the problem take less.
  int64_t minimumRegionBytes(int32_t region) const;

  MinimumCause minimumCause() const;

  /// The case behind a part of `minimumBytes`: every plan obeys it.
  std::optional<BoundCase> minimumCase() const;

private:
  std::shared_ptr<const BoundSearch> search;
  std::vector<RegionBound> regions;
};

/// The op whose kernel needs the most bytes by itself, in any plan.
struct WorkingSet {
  OpId op = none;
  int64_t bytes = 0;
};
WorkingSet largestWorkingSet(const Problem &problem);

} // namespace ckpt::plan

#endif // CKPT_PLAN_BOUND_H
