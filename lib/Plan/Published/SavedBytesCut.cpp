//===- SavedBytesCut.cpp - PyTorch's minimum cut on saved bytes -----------===//
//
// After `solve_min_cut` of torch/_functorch/partitioners.py. Arguments are free
// to save (`treat_parameters_as_free_to_save`). Not taken over: the limit of
// 100 on chains of fused ops.
//
//===----------------------------------------------------------------------===//

#include "Plan/Published/SavedBytesCut.h"
#include "Plan/Model/MinCut.h"
#include "ckpt/Plan/ConstrainLayers.h"

#include <algorithm>
#include <cmath>
#include <set>

using namespace ckpt::plan;

SavedBytesCut::SavedBytesCut(const Problem &problem) : problem(problem) {
  findUsers();
  findDistances();
}

void SavedBytesCut::findUsers() {
  users.resize(problem.values.size());
  for (size_t op = 0; op < problem.ops.size(); ++op) {
    if (problem.ops[op].kind == OpKind::View)
      continue;
    for (const Read &read : problem.ops[op].reads) {
      std::vector<OpId> &list = users[throughViews(problem, read.value)];
      if (list.empty() || list.back() != static_cast<OpId>(op))
        list.push_back(static_cast<OpId>(op));
    }
  }
}

void SavedBytesCut::findDistances() {
  constexpr int32_t far = 1 << 20;
  distance.assign(problem.values.size(), far);
  for (size_t op = problem.ops.size(); op-- > 0;)
    for (ValueId value : problem.ops[op].results)
      for (OpId user : users[value]) {
        int32_t next = problem.ops[user].backward ? 0 : far;
        if (!problem.ops[user].backward)
          for (ValueId result : problem.ops[user].results)
            next = std::min(next, distance[result]);
        distance[value] = std::min(distance[value], next + 1);
      }
}

bool SavedBytesCut::isForward(ValueId value) const {
  OpId op = problem.values[value].op;
  return op != none && !problem.ops[op].backward &&
         problem.ops[op].kind != OpKind::View;
}

/// PyTorch fuses reductions like elementwise ops.
bool SavedBytesCut::isFusible(OpId op) const {
  OpKind kind = problem.ops[op].kind;
  return kind == OpKind::Fusible || kind == OpKind::Reduction;
}

/// Whether some reader cannot be fused with its maker.
bool SavedBytesCut::isMaterialized(ValueId value) const {
  OpId maker = problem.values[value].op;
  return std::any_of(users[value].begin(), users[value].end(), [&](OpId user) {
    return !isFusible(maker) || !isFusible(user);
  });
}

int64_t SavedBytesCut::savedBytes(ValueId value) const {
  return problem.values[value].home == Home::Arena ? problem.values[value].bytes
                                                   : 0;
}

/// `get_node_weight`: bytes, more the farther from the backward pass, twice as
/// many if the value stands in memory only because it is saved.
int64_t SavedBytesCut::weight(ValueId value) const {
  double factor = std::pow(1.1, std::clamp(distance[value], 1, 100));
  auto weighted =
      static_cast<int64_t>(static_cast<double>(savedBytes(value)) * factor);
  return isMaterialized(value) ? weighted : 2 * weighted;
}

void SavedBytesCut::banMaterializedBackward(std::vector<char> &banned) const {
  for (ValueId value = 0; value < static_cast<ValueId>(problem.values.size());
       ++value)
    for (OpId user : users[value])
      if (isForward(value) && problem.ops[user].backward &&
          !(isFusible(problem.values[value].op) && isFusible(user)))
        banned[problem.values[value].op] = 1;
}

/// The first op that depends on \p value by fusible ops before \p last and
/// cannot be fused itself; \p last if there is none.
OpId SavedBytesCut::firstUnfusible(ValueId value, OpId last) const {
  std::set<OpId> reached;
  auto reach = [&](ValueId from) {
    for (OpId user : users[from])
      if (!problem.ops[user].backward && user <= last)
        reached.insert(user);
  };
  reach(value);
  while (!reached.empty()) {
    OpId op = *reached.begin();
    reached.erase(reached.begin());
    if (!isFusible(op))
      return op;
    for (ValueId result : problem.ops[op].results)
      reach(result);
  }
  return last;
}

