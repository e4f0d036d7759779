//===- RootOrder.cpp - A topological order with priorities ----------------===//
//
// The order of the walk (CutScheduler.cpp) under the assumption that every
// value stands in memory until its last reader has run: the walk's order
// without a budget. The list scheduler uses it, once per step.
//
//===----------------------------------------------------------------------===//

#include "Plan/Construct/KeepCut/RootOrder.h"

#include "Plan/Construct/KeepCut/RootPriority.h"

#include <algorithm>
#include <set>

using namespace ckpt::plan;

namespace {

class Orderer {
public:
  Orderer(const RematGraph &graph, bool reorder)
      : graph(graph), problem(graph.problem), reorder(reorder),
        ranks(graph, reorder), followers(findFollowers(graph)) {}
  std::vector<OpId> run();

private:
  void start();
  OpId pick() const;
  int64_t growth(OpId root) const;
  void finish(OpId root);
  void becomePast(OpId op);
  bool release(OpId op);

  const RematGraph &graph;
  const Problem &problem;
  const bool reorder;
  const RootPriority ranks;
  std::vector<int32_t> pending; // per op: leaves that cannot be made yet
  std::vector<int32_t> uses;    // per value: readers that have not run
  const std::vector<std::vector<OpId>> followers; // per op
  std::set<int32_t> ready;                        // ranks
  std::vector<OpId> order;
};

} // namespace

void Orderer::start() {
  pending.assign(problem.ops.size(), 0);
  uses.assign(problem.values.size(), 0);
  for (size_t op = 0; op < problem.ops.size(); ++op)
    if (graph.live[op])
      pending[op] = static_cast<int32_t>(graph.leaves[op].size());
  for (size_t value = 0; value < problem.values.size(); ++value)
    uses[value] = static_cast<int32_t>(graph.readers[value].size());
  for (const std::vector<OpId> &after : followers)
    for (OpId op : after)
      ++pending[op];
  for (size_t op = 0; op < problem.ops.size(); ++op) {
    if (!graph.live[op] || pending[op] > 0)
      continue;
    if (graph.isRoot[op])
      ready.insert(ranks.rank[op]);
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
      for (OpId reader : graph.readers[value])
        if (release(reader))
          work.push_back(reader);
    }
  }
}

/// One of the leaves or roots that \p op waits for has run; true if all have,
/// and what \p op makes can be made.
bool Orderer::release(OpId op) {
  if (--pending[op] > 0)
    return false;
  if (graph.isRoot[op])
    ready.insert(ranks.rank[op]);
  return !graph.rooted[op];
}

/// Bytes that \p root adds to the live ones.
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
  OpId head = ranks.byRank[*ready.begin()];
  if (!reorder || ready.size() == 1)
    return head;
  OpId choice = head;
  int64_t best = std::min<int64_t>(growth(head), 0);
  if (best < 0)
    return head;
  int seen = 0;
  for (int32_t candidate : ready) {
    OpId root = ranks.byRank[candidate];
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
  ready.erase(ranks.rank[root]);
  order.push_back(root);
  for (OpId next : followers[root])
    if (release(next))
      becomePast(next);
  if (graph.rooted[root])
    becomePast(root);
}

std::vector<OpId> Orderer::run() {
  start();
  while (!ready.empty())
    finish(pick());
  return std::move(order);
}

std::vector<OpId> ckpt::plan::orderRoots(const RematGraph &graph,
                                         bool reorder) {
  return Orderer(graph, reorder).run();
}
