//===- TimeBound.cpp - The least time of a step in any plan ---------------===//
//
// Every live anchor runs in a kernel, and no kernel holds two. What others need
// in memory is written by some kernel: behind an anchor from which it is
// reached one to one, or by a kernel without an anchor. Each of them pays its
// launch and the larger of its arithmetic and its bytes.
//
//===----------------------------------------------------------------------===//

#include "TimeBound.h"

#include <algorithm>
#include <limits>
#include <map>

using namespace ckpt::plan;

/// Products of two 64-bit figures.
__extension__ typedef __int128 Wide;

TimeBound::TimeBound(const Graph &graph)
    : graph(graph), problem(graph.problem), floor(graph) {
  isReached.assign(problem.values.size(), 0);
  findWritten();
  findOptional();
  findWriters();
  for (Written &item : written)
    findRepeaters(item);
  limitShares();
  chooseApart();
  shareWrites();
  for (Written &item : written)
    if (!item.isOptional)
      item.elsewhereNs =
          elsewhere(item, item.writers.empty() ? item.value : none);
  addKernels();
}

/// What an anchor that runs again may be charged for next to \p item.
int64_t TimeBound::nextToNs(OpId anchor, const Written &item) const {
  int64_t sum = 0;
  auto add = [&](size_t index) {
    const Written &other = written[index];
    if (areApart(item, other))
      return;
    int64_t ns = other.isOptional && isShared
                     ? other.creditNs
                     : floor.moveNs(std::min(other.bytes, other.epilogueBytes));
    sum += std::min(ns, INT64_MAX / 64 - sum);
  };
  std::for_each(sharing[anchor].begin(), sharing[anchor].end(), add);
  std::for_each(sharing.back().begin(), sharing.back().end(), add);
  return sum;
}

/// What is written by no first kernel of an anchor pays its bytes; one value
/// of each kernel pays the launch and what the kernel reads as well, with the
/// shares of \p reader, and the arithmetic of an anchor that runs again beyond
/// what is charged for others there.
int64_t TimeBound::elsewhere(const Written &item, ValueId reader) {
  int64_t bytes = item.repeaters.empty() && item.knowsRepeaters
                      ? item.bytes
                      : std::min(item.bytes, item.epilogueBytes);
  if (!item.apart)
    return floor.moveNs(bytes);
  if (!item.knowsRepeaters)
    return floor.timeNs(0, bytes);
  KernelFloor::Extra extra;
  if (reader != none)
    extra = extraFor(none, reader);
  int64_t ns = floor.timeNs(
      0, item.bytes + floor.read(none, {item.value}, extra).raised);
  for (size_t i = 0; i < item.repeaters.size(); ++i) {
    OpId anchor = item.repeaters[i];
    int64_t moved =
        item.epilogueBytes + floor.read(anchor, {item.value}, extra).raised;
    int64_t alone =
        floor.timeNs(problem.ops[anchor].computePs + item.repeaterPs[i], moved);
    ns = std::min(
        ns, std::max(floor.timeNs(0, moved), alone - nextToNs(anchor, item)));
  }
  return ns;
}

/// Arithmetic of an op between an anchor and \p item: it makes at least as many
/// elements.
int64_t TimeBound::epiloguePs(OpId id, const Written &item) const {
  const Op &op = problem.ops[id];
  int64_t elements = 1;
  for (ValueId result : op.results)
    elements = std::max(elements, problem.values[result].elements);
  return static_cast<int64_t>(Wide(op.computePs) *
                              std::min(item.epilogueElements, elements) /
                              elements);
}

/// Arithmetic between an anchor and what its first kernel writes.
int64_t TimeBound::epiloguePs(const std::vector<const Written *> &items) const {
  std::map<OpId, int64_t> perOp;
  for (const Written *item : items)
    for (OpId op : item->epilogue)
      perOp[op] = std::max(perOp[op], epiloguePs(op, *item));
  int64_t sum = 0;
  for (auto [op, ps] : perOp)
    sum += std::min(ps, INT64_MAX / 64 - sum);
  return sum;
}

/// The least time of the first kernel of \p anchor and of the writing of
/// \p mine, over all ways to write some of them there. What is optional may
/// stay unwritten, and gives back what others count for reading it if not.
int64_t TimeBound::cheapest(OpId anchor,
                            const std::vector<const Written *> &mine) {
  int64_t best = std::numeric_limits<int64_t>::max();
  for (size_t subset = 0; subset < size_t{1} << mine.size(); ++subset) {
    int64_t bytes = 0, ns = 0;
    std::vector<ValueId> outputs;
    std::vector<const Written *> items;
    for (size_t i = 0; i < mine.size(); ++i)
      if (subset >> i & 1) {
        bytes += mine[i]->epilogueBytes;
        outputs.push_back(mine[i]->value);
        items.push_back(mine[i]);
        ns -= mine[i]->creditNs;
      } else if (!mine[i]->isOptional) {
        ns += mine[i]->elsewhereNs;
      }
    if (ns >= best)
      continue;
    bytes = std::max(bytes, smallestOutput[anchor]) +
            floor.read(anchor, outputs, extraFor(anchor, none)).raised;
    int64_t computePs = problem.ops[anchor].computePs + epiloguePs(items);
    best = std::min(best, ns + floor.timeNs(computePs, bytes));
  }
  return best;
}

