//===- OperandBound.cpp - Bytes needed while operands are made ------------===//
//
// A plan makes the operands of an op one anchor after the other; while it makes
// the last one, the others stand in memory, or sources from which they can
// still be made. Follow a plan back from the first run of an op, and see the
// last runs of anchors on the way to the operands. When such a kernel runs,
// memory holds its reads, and next to them enough to make the other operands
// without another run of it or of any anchor that ran last before it. More
// anchors that still run later need no more memory, so the best order is found
// without a search: the next anchor is any that fits (docs/Planner/Bounds.md,
// "The smallest budget"). Bound.cpp runs it once per step.
//
//===----------------------------------------------------------------------===//

#include "Plan/Bounds/OperandBound.h"

#include <algorithm>
#include <limits>
#include <tuple>

using namespace ckpt::plan;

OperandBound::OperandBound(const RematGraph &graph,
                           const AnchorRelaxation &moment)
    : graph(graph), moment(moment) {
  const Problem &problem = graph.problem;
  needs.resize(problem.ops.size());
  for (size_t op = 0; op < problem.ops.size(); ++op)
    if (graph.live[op] && isAnchor(problem.ops[op]))
      needs[op] = needsOf(static_cast<OpId>(op));
}

/// Adds \p value, or its sources if it need not stand in memory.
void OperandBound::demand(ValueId value, std::vector<ValueId> &demanded) const {
  if (graph.isFree(value))
    return;
  if (moment.isNode(value)) {
    demanded.push_back(value);
    return;
  }
  const std::vector<ValueId> &leaves =
      moment.leavesOf(graph.problem.values[value].op);
  demanded.insert(demanded.end(), leaves.begin(), leaves.end());
}

/// The reads that the kernel never writes over. It may overwrite a destination,
/// and the value that a destination shows.
OperandBound::Needs OperandBound::needsOf(OpId anchor) const {
  const Problem &problem = graph.problem;
  const Op &op = problem.ops[anchor];
  Needs found;
  struct Operand {
    ValueId base;
    bool destination;
    int64_t bytes;
    bool operator<(const Operand &other) const {
      return std::tie(base, other.destination, bytes) <
             std::tie(other.base, destination, other.bytes);
    }
  };
  std::vector<Operand> operands;
  for (const Read &read : op.reads) {
    if (!isMemoryRead(op, read)) {
      if (!read.destination)
        demand(read.value, found.inside);
      continue;
    }
    ValueId value = read.value;
    int64_t bytes = arenaBytes(problem, value);
    found.operands.push_back(value);
    while (graph.isView(value)) {
      value = problem.ops[problem.values[value].op].reads.front().value;
      bytes = std::min(bytes, arenaBytes(problem, value));
      found.operands.push_back(value);
    }
    operands.push_back({value, read.destination, bytes});
  }
  // Operands that are views of one value may all be that value.
  std::sort(operands.begin(), operands.end());
  for (size_t i = 0; i < operands.size(); ++i)
    if ((i == 0 || operands[i - 1].base != operands[i].base) &&
        !operands[i].destination)
      found.bytes += operands[i].bytes;
  found.bytes += slotBytes(op.workspaceBytes);
  found.mostBytes = found.bytes;
  std::sort(found.inside.begin(), found.inside.end());
  found.inside.erase(std::unique(found.inside.begin(), found.inside.end()),
                     found.inside.end());
  for (ValueId value : found.inside)
    found.mostBytes += arenaBytes(problem, value);
  return found;
}

/// The anchors that have to run before later anchors can make the goal. Anchors
/// on the way that need at most \p cheapBytes run later, too.
void OperandBound::findBoundary(int64_t cheapBytes) {
  const Problem &problem = graph.problem;
  std::vector<char> seen(problem.ops.size(), 0);
  std::vector<OpId> stack;
  auto enter = [&](const std::vector<ValueId> &values) {
    for (ValueId value : values)
      if (OpId op = problem.values[value].op; !seen[op]) {
        seen[op] = 1;
        stack.push_back(op);
      }
  };
  boundary.clear();
  enter(goal);
  while (!stack.empty()) {
    OpId op = stack.back();
    stack.pop_back();
    if (isAnchor(problem.ops[op]) && needs[op].mostBytes <= cheapBytes)
      later[op] = 1;
    if (isAnchor(problem.ops[op]) && !later[op])
      boundary.push_back(op);
    else
      enter(moment.leavesOf(op));
  }
  std::sort(boundary.begin(), boundary.end());
}

