//===- AnchorRelaxation.cpp - The cut at the first run of an anchor -------===//
//
// Look at any legal plan when its kernel with anchor `t` first runs. No
// descendant of `t` has run before; all ancestors of `t` have. Each value that
// the descendants read from outside is in memory now, or is computed from here
// on, which for an ancestor anchor is a repetition. The arena limits the bytes
// that stand in memory next to the needs of the kernel itself.
//
// A fusible value costs nothing to compute again, so one that is not smaller
// than its sources never needs to be kept and is no node. Values that kernels
// need in memory are nodes always, as the kernel of `t` pays for the operands
// of `t`, which are free to keep. A view of all of a value is as large and
// needs no node: either may stand for both.
//
//===----------------------------------------------------------------------===//

#include "Plan/Bounds/AnchorRelaxation.h"

#include <algorithm>
#include <limits>

using namespace ckpt::plan;

AnchorRelaxation::AnchorRelaxation(const RematGraph &graph,
                                   bool statisticsAreFree,
                                   const std::vector<ValueId> &moreNodes)
    : graph(graph), problem(graph.problem),
      statisticsAreFree(statisticsAreFree) {
  findNodes(moreNodes);
}

/// Whether \p op reads \p value only element by element.
static bool isOneToOne(const Op &op, ValueId value) {
  for (const Read &read : op.reads)
    if (read.value == value && read.access != Access::Pointwise &&
        read.access != Access::Reshape && read.access != Access::Permute)
      return false;
  return true;
}

void AnchorRelaxation::findNodes(const std::vector<ValueId> &more) {
  constexpr int64_t farSmaller = 64;
  std::vector<char> isMore(problem.values.size(), 0);
  for (ValueId value : more)
    isMore[value] = 1;
  node.assign(problem.values.size(), 0);
  statistic.assign(problem.values.size(), 0);
  memoryRead.assign(problem.values.size(), 0);
  for (const Op &op : problem.ops)
    for (const Read &read : op.reads) {
      if (!isMemoryRead(op, read))
        continue;
      ValueId value = read.value;
      memoryRead[value] = 1;
      while (graph.isView(value)) {
        value = problem.ops[problem.values[value].op].reads.front().value;
        memoryRead[value] = 1;
      }
    }
  leaves.resize(problem.ops.size());
  for (size_t op = 0; op < problem.ops.size(); ++op) {
    std::vector<ValueId> &found = leaves[op];
    for (const Read &read : problem.ops[op].reads) {
      if (graph.isFree(read.value))
        continue;
      if (node[read.value]) {
        found.push_back(read.value);
        continue;
      }
      const auto &inner = leaves[problem.values[read.value].op];
      found.insert(found.end(), inner.begin(), inner.end());
    }
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
    int64_t bytes = 0, largest = 0;
    for (ValueId leaf : found) {
      if (!statisticsAreFree || !statistic[leaf])
        bytes += arenaBytes(problem, leaf);
      largest = std::max(largest, arenaBytes(problem, leaf));
    }
    for (ValueId value : problem.ops[op].results) {
      node[value] = (graph.rooted[op] || memoryRead[value] || isMore[value] ||
                     bytes > arenaBytes(problem, value)) &&
                    graph.wholeOf(value) == value;
      statistic[value] = arenaBytes(problem, value) < largest / farSmaller;
    }
  }
}

void AnchorRelaxation::findRelatives(OpId anchor, OpId before, OpId after) {
  future.assign(problem.ops.size(), 0);
  far.assign(problem.ops.size(), 0);
  ancestor.assign(problem.ops.size(), 0);
  future[anchor] = ancestor[anchor] = 1;
  if (before != none)
    ancestor[before] = 1;
  if (after != none)
    future[after] = far[after] = 1;
  for (size_t op = 0; op < problem.ops.size(); ++op)
    for (const Read &read : problem.ops[op].reads) {
      OpId producer = problem.values[read.value].op;
      if (producer == none || !future[producer])
        continue;
      future[op] = 1;
      far[op] |= far[producer] ||
                 (producer != anchor && isAnchor(problem.ops[producer]));
    }
  for (size_t op = problem.ops.size(); op-- > 0;)
    if (ancestor[op])
      for (const Read &read : problem.ops[op].reads)
        if (OpId producer = problem.values[read.value].op; producer != none)
          ancestor[producer] = 1;
}

