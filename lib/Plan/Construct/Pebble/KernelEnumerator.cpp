//===- KernelEnumerator.cpp - Kernels that make one value -----------------===//
//
// A kernel is its core (the value's op alone, or with all ops between it and an
// anchor whose epilogue it may be in) and the ops inside: all down to nodes,
// all possible ones, or those before a cut of least bytes. PebbleSearch asks
// once per value.
//
//===----------------------------------------------------------------------===//

#include "Plan/Construct/Pebble/KernelEnumerator.h"

#include <algorithm>

using namespace ckpt::plan;

KernelEnumerator::KernelEnumerator(const RematGraph &graph)
    : graph(graph), choices(graph.problem.values.size()) {
  for (const Op &op : graph.problem.ops)
    for (ValueId value : op.results)
      if (graph.node[value] && graph.live[graph.problem.values[value].op])
        findChoices(value);
}

/// Whether the kernel of \p op may compute the value of \p read inside.
bool KernelEnumerator::mayBeInside(OpId op, const Read &read) const {
  const Problem &problem = graph.problem;
  const Value &value = problem.values[read.value];
  if (value.op == none || isAnchor(problem.ops[value.op]))
    return false;
  bool isInMemory =
      read.need != Need::Inline || problem.ops[op].kind == OpKind::Opaque;
  bool isTarget = isInMemory && graph.memoryTarget(read) == read.value;
  return !graph.node[read.value] || (!isTarget && value.home == Home::Arena);
}

static int32_t indexOf(const std::vector<int32_t> &list, int32_t id) {
  return static_cast<int32_t>(std::find(list.begin(), list.end(), id) -
                              list.begin());
}

/// \p core and the ops that can be computed inside with it, down to nodes or as
/// far as possible.
KernelEnumerator::Region KernelEnumerator::reach(const std::vector<OpId> &core,
                                                 bool beyondNodes) const {
  const Problem &problem = graph.problem;
  Region region;
  region.ops = core;
  for (size_t i = 0; i < region.ops.size(); ++i)
    for (const Read &read : problem.ops[region.ops[i]].reads) {
      OpId producer = problem.values[read.value].op;
      if (producer == none ||
          std::find(core.begin(), core.end(), producer) != core.end())
        continue;
      int32_t place = indexOf(region.values, read.value);
      if (place == static_cast<int32_t>(region.values.size()))
        region.values.push_back(read.value);
      region.uses.emplace_back(static_cast<int32_t>(i), place);
      if ((beyondNodes || !graph.node[read.value]) &&
          mayBeInside(region.ops[i], read) &&
          std::find(region.ops.begin(), region.ops.end(), producer) ==
              region.ops.end())
        region.ops.push_back(producer);
    }
  return region;
}

/// The ops of \p region between the core and a cut of least bytes: of all such
/// cuts the closest to the core, or the farthest.
std::vector<OpId> KernelEnumerator::cutOff(const Region &region,
                                           size_t coreSize, bool farthest) {
  const Problem &problem = graph.problem;
  int32_t core = 0, outside = 1;
  auto nodeOf = [&](int32_t value) { return 2 + value; };
  auto nodeOfOp = [&](int32_t op) {
    return 2 + static_cast<int32_t>(region.values.size()) + op;
  };
  cut.reset(nodeOfOp(static_cast<int32_t>(region.ops.size())));
  auto arc = [&](int32_t from, int32_t to, int64_t capacity) {
    farthest ? cut.addArc(to, from, capacity) : cut.addArc(from, to, capacity);
  };
  for (size_t op = 0; op < coreSize; ++op)
    arc(core, nodeOfOp(static_cast<int32_t>(op)), MinCut::infinite);
  for (auto [op, value] : region.uses)
    arc(nodeOfOp(op), nodeOf(value), MinCut::infinite);
  for (size_t i = 0; i < region.values.size(); ++i) {
    ValueId value = region.values[i];
    int32_t op = indexOf(region.ops, problem.values[value].op);
    bool isInside = op < static_cast<int32_t>(region.ops.size());
    arc(nodeOf(static_cast<int32_t>(i)), isInside ? nodeOfOp(op) : outside,
        graph.node[value] ? arenaBytes(problem, value) : MinCut::infinite);
  }
  if (farthest)
    std::swap(core, outside);
  if (cut.run(core, outside) >= MinCut::infinite)
    return {};
  std::vector<OpId> ops;
  for (size_t op = 0; op < region.ops.size(); ++op)
    if (op < coreSize ||
        cut.onSourceSide(nodeOfOp(static_cast<int32_t>(op))) != farthest)
      ops.push_back(region.ops[op]);
  return ops;
}

