//===- Bound.cpp - Lower bounds on extra work and on bytes ----------------===//
//
// Look at any legal plan when its kernel with anchor `t` first runs. Nothing
// that depends on `t` has run before, all that `t` depends on has. Whatever the
// descendants of `t` read from outside is in memory now, or is computed from
// here on, which for an anchor among the ancestors of `t` is a repetition. Only
// so many bytes stand in memory next to what the kernel itself needs. With a
// price per byte that trade is a minimum cut, and
//
//   extra FLOPs >= cut(price) - price * (budget - what the kernel needs)
//
// for every price: a line in the budget. All of it is exact integer arithmetic;
// prices are multiples of 1 / priceScale FLOPs per byte.
//
// A fusible value costs nothing to compute again, so one that is not smaller
// than what it is computed from never needs to be kept and is no node. Values
// that kernels need in memory are nodes always, as the operands of `t` are
// charged to its kernel and so are free to keep.
//
//===----------------------------------------------------------------------===//

#include "Graph.h"
#include "MinCut.h"
#include "ckpt/Plan/Solvers.h"

#include <algorithm>
#include <limits>

using namespace ckpt::plan;

namespace {

constexpr int64_t priceScale = 16;
/// Sums of capacities stay below this, far from `MinCut::infinite`.
constexpr int64_t capacityLimit = int64_t{1} << 58;

/// The network of one anchor, built anew for each.
class Snapshot {
public:
  explicit Snapshot(const Graph &graph);

  /// Looks at the first execution of \p anchor, in plans where \p before has
  /// run by then and \p after has not (`none`: where nothing more is known).
  void enter(OpId anchor, OpId before = none, OpId after = none);
  bool hasRun(OpId op) const { return ancestor[op]; }
  bool isFuture(OpId op) const { return future[op]; }
  /// The value that an operand is, or is a view of.
  ValueId baseOf(ValueId value) const;
  /// Bytes that its kernel needs, whatever else stands in memory.
  int64_t kernelBytes() const { return needed; }
  /// Bytes of all values that may have to be kept.
  int64_t demandedBytes() const;
  /// Value of the minimum cut, with \p costs (else only what may not repeat
  /// costs). Prices must rise from call to call after `build`.
  void build(bool costs);
  int64_t solve(int64_t price);

private:
  void findNodes();
  void findRelatives(OpId anchor, OpId before, OpId after);
  int64_t operandBytes(OpId anchor);
  int64_t outputBytes(OpId anchor) const;
  bool mayReadArena(ValueId value) const;
  void findDemand(OpId anchor);
  void demand(ValueId value);

  const Graph &graph;
  const Problem &problem;
  std::vector<char> node;                   // per value
  std::vector<std::vector<ValueId>> leaves; // per op
  std::vector<char> memoryRead;             // per value
  /// Per op: it cannot have run yet; it has run; it cannot be in the kernel
  /// of the anchor, as another anchor has to run between.
  std::vector<char> future, ancestor, far;
  std::vector<char> operand;                // per value: free to keep
  std::vector<char> isDemanded;             // per value
  std::vector<char> expanded;               // per op
  std::vector<ValueId> demanded, nodes;
  std::vector<int32_t> number; // per value
  std::vector<int32_t> keepArc;
  int64_t price = 0;
  int64_t needed = 0;
  MinCut cut;
};

} // namespace

Snapshot::Snapshot(const Graph &graph) : graph(graph), problem(graph.problem) {
  findNodes();
}

/// Arena slot of a value; 0 for what lies elsewhere.
static int64_t arenaBytes(const Problem &problem, ValueId value) {
  const Value &v = problem.values[value];
  return v.home == Home::Arena ? slotBytes(v.bytes) : 0;
}

void Snapshot::findNodes() {
  node.assign(problem.values.size(), 0);
  memoryRead.assign(problem.values.size(), 0);
  for (const Op &op : problem.ops)
    for (const Read &read : op.reads) {
      if (read.need == Need::Inline && op.kind != OpKind::Opaque)
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
    int64_t bytes = 0;
    for (ValueId leaf : found)
      bytes += arenaBytes(problem, leaf);
    for (ValueId value : problem.ops[op].results)
      node[value] = graph.rooted[op] || memoryRead[value] ||
                    bytes > arenaBytes(problem, value);
  }
}