/// The least bytes from which fusible ops and later anchors can make the
/// demanded values; reads of the kernel of \p anchor are not counted.
int64_t OperandBound::keptBytes(std::vector<ValueId> demanded, OpId anchor) {
  constexpr int32_t source = 0, sink = 1;
  const Problem &problem = graph.problem;
  number.assign(problem.values.size(), none);
  computed.assign(problem.ops.size(), none);
  std::vector<ValueId> nodes;
  std::vector<OpId> ops;
  auto enter = [&](ValueId value) {
    if (number[value] != none)
      return;
    number[value] = static_cast<int32_t>(nodes.size());
    nodes.push_back(value);
  };
  for (ValueId value : demanded)
    enter(value);
  size_t numDemanded = nodes.size();
  auto mayRun = [&](OpId op) {
    return !isAnchor(problem.ops[op]) || later[op];
  };
  for (size_t i = 0; i < nodes.size(); ++i) {
    OpId op = problem.values[nodes[i]].op;
    if (computed[op] != none)
      continue;
    computed[op] = static_cast<int32_t>(ops.size());
    ops.push_back(op);
    if (mayRun(op))
      for (ValueId leaf : moment.leavesOf(op))
        enter(leaf);
  }
  auto nodeOf = [&](ValueId value) { return 2 + number[value]; };
  auto nodeOfOp = [&](OpId op) {
    return 2 + static_cast<int32_t>(nodes.size()) + computed[op];
  };
  cut.reset(2 + static_cast<int32_t>(nodes.size() + ops.size()));
  for (size_t i = 0; i < numDemanded; ++i)
    cut.addArc(source, nodeOf(nodes[i]), MinCut::infinite);
  for (ValueId value : nodes) {
    bool isOperand =
        anchor != none &&
        std::find(needs[anchor].operands.begin(), needs[anchor].operands.end(),
                  value) != needs[anchor].operands.end();
    cut.addArc(nodeOf(value), nodeOfOp(problem.values[value].op),
               isOperand ? 0 : arenaBytes(problem, value));
  }
  for (OpId op : ops) {
    if (!mayRun(op)) {
      cut.addArc(nodeOfOp(op), sink, MinCut::infinite);
      continue;
    }
    for (ValueId leaf : moment.leavesOf(op))
      cut.addArc(nodeOfOp(op), nodeOf(leaf), MinCut::infinite);
  }
  return cut.run(source, sink);
}

/// The bytes of the kernel of \p anchor while the goal, and the values that it
/// computes inside, are still to be made.
int64_t OperandBound::bytesAt(OpId anchor) {
  std::vector<ValueId> demanded = goal;
  demanded.insert(demanded.end(), needs[anchor].inside.begin(),
                  needs[anchor].inside.end());
  return needs[anchor].bytes + keptBytes(std::move(demanded), anchor);
}

/// The bytes that making the goal needs, or \p limit if that is more.
int64_t OperandBound::makeGoal(int64_t limit) {
  int64_t kept = keptBytes(goal, none);
  for (;;) {
    // For these there is room whatever the goal keeps.
    findBoundary(limit - kept);
    if (boundary.empty())
      return limit;
    if (int64_t now = keptBytes(goal, none); now < kept) {
      kept = now;
      continue;
    }
    int64_t least = std::numeric_limits<int64_t>::max();
    OpId next = none;
    for (OpId anchor : boundary) {
      if (int64_t bytes = bytesAt(anchor); bytes < least) {
        least = bytes;
        next = anchor;
      }
      if (least <= limit)
        break;
    }
    limit = std::max(limit, least);
    later[next] = 1;
  }
}

int64_t OperandBound::raise(OpId target, int64_t known) {
  const Problem &problem = graph.problem;
  later.assign(problem.ops.size(), 0);
  goal.clear();
  for (const Read &read : problem.ops[target].reads)
    demand(read.value, goal);
  if (isAnchor(problem.ops[target]))
    return makeGoal(known);
  // Its kernel may hold an anchor.
  findBoundary(/*cheapBytes=*/-1);
  if (boundary.empty())
    return known;
  int64_t least = std::numeric_limits<int64_t>::max();
  for (OpId anchor : std::vector<OpId>(boundary)) {
    later.assign(problem.ops.size(), 0);
    later[anchor] = 1;
    least = std::min(least, makeGoal(std::max(known, bytesAt(anchor))));
    if (least <= known)
      break;
  }
  return std::max(known, least);
}
