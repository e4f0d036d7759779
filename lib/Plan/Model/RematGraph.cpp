//===- RematGraph.cpp - Nodes, leaves and foldable values -----------------===//
//
// The choice of nodes decides both speed and quality of the planner. A fusible
// value is a node only if it is a result, if some reader needs it in memory, or
// if it is smaller than its sources: keeping any other value costs more than
// computing it inside its readers.
//
//===----------------------------------------------------------------------===//

#include "Plan/Model/RematGraph.h"

#include <algorithm>
#include <limits>

using namespace ckpt::plan;

int64_t ckpt::plan::arenaBytes(const Problem &problem, ValueId value) {
  const Value &v = problem.values[value];
  return v.home == Home::Arena ? slotBytes(v.bytes) : 0;
}

/// Opaque ops take nothing inside whatever they say of a read.
static Need needOf(const Op &op, const Read &read) {
  return op.kind == OpKind::Opaque ? Need::Contiguous : read.need;
}

RematGraph::RematGraph(const Problem &problem, bool fusion) : problem(problem) {
  findLive();
  findLate();
  findNodes(fusion);
  findTorn();
  findConflicts();
  collectLeaves();
  findFoldable();
}

void RematGraph::findLive() {
  live.assign(problem.ops.size(), 0);
  users.resize(problem.values.size());
  std::vector<char> wanted(problem.values.size(), 0);
  for (size_t value = 0; value < problem.values.size(); ++value)
    wanted[value] = problem.values[value].home == Home::Result;
  for (size_t op = problem.ops.size(); op-- > 0;) {
    const Op &o = problem.ops[op];
    live[op] = !o.mayRepeat;
    for (ValueId result : o.results)
      live[op] |= wanted[result];
    if (live[op])
      for (const Read &read : o.reads)
        wanted[read.value] = 1;
  }
  for (size_t op = 0; op < problem.ops.size(); ++op) {
    if (!live[op])
      continue;
    for (const Read &read : problem.ops[op].reads)
      if (users[read.value].empty() ||
          users[read.value].back() != static_cast<OpId>(op))
        users[read.value].push_back(static_cast<OpId>(op));
  }
}

void RematGraph::findLate() {
  late.assign(problem.ops.size(), 0);
  for (size_t op = 0; op < problem.ops.size(); ++op) {
    late[op] = problem.ops[op].backward;
    for (const Read &read : problem.ops[op].reads)
      if (OpId producer = problem.values[read.value].op; producer != none)
        late[op] |= late[producer];
  }
}

ValueId RematGraph::wholeOf(ValueId value) const {
  while (isView(value)) {
    const Read &read = problem.ops[problem.values[value].op].reads.front();
    const Value &shown = problem.values[value];
    const Value &from = problem.values[read.value];
    bool isWhole =
        read.access == Access::Reshape || read.access == Access::Permute;
    if (!isWhole || shown.bytes != from.bytes || shown.home != Home::Arena ||
        from.home != Home::Arena || rooted[shown.op])
      break;
    value = read.value;
  }
  return value;
}

ValueId RematGraph::memoryTarget(const Read &read) const {
  ValueId value = read.value;
  while (isView(value) && !node[value])
    value = problem.ops[problem.values[value].op].reads.front().value;
  return isFree(value) ? none : value;
}

/// Marks the values that must be able to stand in memory, readers first, then
/// the values that are worth it, producers first.
void RematGraph::findNodes(bool fusion) {
  size_t numOps = problem.ops.size();
  std::vector<OpId> readByFused;
  rooted.assign(numOps, 0);
  once.assign(numOps, 0);
  node.assign(problem.values.size(), 0);
  memoryRead.assign(problem.values.size(), 0);
  for (size_t op = 0; op < numOps; ++op) {
    const Op &o = problem.ops[op];
    once[op] = !o.mayRepeat;
    for (ValueId result : o.results)
      once[op] |= problem.values[result].keep == Keep::Save;
    bool inlined = false;
    for (ValueId result : o.results)
      inlined |= isInlined(problem, result);
    rooted[op] = isAnchor(o) || once[op] ||
                 (!fusion && o.kind != OpKind::View && !inlined);
    for (ValueId result : o.results)
      node[result] = rooted[op] || problem.values[result].home == Home::Result;
  }
  for (size_t op = 0; op < numOps; ++op) {
    if (!live[op])
      continue;
    for (const Read &read : problem.ops[op].reads) {
      Need need = needOf(problem.ops[op], read);
      if (need == Need::Inline)
        continue;
      ValueId value = read.value;
      while (!node[value] && isView(value)) {
        const Op &view = problem.ops[problem.values[value].op];
        if (need == Need::Contiguous && !isInOnePiece(view.reads.front()))
          break;
        value = view.reads.front().value;
      }
      if (isFree(value))
        continue;
      node[value] = 1;
      memoryRead[value] = 1;
      if (problem.ops[op].kind == OpKind::Fusible)
        readByFused.push_back(problem.values[value].op);
    }
  }
  for (OpId op : readByFused)
    rooted[op] |= problem.ops[op].kind == OpKind::Fusible;
}

