//===- Retention.cpp - Kept values between first runs of kernels ----------===//

#include "Plan/Improve/Anneal/Retention.h"

#include "Plan/Model/Work.h"

#include <algorithm>

using namespace ckpt::plan;

/// Cost of one more run of a run-once kernel: more than any step takes.
static constexpr int64_t forbiddenNs = int64_t{1} << 50;

Retention::Retention(const KernelGraph &graph, int64_t budgetBytes)
    : graph(graph), count(static_cast<int32_t>(graph.nodes.size())),
      budget(budgetBytes), born(count), stageOf(count), isDirty(count, 0),
      nodeStamp(count, 0) {
  size_t values = graph.maker.size();
  slot.resize(values);
  valueStamp.assign(values, 0);
  lastUse.assign(values, 0);
  kept.assign(values * (count + 1), 0);
  touched.assign(values * (count + 1), 0);
  for (ValueId value = 0; value < static_cast<ValueId>(values); ++value) {
    if (graph.maker[value] == none || graph.readers[value].empty())
      continue;
    slot[value] = graph.slot(value);
    for (int32_t t = graph.maker[value] + 1; t <= graph.readers[value].back();
         ++t)
      kept[index(value, t)] = 1;
  }
  evaluateAll();
}

bool Retention::isLegal() const { return time < forbiddenNs; }

void Retention::restore(const std::vector<char> &decisions) {
  kept = decisions;
  evaluateAll();
}

void Retention::evaluateAll() {
  std::vector<int64_t> keptBytes(count, 0);
  std::fill(touched.begin(), touched.end(), 0);
  stageOf.assign(count, Stage());
  for (auto &values : born)
    values.clear();
  time = 0;
  for (ValueId value = 0; value < static_cast<ValueId>(slot.size()); ++value)
    if (graph.maker[value] != none)
      for (int32_t t = graph.maker[value] + 1; t < count; ++t) {
        if (!isKept(value, t))
          continue;
        keptBytes[t] += slot[value];
        if (!isKept(value, t - 1) && graph.maker[value] != t - 1)
          born[t - 1].push_back(value);
      }
  load = LiveProfile(keptBytes);
  for (int32_t t = 0; t < count; ++t)
    markDirty(t);
  settle();
  commit();
  Work::spend(static_cast<int64_t>(kept.size()));
}

int32_t Retention::lastTouchBefore(ValueId value, int32_t stage) const {
  int32_t t = stage - 1;
  while (!touched[index(value, t)])
    --t;
  return t;
}

//===----------------------------------------------------------------------===//
// Changes
//===----------------------------------------------------------------------===//

void Retention::setBorn(ValueId value, int32_t stage, bool isBorn) {
  std::vector<ValueId> &values = born[stage];
  auto found = std::find(values.begin(), values.end(), value);
  if (isBorn && found == values.end()) {
    values.push_back(value);
  } else if (!isBorn && found != values.end()) {
    *found = values.back();
    values.pop_back();
  }
}

/// Inverts whether \p value is kept into the stages from \p first to \p last.
/// If no stage touches it, only the bytes change.
void Retention::flip(ValueId value, int32_t first, int32_t last) {
  int64_t bytes = isKept(value, first) ? -slot[value] : slot[value];
  char now = bytes >= 0 && !isKept(value, first);
  std::fill_n(kept.begin() + index(value, first), last - first + 1, now);
  load.add(first, last + 1, bytes);
  if (graph.maker[value] != first - 1)
    setBorn(value, first - 1, now && !isKept(value, first - 1));
  if (last < count)
    setBorn(value, last, !now && isKept(value, last + 1));
}

void Retention::markDirty(int32_t stage) {
  if (isDirty[stage])
    return;
  isDirty[stage] = 1;
  dirty.push_back(stage);
}

void Retention::drop(ValueId value, int32_t stage) {
  int32_t first = lastTouchBefore(value, stage) + 1, last = stage;
  while (!touched[index(value, last)])
    ++last;
  flip(value, first, last);
  journal.push_back({value, first, last, Stage()});
  markDirty(first - 1);
  markDirty(last);
  settle();
}

void Retention::keep(ValueId value, int32_t stage) {
  int32_t first = lastTouchBefore(value, stage) + 1;
  flip(value, first, stage);
  journal.push_back({value, first, stage, Stage()});
  markDirty(first - 1);
  markDirty(stage);
  settle();
}

void Retention::rollBack(size_t mark) {
  while (journal.size() > mark) {
    Change &change = journal.back();
    if (change.value != none) {
      flip(change.value, change.first, change.last);
    } else {
      exchange(change.first, change.before);
      spare.push_back(std::move(change.before));
    }
    journal.pop_back();
  }
}

void Retention::commit() {
  for (Change &change : journal)
    if (change.value == none)
      spare.push_back(std::move(change.before));
  journal.clear();
}

Retention::Stage Retention::takeSpare() {
  if (spare.empty())
    return Stage();
  Stage stage = std::move(spare.back());
  spare.pop_back();
  stage.runs.clear();
  stage.touched.clear();
  stage.timeNs = stage.aboveBytes = 0;
  return stage;
}

/// Evaluates stages anew, and drops the values that they no longer need.
void Retention::settle() {
  while (!dirty.empty()) {
    int32_t stage = dirty.back();
    dirty.pop_back();
    isDirty[stage] = 0;
    collectRuns(stage);
    Change change;
    change.first = stage;
    change.before = takeSpare();
    measure(stage, change.before);
    if (change.before.runs.size() > 1) {
      Stage other = takeSpare();
      orderDepthFirst(stage);
      measure(stage, other);
      if (other.aboveBytes < change.before.aboveBytes)
        std::swap(other, change.before);
      spare.push_back(std::move(other));
    }
    exchange(stage, change.before);
    Work::spend(300 + 30 * static_cast<int64_t>(change.before.touched.size()));
    for (ValueId value : change.before.touched)
      if (!touched[index(value, stage)] && isKept(value, stage) &&
          !isKept(value, stage + 1))
        idle.push_back({value, stage});
    journal.push_back(std::move(change));
    if (dirty.empty())
      letGo();
  }
}