bool AnchorRelaxation::hasOwnKernel(OpId op) const {
  bool saved = false;
  for (ValueId result : problem.ops[op].results)
    saved |= problem.values[result].keep == Keep::Save;
  return saved || isAnchor(problem.ops[op]);
}

/// Whether computing \p value inside a kernel may read a value of the arena.
bool AnchorRelaxation::mayReadArena(ValueId value) const {
  const Value &v = problem.values[value];
  if (v.home == Home::Argument)
    return false;
  if (v.home == Home::Arena && (graph.rooted[v.op] || node[value]))
    return true;
  return !hasOwnKernel(v.op) && !leaves[v.op].empty();
}

ValueId AnchorRelaxation::baseOf(ValueId value) const {
  while (graph.isView(value))
    value = problem.ops[problem.values[value].op].reads.front().value;
  return value;
}

/// Every operand stands in memory itself or as something that it is a view of.
/// Operands that are views of one value may all be that value.
int64_t AnchorRelaxation::operandBytes(OpId anchor) {
  operand.assign(problem.values.size(), 0);
  std::vector<std::pair<ValueId, int64_t>> perBase;
  const Op &op = problem.ops[anchor];
  for (const Read &read : op.reads) {
    if (!isMemoryRead(op, read))
      continue;
    ValueId value = read.value;
    int64_t bytes = arenaBytes(problem, value);
    operand[value] = 1;
    while (graph.isView(value)) {
      value = problem.ops[problem.values[value].op].reads.front().value;
      bytes = std::min(bytes, arenaBytes(problem, value));
      operand[value] = 1;
    }
    perBase.emplace_back(value, bytes);
  }
  std::sort(perBase.begin(), perBase.end());
  int64_t sum = 0;
  for (size_t i = 0; i < perBase.size(); ++i)
    if (i + 1 == perBase.size() || perBase[i + 1].first != perBase[i].first)
      sum += perBase[i].second;
  return sum;
}

/// The smallest value that the kernel may write instead of the results. It may
/// lie over a destination, or over a one-to-one read of the epilogue, but never
/// over other reads of the anchor.
AnchorRelaxation::Output AnchorRelaxation::findOutput(OpId anchor) const {
  const Op &op = problem.ops[anchor];
  Output output;
  for (const Read &read : op.reads)
    if (read.destination && mayReadArena(read.value))
      (isMemoryRead(op, read) ? output.overOperand : output.overOther) = true;
  std::vector<ValueId> forms = op.results;
  std::vector<char> isForm(problem.values.size(), 0);
  for (ValueId value : forms)
    isForm[value] = 1;
  int64_t smallest = std::numeric_limits<int64_t>::max();
  for (size_t i = 0; i < forms.size(); ++i) {
    ValueId form = forms[i];
    bool isUsed =
        !graph.users[form].empty() || problem.values[form].home == Home::Result;
    if (!isUsed && i < op.results.size())
      return output;
    smallest = std::min(smallest, arenaBytes(problem, form));
    for (OpId user : graph.users[form]) {
      const Op &reader = problem.ops[user];
      if (isAnchor(reader) || far[user] || !isOneToOne(reader, form))
        continue;
      for (const Read &read : reader.reads)
        output.overOther |= !isForm[read.value] && mayReadArena(read.value);
      for (ValueId value : reader.results)
        if (!isForm[value]) {
          isForm[value] = 1;
          forms.push_back(value);
        }
    }
  }
  output.bytes = op.results.empty() ? 0 : smallest;
  return output;
}

