//===- PebbleBound.cpp - Least bytes of any way to an anchor --------------===//
//
// Nothing stands in the arena before the first kernel of a plan. Follow a plan
// back from the first run of an op: each value that stands after a kernel was
// made by it or stood before, next to all reads of the kernel
// (PebblePredecessors.cpp). A set of values that no kernel can have left within
// some bytes, unless another such set stood before, was never there.
//
// The bound is a search through these sets. If it ends before it finds the
// empty set, no plan does with these bytes, and the least bytes that a kernel
// takes beyond them are tried next. It is the search of a pebble game (Sethi,
// Complete register allocation problems, SIAM J. Comput. 4, 1975) from its end.
// Values of less than a 64th take nothing, and a set that holds a set seen
// before adds nothing, so that few sets are left (docs/Planner/Bounds.md, "The
// smallest budget"). Bound.cpp runs it once per step.
//
//===----------------------------------------------------------------------===//

#include "Plan/Bounds/PebbleBound.h"

#include <algorithm>
#include <limits>

using namespace ckpt::plan;

/// Values of at most this share of the bytes that every plan needs are left
/// out.
static constexpr int64_t smallShare = 64;

PebbleBound::PebbleBound(const RematGraph &graph, int64_t knownBytes,
                         Deadline deadline)
    : graph(graph), needs(graph, knownBytes / smallShare, deadline) {
  constexpr size_t bits = 64;
  const Problem &problem = graph.problem;
  words = (problem.ops.size() + bits - 1) / bits;
  ancestors.assign(words * problem.ops.size(), 0);
  for (size_t op = 0; op < problem.ops.size(); ++op) {
    uint64_t *mine = &ancestors[op * words];
    if (isAnchor(problem.ops[op]))
      mine[op / bits] |= uint64_t(1) << op % bits;
    for (const Read &read : problem.ops[op].reads)
      if (OpId producer = problem.values[read.value].op; producer != none)
        for (size_t word = 0; word < words; ++word)
          mine[word] |= ancestors[producer * words + word];
  }
}

static bool isPart(const ValueSet &part, const ValueSet &all) {
  return std::includes(all.begin(), all.end(), part.begin(), part.end());
}

/// Few anchors that have to run, and few values: near the end.
int64_t PebbleBound::rate(const ValueSet &standing) const {
  constexpr int64_t weight = 4;
  int64_t count = 0;
  for (size_t word = 0; word < words; ++word) {
    uint64_t all = 0;
    for (ValueId value : standing)
      all |= ancestors[graph.problem.values[value].op * words + word];
    count += __builtin_popcountll(all);
  }
  return count + weight * static_cast<int64_t>(standing.size());
}

/// Whether a part of \p standing is looked at, as another state than \p self.
bool PebbleBound::isCovered(const ValueSet &standing, int32_t self) {
  for (ValueId value : standing) {
    needs.spendOnSets(byFirst[value].size());
    for (int32_t other : byFirst[value])
      if (other != self && isPart(states[other].standing, standing))
        return true;
  }
  return false;
}

/// Whether all of \p standing stood in memory on a way that was found.
bool PebbleBound::isMakeable(const ValueSet &standing) const {
  return standing.empty() || std::any_of(makeable.begin(), makeable.end(),
                                         [&](const ValueSet &all) {
                                           return isPart(standing, all);
                                         });
}

/// Enters the sets that may have stood before a kernel that \p made a part of
/// the state \p next.
void PebbleBound::enter(const ValueSet &after, const ValueSet &made,
                        OpId anchor, int32_t next) {
  for (ValueSet &standing :
       needs.before(after, made, anchor, limit, beyondLimit)) {
    if (needs.isSpent())
      return;
    if (isCovered(standing, none))
      continue;
    auto at = static_cast<int32_t>(states.size());
    if (!standing.empty())
      byFirst[standing.front()].push_back(at);
    queue.emplace(rate(standing), at);
    states.push_back({std::move(standing), next});
  }
}

/// A kernel that makes several values at once is only needed if one is written
/// over a source of another one, and the other way round.
void PebbleBound::goBack(int32_t from, OpId anchor) {
  const ValueSet after = states[from].standing;
  ValueSet over;
  for (ValueId value : after) {
    bool isBehind = needs.mayWrite(anchor, value);
    if (isBehind)
      enter(after, {value}, anchor, from);
    if ((isBehind || needs.mayWrite(none, value)) &&
        needs.mayBeOver(value, anchor))
      over.push_back(value);
  }
  for (uint32_t some = 1; some < uint32_t(1) << over.size(); ++some) {
    ValueSet made;
    for (size_t i = 0; i < over.size(); ++i)
      if (some >> i & 1)
        made.push_back(over[i]);
    if (made.size() > 1 && needs.areBound(made, anchor))
      enter(after, made, anchor, from);
  }
}

/// Whether the reads of \p target can be made within the limit; nothing if that
/// is not found out.
std::optional<bool> PebbleBound::isMade(OpId target, int &mostStates) {
  constexpr size_t mostStanding = 12;
  states.clear();
  queue = {};
  byFirst.assign(graph.problem.values.size(), {});
  beyondLimit = std::numeric_limits<int64_t>::max();
  enter({}, {}, target, none);
  for (; mostStates > 0 && !needs.isSpent(); --mostStates) {
    if (queue.empty())
      return false;
    int32_t at = queue.top().second;
    queue.pop();
    const ValueSet standing = states[at].standing;
    if (isMakeable(standing)) {
      for (; at != none; at = states[at].next)
        makeable.push_back(states[at].standing);
      return true;
    }
    if (isCovered(standing, at))
      continue;
    if (standing.size() > mostStanding)
      return std::nullopt;
    std::vector<OpId> anchors = {none};
    for (ValueId value : standing)
      for (OpId anchor : needs.writersOf(value))
        if (std::find(anchors.begin(), anchors.end(), anchor) == anchors.end())
          anchors.push_back(anchor);
    for (OpId anchor : anchors)
      goBack(at, anchor);
  }
  return std::nullopt;
}

int64_t PebbleBound::raise(OpId target, int64_t known) {
  int mostStates = 1500;
  limit = known;
  while (isMade(target, mostStates) == std::optional<bool>(false) &&
         beyondLimit != std::numeric_limits<int64_t>::max())
    limit = beyondLimit;
  return limit;
}

Searched ckpt::plan::searchBackward(const RematGraph &graph, int64_t knownBytes,
                                    Deadline deadline) {
  constexpr size_t mostOps = 1500;
  Searched found{none, knownBytes};
  if (graph.problem.ops.size() > mostOps || deadline.isOver())
    return found;
  PebbleBound bound(graph, knownBytes, deadline);
  for (size_t i = 0; i < graph.problem.ops.size() && !deadline.isOver(); ++i) {
    auto op = static_cast<OpId>(i);
    if (!graph.live[op] || !isAnchor(graph.problem.ops[op]))
      continue;
    if (int64_t bytes = bound.raise(op, found.bytes); bytes > found.bytes)
      found = {op, bytes};
  }
  return found;
}
