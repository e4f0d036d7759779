//===- KernelLowerBound.cpp - The least that one kernel reads -------------===//
//
// A kernel is free to choose the values that it computes inside, but somewhere
// between its outputs and their anchors and arguments it reads from memory: a
// cut, and the smallest one is a lower bound. Views are nodes of that network,
// as a slice of a value counts its own bytes only. Operands that have to stand
// in memory are counted apart, and the cut gets them for free. TimeBound asks
// for every kernel that it charges.
//
//===----------------------------------------------------------------------===//

#include "Plan/Bounds/KernelLowerBound.h"

#include <algorithm>

using namespace ckpt::plan;

/// Producers further away are taken to be free: networks stay small.
static constexpr size_t mostOps = 256;
/// No value counts more in a network, so that sums stay small.
static constexpr int64_t mostBytes = int64_t{1} << 44;

__extension__ typedef __int128 Wide;

/// Whether an anchor needs \p read in memory.
static bool isOperand(const Op &op, const Read &read) {
  return isAnchor(op) &&
         (read.need != Need::Inline || op.kind == OpKind::Opaque);
}

KernelLowerBound::KernelLowerBound(const RematGraph &graph)
    : graph(graph), problem(graph.problem) {
  number.assign(problem.values.size(), none);
  counted.assign(problem.values.size(), 0);
  isExpanded.assign(problem.ops.size(), 0);
}

int64_t KernelLowerBound::timeNs(int64_t computePs, int64_t bytes) const {
  Wide memoryPs = Wide(bytes) * 1000000 / problem.bytesPerMicrosecond;
  Wide ps = std::max(Wide(computePs), memoryPs) + Wide(problem.launchNs) * 1000;
  return static_cast<int64_t>(
      std::min((ps + 999) / 1000, Wide(INT64_MAX / 64)));
}

int64_t KernelLowerBound::moveNs(int64_t bytes) const {
  return static_cast<int64_t>(std::min(
      Wide(bytes) * 1000 / problem.bytesPerMicrosecond, Wide(INT64_MAX / 64)));
}

/// Bytes of the operands that have to stand in memory, each as the smallest
/// that it may be seen through views; operands that are views of one value
/// share its bytes. Marks all values that may be read in their place.
int64_t KernelLowerBound::operandBytes(OpId anchor) {
  // The bytes read of each value, counted as in the costs of kernels, readers
  // first.
  std::vector<std::pair<ValueId, int64_t>> touched;
  auto touch = [&](ValueId value, int64_t bytes) {
    auto found = std::find_if(touched.begin(), touched.end(), [&](auto &entry) {
      return entry.first == value;
    });
    if (found == touched.end())
      found = touched.insert(touched.end(), {value, 0});
    found->second =
        std::min(problem.values[value].bytes, found->second + bytes);
  };
  const Op &op = problem.ops[anchor];
  for (const Read &read : op.reads)
    if (isOperand(op, read))
      touch(read.value, problem.values[read.value].bytes);
  int64_t sum = 0;
  while (!touched.empty()) {
    // The value made last cannot be a view's source any more.
    auto last = std::max_element(touched.begin(), touched.end());
    auto [value, bytes] = *last;
    touched.erase(last);
    counted[value] = 1;
    operands.push_back(value);
    if (graph.isView(value))
      touch(problem.ops[problem.values[value].op].reads.front().value, bytes);
    else
      sum += bytes;
  }
  return sum;
}

int32_t KernelLowerBound::nodeOf(ValueId value) {
  if (number[value] == none) {
    number[value] = static_cast<int32_t>(values.size());
    values.push_back(value);
  }
  return number[value];
}

void KernelLowerBound::expand(OpId op) {
  if (!isExpanded[op]) {
    isExpanded[op] = 1;
    expanded.push_back(op);
  }
}