void TimeBound::addKernels() {
  std::vector<std::vector<const Written *>> mine(problem.ops.size()), optional;
  optional.resize(mine.size());
  for (const Written &item : written) {
    if (item.writers.empty() && !item.isOptional)
      total += item.elsewhereNs;
    if (item.writers.size() != 1 || item.isSuperfluous())
      continue;
    OpId writer = item.writers.front();
    if (mine[writer].size() == mostChoices)
      continue;
    mine[writer].push_back(&item);
    if (item.isOptional)
      optional[writer].push_back(&item);
  }
  savedBehind.assign(problem.ops.size(), 0);
  kernel.assign(problem.ops.size(), 0);
  for (size_t op = 0; op < problem.ops.size(); ++op) {
    if (!graph.live[op] || !isAnchor(problem.ops[op]))
      continue;
    OpId anchor = static_cast<OpId>(op);
    int64_t least = cheapest(anchor, mine[op]);
    total += least;
    if (mine[op].size() > optional[op].size())
      savedBehind[op] = least - cheapest(anchor, optional[op]);
    kernel[op] = floor.timeNs(problem.ops[op].computePs,
                              smallestAgain[op] + floor.readBytes(anchor, {}));
  }
}

/// Whether \p item was first written, or nobody will count more for reading it,
/// once the ops of \p hasRun have run.
bool TimeBound::isPast(const Written &item,
                       const std::function<bool(OpId)> &hasRun) const {
  if (!item.isOptional)
    return std::any_of(item.readers.begin(), item.readers.end(), hasRun);
  return std::all_of(
      item.shares.begin(), item.shares.end(), [&](const Share &share) {
        return share.anchor != none
                   ? hasRun(share.anchor)
                   : isPast(written[writtenIndex[share.written]], hasRun);
      });
}

/// An anchor that runs again may write what is charged to others, but not what
/// was written before, and of values that are apart one: only what its
/// kernel takes beyond that is a cost of its own.
std::vector<int64_t>
TimeBound::repeatNs(const std::function<bool(OpId)> &hasRun) const {
  std::vector<int64_t> ns = kernel, apart(ns.size(), 0);
  for (const Written &item : written) {
    bool isUncharged = !item.isOptional && item.writers.size() > 1;
    if (isUncharged || isPast(item, hasRun))
      continue;
    if (!item.knowsRepeaters)
      return std::vector<int64_t>(ns.size(), 0);
    int64_t charge = item.elsewhereNs;
    if (item.isOptional)
      charge = item.creditNs;
    else if (item.writers.size() == 1)
      charge = std::min(charge, savedBehind[item.writers.front()]);
    for (OpId anchor : item.repeaters)
      if (item.apart)
        apart[anchor] = std::max(apart[anchor], charge);
      else
        ns[anchor] -= charge;
  }
  for (size_t op = 0; op < ns.size(); ++op)
    ns[op] = std::max<int64_t>(0, ns[op] - apart[op]);
  return ns;
}

/// A kernel without an anchor pays for all bytes that it writes. Behind an
/// anchor that runs again they may cost nothing more.
std::vector<Rewrite>
TimeBound::rewriteNs(const std::function<bool(OpId)> &hasRun) const {
  std::vector<Rewrite> found;
  for (const Written &item : written) {
    const Value &v = problem.values[item.value];
    if (item.isOptional || !item.knowsRepeaters || item.repeaters.size() > 1 ||
        v.home != Home::Arena || problem.ops[v.op].kind != OpKind::Fusible)
      continue;
    auto hasRead = [&](OpId reader) {
      if (!hasRun(reader))
        return false;
      const Op &op = problem.ops[reader];
      return std::any_of(op.reads.begin(), op.reads.end(), [&](auto &read) {
        return (read.need != Need::Inline || op.kind == OpKind::Opaque) &&
               graph.wholeOf(read.value) == item.value;
      });
    };
    if (std::any_of(item.readers.begin(), item.readers.end(), hasRead))
      found.push_back({item.value, floor.moveNs(v.bytes),
                       item.repeaters.empty() ? none : item.repeaters.front()});
  }
  return found;
}
