//===- BranchAndBound.cpp - Branch and bound at one moment ----------------===//
//
// One price of memory leaves a gap: if few large values are to choose from, no
// price makes a cut fill the room exactly. Two cuts cost the same at the best
// price, one too large and one that leaves room. Every plan either runs the
// dearest op in which they differ again, or does not. Both halves have prices
// of their own.
//
//===----------------------------------------------------------------------===//

#include "Plan/Bounds/BranchAndBound.h"

#include <algorithm>

using namespace ckpt::plan;

BranchAndBound::BranchAndBound(const AnchorRelaxation &prototype,
                               const BoundCase &at, RematCosts repeatCosts,
                               int64_t unit, int64_t budgetBytes,
                               int64_t highestPrice, Deadline deadline)
    : moment(prototype), costs(std::move(repeatCosts)), unit(unit),
      room((moment.enter(at.anchor, at.before, at.after),
            Wide(budgetBytes) - Wide(moment.kernelBytes()))),
      highestPrice(highestPrice), deadline(deadline) {
  leaves.emplace_back();
  leaves.front().at = at;
  solve(leaves.front());
}

BranchAndBound::Labels BranchAndBound::cutAt(Leaf &leaf, int64_t price) {
  ++cutsSolved;
  moment.build(costs, leaf.at.decisions);
  Wide flow = moment.solve(price);
  if (Wide proven = flow - price * room; proven > leaf.value) {
    leaf.value = proven;
    leaf.at.price = price;
  }
  Labels labels;
  labels.price = price;
  labels.bytes = moment.keptBytes();
  labels.cost = flow - price * labels.bytes;
  labels.again = moment.paidOps();
  if (labels.bytes <= room && (!least || labels.cost < *least)) {
    least = labels.cost;
    leastAgain = labels.again;
  }
  return labels;
}

/// Tries the price at which labels that are too large cost as much as labels
/// that fit, until no new labels appear (discrete Newton on the dual, which is
/// concave).
void BranchAndBound::solve(Leaf &leaf) {
  constexpr int mostCuts = 32, mostDoubled = 4;
  std::optional<Labels> large, small;
  int64_t price = leaf.at.price;
  for (int cuts = 0; cuts < mostCuts; ++cuts) {
    if (cuts > 0 && deadline.isOver())
      return;
    Labels labels = cutAt(leaf, price);
    bool fits = labels.bytes <= room;
    (fits ? small : large) = std::move(labels);
    if (!small) {
      if (price == highestPrice)
        return;
      price = cuts < mostDoubled ? std::min(highestPrice, 2 * price + 1)
                                 : highestPrice;
    } else if (!large) {
      if (price == 0)
        return;
      price /= 2;
    } else {
      price = static_cast<int64_t>((small->cost - large->cost) /
                                   (large->bytes - small->bytes));
      if (price <= large->price || price >= small->price)
        break;
    }
  }
  if (large && small)
    leaf.next = chooseOp(*large, *small);
}

OpId BranchAndBound::chooseOp(const Labels &large, const Labels &small) const {
  std::vector<OpId> differ;
  std::set_symmetric_difference(large.again.begin(), large.again.end(),
                                small.again.begin(), small.again.end(),
                                std::back_inserter(differ));
  OpId best = none;
  for (OpId op : differ)
    if (best == none || costs.ops[op] > costs.ops[best])
      best = op;
  return best;
}

size_t BranchAndBound::weakest() const {
  size_t index = 0;
  for (size_t i = 1; i < leaves.size(); ++i)
    if (leaves[i].value < leaves[index].value)
      index = i;
  return index;
}

void BranchAndBound::grow(int64_t cuts) {
  int64_t last = cutsSolved + cuts;
  while (cutsSolved < last && !deadline.isOver()) {
    size_t index = weakest();
    if (leaves[index].next == none ||
        (least && roundedUp(leaves[index].value) >= *least))
      return;
    Leaf branches[2];
    for (bool again : {false, true}) {
      Leaf &branch = branches[again];
      branch.at = leaves[index].at;
      branch.at.decisions.push_back({leaves[index].next, again});
      branch.value = 0;
      solve(branch);
    }
    leaves[index] = std::move(branches[0]);
    leaves.push_back(std::move(branches[1]));
  }
}

std::vector<BoundCase> BranchAndBound::cases() const {
  std::vector<BoundCase> found;
  for (const Leaf &leaf : leaves)
    found.push_back(leaf.at);
  return found;
}