void AnchorRelaxation::demand(ValueId value) {
  OpId op = problem.values[value].op;
  if (op == none || future[op])
    return;
  if (!node[value]) {
    if (expanded[op])
      return;
    expanded[op] = 1;
    for (ValueId leaf : leaves[op])
      demand(leaf);
    return;
  }
  if (!isDemanded[value]) {
    isDemanded[value] = 1;
    demanded.push_back(value);
  }
}

void AnchorRelaxation::findDemand(OpId anchor) {
  isDemanded.assign(problem.values.size(), 0);
  inMemory.assign(problem.values.size(), 0);
  expanded.assign(problem.ops.size(), 0);
  demanded.clear();
  for (size_t op = 0; op < problem.ops.size(); ++op)
    if (future[op] && graph.live[op] && static_cast<OpId>(op) != anchor)
      for (const Read &read : problem.ops[op].reads) {
        demand(read.value);
        if (isMemoryRead(problem.ops[op], read))
          inMemory[graph.wholeOf(read.value)] = 1;
      }
}

void AnchorRelaxation::enter(OpId anchor, OpId before, OpId after) {
  findRelatives(anchor, before, after);
  int64_t inputs =
      operandBytes(anchor) + slotBytes(problem.ops[anchor].workspaceBytes);
  Output output = findOutput(anchor);
  bool isOver = output.overOperand || output.overOther;
  needed = inputs + (isOver ? 0 : output.bytes);
  alone = inputs + (output.overOperand ? 0 : output.bytes);
  findDemand(anchor);
}

int64_t AnchorRelaxation::mostAloneBytes(OpId anchor) {
  int64_t bytes =
      operandBytes(anchor) + slotBytes(problem.ops[anchor].workspaceBytes);
  int64_t most = 0;
  for (ValueId result : problem.ops[anchor].results)
    most = std::max(most, arenaBytes(problem, result));
  return bytes + most;
}

std::pair<OpId, int64_t> AnchorRelaxation::largestAlone() {
  // Each is entered in time proportional to the step.
  constexpr size_t mostWork = 20'000'000;
  std::vector<std::pair<int64_t, OpId>> most;
  for (size_t op = 0; op < problem.ops.size(); ++op)
    if (graph.live[op] && isAnchor(problem.ops[op]))
      most.emplace_back(-mostAloneBytes(static_cast<OpId>(op)),
                        static_cast<OpId>(op));
  if (most.empty())
    return {none, 0};
  std::sort(most.begin(), most.end());
  most.resize(std::min(most.size(), 1 + mostWork / problem.ops.size()));
  std::pair<OpId, int64_t> largest = {none, 0};
  for (auto [bytes, op] : most) {
    if (-bytes <= largest.second)
      break;
    enter(op);
    if (alone > largest.second)
      largest = {op, alone};
  }
  return largest;
}

int64_t AnchorRelaxation::demandedBytes() const {
  int64_t sum = needed;
  for (ValueId value : demanded)
    if (!operand[value])
      sum += arenaBytes(problem, value);
  return sum;
}

/// The demanded values and all their sources.
void AnchorRelaxation::collectNodes() {
  nodes = demanded;
  number.assign(problem.values.size(), none);
  for (size_t i = 0; i < nodes.size(); ++i)
    number[nodes[i]] = static_cast<int32_t>(i);
  auto enter = [&](ValueId value) {
    if (number[value] != none)
      return;
    number[value] = static_cast<int32_t>(nodes.size());
    nodes.push_back(value);
  };
  for (size_t i = 0; i < nodes.size(); ++i)
    for (ValueId leaf : leaves[problem.values[nodes[i]].op])
      enter(leaf);
}

void AnchorRelaxation::addCosts(OpId op, const RematCosts &costs) {
  constexpr int32_t sink = 1;
  if (!ancestor[op])
    return;
  if (graph.once[op] && hasOwnKernel(op)) {
    cut.addArc(repeated[op], sink, MinCut::infinite);
  } else if (!costs.ops.empty() && costs.ops[op] > 0) {
    cut.addArc(repeated[op], sink, costs.ops[op]);
    priced.push_back(op);
  }
}

