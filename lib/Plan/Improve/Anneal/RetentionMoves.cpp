//===- RetentionMoves.cpp - Drops, keeps and their combinations -----------===//
//
// The moves of the annealing. Each ends with memory used and respected.
//
//===----------------------------------------------------------------------===//

#include "Plan/Improve/Anneal/RetentionMoves.h"

#include "Plan/Model/Work.h"

#include <algorithm>

using namespace ckpt::plan;

RetentionMoves::RetentionMoves(Retention &state, uint64_t seed)
    : state(state), graph(state.kernels()), random(seed) {
  for (ValueId value = 0; value < static_cast<ValueId>(graph.maker.size());
       ++value)
    if (graph.maker[value] != none && !graph.readers[value].empty() &&
        graph.mayDrop(value))
      movable.push_back(value);
}

//===----------------------------------------------------------------------===//
// Single changes
//===----------------------------------------------------------------------===//

/// A value that is kept into \p stage, or `none` if some tries find none.
ValueId RetentionMoves::pickKept(int32_t stage) {
  constexpr int mostTries = 60;
  for (int i = 0; i < mostTries && !movable.empty(); ++i)
    if (ValueId value = movable[pick(movable.size())];
        state.isKept(value, stage))
      return value;
  return none;
}

bool RetentionMoves::dropAt(int32_t stage) {
  ValueId value = pickKept(stage);
  if (value == none)
    return false;
  state.drop(value, stage);
  return true;
}

bool RetentionMoves::dropSomewhere() {
  bool atWorst = state.overflowBytes() > 0 && pick(2) == 0;
  return dropAt(atWorst ? state.worstStage() : pickStage());
}

/// Keeps the outputs of \p repeat, so that the kernel need not run again.
bool RetentionMoves::keep(const Repeat &repeat) {
  for (ValueId value : graph.nodes[repeat.node].kernel.outputs)
    if (!state.isKept(value, repeat.stage) &&
        state.isTouched(value, repeat.stage)) {
      state.keep(value, repeat.stage);
      return true;
    }
  return false;
}

/// A kernel that runs again in \p stage, or `none`.
int32_t RetentionMoves::pickRepeated(int32_t stage) {
  const std::vector<int32_t> &runs = state.runs(stage);
  if (runs.size() < 2)
    return none;
  size_t chosen = pick(runs.size() - 1);
  return runs[chosen] == stage ? runs.back() : runs[chosen];
}

bool RetentionMoves::keepSomething() {
  int32_t count = state.stages(), start = pickStage();
  for (int32_t i = 0; i < count; ++i) {
    int32_t stage = (start + i) % count;
    if (int32_t node = pickRepeated(stage); node != none)
      return keep({stage, node});
  }
  return false;
}

/// Drops a value and keeps something that it is made from instead.
bool RetentionMoves::dropForInputs() {
  int32_t stage = pickStage();
  ValueId value = pickKept(stage);
  if (value == none)
    return false;
  int32_t remade = stage;
  while (!state.isTouched(value, remade))
    ++remade;
  state.drop(value, stage);
  Repeat repeat = {remade, graph.maker[value]};
  if (!isRepeated(repeat))
    return true;
  for (size_t more = 1 + pick(2); more > 0; --more) {
    repeat.node = pickRepeated(remade);
    if (repeat.node != none && repeat.node != graph.maker[value])
      keep(repeat);
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Until memory is used and respected
//===----------------------------------------------------------------------===//

bool RetentionMoves::isRepeated(const Repeat &repeat) const {
  const std::vector<int32_t> &runs = state.runs(repeat.stage);
  return repeat.node != repeat.stage &&
         std::find(runs.begin(), runs.end(), repeat.node) != runs.end();
}

/// All kernels that run again from stage \p first on.
void RetentionMoves::findRepeats(int32_t first) {
  repeats.clear();
  for (int32_t stage = first; stage < state.stages(); ++stage) {
    if (state.runs(stage).size() < 2)
      continue;
    for (int32_t node : state.runs(stage))
      if (node != stage)
        repeats.push_back({stage, node});
  }
  Work::spend(state.stages() - first +
              2 * static_cast<int64_t>(repeats.size()));
}

/// Keeps values that pay off, in random order.
void RetentionMoves::fill(int tries) {
  findRepeats(0);
  double now = energy();
  for (int i = 0; i < tries && !repeats.empty(); ++i) {
    std::swap(repeats[pick(repeats.size())], repeats.back());
    Repeat repeat = repeats.back();
    repeats.pop_back();
    size_t mark = state.mark();
    if (!isRepeated(repeat) || !keep(repeat))
      continue;
    double next = energy();
    if (next < now)
      now = next;
    else
      state.rollBack(mark);
  }
}

/// Drops at the stage that exceeds the budget most the best of a few values.
void RetentionMoves::relieve(int drops, int tries) {
  for (int i = 0; i < drops && state.overflowBytes() > 0; ++i) {
    int32_t worst = state.worstStage();
    ValueId best = none;
    double least = 0;
    for (int k = 0; k < tries; ++k) {
      ValueId value = pickKept(worst);
      if (value == none)
        continue;
      size_t mark = state.mark();
      state.drop(value, worst);
      if (double next = energy(); best == none || next < least) {
        best = value;
        least = next;
      }
      state.rollBack(mark);
    }
    if (best == none)
      return;
    state.drop(best, worst);
  }
}

bool RetentionMoves::propose() {
  constexpr size_t exchangeEvery = 300, kinds = 16;
  if (pick(exchangeEvery) == 0)
    return exchange();
  size_t kind = pick(kinds);
  bool drops = kind < 3 || kind == 12;
  bool dropsForInputs = !drops && (kind < 6 || kind == 13);
  bool changed = drops            ? dropSomewhere()
                 : dropsForInputs ? dropForInputs()
                                  : keepSomething();
  if (!changed || kind < 9)
    return changed;
  if (kind < 12)
    for (int i = 0; i < 3 && state.overflowBytes() > 0; ++i)
      dropAt(state.worstStage());
  else if (kind == 12)
    fill(40);
  else if (kind == 13)
    fill(10);
  else
    relieve(4, 4);
  if (kind == 14)
    fill(6);
  return true;
}
