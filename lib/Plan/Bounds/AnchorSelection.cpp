//===- AnchorSelection.cpp - The moments that bounds look at --------------===//
//
// Chooses among the first runs of anchors the moments that prove most per cut.
// Bound.cpp calls it once per step.
//
//===----------------------------------------------------------------------===//

#include "Plan/Bounds/AnchorSelection.h"

#include <algorithm>

using namespace ckpt::plan;

std::vector<OpId>
ckpt::plan::chooseAnchors(std::vector<std::pair<int64_t, OpId>> demanded) {
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

std::vector<Triple> ckpt::plan::chooseTriples(const RematGraph &graph,
                                              AnchorRelaxation &moment) {
  constexpr size_t mostHeld = 4, mostLater = 3;
  const Problem &problem = graph.problem;
  auto reads = [&](OpId op, ValueId base) {
    for (const Read &read : problem.ops[op].reads)
      if (moment.baseOf(read.value) == base)
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
      ValueId base = moment.baseOf(operand.value);
      if (operand.need == Need::Inline || graph.isFree(base))
        continue;
      for (OpId other : graph.roots) {
        if (other == op || !isAnchor(problem.ops[other]) || !reads(other, base))
          continue;
        moment.enter(other);
        if (moment.hasRun(op) || moment.isFuture(op))
          continue;
        size_t found = 0;
        for (OpId later : graph.roots)
          if (found < mostLater && later != other &&
              isAnchor(problem.ops[later]) && moment.isFuture(later) &&
              !reads(later, base) &&
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
