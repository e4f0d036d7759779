//===- ListSchedulerOperands.cpp - The operands of one root ---------------===//
//
// Makes the missing operands of a root just before it, in an order found
// beforehand, and holds their sources in memory. If there is no room for all of
// this, some values leave and are made again in between. ListScheduler calls it
// once per root.
//
//===----------------------------------------------------------------------===//

#include "Plan/Construct/List/ListScheduler.h"

#include <algorithm>

using namespace ckpt::plan;

template <typename Function>
void ListScheduler::forEachLeaf(OpId op, Function function) const {
  for (const Leaf &leaf : graph.leaves[op])
    function(leaf);
  for (const Leaf &leaf : folds[op].leaves)
    function(leaf);
}

/// Values to make before \p root can run, in an order that works.
std::vector<ValueId> ListScheduler::findMissing(OpId root) {
  ++stamp;
  std::vector<ValueId> burst;
  // A value whose op was visited is entered when it comes up again.
  std::vector<Leaf> work;
  auto push = [&](const Leaf &leaf) {
    if (!resident[leaf.value] && valueStamp[leaf.value] != stamp)
      work.push_back(leaf);
  };
  // Makes first the values that come first in the step: otherwise all reads of
  // a long recurrence would stand in memory before its first value is made.
  auto pushAll = [&](OpId op) {
    auto before = static_cast<std::ptrdiff_t>(work.size());
    forEachLeaf(op, push);
    std::sort(work.begin() + before, work.end(),
              [](const Leaf &left, const Leaf &right) {
                return left.value > right.value;
              });
  };
  pushAll(root);
  while (!work.empty()) {
    Leaf leaf = work.back();
    OpId op = problem.values[leaf.value].op;
    if (opStamp[op] != stamp) {
      opStamp[op] = stamp;
      pushAll(op);
      continue;
    }
    work.pop_back();
    if ((leaf.memory || written[leaf.value]) &&
        valueStamp[leaf.value] != stamp) {
      valueStamp[leaf.value] = stamp;
      burst.push_back(leaf.value);
    }
  }
  return burst;
}

/// Notes until which step of a burst each value has to stand in memory.
void ListScheduler::findNeeds(const std::vector<ValueId> &burst, OpId root) {
  ++burstStamp;
  int32_t step = 0;
  for (ValueId value : burst) {
    needLeaves(problem.values[value].op, step++);
    // From here on readers find it in memory, or the fold of its op.
    auto find = [&](ValueId made) {
      needStamp[made] = burstStamp;
      needStep[made] = step;
    };
    find(value);
    for (ValueId made : folds[problem.values[value].op].outputs)
      find(made);
  }
  needLeaves(root, step);
}

void ListScheduler::needLeaves(OpId op, int32_t step) {
  ++stamp;
  seeds.push_back(op);
  while (!seeds.empty()) {
    OpId current = seeds.back();
    seeds.pop_back();
    forEachLeaf(current, [&](const Leaf &leaf) {
      OpId producer = problem.values[leaf.value].op;
      if (resident[leaf.value] || needStamp[leaf.value] == burstStamp) {
        needStamp[leaf.value] = burstStamp;
        needStep[leaf.value] = step;
      } else if (opStamp[producer] != stamp) {
        opStamp[producer] = stamp;
        seeds.push_back(producer);
      }
    });
  }
}

//===----------------------------------------------------------------------===//
// Bursts
//===----------------------------------------------------------------------===//

/// Makes \p op run, of a fusible op for its result \p wanted, after all that is
/// missing for it.
void ListScheduler::runWithMissing(OpId op, ValueId wanted) {
  std::vector<ValueId> burst = findMissing(op);
  if (limited)
    findNeeds(burst, op);
  int32_t step = 0;
  for (size_t i = 0; i < burst.size(); ++i, ++step) {
    // An op with several results made it along with another.
    if (resident[burst[i]])
      continue;
    OpId producer = problem.values[burst[i]].op;
    if (isStale && !findMissing(producer).empty()) {
      runDetour(producer, burst[i], step);
      burst.erase(burst.begin(), burst.begin() + i + 1);
      findNeeds(burst, op);
      i = step = -1;
    } else {
      emit(producer, burst[i], step);
    }
    if (isHopeless())
      return;
  }
  // An anchor that is folded into it made it along the way.
  if (wanted == none ? done[op] : resident[wanted])
    return;
  if (isStale && !findMissing(op).empty())
    runDetour(op, wanted, step);
  else
    emit(op, wanted, step);
}

/// Makes \p op run in the midst of a burst, at \p step, though some of its
/// reads left for lack of room. Other values of the burst leave only after all
/// values that \p op does not need.
void ListScheduler::runDetour(OpId op, ValueId wanted, int32_t step) {
  constexpr int32_t deepest = 32;
  auto hold = [&](ValueId value) {
    if (isNeeded(value, step))
      keptUntil[value] = std::max(keptUntil[value], now + 1);
  };
  for (ValueId value : residents)
    if (resident[value])
      hold(value);
  for (ValueId value : findMissing(op))
    hold(value);
  isTooDeep |= ++depth > deepest;
  if (!isTooDeep)
    runWithMissing(op, wanted);
  --depth;
}