void AnchorRelaxation::build(const RematCosts &costs,
                             const std::vector<Decision> &decisions) {
  constexpr int32_t source = 0, sink = 1;
  collectNodes();
  // Ops with several results share one node "computed from here on".
  computed.assign(problem.ops.size(), none);
  int32_t count = 2 + static_cast<int32_t>(nodes.size());
  dropped.clear();
  for (ValueId value : nodes) {
    if (int32_t &index = computed[problem.values[value].op]; index == none)
      index = count++;
    dropped.push_back(computed[problem.values[value].op]);
  }
  repeated = computed;
  for (const Rewrite &rewrite : costs.values) {
    dropped[number[rewrite.value]] = count++;
    if (rewrite.behind != none &&
        repeated[rewrite.behind] == computed[rewrite.behind])
      repeated[rewrite.behind] = count++;
  }
  cut.reset(count);
  keepArc.clear();
  priced.clear();
  price = 0;
  std::vector<char> entered(problem.ops.size(), 0);
  for (size_t i = 0; i < nodes.size(); ++i) {
    OpId op = problem.values[nodes[i]].op;
    int32_t available = 2 + static_cast<int32_t>(i);
    if (isDemanded[nodes[i]])
      cut.addArc(source, available, MinCut::infinite);
    keepArc.push_back(cut.addArc(available, dropped[i], 0));
    if (dropped[i] != computed[op])
      cut.addArc(dropped[i], computed[op], MinCut::infinite);
    if (entered[op])
      continue;
    entered[op] = 1;
    for (ValueId leaf : leaves[op])
      cut.addArc(computed[op], 2 + number[leaf], MinCut::infinite);
    if (repeated[op] != computed[op])
      cut.addArc(computed[op], repeated[op], MinCut::infinite);
    addCosts(op, costs);
  }
  for (const Rewrite &rewrite : costs.values) {
    OpId behind = rewrite.behind;
    if (behind != none && computed[behind] == none && !entered[behind]) {
      entered[behind] = 1;
      addCosts(behind, costs);
    }
    cut.addArc(dropped[number[rewrite.value]],
               behind == none ? sink : repeated[behind], rewrite.cost);
  }
  for (const Decision &decision : decisions)
    if (decision.again)
      cut.addArc(source, repeated[decision.op], MinCut::infinite);
    else
      cut.addArc(repeated[decision.op], sink, MinCut::infinite);
}

/// Bytes of a node that pay the price if it is kept.
int64_t AnchorRelaxation::pricedBytes(ValueId value) const {
  bool isFree = operand[value] || (statisticsAreFree && statistic[value]);
  return isFree ? 0 : arenaBytes(problem, value);
}

int64_t AnchorRelaxation::solve(int64_t newPrice) {
  for (size_t i = 0; i < nodes.size(); ++i)
    cut.raise(keepArc[i], (newPrice - price) * pricedBytes(nodes[i]));
  price = newPrice;
  return cut.run(0, 1);
}

int64_t AnchorRelaxation::keptBytes() const {
  int64_t bytes = 0;
  for (size_t i = 0; i < nodes.size(); ++i)
    if (cut.onSourceSide(2 + static_cast<int32_t>(i)) &&
        !cut.onSourceSide(dropped[i]))
      bytes += pricedBytes(nodes[i]);
  return bytes;
}

std::vector<OpId> AnchorRelaxation::paidOps() const {
  std::vector<OpId> ops;
  for (OpId op : priced)
    if (cut.onSourceSide(repeated[op]))
      ops.push_back(op);
  std::sort(ops.begin(), ops.end());
  return ops;
}

WorkingSet ckpt::plan::largestWorkingSet(const Problem &problem) {
  RematGraph graph(problem, true);
  auto [op, bytes] = AnchorRelaxation(graph).largestAlone();
  return {op, bytes};
}
