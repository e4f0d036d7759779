//===- RootOrder.cpp - A topological order with priorities ----------------===//
//
// The order of the walk (Rolling.cpp) under the assumption that every value
// stands in memory until its last reader has run: what is left of it without
// a budget.
//
//===----------------------------------------------------------------------===//

#include "RootOrder.h"

#include <algorithm>
#include <limits>
#include <set>
#include <tuple>

using namespace ckpt::plan;

namespace {

class Orderer {
public:
  Orderer(const Graph &graph, bool reorder)
      : graph(graph), problem(graph.problem), reorder(reorder) {}
  std::vector<OpId> run();

private:
  bool isSmall(OpId op) const;
  void rankRoots();
  void start();
  OpId pick() const;
  int64_t growth(OpId root) const;
  void finish(OpId root);
  void becomePast(OpId op);

  const Graph &graph;
  const Problem &problem;
  const bool reorder;
  std::vector<int32_t> rank; // per op
  std::vector<OpId> rootByRank;
  std::vector<int32_t> pending; // per op: leaves that cannot be made yet
  std::vector<int32_t> uses;    // per value: readers that have not run
  std::vector<OpId> nextEffect; // per op with effects
  std::set<int32_t> ready;      // ranks
  std::vector<OpId> order;
};

} // namespace

/// Whether the results of \p op take little memory compared with its operands.
bool Orderer::isSmall(OpId op) const {
  int64_t made = 0, read = 0;
  for (ValueId value : problem.ops[op].results)
    made += graph.slot[value];
  for (const Leaf &leaf : graph.leaves[op])
    read += graph.slot[leaf.value];
  return made <= read / 8;
}

void Orderer::rankRoots() {
  constexpr OpId never = std::numeric_limits<OpId>::max();
  // Per op: the first root that needs a result, whether a rooted op does.
  std::vector<OpId> firstReader(problem.ops.size(), never);
  std::vector<char> feedsRooted(problem.ops.size(), 0);
  for (size_t op = problem.ops.size(); op-- > 0;)
    for (ValueId value : problem.ops[op].results)
      for (OpId user : graph.users[value]) {
        firstReader[op] = std::min(
            firstReader[op], graph.isRoot[user] ? user : firstReader[user]);
        feedsRooted[op] |= graph.rooted[user] || feedsRooted[user];
      }
  // What has to be made again by the backward pass must not be read there.
  bool splitsPasses = false;
  for (const Value &value : problem.values)
    splitsPasses |= value.keep == Keep::Recompute;
  using Key = std::tuple<bool, int, OpId, int, OpId>;
  std::vector<Key> keys;
  for (OpId op : graph.roots) {
    OpId place = op;
    int group = 2, early = 1;
    if (reorder) {
      if (graph.leaves[op].empty() && !problem.ops[op].hasEffects &&
          firstReader[op] != never) {
        place = firstReader[op];
        early = 0;
      }
      if (!graph.rooted[op])
        group = 0;
      else if (!feedsRooted[op] && isSmall(op))
        group = 1;
    }
    keys.emplace_back(splitsPasses && graph.late[op], group, place, early, op);
  }
  std::sort(keys.begin(), keys.end());
  rank.assign(problem.ops.size(), none);
  for (const Key &key : keys) {
    rank[std::get<4>(key)] = static_cast<int32_t>(rootByRank.size());
    rootByRank.push_back(std::get<4>(key));
  }
}

void Orderer::start() {
  rankRoots();
  pending.assign(problem.ops.size(), 0);
  uses.assign(problem.values.size(), 0);
  nextEffect.assign(problem.ops.size(), none);
  for (size_t op = 0; op < problem.ops.size(); ++op)
    if (graph.live[op])
      pending[op] = static_cast<int32_t>(graph.leaves[op].size());
  for (size_t value = 0; value < problem.values.size(); ++value)
    uses[value] = static_cast<int32_t>(graph.readers[value].size());
  OpId lastEffect = none;
  for (OpId op : graph.roots) {
    if (!problem.ops[op].hasEffects)
      continue;
    if (lastEffect != none) {
      nextEffect[lastEffect] = op;
      ++pending[op];
    }
    lastEffect = op;
  }
  for (size_t op = 0; op < problem.ops.size(); ++op) {
    if (!graph.live[op] || pending[op] > 0)
      continue;
    if (graph.isRoot[op])
      ready.insert(rank[op]);
    if (!graph.rooted[op] && graph.leaves[op].empty())
      becomePast(static_cast<OpId>(op));
  }
}

/// All that \p op makes can be made from now on.
void Orderer::becomePast(OpId op) {
  std::vector<OpId> work = {op};
  while (!work.empty()) {
    OpId current = work.back();
    work.pop_back();
    for (const Leaf &leaf : graph.leaves[current])
      --uses[leaf.value];
    for (ValueId value : problem.ops[current].results) {
      if (!graph.node[value])
        continue;
      for (OpId reader : graph.readers[value]) {
        if (--pending[reader] > 0)
          continue;
        if (graph.isRoot[reader])
          ready.insert(rank[reader]);
        if (!graph.rooted[reader])
          work.push_back(reader);
      }
    }
  }
}

/// Bytes that \p root adds to what stands in memory.
int64_t Orderer::growth(OpId root) const {
  int64_t bytes = 0;
  for (ValueId value : problem.ops[root].results)
    if (!graph.users[value].empty())
      bytes += graph.slot[value];
  for (const Leaf &leaf : graph.leaves[root])
    if (uses[leaf.value] == 1)
      bytes -= graph.slot[leaf.value];
  return bytes;
}

/// The first that is ready, or, if that takes memory, one of the next few that
/// gives some back.
OpId Orderer::pick() const {
  constexpr int lookahead = 8;
  OpId head = rootByRank[*ready.begin()];
  if (!reorder || ready.size() == 1)
    return head;
  OpId choice = head;
  int64_t best = std::min<int64_t>(growth(head), 0);
  if (best < 0)
    return head;
  int seen = 0;
  for (int32_t candidate : ready) {
    OpId root = rootByRank[candidate];
    if (++seen > lookahead || graph.late[root] != graph.late[head])
      break;
    if (int64_t bytes = growth(root); bytes < best) {
      best = bytes;
      choice = root;
    }
  }
  return choice;
}

void Orderer::finish(OpId root) {
  ready.erase(rank[root]);
  order.push_back(root);
  if (OpId next = nextEffect[root]; next != none && --pending[next] == 0)
    ready.insert(rank[next]);
  if (graph.rooted[root])
    becomePast(root);
}

std::vector<OpId> Orderer::run() {
  start();
  while (!ready.empty())
    finish(pick());
  return std::move(order);
}

std::vector<OpId> ckpt::plan::orderRoots(const Graph &graph, bool reorder) {
  return Orderer(graph, reorder).run();
}
