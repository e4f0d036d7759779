//===- RootRanks.cpp - Which root runs first if several can ---------------===//

#include "RootRanks.h"

#include <algorithm>
#include <limits>
#include <tuple>

using namespace ckpt::plan;

bool ckpt::plan::makesLittle(const Graph &graph, OpId op) {
  int64_t made = 0, read = 0;
  for (ValueId value : graph.problem.ops[op].results)
    made += graph.slot[value];
  for (const Leaf &leaf : graph.leaves[op])
    read += graph.slot[leaf.value];
  return made <= read / 8;
}

bool ckpt::plan::hasRecomputed(const Graph &graph) {
  const auto &values = graph.problem.values;
  return std::any_of(values.begin(), values.end(), [&](const Value &value) {
    return value.op != none && graph.live[value.op] && !graph.once[value.op] &&
           value.keep == Keep::Recompute;
  });
}

std::vector<OpId> ckpt::plan::findNextEffects(const Graph &graph) {
  std::vector<OpId> next(graph.problem.ops.size(), none);
  OpId last = none;
  for (OpId op : graph.roots) {
    if (!graph.problem.ops[op].hasEffects)
      continue;
    if (last != none)
      next[last] = op;
    last = op;
  }
  return next;
}

RootRanks::RootRanks(const Graph &graph, bool reorder)
    : rank(graph.problem.ops.size(), none), held(rank.size(), 0) {
  constexpr OpId never = std::numeric_limits<OpId>::max();
  const Problem &problem = graph.problem;
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
  bool splitsPasses = hasRecomputed(graph);
  using Key = std::tuple<bool, int, OpId, int, OpId>;
  std::vector<Key> keys;
  for (OpId op : graph.roots) {
    bool feedsResults = graph.rooted[op] && !feedsRooted[op];
    held[op] = feedsResults && !makesLittle(graph, op);
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
      else if (feedsResults && !held[op])
        group = 1;
    }
    keys.emplace_back(splitsPasses && graph.late[op], group, place, early, op);
  }
  std::sort(keys.begin(), keys.end());
  for (const Key &key : keys) {
    rank[std::get<4>(key)] = static_cast<int32_t>(byRank.size());
    byRank.push_back(std::get<4>(key));
  }
}