/// The ops of \p ops that depend on the anchor, with it.
std::vector<OpId> KernelEnumerator::epilogue(const std::vector<OpId> &ops,
                                             OpId anchor) const {
  const Problem &problem = graph.problem;
  std::vector<OpId> result = {anchor};
  for (OpId op : ops)
    for (const Read &read : problem.ops[op].reads)
      if (std::find(result.begin(), result.end(),
                    problem.values[read.value].op) != result.end()) {
        result.push_back(op);
        break;
      }
  std::sort(result.begin(), result.end());
  return result;
}

void KernelEnumerator::findChoices(ValueId value) {
  constexpr size_t mostCores = 6;
  const Problem &problem = graph.problem;
  OpId maker = problem.values[value].op;
  std::vector<std::vector<OpId>> cores = {{maker}};
  if (!isAnchor(problem.ops[maker])) {
    std::vector<OpId> all = reach({maker}, /*beyondNodes=*/true).ops;
    std::sort(all.begin(), all.end());
    for (size_t i = all.size(); i-- > 0 && cores.size() < mostCores;)
      for (const Read &read : problem.ops[all[i]].reads) {
        OpId anchor = problem.values[read.value].op;
        if (anchor == none || !isAnchor(problem.ops[anchor]))
          continue;
        std::vector<OpId> core = epilogue(all, anchor);
        if (std::find(cores.begin(), cores.end(), core) == cores.end())
          cores.push_back(std::move(core));
      }
  }
  for (const std::vector<OpId> &core : cores) {
    add(value, reach(core, /*beyondNodes=*/false).ops);
    Region region = reach(core, /*beyondNodes=*/true);
    add(value, cutOff(region, core.size(), /*farthest=*/false));
    add(value, cutOff(region, core.size(), /*farthest=*/true));
    add(value, std::move(region.ops));
  }
}

/// The values that a kernel writes along with \p value.
std::vector<ValueId> KernelEnumerator::outputsWith(ValueId value) const {
  const Op &op = graph.problem.ops[graph.problem.values[value].op];
  std::vector<ValueId> outputs = {value};
  for (ValueId other : op.results)
    if (op.kind == OpKind::Opaque && other != value &&
        (!graph.users[other].empty() ||
         graph.problem.values[other].home == Home::Result))
      outputs.push_back(other);
  return outputs;
}

void KernelEnumerator::add(ValueId value, std::vector<OpId> ops) {
  if (ops.empty())
    return;
  std::sort(ops.begin(), ops.end());
  for (const KernelChoice &choice : choices[value])
    if (choice.kernel.ops == ops)
      return;
  KernelChoice choice;
  choice.kernel.ops = std::move(ops);
  choice.kernel.outputs = outputsWith(value);
  KernelInfo info = analyze(graph.problem, choice.kernel);
  if (!info.error.empty())
    return;
  for (ValueId read : info.memoryReads)
    if (!graph.isFree(read))
      choice.reads.push_back(read);
  for (const InPlacePair &pair : info.inPlace)
    if (choice.kernel.outputs.size() == 1)
      choice.overwrites.push_back(pair.input);
  choice.workspaceBytes = slotBytes(info.workspaceBytes);
  choices[value].push_back(std::move(choice));
}
