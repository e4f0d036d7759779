//===- MissingOperands.cpp - Values to make before a root runs ------------===//
//
// The order follows Sethi and Ullman (J. ACM 17, 1970): the operand that takes
// the most memory on its way comes first, while the others do not stand beside
// it.
//
//===----------------------------------------------------------------------===//

#include "Plan/Construct/KeepCut/MissingOperands.h"

#include <algorithm>
#include <utility>

using namespace ckpt::plan;

const MissingOperands::Way &MissingOperands::wayTo(OpId op) {
  Way &way = ways[op];
  if (!hasWay.insert(op))
    return way;
  way = Way();
  for (const Leaf &leaf : graph.leaves[op]) {
    if (state.resident[leaf.value])
      continue;
    const Way inner = wayTo(state.makerOf(leaf.value));
    bool isMadeFirst = state.isMadeFirst(leaf);
    int64_t slot = isMadeFirst ? graph.slot[leaf.value] : 0;
    way.peakBytes =
        std::max({way.peakBytes, inner.peakBytes, inner.operandBytes + slot});
    way.operandBytes += isMadeFirst ? slot : inner.operandBytes;
  }
  return way;
}

/// The most bytes beside the value of \p leaf while it is made.
int64_t MissingOperands::besides(const Leaf &leaf) {
  const Way &way = wayTo(state.makerOf(leaf.value));
  int64_t slot = graph.slot[leaf.value];
  return std::max(way.peakBytes - slot, way.operandBytes);
}

/// Adds the missing operands of \p op. The operand that has been begun comes
/// first.
void MissingOperands::add(OpId op, std::vector<ValueId> &missing) {
  constexpr int64_t begunFirst = std::numeric_limits<int64_t>::max();
  std::vector<std::pair<int64_t, const Leaf *>> operands;
  for (const Leaf &leaf : graph.leaves[op])
    if (!state.resident[leaf.value])
      operands.emplace_back(leaf.value == begun ? begunFirst : besides(leaf),
                            &leaf);
  std::stable_sort(operands.begin(), operands.end(),
                   [](const auto &left, const auto &right) {
                     return left.first > right.first;
                   });
  for (auto [bytes, leaf] : operands) {
    if (added.has(leaf->value))
      continue;
    OpId maker = state.makerOf(leaf->value);
    if (visited.insert(maker))
      add(maker, missing);
    if (state.isMadeFirst(*leaf) && added.insert(leaf->value))
      missing.push_back(leaf->value);
  }
}

std::vector<ValueId> MissingOperands::of(OpId root) {
  hasWay.clear();
  visited.clear();
  added.clear();
  std::vector<ValueId> missing;
  add(root, missing);
  return missing;
}

ValueId MissingOperands::firstRead(OpId root,
                                   const std::vector<ValueId> &missing) const {
  for (ValueId value : missing)
    for (const Leaf &leaf : graph.leaves[root])
      if (leaf.value == value)
        return value;
  return none;
}