void SavedBytesCut::banUsedFarApart(std::vector<char> &banned) const {
  for (ValueId value = 0; value < static_cast<ValueId>(problem.values.size());
       ++value) {
    if (!isForward(value))
      continue;
    OpId last = none;
    for (OpId user : users[value])
      if (!problem.ops[user].backward)
        last = user;
    OpId first = firstUnfusible(value, last);
    for (OpId user : users[value])
      if (user > first && user <= last && isFusible(user) &&
          isFusible(problem.values[value].op))
        banned[user] = 1;
  }
}

std::vector<char> SavedBytesCut::bansOf(Bans bans) const {
  std::vector<char> banned(problem.ops.size(), 0);
  for (size_t id = 0; id < problem.ops.size(); ++id) {
    const Op &op = problem.ops[id];
    banned[id] = op.kind == OpKind::Contraction || op.kind == OpKind::Opaque;
    if (bans == Bans::Expensive || op.kind != OpKind::Reduction)
      continue;
    int64_t read = 0, made = 0;
    for (const Read &r : op.reads)
      read += problem.values[r.value].bytes;
    for (ValueId value : op.results)
      made += problem.values[value].bytes;
    banned[id] = made * 4 < read;
  }
  if (bans == Bans::Default) {
    banMaterializedBackward(banned);
    banUsedFarApart(banned);
  }
  return banned;
}

SavedBytesCut::Answer
SavedBytesCut::solve(const std::vector<char> &banned) const {
  // Value v has nodes 2v + 2 (computed) and 2v + 3 (at hand).
  constexpr int32_t source = 0, sink = 1;
  auto computed = [](ValueId value) { return 2 * value + 2; };
  auto atHand = [](ValueId value) { return 2 * value + 3; };
  MinCut cut;
  cut.reset(static_cast<int32_t>(2 * problem.values.size() + 2));
  for (ValueId value = 0; value < static_cast<ValueId>(problem.values.size());
       ++value) {
    if (!isForward(value))
      continue;
    OpId maker = problem.values[value].op;
    const Op &op = problem.ops[maker];
    cut.addArc(computed(value), atHand(value), weight(value));
    if (banned[maker] || !op.mayRepeat || op.hasEffects ||
        problem.values[value].keep == Keep::Save)
      cut.addArc(source, computed(value), MinCut::infinite);
    for (OpId user : users[value]) {
      if (problem.ops[user].backward) {
        cut.addArc(atHand(value), sink, MinCut::infinite);
        continue;
      }
      for (ValueId result : problem.ops[user].results)
        cut.addArc(atHand(value), computed(result), MinCut::infinite);
    }
  }
  cut.run(source, sink);
  Answer answer;
  answer.saved.assign(problem.values.size(), 0);
  answer.remade.assign(problem.values.size(), 0);
  for (ValueId value = 0; value < static_cast<ValueId>(problem.values.size());
       ++value) {
    if (!isForward(value) || cut.onSourceSide(atHand(value)))
      continue;
    bool saved = cut.onSourceSide(computed(value));
    (saved ? answer.saved : answer.remade)[value] = 1;
    answer.savedBytes += saved ? savedBytes(value) : 0;
  }
  return answer;
}

void SavedBytesCut::constrain(Problem &constrained,
                              const Answer &answer) const {
  for (size_t id = 0; id < constrained.values.size(); ++id) {
    Value &value = constrained.values[id];
    if (value.home != Home::Arena || value.keep != Keep::Free)
      continue;
    if (answer.saved[id])
      value.keep = Keep::Save;
    else if (answer.remade[id])
      value.keep = Keep::Recompute;
  }
}
