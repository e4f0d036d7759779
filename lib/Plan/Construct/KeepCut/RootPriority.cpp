//===- RootPriority.cpp - The priority of roots that can run --------------===//

#include "Plan/Construct/KeepCut/RootPriority.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <tuple>

using namespace ckpt::plan;

bool ckpt::plan::makesLittle(const RematGraph &graph, OpId op) {
  int64_t made = 0, read = 0;
  for (ValueId value : graph.problem.ops[op].results)
    made += graph.slot[value];
  for (const Leaf &leaf : graph.leaves[op])
    read += graph.slot[leaf.value];
  return made <= read / 8;
}

bool ckpt::plan::hasRecomputed(const RematGraph &graph) {
  const auto &values = graph.problem.values;
  return std::any_of(values.begin(), values.end(), [&](const Value &value) {
    return value.op != none && graph.live[value.op] && !graph.once[value.op] &&
           value.keep == Keep::Recompute;
  });
}

/// Roots except \p host that read \p guest, or values computed from it inside
/// kernels.
static std::vector<OpId> readingRoots(const RematGraph &graph, ValueId guest,
                                      OpId host) {
  std::vector<OpId> roots, work = graph.users[guest];
  std::set<OpId> seen(work.begin(), work.end());
  while (!work.empty()) {
    OpId op = work.back();
    work.pop_back();
    if (graph.isRoot[op] && op != host)
      roots.push_back(op);
    if (graph.rooted[op])
      continue;
    for (ValueId result : graph.problem.ops[op].results)
      for (OpId user : graph.users[result])
        if (seen.insert(user).second)
          work.push_back(user);
  }
  return roots;
}

std::vector<std::vector<OpId>>
ckpt::plan::findFollowers(const RematGraph &graph) {
  const Problem &problem = graph.problem;
  std::vector<std::vector<OpId>> followers(problem.ops.size());
  OpId last = none;
  for (OpId op : graph.roots) {
    if (!problem.ops[op].hasEffects)
      continue;
    if (last != none)
      followers[last].push_back(op);
    last = op;
  }
  // A result is written after the readers of the value in its buffer: a guest,
  // or a donated argument. Among several guests, the last one has more readers
  // than the next op.
  std::map<ValueId, ValueId> before;
  for (const Op &op : problem.ops)
    for (ValueId value : op.results)
      if (ValueId host = problem.values[value].host; host != none) {
        bool isDonated = problem.values[value].home == Home::Result;
        before[isDonated ? value : host] = isDonated ? host : value;
      }
  for (const auto &[result, there] : before) {
    OpId host = problem.values[result].op;
    for (OpId root : readingRoots(graph, there, host))
      if (root < host)
        followers[root].push_back(host);
  }
  return followers;
}

RootPriority::RootPriority(const RematGraph &graph, bool reorder)
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