/// Drops values kept to a stage that does not read them.
void Retention::letGo() {
  for (auto [value, last] : idle) {
    if (!isKept(value, last) || isKept(value, last + 1) ||
        touched[index(value, last)])
      continue;
    int32_t first = lastTouchBefore(value, last) + 1;
    flip(value, first, last);
    journal.push_back({value, first, last, Stage()});
    markDirty(first - 1);
    markDirty(last);
  }
  idle.clear();
}

/// Exchanges \p other with the facts of the stage.
void Retention::exchange(int32_t stage, Stage &other) {
  Stage &now = stageOf[stage];
  for (ValueId value : now.touched)
    touched[index(value, stage)] = 0;
  for (ValueId value : other.touched)
    touched[index(value, stage)] = 1;
  time += other.timeNs - now.timeNs;
  if (other.aboveBytes != now.aboveBytes)
    load.add(stage, stage + 1, other.aboveBytes - now.aboveBytes);
  std::swap(now, other);
}

//===----------------------------------------------------------------------===//
// One stage
//===----------------------------------------------------------------------===//

void Retention::need(ValueId value, int32_t stage) {
  int32_t node = graph.maker[value];
  if (nodeStamp[node] == stamp || node == stage || isKept(value, stage))
    return;
  nodeStamp[node] = stamp;
  runsNow.push_back(node);
  work.push_back(node);
}

/// Kernels of the stage: its own, and the makers of values that it and later
/// stages need and that are not kept.
void Retention::collectRuns(int32_t stage) {
  ++stamp;
  runsNow = {stage};
  work = {stage};
  for (ValueId value : born[stage])
    need(value, stage);
  while (!work.empty()) {
    int32_t node = work.back();
    work.pop_back();
    for (ValueId value : graph.nodes[node].reads)
      need(value, stage);
  }
  std::sort(runsNow.begin(), runsNow.end());
}

/// Depth first instead of in the order of first runs: remats then die sooner.
/// Values for later stages alone come after the stage's own kernel.
void Retention::orderDepthFirst(int32_t stage) {
  ++stamp;
  for (int32_t node : runsNow)
    nodeStamp[node] = stamp;
  runsNow.clear();
  auto visit = [&](auto &self, int32_t node) -> void {
    if (nodeStamp[node] != stamp)
      return;
    nodeStamp[node] = 0;
    for (ValueId value : graph.nodes[node].reads)
      if (!isKept(value, stage))
        self(self, graph.maker[value]);
    runsNow.push_back(node);
  };
  visit(visit, stage);
  std::sort(born[stage].begin(), born[stage].end());
  for (ValueId value : born[stage])
    visit(visit, graph.maker[value]);
}

void Retention::measure(int32_t stage, Stage &result) {
  ++stamp;
  auto touch = [&](ValueId value) {
    if (valueStamp[value] != stamp) {
      valueStamp[value] = stamp;
      lastUse[value] = -1;
      result.touched.push_back(value);
    }
  };
  auto size = static_cast<int32_t>(runsNow.size());
  for (int32_t i = 0; i < size; ++i)
    for (ValueId value : graph.nodes[runsNow[i]].reads) {
      touch(value);
      lastUse[value] = i;
    }
  int64_t live = 0;
  for (int32_t i = 0; i < size; ++i) {
    const KernelNode &node = graph.nodes[runsNow[i]];
    result.timeNs += node.timeNs;
    if (runsNow[i] != stage && !node.mayRepeat)
      result.timeNs += forbiddenNs;
    int64_t dies = 0;
    for (ValueId value : node.kernel.outputs) {
      bool isRead = valueStamp[value] == stamp && lastUse[value] > i;
      bool stays = isKept(value, stage + 1) || isRead;
      if (runsNow[i] != stage && (isKept(value, stage) || !stays))
        continue;
      touch(value);
      live += slot[value];
      dies += stays ? 0 : slot[value];
    }
    result.aboveBytes = std::max(result.aboveBytes, live + node.workspaceBytes);
    for (ValueId value : node.reads)
      if (lastUse[value] == i && !isKept(value, stage + 1))
        dies += slot[value];
    live -= dies;
  }
  result.runs.assign(runsNow.begin(), runsNow.end());
}

std::vector<KernelRun> Retention::list() const {
  std::vector<KernelRun> runs;
  std::vector<int32_t> lastRead(slot.size());
  for (int32_t t = 0; t < count; ++t) {
    const std::vector<int32_t> &nodes = stageOf[t].runs;
    std::fill(lastRead.begin(), lastRead.end(), -1);
    for (size_t i = 0; i < nodes.size(); ++i)
      for (ValueId value : graph.nodes[nodes[i]].reads)
        lastRead[value] = static_cast<int32_t>(i);
    for (size_t i = 0; i < nodes.size(); ++i) {
      KernelRun run = graph.firstRun(nodes[i]);
      if (nodes[i] != t)
        run.outputs.erase(std::remove_if(run.outputs.begin(), run.outputs.end(),
                                         [&](ValueId value) {
                                           return isKept(value, t) ||
                                                  (!isKept(value, t + 1) &&
                                                   lastRead[value] <=
                                                       static_cast<int32_t>(i));
                                         }),
                          run.outputs.end());
      runs.push_back(std::move(run));
    }
  }
  return runs;
}
