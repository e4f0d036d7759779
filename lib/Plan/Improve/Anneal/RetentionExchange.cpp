//===- RetentionExchange.cpp - The best exchange at one stage -------------===//
//
// Measures every single drop and keep at one tight stage. As if these changes
// added up, the best choice among all values across the stage is a knapsack. A
// random part of them takes part each time, since changes that concern the same
// chain of kernels do not add up.
//
//===----------------------------------------------------------------------===//

#include "Plan/Improve/Anneal/RetentionMoves.h"

#include "Plan/Model/Work.h"

#include <cstdlib>

using namespace ckpt::plan;

/// A stage that takes nearly all of the budget, or the one that takes most.
int32_t RetentionMoves::pickTightStage() {
  constexpr int64_t near = 50;
  int64_t tight = state.budgetBytes() - state.budgetBytes() / near;
  int32_t count = state.stages(), start = pickStage();
  bool takeWorst = pick(4) == 0;
  for (int32_t i = 0; i < count && !takeWorst; ++i)
    if (int32_t stage = (start + i) % count; state.peakBytes(stage) > tight)
      return stage;
  return state.worstStage();
}

/// Notes the changes at \p stage by the drop of \p value, or if that is `none`
/// by the keep of \p repeat, if it exchanges time and bytes there.
void RetentionMoves::measure(ValueId value, const Repeat &repeat,
                             int32_t stage) {
  int64_t timeBefore = state.timeNs(), bytesBefore = state.peakBytes(stage);
  size_t mark = state.mark();
  if (value != none)
    state.drop(value, stage);
  else if (!keep(repeat))
    return;
  int64_t timeNs = state.timeNs() - timeBefore;
  int64_t bytes = state.peakBytes(stage) - bytesBefore;
  state.rollBack(mark);
  bool isDrop = value != none;
  if (isDrop ? bytes < 0 && timeNs >= 0 : bytes > 0 && timeNs <= 0)
    items.push_back({value, repeat, std::abs(timeNs), std::abs(bytes)});
}

/// The items that save most time if they stand within \p room.
std::vector<char> RetentionMoves::chooseItems(int64_t room) const {
  constexpr int64_t units = 1200;
  int64_t unit = std::max<int64_t>(1, room / units);
  auto unitsOf = [&](const Item &item) {
    return (item.bytes + unit / 2) / unit;
  };
  std::vector<int64_t> saved(units + 1, 0);
  std::vector<char> taken(items.size() * (units + 1), 0);
  for (size_t i = 0; i < items.size(); ++i) {
    char *take = taken.data() + i * (units + 1);
    int64_t needed = unitsOf(items[i]);
    for (int64_t u = units; u >= needed; --u) {
      int64_t with = saved[u - needed] + items[i].timeNs;
      take[u] = with > saved[u];
      saved[u] = std::max(saved[u], with);
    }
  }
  Work::spend(units * static_cast<int64_t>(items.size()));
  std::vector<char> chosen(items.size(), 0);
  int64_t left = units;
  for (size_t i = items.size(); i-- > 0;) {
    chosen[i] = taken[i * (units + 1) + left];
    left -= chosen[i] ? unitsOf(items[i]) : 0;
  }
  return chosen;
}

bool RetentionMoves::exchange() {
  constexpr size_t parts = 10;
  int32_t stage = pickTightStage();
  size_t share = 2 + pick(parts - 3);
  items.clear();
  for (ValueId value : movable)
    if (state.isKept(value, stage) && pick(parts) < share)
      measure(value, {stage, none}, stage);
  size_t drops = items.size();
  findRepeats(stage);
  for (const Repeat &repeat : repeats)
    if (repeat.node < stage && pick(parts) < share)
      measure(none, repeat, stage);
  int64_t room = state.budgetBytes() - state.peakBytes(stage);
  for (size_t i = 0; i < drops; ++i)
    room += items[i].bytes;
  if (items.empty() || room <= 0)
    return false;
  std::vector<char> chosen = chooseItems(room);
  bool changed = false;
  for (size_t i = 0; i < items.size(); ++i) {
    const Item &item = items[i];
    if (i < drops && !chosen[i] && state.isKept(item.value, stage)) {
      state.drop(item.value, stage);
      changed = true;
    }
    if (i >= drops && chosen[i] && isRepeated(item.repeat))
      changed |= keep(item.repeat);
  }
  if (changed) {
    relieve(3, 4);
    fill(20);
  }
  return changed;
}
