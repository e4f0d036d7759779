//===- TimeBound.cpp - The least time of a step in any plan ---------------===//
//
// Every live anchor runs in a kernel, and no kernel holds two. Some kernel
// writes each value that others need in memory: behind an anchor that leads to
// it one to one, or a kernel without an anchor. Each of them pays its launch
// and the larger of its arithmetic and its bytes. Bound.cpp runs it once per
// step, and per moment for remats.
//
//===----------------------------------------------------------------------===//

#include "Plan/Bounds/TimeBound.h"

#include <algorithm>
#include <limits>
#include <map>

using namespace ckpt::plan;

/// Products of two 64-bit figures.
__extension__ typedef __int128 Wide;

TimeBound::TimeBound(const RematGraph &graph)
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
  for (Written &item : written)
    addRepeats(item);
}

/// Charges that an anchor that runs again may have next to \p item.
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

/// A value that no first kernel of an anchor writes pays its bytes. One value
/// of each kernel also pays the launch and the reads of the kernel, with the
/// shares of \p reader, and the arithmetic of an anchor that runs again beyond
/// the charges of others there.
int64_t TimeBound::elsewhere(const Written &item, ValueId reader) {
  int64_t bytes = item.repeaters.empty() && item.knowsRepeaters
                      ? item.bytes
                      : std::min(item.bytes, item.epilogueBytes);
  if (!item.apart)
    return floor.moveNs(bytes);
  if (!item.knowsRepeaters)
    return floor.timeNs(0, bytes);
  KernelLowerBound::Extra extra;
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

/// Arithmetic between an anchor and the outputs of its first kernel.
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

/// The least time of the first kernel of \p anchor and of the writing of \p
/// mine, over all ways to write some of them there. An optional value may stay
/// unwritten, and otherwise gives back its shares. Writing \p unlessIdle there
/// only counts if the kernel waits for its bytes, so that more arithmetic may
/// take no time.
int64_t TimeBound::cheapest(OpId anchor,
                            const std::vector<const Written *> &mine,
                            const Written *unlessIdle) {
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
    bool isIdle = floor.timeNs(computePs, 0) < floor.timeNs(0, bytes);
    if (!isIdle &&
        std::find(items.begin(), items.end(), unlessIdle) != items.end())
      continue;
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
  operandBytes = kernel;
  for (size_t op = 0; op < problem.ops.size(); ++op) {
    if (!graph.live[op] || !isAnchor(problem.ops[op]))
      continue;
    OpId anchor = static_cast<OpId>(op);
    int64_t least = cheapest(anchor, mine[op]);
    total += least;
    if (mine[op].size() > optional[op].size())
      savedBehind[op] = least - cheapest(anchor, optional[op]) +
                        enterInside(anchor, mine[op], least);
    operandBytes[op] = floor.readBytes(anchor, {});
    kernel[op] = floor.timeNs(problem.ops[op].computePs,
                              smallestAgain[op] + operandBytes[op]);
  }
}

/// Whether \p item was first written, or all its shares are used up, once the
/// ops of \p hasRun have run.
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

void TimeBound::addRepeats(Written &item) {
  // Each is a cut.
  constexpr size_t mostCuts = 8;
  if (item.isSuperfluous())
    return;
  for (size_t i = 0; i < item.repeaters.size(); ++i) {
    OpId anchor = item.repeaters[i];
    int64_t bytes =
        item.epilogueBytes + (item.repeaters.size() <= mostCuts
                                  ? floor.readBytes(anchor, {item.value})
                                  : operandBytes[anchor]);
    int64_t computePs = problem.ops[anchor].computePs + item.repeaterPs[i];
    item.repeaterNs.push_back(
        std::max(kernel[anchor], floor.timeNs(computePs, bytes)));
    item.repeaterMoveNs.push_back(floor.timeNs(0, bytes));
  }
}

/// Enters, per anchor, the charges that it may have already when it runs again;
/// false if these are not known.
bool TimeBound::findCharges(const AnchorRelaxation &moment,
                            std::vector<std::vector<Charge>> &charges) const {
  auto hasRun = [&](OpId op) { return moment.hasRun(op); };
  charges.assign(kernel.size(), {});
  for (const Written &item : written) {
    bool isUncharged = !item.isOptional && item.writers.size() > 1;
    if (isUncharged || isPast(item, hasRun))
      continue;
    if (!item.knowsRepeaters)
      return false;
    int64_t ns = item.elsewhereNs;
    if (item.isOptional)
      ns = item.creditNs;
    else if (item.writers.size() == 1)
      ns = std::min(ns, savedBehind[item.writers.front()]);
    for (size_t i = 0; i < item.repeaters.size(); ++i)
      charges[item.repeaters[i]].push_back({&item, i, ns});
  }
  return true;
}

/// An anchor that runs again may be the first to write values charged to
/// others: one value that is apart, and any number of others. Only the time of
/// its kernel beyond these charges is a cost of its own. The kernel takes no
/// less than with one of these values alone: the one that is apart, or else the
/// one that is charged most. The bytes of the others come on top, and no more
/// is charged for them.
int64_t TimeBound::againNs(OpId anchor,
                           const std::vector<Charge> &charges) const {
  std::vector<Charge> together;
  for (const Charge &charge : charges)
    if (!charge.item->apart && charge.ns > 0)
      together.push_back(charge);
  std::sort(together.begin(), together.end(),
            [](const Charge &left, const Charge &right) {
              return left.ns < right.ns;
            });
  auto beyond = [](const Charge &charge, int64_t others) {
    const auto &[item, repeater, charged] = charge;
    return std::max({int64_t(0), item->repeaterNs[repeater] - charged - others,
                     item->repeaterMoveNs[repeater] - charged});
  };
  int64_t ns = kernel[anchor], others = 0;
  for (const Charge &charge : together) {
    ns = std::min(ns, beyond(charge, others));
    others += charge.ns;
  }
  for (const Charge &charge : charges)
    if (charge.item->apart)
      ns = std::min(ns, beyond(charge, others));
  return ns;
}

/// The charges of values that do not depend on \p reader.
std::vector<TimeBound::Charge>
TimeBound::withoutLater(const std::vector<Charge> &charges, OpId reader) const {
  std::vector<Charge> left;
  size_t bit = bitOf[reader];
  for (const Charge &charge : charges) {
    OpId op = problem.values[charge.item->value].op;
    if (!(before[op][bit / 64] >> bit % 64 & 1))
      left.push_back(charge);
  }
  return left;
}

/// Anchors to come that read each value at least, if it is not kept; `none` for
/// a value that no later op needs. A remat for another value that is not kept
/// comes before the readers of that value.
std::vector<std::optional<std::vector<OpId>>>
TimeBound::findRereaders(const AnchorRelaxation &moment) const {
  std::vector<std::optional<std::vector<OpId>>> readers(problem.values.size());
  for (size_t value = 0; value < readers.size(); ++value)
    if (moment.isNeeded(static_cast<ValueId>(value)))
      readers[value].emplace();
  auto unite = [](std::vector<OpId> &set, const std::vector<OpId> &other) {
    std::vector<OpId> both;
    std::set_union(set.begin(), set.end(), other.begin(), other.end(),
                   std::back_inserter(both));
    set = std::move(both);
  };
  // A fusible value may be computed inside a reader or before it.
  for (size_t i = problem.ops.size(); i-- > 0;) {
    OpId op = static_cast<OpId>(i);
    if (!graph.live[op] || !moment.isToCome(op))
      continue;
    std::vector<OpId> ofOp;
    if (isAnchor(problem.ops[op]))
      ofOp.push_back(op);
    else
      for (ValueId value : problem.ops[op].results)
        if (readers[value])
          unite(ofOp, *readers[value]);
    for (ValueId leaf : moment.leavesOf(op)) {
      OpId maker = problem.values[leaf].op;
      if (moment.isToCome(maker) && !readers[leaf])
        readers[leaf].emplace();
      if (readers[leaf])
        unite(*readers[leaf], ofOp);
    }
  }
  auto restrict = [](auto &set, const std::vector<OpId> &other) {
    std::vector<OpId> both;
    if (set)
      std::set_intersection(set->begin(), set->end(), other.begin(),
                            other.end(), std::back_inserter(both));
    set = set ? std::move(both) : other;
  };
  for (size_t op = problem.ops.size(); op-- > 0;) {
    std::optional<std::vector<OpId>> ofOp;
    if (moment.isFuture(static_cast<OpId>(op)))
      continue;
    for (ValueId value : problem.ops[op].results)
      if (readers[value] && !moment.isStatistic(value))
        restrict(ofOp, *readers[value]);
    if (!ofOp)
      continue;
    for (ValueId leaf : moment.leavesOf(static_cast<OpId>(op)))
      if (!moment.isNeeded(leaf))
        restrict(readers[leaf], *ofOp);
  }
  return readers;
}

/// If an anchor to come reads the result of another one, and that is not kept,
/// the other runs again before it: it is then not the first to write a value
/// that depends on the reader.
void TimeBound::addRereads(const AnchorRelaxation &moment,
                           const std::vector<std::vector<Charge>> &charges,
                           RematCosts &costs) const {
  std::vector<std::optional<std::vector<OpId>>> readers = findRereaders(moment);
  for (size_t value = 0; value < readers.size(); ++value) {
    OpId op = problem.values[value].op;
    if (!readers[value] || !isAnchor(problem.ops[op]) || !moment.hasRun(op) ||
        moment.isFuture(op) || problem.ops[op].results.size() != 1)
      continue;
    int64_t ns = 0;
    for (OpId reader : *readers[value])
      ns = std::max(ns, againNs(op, withoutLater(charges[op], reader)));
    if (ns > costs.ops[op])
      costs.values.push_back(
          {static_cast<ValueId>(value), ns - costs.ops[op], none});
  }
}

/// Whether something needs \p item in memory both before and after the moment.
bool TimeBound::isWrittenAgain(const Written &item,
                               const AnchorRelaxation &moment) const {
  const Value &v = problem.values[item.value];
  if (item.isOptional || !item.knowsRepeaters || v.home != Home::Arena ||
      problem.ops[v.op].kind != OpKind::Fusible ||
      !moment.isMemoryDemanded(item.value))
    return false;
  return std::any_of(
      item.readers.begin(), item.readers.end(), [&](OpId reader) {
        const Op &op = problem.ops[reader];
        return moment.hasRun(reader) &&
               std::any_of(op.reads.begin(), op.reads.end(), [&](auto &read) {
                 return (read.need != Need::Inline ||
                         op.kind == OpKind::Opaque) &&
                        graph.wholeOf(read.value) == item.value;
               });
      });
}

/// A kernel without an anchor pays for all bytes that it writes. Behind an
/// anchor that runs again they may cost nothing more.
RematCosts TimeBound::repeatNs(const AnchorRelaxation &moment) const {
  RematCosts costs;
  costs.ops.assign(kernel.size(), 0);
  std::vector<std::vector<Charge>> charges;
  if (findCharges(moment, charges)) {
    for (size_t op = 0; op < kernel.size(); ++op)
      costs.ops[op] = againNs(static_cast<OpId>(op), charges[op]);
    addRereads(moment, charges, costs);
  }
  for (const Written &item : written)
    if (item.repeaters.size() <= 1 && isWrittenAgain(item, moment))
      costs.values.push_back(
          {item.value, floor.moveNs(problem.values[item.value].bytes),
           item.repeaters.empty() ? none : item.repeaters.front()});
  addInside(moment, costs);
  return costs;
}