/// The smallest cut between \p roots and the values that no kernel can compute.
int64_t KernelLowerBound::buildAndRun(OpId anchor, size_t roots) {
  constexpr int32_t source = 0, sink = 1;
  const int32_t firstOp = 2 + 2 * static_cast<int32_t>(values.size());
  cut.reset(firstOp + static_cast<int32_t>(expanded.size()));
  shownArcs.clear();
  std::vector<std::pair<OpId, int32_t>> nodeOfOp;
  for (size_t i = 0; i < expanded.size(); ++i)
    nodeOfOp.emplace_back(expanded[i], firstOp + static_cast<int32_t>(i));
  std::sort(nodeOfOp.begin(), nodeOfOp.end());
  for (size_t i = 0; i < roots; ++i)
    cut.addArc(source, firstOp + static_cast<int32_t>(i), MinCut::infinite);
  for (size_t i = 0; i < expanded.size() && i < mostOps; ++i) {
    const Op &op = problem.ops[expanded[i]];
    for (const Read &read : op.reads) {
      if (isOperand(op, read) || counted[read.value])
        continue;
      int64_t shown =
          op.kind == OpKind::View ? problem.values[op.results.front()].bytes
          : read.access == Access::Gather ? bytesRead(problem, op, read)
                                          : MinCut::infinite;
      int32_t arc = cut.addArc(firstOp + static_cast<int32_t>(i),
                               2 + 2 * number[read.value], shown);
      if (op.kind == OpKind::View)
        shownArcs.emplace_back(op.results.front(), arc);
    }
  }
  arcOf.assign(values.size(), none);
  for (size_t i = 0; i < values.size(); ++i) {
    int32_t in = 2 + 2 * static_cast<int32_t>(i);
    OpId producer = problem.values[values[i]].op;
    if (producer != none && producer == anchor)
      continue;
    arcOf[i] = cut.addArc(in, in + 1,
                          std::min(problem.values[values[i]].bytes, mostBytes));
    if (producer == none || isAnchor(problem.ops[producer])) {
      cut.addArc(in + 1, sink, MinCut::infinite);
      continue;
    }
    auto found = std::lower_bound(nodeOfOp.begin(), nodeOfOp.end(),
                                  std::make_pair(producer, int32_t(0)));
    cut.addArc(in + 1, found->second, MinCut::infinite);
  }
  return cut.run(source, sink);
}

/// Raises the capacities that the cut goes through until it stays, so that
/// values close to the outputs are used first. A view of all of a value counts
/// as that value: it is as large, so that the cut may always go through the
/// value instead.
void KernelLowerBound::raise(const Extra &extra, Reads &reads) {
  for (auto [view, arc] : shownArcs)
    if (ValueId whole = graph.wholeOf(view); whole != view && extra(whole) > 0)
      cut.raise(arc, MinCut::infinite);
  std::vector<int64_t> more(values.size(), 0);
  for (size_t i = 0; i < values.size(); ++i) {
    if (arcOf[i] == none)
      continue;
    ValueId whole = graph.wholeOf(values[i]);
    if (whole == values[i])
      more[i] = std::min(extra(whole), mostBytes);
    else if (extra(whole) > 0)
      cut.raise(arcOf[i], MinCut::infinite);
  }
  std::vector<size_t> raised;
  for (bool changed = true; changed;) {
    reads.raised = cut.run(0, 1);
    changed = false;
    for (size_t i = 0; i < values.size(); ++i) {
      int32_t in = 2 + 2 * static_cast<int32_t>(i);
      if (more[i] <= 0 || !cut.onSourceSide(in) || cut.onSourceSide(in + 1))
        continue;
      cut.raise(arcOf[i], more[i]);
      more[i] = 0;
      raised.push_back(i);
      changed = true;
    }
  }
  cut.returnDeficits(0, 1);
  for (size_t i : raised) {
    int64_t bytes = std::min(problem.values[values[i]].bytes, mostBytes);
    if (int64_t used = cut.flowOn(arcOf[i]) - bytes; used > 0)
      reads.used.emplace_back(values[i], used);
  }
}

KernelLowerBound::Reads
KernelLowerBound::read(OpId anchor, const std::vector<ValueId> &outputs,
                       const Extra &extra) {
  int64_t sum = anchor == none ? 0 : operandBytes(anchor);
  if (anchor != none)
    expand(anchor);
  for (ValueId output : outputs)
    expand(problem.values[output].op);
  size_t roots = expanded.size();
  for (size_t i = 0; i < expanded.size() && i < mostOps; ++i) {
    const Op &op = problem.ops[expanded[i]];
    for (const Read &read : op.reads) {
      if (isOperand(op, read) || counted[read.value])
        continue;
      nodeOf(read.value);
      OpId producer = problem.values[read.value].op;
      if (producer != none && !isAnchor(problem.ops[producer]))
        expand(producer);
    }
  }
  Reads reads;
  reads.bytes = reads.raised = buildAndRun(anchor, roots);
  if (extra)
    raise(extra, reads);
  reads.bytes += sum;
  reads.raised += sum;

  for (ValueId value : values)
    number[value] = none;
  values.clear();
  for (OpId op : expanded)
    isExpanded[op] = 0;
  expanded.clear();
  for (ValueId value : operands)
    counted[value] = 0;
  operands.clear();
  return reads;
}
