//===- RootPicker.cpp - The root that runs next ---------------------------===//
//
// Order matters as much as recomputation: the scheduler writes results as soon
// as it can, and runs weight gradients at once so that their operands die.
//
//===----------------------------------------------------------------------===//

#include "Plan/Construct/KeepCut/RootPicker.h"

#include "Plan/Construct/KeepCut/RootPriority.h"

#include <algorithm>

using namespace ckpt::plan;

/// Calls \p function for every value in memory that the kernel of \p op would
/// read, if all ops between were inside.
template <typename Function>
void RootPicker::forEachResidentRead(OpId op, Function function) {
  seenOps.clear();
  seenValues.clear();
  std::vector<OpId> stack = {op};
  seenOps.insert(op);
  while (!stack.empty()) {
    OpId current = stack.back();
    stack.pop_back();
    for (const Leaf &leaf : graph.leaves[current]) {
      if (!seenValues.insert(leaf.value))
        continue;
      if (state.resident[leaf.value])
        function(leaf.value);
      else if (state.past[leaf.value] &&
               seenOps.insert(state.makerOf(leaf.value)))
        stack.push_back(state.makerOf(leaf.value));
    }
  }
}

void RootPicker::countUses() {
  uses.assign(graph.problem.values.size(), 0);
  for (OpId root : state.remaining)
    forEachResidentRead(root, [&](ValueId value) { ++uses[value]; });
}

/// Bytes that \p root, with its missing operands, adds to memory.
int64_t RootPicker::growth(OpId root) {
  int64_t bytes = 0;
  for (ValueId value : missing.of(root))
    bytes += graph.slot[value];
  for (ValueId value : graph.problem.ops[root].results)
    if (!graph.users[value].empty())
      bytes += graph.slot[value];
  forEachResidentRead(root, [&](ValueId value) {
    if (uses[value] == 1)
      bytes -= graph.slot[value];
  });
  return bytes;
}

bool RootPicker::recomputesContraction(OpId root) {
  for (ValueId value : missing.of(root))
    if (graph.problem.ops[state.makerOf(value)].kind == OpKind::Contraction)
      return true;
  return false;
}

bool RootPicker::isDelayed(OpId root) const {
  if (!state.held[root])
    return false;
  int64_t bytes = 0;
  for (size_t value = 0; value < state.resident.size(); ++value)
    if (state.resident[value])
      bytes += graph.slot[value];
  for (ValueId value : graph.problem.ops[root].results)
    bytes += graph.slot[value];
  return bytes > state.options.capBytes;
}

/// The first ready root that is not delayed, or `none`.
OpId RootPicker::head() const {
  for (int32_t candidate : state.ready)
    if (!isDelayed(state.rootByRank[candidate]))
      return state.rootByRank[candidate];
  return none;
}

OpId RootPicker::pick() {
  constexpr int lookahead = 8;
  if (state.ready.empty())
    return none;
  OpId head = this->head();
  if (head == none)
    return state.rootByRank[*state.ready.begin()];
  if (!state.options.reorder || state.ready.size() == 1)
    return head;
  countUses();
  int64_t best = growth(head);
  if (best <= 0)
    return head;
  OpId choice = head;
  bool writesFirst = !missing.of(head).empty();
  int seen = 0;
  for (int32_t candidate : state.ready) {
    OpId root = state.rootByRank[candidate];
    bool samePass = graph.late[root] == graph.late[head];
    if (++seen > lookahead || (state.hasRecompute && !samePass))
      break;
    if (root == head || state.held[root])
      continue;
    // Operands of the head may overwrite values that others still read.
    if (writesFirst && makesLittle(graph, root) && missing.of(root).empty())
      return root;
    int64_t bytes = growth(root);
    if (samePass && bytes < std::min<int64_t>(best, 0) &&
        !recomputesContraction(root)) {
      best = bytes;
      choice = root;
    }
  }
  return choice;
}