/// Ops that may have \p ops in their kernels, and \p ops.
std::vector<OpId> RematGraph::kernelsWith(std::vector<OpId> ops) const {
  std::vector<char> seen(problem.ops.size(), 0);
  for (OpId op : ops)
    seen[op] = 1;
  for (size_t i = 0; i < ops.size(); ++i) {
    if (rooted[ops[i]])
      continue;
    for (ValueId result : problem.ops[ops[i]].results)
      for (OpId user : users[result])
        for (const Read &read : problem.ops[user].reads)
          if (read.value == result && !seen[user] &&
              needOf(problem.ops[user], read) == Need::Inline) {
            seen[user] = 1;
            ops.push_back(user);
          }
  }
  std::sort(ops.begin(), ops.end());
  return ops;
}

/// Ops that need some of \p values in memory.
std::vector<OpId>
RematGraph::memoryReadersOf(std::vector<ValueId> values) const {
  size_t count = values.size();
  auto isOne = [&](ValueId value) {
    auto end = values.begin() + static_cast<int64_t>(count);
    return std::find(values.begin(), end, value) != end;
  };
  std::vector<OpId> memoryReaders;
  for (size_t i = 0; i < values.size(); ++i)
    for (OpId user : users[values[i]]) {
      const Op &op = problem.ops[user];
      for (const Read &read : op.reads)
        if (needOf(op, read) != Need::Inline && isOne(memoryTarget(read)))
          memoryReaders.push_back(user);
      // A need of a view may be a need of the value that it shows.
      if (op.kind == OpKind::View)
        values.push_back(op.results.front());
    }
  return memoryReaders;
}

/// Whether some kernel might need one result of \p op in memory and compute
/// another one inside, which makes all of them there.
bool RematGraph::wouldTear(OpId op) const {
  std::vector<OpId> inside = kernelsWith({op});
  std::vector<OpId> reading =
      kernelsWith(memoryReadersOf(problem.ops[op].results));
  std::vector<OpId> both;
  std::set_intersection(inside.begin(), inside.end(), reading.begin(),
                        reading.end(), std::back_inserter(both));
  return !both.empty();
}

/// Ops of several results that kernels need in memory and inside.
void RematGraph::findTorn() {
  torn.assign(problem.ops.size(), 0);
  for (size_t op = 0; op < problem.ops.size(); ++op) {
    const std::vector<ValueId> &results = problem.ops[op].results;
    bool isRead = std::any_of(results.begin(), results.end(), [&](ValueId v) {
      return memoryRead[v] && !isFree(v);
    });
    if (results.size() == 1 || rooted[op] || !isRead ||
        !wouldTear(static_cast<OpId>(op)))
      continue;
    torn[op] = 1;
    for (ValueId result : results)
      if (!users[result].empty() && !isInlined(problem, result))
        node[result] = memoryRead[result] = 1;
  }
}

/// Values that have to stand in memory and must not.
void RematGraph::findConflicts() {
  for (size_t op = 0; op < problem.ops.size() && error.empty(); ++op)
    for (ValueId result : problem.ops[op].results)
      if (live[op] && node[result] && isInlined(problem, result))
        error = "value " + std::to_string(result) + " (" +
                problem.values[result].name +
                ") is to be computed inside its readers, but it is " +
                (memoryRead[result] ? "needed in memory" : "a result");
}

void RematGraph::collectLeavesOf(OpId op) {
  std::vector<Leaf> &result = leaves[op];
  auto add = [&](ValueId value, bool memory) {
    for (Leaf &leaf : result)
      if (leaf.value == value) {
        leaf.memory |= memory;
        return;
      }
    result.push_back({value, memory});
  };
  chainPs[op] = problem.ops[op].computePs;
  int64_t evaluations = iterations(op);
  for (const Read &read : problem.ops[op].reads) {
    if (needOf(problem.ops[op], read) != Need::Inline) {
      if (ValueId target = memoryTarget(read); target != none)
        add(target, true);
      else
        argumentBytes[op] += problem.values[read.value].bytes;
      continue;
    }
    if (isFree(read.value)) {
      argumentBytes[op] += problem.values[read.value].bytes;
      continue;
    }
    if (node[read.value]) {
      add(read.value, torn[problem.values[read.value].op]);
      continue;
    }
    OpId producer = problem.values[read.value].op;
    // A view of an argument reads only the elements that it shows.
    int64_t shown = problem.ops[op].kind == OpKind::View
                        ? problem.values[problem.ops[op].results.front()].bytes
                        : argumentBytes[producer];
    argumentBytes[op] += std::min(argumentBytes[producer], shown);
    chainPs[op] += static_cast<int64_t>(static_cast<double>(chainPs[producer]) *
                                        ratio(evaluations, read.value));
    for (const Leaf &leaf : leaves[producer])
      add(leaf.value, leaf.memory);
  }
}

