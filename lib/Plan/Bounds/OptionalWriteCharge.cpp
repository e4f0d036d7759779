//===- OptionalWriteCharge.cpp - Charges on values in memory --------------===//
//
// A kernel may read a value that no plan has to write, but only if some kernel
// wrote it. The cost of its first writing is handed out to its readers: each is
// charged its least reads, in which such a value counts more than its bytes. If
// a plan writes the value, its first writing pays the surplus; if not, the
// readers read something else. TimeBound runs it once per step.
//
//===----------------------------------------------------------------------===//

#include "Plan/Bounds/TimeBound.h"

#include <algorithm>
#include <map>

using namespace ckpt::plan;

/// Products of two 64-bit figures.
__extension__ typedef __int128 Wide;

/// Bytes that take \p ns to move, rounded down, and back, rounded up.
static int64_t bytesIn(const Problem &problem, int64_t ns) {
  return static_cast<int64_t>(std::min(
      Wide(ns) * problem.bytesPerMicrosecond / 1000, Wide(INT64_MAX / 64)));
}
static int64_t nsOf(const Problem &problem, int64_t bytes) {
  return static_cast<int64_t>(
      (Wide(bytes) * 1000 + problem.bytesPerMicrosecond - 1) /
      problem.bytesPerMicrosecond);
}

KernelLowerBound::Extra TimeBound::extraFor(OpId anchor, ValueId reader) const {
  return [this, anchor, reader](ValueId value) -> int64_t {
    int32_t index = writtenIndex[value];
    if (index == none)
      return 0;
    for (const Share &share : written[index].shares)
      if (share.anchor == anchor && share.written == reader)
        return share.bytes;
    return 0;
  };
}

/// Charges the kernel of a reader its costs if reading took up to \p budgetNs
/// more, and hands out the surplus.
void TimeBound::spread(OpId anchor, ValueId reader, bool isGuess,
                       const std::vector<int64_t> &budgetNs,
                       const std::function<void(ValueId, int64_t)> &take) {
  std::vector<ValueId> outputs;
  int64_t bytes = 0, computePs = 0;
  if (anchor == none) {
    outputs.push_back(reader);
    bytes = problem.values[reader].bytes;
  } else if (!isGuess) {
    bytes = smallestOutput[anchor];
    computePs = problem.ops[anchor].computePs;
  }
  KernelLowerBound::Reads reads =
      floor.read(anchor, outputs, [&](ValueId value) {
        return bytesIn(problem, budgetNs[value]);
      });
  if (floor.timeNs(computePs, bytes + reads.raised) >
      floor.timeNs(computePs, bytes + reads.bytes))
    for (auto [value, used] : reads.used)
      take(value, used);
}

/// Time of first writing each value, if nothing else is charged to that kernel
/// and all its sources have to be paid for as well; 0 for a value that is not
/// optional.
std::vector<int64_t> TimeBound::guessBudgets() {
  std::vector<int64_t> ns(problem.values.size(), 0);
  for (size_t value = 0; value < ns.size(); ++value) {
    const Value &v = problem.values[value];
    if (v.op == none || problem.ops[v.op].kind != OpKind::Fusible ||
        !graph.live[v.op] || writtenIndex[value] != none ||
        v.home != Home::Arena || v.bytes == 0)
      continue;
    KernelLowerBound::Reads reads =
        floor.read(none, {static_cast<ValueId>(value)},
                   [&](ValueId read) { return bytesIn(problem, ns[read]); });
    ns[value] = floor.timeNs(0, v.bytes + reads.raised);
  }
  return ns;
}

/// Finds the values that readers would rather have in memory. Too many rather
/// than too few: which kernel can write them is not known yet.
void TimeBound::findOptional() {
  // Every reader is a maximum flow, several times.
  constexpr size_t mostOps = 8000;
  if (problem.ops.size() > mostOps)
    return;
  std::vector<int64_t> left = guessBudgets();
  std::vector<std::vector<Share>> shares(problem.values.size());
  auto spreadTo = [&](OpId anchor, ValueId reader) {
    spread(anchor, reader, true, left, [&](ValueId value, int64_t bytes) {
      left[value] -= nsOf(problem, bytes);
      shares[value].push_back({value, anchor, reader, bytes});
    });
  };
  for (size_t op = 0; op < problem.ops.size(); ++op)
    if (graph.live[op] && isAnchor(problem.ops[op]))
      spreadTo(static_cast<OpId>(op), none);
  for (const Written &item : written)
    if (!isAnchor(problem.ops[problem.values[item.value].op]))
      spreadTo(none, item.value);
  for (size_t value = shares.size(); value-- > 0;)
    if (!shares[value].empty())
      spreadTo(none, static_cast<ValueId>(value));
  for (size_t value = 0; value < shares.size(); ++value) {
    if (shares[value].empty())
      continue;
    const Value &v = problem.values[value];
    writtenIndex[value] = static_cast<int32_t>(written.size());
    Written item;
    item.value = static_cast<ValueId>(value);
    item.bytes = item.epilogueBytes = v.bytes;
    item.epilogueElements = v.elements;
    item.isOptional = true;
    item.shares = std::move(shares[value]);
    written.push_back(std::move(item));
  }
}

