//===- BranchAndBound.h - The most that one moment proves -------*- C++ -*-===//
//
// Raises the bound at the most promising moments. Bound.cpp makes one per
// moment and budget and divides a number of cuts among them.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_LIB_PLAN_BOUNDS_BRANCHANDBOUND_H
#define CKPT_LIB_PLAN_BOUNDS_BRANCHANDBOUND_H

#include "Plan/Bounds/AnchorRelaxation.h"
#include "Plan/Model/Clock.h"

namespace ckpt::plan {

/// Products of two 64-bit figures.
__extension__ typedef __int128 Wide;

/// Branch and bound on the ops that run again after the first run of an anchor,
/// within a budget: every branch has the price that proves most, and a minimum
/// cut as proof.
class BranchAndBound {
public:
  /// \p at names the moment and a first price. Remats cost \p costs, whose sums
  /// are multiples of \p unit in all plans. No price is above \p highestPrice.
  /// After \p deadline each leaf gets one cut.
  BranchAndBound(const AnchorRelaxation &prototype, const BoundCase &at,
                 RematCosts costs, int64_t unit, int64_t budgetBytes,
                 int64_t highestPrice, Deadline deadline);

  /// The cost of remats that every plan of the moment pays at least.
  Wide value() const { return roundedUp(leaves[weakest()].value); }
  /// Solves about \p cuts more cuts to raise `value`.
  void grow(int64_t cuts);
  /// One for each leaf.
  std::vector<BoundCase> cases() const;
  /// The ops that run again in the cheapest known choice that fits.
  const std::vector<OpId> &repeated() const { return leastAgain; }

private:
  /// A consistent choice of kept values and remats.
  struct Labels {
    int64_t price = 0;
    Wide bytes = 0, cost = 0;
    std::vector<OpId> again;
  };
  struct Leaf {
    BoundCase at;
    Wide value = 0;
    /// The next op to decide; `none` if no decision raises the value.
    OpId next = none;
  };

  Labels cutAt(Leaf &leaf, int64_t price);
  void solve(Leaf &leaf);
  OpId chooseOp(const Labels &dear, const Labels &cheap) const;
  size_t weakest() const;
  Wide roundedUp(Wide value) const { return (value + unit - 1) / unit * unit; }

  AnchorRelaxation moment;
  const RematCosts costs;
  const int64_t unit;
  const Wide room;
  const int64_t highestPrice;
  const Deadline deadline;
  std::vector<Leaf> leaves;
  /// Cost of the cheapest labels that fit the room, if there are any.
  std::optional<Wide> least;
  std::vector<OpId> leastAgain;
  int64_t cutsSolved = 0;
};

} // namespace ckpt::plan

#endif // CKPT_LIB_PLAN_BOUNDS_BRANCHANDBOUND_H