int64_t RematGraph::iterations(OpId op) const {
  int64_t count = 1;
  for (ValueId result : problem.ops[op].results)
    count = std::max(count, problem.values[result].elements);
  if (isAnchor(problem.ops[op]))
    for (const Read &read : problem.ops[op].reads)
      count = std::max(count, problem.values[read.value].elements);
  return count;
}

double RematGraph::ratio(int64_t evaluations, ValueId value) const {
  return std::max(1.0, static_cast<double>(evaluations) /
                           static_cast<double>(std::max<int64_t>(
                               1, problem.values[value].elements)));
}

/// Whether a fusible value is worth a place in memory: it is smaller than its
/// sources, or its readers would compute it so often that writing and reading
/// it is faster.
bool RematGraph::isWorthKeeping(ValueId value) const {
  OpId op = problem.values[value].op;
  int64_t bytes = problem.values[value].bytes;
  int64_t leafBytes = 0;
  for (const Leaf &leaf : leaves[op])
    leafBytes += problem.values[leaf.value].bytes;
  if (leafBytes > bytes)
    return true;
  int64_t moreReaders = static_cast<int64_t>(users[value].size()) - 1;
  if (movePs(argumentBytes[op] - bytes) * moreReaders >
      movePs(bytes) + problem.launchNs * 1000)
    return true;
  double repeats = -1;
  for (OpId user : users[value])
    repeats += ratio(iterations(user), value);
  return static_cast<double>(chainPs[op]) * repeats >
         static_cast<double>(
             movePs(bytes) * (1 + static_cast<int64_t>(users[value].size())) +
             problem.launchNs * 1000);
}

void RematGraph::collectLeaves() {
  size_t numOps = problem.ops.size();
  leaves.resize(numOps);
  chainPs.assign(numOps, 0);
  argumentBytes.assign(numOps, 0);
  readers.resize(problem.values.size());
  isRoot.assign(numOps, 0);
  slot.assign(problem.values.size(), 0);
  for (size_t op = 0; op < numOps; ++op) {
    if (!live[op])
      continue;
    collectLeavesOf(static_cast<OpId>(op));
    const Op &o = problem.ops[op];
    bool hasNode = rooted[op];
    isRoot[op] = rooted[op];
    for (ValueId result : o.results) {
      const Value &value = problem.values[result];
      if (o.kind == OpKind::Fusible && !isInlined(problem, result) &&
          isWorthKeeping(result))
        node[result] = 1;
      hasNode |= node[result];
      isRoot[op] |= value.home == Home::Result;
      slot[result] = value.home == Home::Arena ? slotBytes(value.bytes) : 0;
    }
    if (isRoot[op])
      roots.push_back(static_cast<OpId>(op));
    if (hasNode)
      for (const Leaf &leaf : leaves[op])
        readers[leaf.value].push_back(static_cast<OpId>(op));
  }
}

/// For every value, the last rooted op that some result computed from it one to
/// one has to wait for; `never` if it has other uses too. Users come later in
/// program order, so one sweep from the end settles it.
void RematGraph::findFoldable() {
  constexpr OpId never = std::numeric_limits<OpId>::max();
  std::vector<OpId> lastRoot(problem.ops.size(), none);
  for (size_t op = 0; op < problem.ops.size(); ++op) {
    if (rooted[op])
      lastRoot[op] = static_cast<OpId>(op);
    for (const Read &read : problem.ops[op].reads)
      if (OpId producer = problem.values[read.value].op; producer != none)
        lastRoot[op] = std::max(lastRoot[op], lastRoot[producer]);
  }
  foldable.assign(problem.values.size(), 0);
  std::vector<OpId> waitsFor(problem.values.size(), never);
  for (size_t op = problem.ops.size(); op-- > 0;) {
    if (!live[op])
      continue;
    for (ValueId value : problem.ops[op].results) {
      waitsFor[value] = resultsWaitFor(value, lastRoot, waitsFor);
      OpKind kind = problem.ops[op].kind;
      foldable[value] =
          waitsFor[value] == static_cast<OpId>(op) &&
          (kind == OpKind::Contraction || kind == OpKind::Reduction) &&
          problem.values[value].home == Home::Arena && !users[value].empty() &&
          problem.values[value].keep != Keep::Save;
      if (foldable[value])
        slot[value] = 0;
    }
  }
}

OpId RematGraph::resultsWaitFor(ValueId value,
                                const std::vector<OpId> &lastRoot,
                                const std::vector<OpId> &waitsFor) const {
  constexpr OpId never = std::numeric_limits<OpId>::max();
  bool isResult = problem.values[value].home == Home::Result;
  if (users[value].empty() && !isResult)
    return never;
  OpId last = isResult ? lastRoot[problem.values[value].op] : none;
  for (OpId user : users[value]) {
    if (rooted[user])
      return never;
    for (const Read &read : problem.ops[user].reads)
      if (read.value == value && read.access != Access::Pointwise &&
          read.access != Access::Reshape && read.access != Access::Permute)
        return never;
    for (ValueId result : problem.ops[user].results)
      last = std::max(last, waitsFor[result]);
  }
  return last;
}