/// Leaves out readers without a kernel of their own, as \p hasKernel says of
/// values.
void TimeBound::eraseShares(
    Written &item, const std::function<bool(const Written &)> &hasKernel) {
  item.shares.erase(std::remove_if(item.shares.begin(), item.shares.end(),
                                   [&](const Share &share) {
                                     if (share.anchor != none)
                                       return false;
                                     const Written &reader =
                                         written[writtenIndex[share.written]];
                                     return reader.isSuperfluous() ||
                                            !hasKernel(reader);
                                   }),
                    item.shares.end());
}

/// Leaves out values that cannot be judged, and readers that the first kernel
/// of an anchor may write. Readers come last in the program.
void TimeBound::limitShares() {
  std::vector<size_t> choices(problem.ops.size(), 0);
  for (const Written &item : written)
    if (!item.isOptional && item.writers.size() == 1)
      ++choices[item.writers.front()];
  for (size_t i = written.size(); i-- > 0 && written[i].isOptional;) {
    Written &item = written[i];
    eraseShares(item,
                [](const Written &reader) { return reader.writers.empty(); });
    if (item.writers.size() > 1 || !item.knowsRepeaters ||
        (item.writers.size() == 1 &&
         choices[item.writers.front()]++ >= mostChoices))
      item.shares.clear();
  }
}

/// The extra time of the first kernel of the only anchor that can write \p item
/// if it does.
int64_t TimeBound::writeHereNs(const Written &item) {
  OpId anchor = item.writers.front();
  int64_t computePs = problem.ops[anchor].computePs;
  int64_t with = floor.timeNs(computePs + epiloguePs({&item}),
                              std::max(item.bytes, smallestOutput[anchor]) +
                                  floor.readBytes(anchor, {item.value}));
  return with - floor.timeNs(computePs, smallestOutput[anchor] +
                                            floor.readBytes(anchor, {}));
}

void TimeBound::findSharing() {
  sharing.assign(problem.ops.size() + 1, {});
  for (size_t i = 0; i < written.size(); ++i) {
    if (written[i].apart || written[i].isSuperfluous())
      continue;
    for (OpId anchor : written[i].repeaters)
      sharing[anchor].push_back(i);
    if (!written[i].knowsRepeaters)
      sharing.back().push_back(i);
  }
}

/// Sets the times of first writing optional values. Readers that have no kernel
/// of their own are left out.
void TimeBound::addOptional() {
  for (size_t i = written.size(); i-- > 0;)
    eraseShares(written[i], [](const Written &reader) { return reader.apart; });
  findSharing();
  for (Written &item : written) {
    if (item.shares.empty())
      continue;
    item.elsewhereNs = elsewhere(item, none);
    if (!item.writers.empty())
      item.elsewhereNs = std::min(item.elsewhereNs, writeHereNs(item));
  }
}

/// Hands out to one reader, instead of its former share, the time left of the
/// first writing of optional values.
void TimeBound::shareAmong(OpId anchor, ValueId reader,
                           const std::vector<Share *> &shares,
                           std::vector<int64_t> &left) {
  std::vector<int64_t> budget(problem.values.size(), 0);
  std::map<ValueId, Share *> shareOf;
  for (Share *share : shares) {
    int64_t ns = nsOf(problem, share->bytes);
    left[share->read] += ns;
    written[writtenIndex[share->read]].creditNs -= ns;
    share->bytes = 0;
    shareOf[share->read] = share;
    budget[share->read] = left[share->read];
  }
  spread(anchor, reader, false, budget, [&](ValueId value, int64_t bytes) {
    int64_t ns = nsOf(problem, bytes);
    shareOf[value]->bytes = bytes;
    left[value] -= ns;
    written[writtenIndex[value]].creditNs += ns;
  });
}

/// Hands out the time of first writing each optional value to its readers,
/// reader by reader. The time left goes to the first writing of values computed
/// from these, which then takes more.
void TimeBound::shareWrites() {
  addOptional();
  std::map<std::pair<OpId, ValueId>, std::vector<Share *>> readers;
  std::vector<int64_t> left(problem.values.size(), 0);
  for (Written &item : written)
    for (Share &share : item.shares) {
      readers[{share.anchor, share.written}].push_back(&share);
      share.bytes = 0;
      left[item.value] = item.elsewhereNs;
    }
  auto shareWith = [&](bool isOptional) {
    for (auto &[reader, shares] : readers) {
      auto [anchor, value] = reader;
      if (isOptional !=
          (anchor == none && written[writtenIndex[value]].isOptional))
        continue;
      shareAmong(anchor, value, shares, left);
      if (!isOptional)
        continue;
      Written &item = written[writtenIndex[value]];
      int64_t ns = elsewhere(item, value);
      left[value] += ns - item.elsewhereNs;
      item.elsewhereNs = ns;
    }
  };
  for (bool isOptional : {false, true, false})
    shareWith(isOptional);
  for (Written &item : written)
    if (item.creditNs == 0)
      item.shares.clear();
  isShared = true;
  findSharing();
}