void Snapshot::findRelatives(OpId anchor, OpId before, OpId after) {
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

/// Whether computing \p value inside a kernel may read a value of the arena.
bool Snapshot::mayReadArena(ValueId value) const {
  const Value &v = problem.values[value];
  if (v.home != Home::Arena)
    return false;
  return graph.rooted[v.op] || node[value] || !leaves[v.op].empty();
}

ValueId Snapshot::baseOf(ValueId value) const {
  while (graph.isView(value))
    value = problem.ops[problem.values[value].op].reads.front().value;
  return value;
}

/// Every operand stands in memory itself or as something that it is a view of.
/// Operands that are views of one value may all be that value.
int64_t Snapshot::operandBytes(OpId anchor) {
  operand.assign(problem.values.size(), 0);
  std::vector<std::pair<ValueId, int64_t>> perBase;
  const Op &op = problem.ops[anchor];
  for (const Read &read : op.reads) {
    if (read.need == Need::Inline && op.kind != OpKind::Opaque)
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

/// The smallest value that the kernel may write instead of the results, unless
/// one may lie in the caller's buffer or be written over something that dies.
int64_t Snapshot::outputBytes(OpId anchor) const {
  const Op &op = problem.ops[anchor];
  for (const Read &read : op.reads)
    if (read.destination && mayReadArena(read.value))
      return 0;
  std::vector<ValueId> forms = op.results;
  std::vector<char> isForm(problem.values.size(), 0);
  for (ValueId value : forms)
    isForm[value] = 1;
  int64_t smallest = std::numeric_limits<int64_t>::max();
  for (size_t i = 0; i < forms.size(); ++i) {
    ValueId form = forms[i];
    bool isUsed = !graph.users[form].empty() ||
                  problem.values[form].home == Home::Result;
    if (isUsed || i >= op.results.size())
      smallest = std::min(smallest, arenaBytes(problem, form));
    else
      return 0;
    for (OpId user : graph.users[form]) {
      const Op &reader = problem.ops[user];
      if (isAnchor(reader) || far[user])
        continue;
      bool oneToOne = true;
      for (const Read &read : reader.reads)
        if (read.value == form)
          oneToOne &= read.access == Access::Pointwise ||
                      read.access == Access::Reshape ||
                      read.access == Access::Permute;
      if (!oneToOne)
        continue;
      for (const Read &read : reader.reads)
        if (!isForm[read.value] && mayReadArena(read.value))
          return 0;
      for (ValueId value : reader.results)
        if (!isForm[value]) {
          isForm[value] = 1;
          forms.push_back(value);
        }
    }
  }
  return op.results.empty() ? 0 : smallest;
}

void Snapshot::demand(ValueId value) {
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

void Snapshot::findDemand(OpId anchor) {
  isDemanded.assign(problem.values.size(), 0);
  expanded.assign(problem.ops.size(), 0);
  demanded.clear();
  for (size_t op = 0; op < problem.ops.size(); ++op)
    if (future[op] && graph.live[op] && static_cast<OpId>(op) != anchor)
      for (const Read &read : problem.ops[op].reads)
        demand(read.value);
}

void Snapshot::enter(OpId anchor, OpId before, OpId after) {
  findRelatives(anchor, before, after);
  needed = operandBytes(anchor) + outputBytes(anchor) +
           slotBytes(problem.ops[anchor].workspaceBytes);
  findDemand(anchor);
}

int64_t Snapshot::demandedBytes() const {
  int64_t sum = needed;
  for (ValueId value : demanded)
    if (!operand[value])
      sum += arenaBytes(problem, value);
  return sum;
}

void Snapshot::build(bool costs) {
  constexpr int32_t source = 0, sink = 1;
  nodes = demanded;
  number.assign(problem.values.size(), -1);
  for (size_t i = 0; i < nodes.size(); ++i)
    number[nodes[i]] = static_cast<int32_t>(i);
  for (size_t i = 0; i < nodes.size(); ++i)
    for (ValueId leaf : leaves[problem.values[nodes[i]].op])
      if (number[leaf] < 0) {
        number[leaf] = static_cast<int32_t>(nodes.size());
        nodes.push_back(leaf);
      }
  // Ops with several results share one node "computed from here on".
  std::vector<int32_t> computed(problem.ops.size(), -1);
  int32_t count = 2 + static_cast<int32_t>(nodes.size());
  for (ValueId value : nodes)
    if (int32_t &index = computed[problem.values[value].op]; index < 0)
      index = count++;
  cut.reset(count);
  keepArc.clear();
  price = 0;
  std::vector<char> entered(problem.ops.size(), 0);
  for (size_t i = 0; i < nodes.size(); ++i) {
    ValueId value = nodes[i];
    OpId op = problem.values[value].op;
    int32_t available = 2 + static_cast<int32_t>(i);
    if (isDemanded[value])
      cut.addArc(source, available, MinCut::infinite);
    keepArc.push_back(cut.addArc(available, computed[op], 0));
    if (entered[op])
      continue;
    entered[op] = 1;
    for (ValueId leaf : leaves[op])
      cut.addArc(computed[op], 2 + number[leaf], MinCut::infinite);
    if (!ancestor[op])
      continue;
    if (graph.once[op])
      cut.addArc(computed[op], sink, MinCut::infinite);
    else if (costs && isAnchor(problem.ops[op]))
      cut.addArc(computed[op], sink, problem.ops[op].flops * priceScale);
  }
}

int64_t Snapshot::solve(int64_t newPrice) {
  for (size_t i = 0; i < nodes.size(); ++i)
    if (!operand[nodes[i]])
      cut.raise(keepArc[i],
                (newPrice - price) * arenaBytes(problem, nodes[i]));
  price = newPrice;
  return cut.run(0, 1);
}

/// Prices in geometric steps that cover what any anchor costs per byte.
static std::vector<int64_t> choosePrices(const Graph &graph) {
  const Problem &problem = graph.problem;
  int64_t totalBytes = 1;
  for (size_t value = 0; value < problem.values.size(); ++value)
    totalBytes += arenaBytes(problem, static_cast<ValueId>(value));
  int64_t highest = 1;
  int64_t totalFlops = 0;
  for (size_t op = 0; op < problem.ops.size(); ++op) {
    if (!isAnchor(problem.ops[op]) || !graph.live[op])
      continue;
    if (problem.ops[op].flops > capacityLimit / priceScale - totalFlops)
      return {};
    totalFlops += problem.ops[op].flops;
    int64_t bytes = 0;
    for (ValueId value : problem.ops[op].results)
      bytes += arenaBytes(problem, value);
    if (bytes)
      highest = std::max(highest, problem.ops[op].flops / bytes * priceScale);
  }
  highest = std::min(highest * 4, capacityLimit / totalBytes);
  std::vector<int64_t> prices;
  for (double price = static_cast<double>(highest); price >= 1; price /= 1.35)
    prices.push_back(static_cast<int64_t>(price));
  prices.resize(std::min<size_t>(prices.size(), 32));
  std::sort(prices.begin(), prices.end());
  prices.erase(std::unique(prices.begin(), prices.end()), prices.end());
  return prices;
}

/// Anchors to look at: those with most to keep, and some all along the step.
static std::vector<OpId>
chooseAnchors(std::vector<std::pair<int64_t, OpId>> demanded) {
  constexpr size_t tightest = 64, spread = 48;
  std::vector<OpId> chosen;
  size_t steps = std::min(spread, demanded.size());
  for (size_t i = 0; i < steps; ++i)
    chosen.push_back(demanded[i * demanded.size() / steps].second);
  std::sort(demanded.begin(), demanded.end(), [](auto &left, auto &right) {
    return left.first != right.first ? left.first > right.first
                                     : left.second < right.second;
  });
  for (size_t i = 0; i < std::min(tightest, demanded.size()); ++i)
    chosen.push_back(demanded[i].second);
  std::sort(chosen.begin(), chosen.end());
  chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
  return chosen;
}

namespace {

/// Three anchors of which every plan runs `held` before `other`, or between it
/// and `later`, or after that.
struct Triple {
  OpId held, other, later;
};

} // namespace

/// Finds results that stand in memory from their kernel to the end of the step
/// (the gradient of a tied embedding) and share an operand with the start of
/// the backward pass. One moment alone does not see both the operand and the
/// result, as the plan could run the anchor at another time.
static std::vector<Triple> chooseTriples(const Graph &graph,
                                         Snapshot &snapshot) {
  constexpr size_t mostHeld = 4, mostLater = 3;
  const Problem &problem = graph.problem;
  auto reads = [&](OpId op, ValueId base) {
    for (const Read &read : problem.ops[op].reads)
      if (snapshot.baseOf(read.value) == base)
        return true;
    return false;
  };
  std::vector<char> feedsAnchor(problem.ops.size(), 0);
  std::vector<std::pair<int64_t, OpId>> held;
  for (size_t op = problem.ops.size(); op-- > 0;) {
    for (ValueId value : problem.ops[op].results)
      for (OpId user : graph.users[value])
        feedsAnchor[op] |= graph.rooted[user] || feedsAnchor[user];
    if (!graph.live[op] || feedsAnchor[op] ||
        problem.ops[op].kind != OpKind::Contraction)
      continue;
    ValueId value = problem.ops[op].results.front();
    if (graph.slot[value] > 0)
      held.emplace_back(-graph.slot[value], static_cast<OpId>(op));
  }
  std::sort(held.begin(), held.end());
  held.resize(std::min(held.size(), mostHeld));

  std::vector<Triple> triples;
  for (auto [bytes, op] : held)
    for (const Read &operand : problem.ops[op].reads) {
      ValueId base = snapshot.baseOf(operand.value);
      if (operand.need == Need::Inline || graph.isFree(base))
        continue;
      for (OpId other : graph.roots) {
        if (other == op || !isAnchor(problem.ops[other]) ||
            !reads(other, base))
          continue;
        snapshot.enter(other);
        if (snapshot.hasRun(op) || snapshot.isFuture(op))
          continue;
        size_t found = 0;
        for (OpId later : graph.roots)
          if (found < mostLater && later != other && isAnchor(problem.ops[later]) &&
              snapshot.isFuture(later) && !reads(later, base) &&
              problem.ops[later].kind == OpKind::Contraction) {
            triples.push_back({op, other, later});
            ++found;
          }
      }
    }
  constexpr size_t mostTriples = 24;
  triples.resize(std::min(triples.size(), mostTriples));
  return triples;
}

Bound::Bound(const Problem &problem) {
  Graph graph(problem, true);
  Snapshot snapshot(graph);
  std::vector<int64_t> prices = choosePrices(graph);
  auto look = [&](OpId anchor, OpId before, OpId after) {
    snapshot.enter(anchor, before, after);
    snapshot.build(true);
    Lines lines;
    for (int64_t price : prices)
      lines.push_back({snapshot.solve(price), price, snapshot.kernelBytes()});
    return lines;
  };

  std::vector<std::pair<int64_t, OpId>> demanded;
  bool anyOnce = false;
  for (size_t op = 0; op < problem.ops.size(); ++op) {
    anyOnce |= graph.live[op] && graph.once[op];
    if (!graph.live[op] || !isAnchor(problem.ops[op]))
      continue;
    snapshot.enter(static_cast<OpId>(op));
    minimum = std::max(minimum, snapshot.kernelBytes());
    demanded.emplace_back(snapshot.demandedBytes(), static_cast<OpId>(op));
  }
  for (OpId anchor : chooseAnchors(std::move(demanded))) {
    groups.push_back({look(anchor, none, none)});
    if (anyOnce) {
      snapshot.build(false);
      minimum = std::max(minimum, snapshot.solve(1) + snapshot.kernelBytes());
    }
  }
  for (const Triple &triple : chooseTriples(graph, snapshot))
    groups.push_back({look(triple.other, triple.held, none),
                      look(triple.held, triple.other, triple.later),
                      look(triple.later, none, triple.held)});
}

int64_t Bound::extraFlops(int64_t budgetBytes) const {
  __extension__ typedef __int128 Wide;
  auto valueOf = [&](const Lines &lines) {
    Wide best = 0;
    for (const Line &line : lines) {
      Wide scaled = Wide(line.value) -
                    Wide(line.price) * (Wide(budgetBytes) - Wide(line.room));
      best = std::max(best, (scaled + priceScale - 1) / priceScale);
    }
    return best;
  };
  Wide best = 0;
  for (const std::vector<Lines> &cases : groups) {
    Wide least = valueOf(cases.front());
    for (const Lines &lines : cases)
      least = std::min(least, valueOf(lines));
    best = std::max(best, least);
  }
  return static_cast<int64_t>(
      std::min(best, Wide(std::numeric_limits<int64_t>::max())));
}
