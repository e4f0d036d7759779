//===- FirstWrites.cpp - The values that plans must write -----------------===//
//
// Finds the values that every plan writes to memory, the anchors behind which
// each can be written, and values of which one kernel never first writes two,
// so that each of them has a kernel to be charged for. TimeBound calls it once
// per step.
//
//===----------------------------------------------------------------------===//

#include "Plan/Bounds/TimeBound.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <numeric>

using namespace ckpt::plan;

/// Sums of 64-bit figures.
__extension__ typedef __int128 Wide;

/// Whether \p op reads \p value only element by element.
bool TimeBound::isOneToOne(OpId op, ValueId value) const {
  for (const Read &read : problem.ops[op].reads)
    if (read.value == value && read.access != Access::Pointwise &&
        read.access != Access::Reshape && read.access != Access::Permute)
      return false;
  return true;
}

/// Bytes that serve all readers of a value in memory, readers first: the value,
/// or views of it that serve the same. A view that is a result is written
/// itself.
void TimeBound::findWritten() {
  size_t numValues = problem.values.size();
  std::vector<char> needed(numValues, 0);
  for (size_t op = 0; op < problem.ops.size(); ++op)
    if (graph.live[op])
      for (const Read &read : problem.ops[op].reads)
        if (read.need != Need::Inline || problem.ops[op].kind == OpKind::Opaque)
          needed[read.value] = 1;
  std::vector<int64_t> throughViews(numValues, 0), smallest(numValues, 0),
      fewest(numValues, 0);
  for (size_t op = problem.ops.size(); op-- > 0;) {
    if (!graph.live[op])
      continue;
    for (ValueId value : problem.ops[op].results) {
      const Value &v = problem.values[value];
      bool isResult = v.home == Home::Result;
      bool isWhole = needed[value] || isResult;
      int64_t bytes =
          isWhole ? v.bytes : std::min(v.bytes, throughViews[value]);
      smallest[value] = v.bytes;
      fewest[value] = v.elements;
      for (OpId user : graph.users[value])
        if (problem.ops[user].kind == OpKind::View) {
          ValueId view = problem.ops[user].results.front();
          smallest[value] = std::min(smallest[value], smallest[view]);
          fewest[value] = std::min(fewest[value], fewest[view]);
        }
      if (!isResult && graph.isView(value)) {
        throughViews[problem.ops[op].reads.front().value] += bytes;
      } else if (bytes > 0) {
        Written item;
        item.value = value;
        item.bytes = bytes;
        item.epilogueBytes = isResult ? v.bytes : smallest[value];
        item.epilogueElements = isResult ? v.elements : fewest[value];
        written.push_back(std::move(item));
      }
    }
  }
  std::reverse(written.begin(), written.end());
  writtenIndex.assign(numValues, none);
  for (size_t i = 0; i < written.size(); ++i)
    writtenIndex[written[i].value] = static_cast<int32_t>(i);
}

/// Marks the ops that depend on \p anchor, and the ops that do so through
/// another anchor: these are in no first kernel of it.
void TimeBound::findDependents(OpId anchor) {
  depends.assign(problem.ops.size(), 0);
  far.assign(problem.ops.size(), 0);
  depends[anchor] = 1;
  for (size_t user = anchor + 1; user < problem.ops.size(); ++user)
    for (const Read &read : problem.ops[user].reads)
      if (OpId producer = problem.values[read.value].op;
          producer != none && depends[producer]) {
        depends[user] = 1;
        far[user] |= far[producer] ||
                     (producer != anchor && isAnchor(problem.ops[producer]));
      }
}

/// Adds to \p forms the values computed from them one to one, until there are
/// \p most.
void TimeBound::follow(std::vector<ValueId> &forms, bool mayBeFar,
                       size_t most) {
  for (ValueId value : forms)
    isReached[value] = 1;
  for (size_t i = 0; i < forms.size() && forms.size() < most; ++i)
    for (OpId user : graph.users[forms[i]])
      if (!isAnchor(problem.ops[user]) && (mayBeFar || !far[user]) &&
          isOneToOne(user, forms[i]))
        for (ValueId value : problem.ops[user].results)
          if (!isReached[value]) {
            isReached[value] = 1;
            forms.push_back(value);
          }
  for (ValueId value : forms)
    isReached[value] = 0;
}

/// For every anchor, the values that its first kernel may write, and the
/// smallest that any of its kernels may.
void TimeBound::findWriters() {
  constexpr size_t mostForms = 256;
  smallestOutput.assign(problem.ops.size(), 0);
  smallestAgain.assign(problem.ops.size(), 0);
  for (size_t op = 0; op < problem.ops.size(); ++op) {
    const Op &anchor = problem.ops[op];
    if (!graph.live[op] || !isAnchor(anchor))
      continue;
    findDependents(static_cast<OpId>(op));
    std::vector<ValueId> forms = anchor.results;
    auto smallestForm = [&] {
      int64_t bytes = std::numeric_limits<int64_t>::max();
      for (ValueId value : forms)
        bytes = std::min(bytes, problem.values[value].bytes);
      return forms.empty() || anchor.hasEffects ? 0 : bytes;
    };
    if (anchor.kind != OpKind::Opaque)
      follow(forms, false, forms.max_size());
    smallestOutput[op] = smallestForm();
    for (ValueId value : forms)
      if (int32_t index = writtenIndex[value]; index != none) {
        Written &item = written[index];
        item.writers.push_back(static_cast<OpId>(op));
        if (item.writers.size() == 1)
          findEpilogue(item);
      }
    if (anchor.kind != OpKind::Opaque)
      follow(forms, true, mostForms);
    smallestAgain[op] = forms.size() < mostForms ? smallestForm() : 0;
  }
}

/// The first kernel of an anchor holds all ops between the anchor and its
/// outputs, as none of these has run before. Views take no time.
void TimeBound::findEpilogue(Written &item) {
  constexpr size_t most = 64;
  std::vector<OpId> &ops = item.epilogue;
  auto enter = [&](ValueId value) {
    OpId op = problem.values[value].op;
    if (op != none && op != item.writers.front() && depends[op] &&
        ops.size() < most && std::find(ops.begin(), ops.end(), op) == ops.end())
      ops.push_back(op);
  };
  enter(item.value);
  for (size_t i = 0; i < ops.size(); ++i)
    for (const Read &read : problem.ops[ops[i]].reads)
      enter(read.value);
}

/// Walks back from a value to the anchors behind which it can be computed: a
/// kernel that writes it holds all ops of one way at least.
void TimeBound::findRepeaters(Written &item) const {
  constexpr size_t most = 1024;
  // Latest ops first, so that all ways to one are known.
  std::map<OpId, int64_t, std::greater<>> reached;
  size_t count = 0;
  auto enter = [&](ValueId value, int64_t ps) {
    OpId op = problem.values[value].op;
    if (op == none)
      return;
    bool isKnown = reached.count(op);
    int64_t &least = reached[op];
    least = isKnown ? std::min(least, ps) : ps;
  };
  enter(item.value, 0);
  for (; !reached.empty() && count < most; ++count) {
    auto [op, ps] = *reached.begin();
    reached.erase(reached.begin());
    const Op &o = problem.ops[op];
    if (isAnchor(o)) {
      if ((o.kind != OpKind::Opaque || count == 0) && !graph.once[op]) {
        item.repeaters.push_back(op);
        item.repeaterPs.push_back(ps);
      }
      continue;
    }
    for (const Read &read : o.reads)
      if (isOneToOne(op, read.value))
        enter(read.value, std::min(ps + epiloguePs(op, item), INT64_MAX / 64));
  }
  item.knowsRepeaters = reached.empty();
  std::reverse(item.repeaters.begin(), item.repeaters.end());
  std::reverse(item.repeaterPs.begin(), item.repeaterPs.end());
}

/// Whether no kernel, other than first kernels of anchors, can write both:
/// their shapes differ, no reader needs a view of them instead, and no anchor
/// leads to both.
bool TimeBound::neverTogether(const Written &left, const Written &right) const {
  if (problem.values[left.value].shape == problem.values[right.value].shape ||
      seenThroughViews[left.value] || seenThroughViews[right.value] ||
      !left.knowsRepeaters || !right.knowsRepeaters)
    return false;
  return std::none_of(
      left.repeaters.begin(), left.repeaters.end(), [&](OpId anchor) {
        return std::binary_search(right.repeaters.begin(),
                                  right.repeaters.end(), anchor);
      });
}

/// Whether \p earlier was written before the first kernel that writes \p later,
/// or all its shares are used up by then. That kernel itself does not write its
/// own reads.
bool TimeBound::waits(const Written &later, const Written &earlier) const {
  const std::vector<uint64_t> &done = before[problem.values[later.value].op];
  auto has = [&](size_t bit) { return (done[bit / 64] >> bit % 64 & 1) != 0; };
  if (!earlier.isOptional)
    return has(writtenIndex[earlier.value]);
  return std::all_of(
      earlier.shares.begin(), earlier.shares.end(), [&](const Share &share) {
        if (share.anchor != none)
          return has(bitOf[share.anchor]);
        return share.written == later.value || has(writtenIndex[share.written]);
      });
}

/// Whether no kernel, other than first kernels of anchors, is the first to
/// write both.
bool TimeBound::areApart(const Written &left, const Written &right) const {
  return waits(left, right) || waits(right, left) || neverTogether(left, right);
}

/// One bit for each value that has to be written, and one for each anchor.
void TimeBound::numberEvents() {
  bitOf.assign(problem.ops.size(), 0);
  bits = written.size();
  for (size_t op = 0; op < problem.ops.size(); ++op)
    if (graph.live[op] && isAnchor(problem.ops[op]))
      bitOf[op] = ++bits;
  ++bits;
}

/// Enters that \p op needs a value in memory.
void TimeBound::enterRead(OpId op, const Read &read) {
  // A result on the way may be written without the value that it shows.
  ValueId value = read.value;
  bool isSure = true;
  while (graph.isView(value)) {
    isSure &= problem.values[value].home != Home::Result;
    value = problem.ops[problem.values[value].op].reads.front().value;
    seenThroughViews[value] = 1;
  }
  int32_t index = writtenIndex[value];
  if (index == none || !isSure)
    return;
  before[op][index / 64] |= uint64_t{1} << index % 64;
  written[index].readers.push_back(op);
}

void TimeBound::findBefore() {
  numberEvents();
  before.assign(problem.ops.size(), {});
  seenThroughViews.assign(problem.values.size(), 0);
  for (const Written &item : written)
    if (item.isOptional)
      for (OpId user : graph.users[item.value])
        seenThroughViews[item.value] |= problem.ops[user].kind == OpKind::View;
  for (size_t op = 0; op < problem.ops.size(); ++op) {
    if (!graph.live[op])
      continue;
    before[op].assign((bits + 63) / 64, 0);
    for (const Read &read : problem.ops[op].reads) {
      OpId producer = problem.values[read.value].op;
      if (producer != none) {
        for (size_t word = 0; word < before[op].size(); ++word)
          before[op][word] |= before[producer][word];
        if (size_t bit = bitOf[producer])
          before[op][bit / 64] |= uint64_t{1} << bit % 64;
      }
      if (read.need != Need::Inline || problem.ops[op].kind == OpKind::Opaque)
        enterRead(static_cast<OpId>(op), read);
    }
  }
}

/// The addition of each value if it is apart: a launch and the reads of its
/// kernel. A value that a first kernel may write adds nothing.
std::vector<int64_t> TimeBound::gainsApart() {
  std::vector<int64_t> gain(written.size(), 0);
  for (size_t i = 0; i < written.size(); ++i)
    if (written[i].writers.empty())
      gain[i] = floor.timeNs(0, floor.readBytes(none, {written[i].value}));
  return gain;
}

/// Takes from \p order each value that is apart from all chosen before.
std::vector<size_t> TimeBound::takeApart(std::vector<size_t> chosen,
                                         const std::vector<size_t> &order) {
  for (size_t i : order)
    if (std::all_of(chosen.begin(), chosen.end(), [&](size_t other) {
          return areApart(written[i], written[other]);
        }))
      chosen.push_back(i);
  return chosen;
}

/// Chooses values of which one kernel never first writes two: one depends on an
/// op that needs the other in memory, or no kernel can write both. Values that
/// must be written come first, in the better of two orders: by addition, and by
/// addition per excluded value.
void TimeBound::chooseApart() {
  constexpr size_t most = 2048;
  findBefore();
  std::vector<int64_t> gain = gainsApart();
  std::vector<size_t> needed, optional;
  for (size_t i = 0; i < written.size(); ++i)
    if (!isAnchor(problem.ops[problem.values[written[i].value].op]) &&
        !written[i].isSuperfluous())
      (written[i].isOptional ? optional : needed).push_back(i);
  std::vector<int64_t> weight = gain;
  auto sort = [&](std::vector<size_t> &order) {
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t left, size_t right) {
                       return weight[left] > weight[right];
                     });
    order.resize(std::min(order.size(), most));
  };
  sort(needed);
  sort(optional);
  std::vector<size_t> chosen = takeApart({}, needed);
  for (size_t i : needed)
    weight[i] /= 1 + std::count_if(needed.begin(), needed.end(), [&](size_t k) {
                   return !areApart(written[i], written[k]);
                 });
  sort(needed);
  std::vector<size_t> other = takeApart({}, needed);
  auto sum = [&](const std::vector<size_t> &taken) {
    return std::accumulate(
        taken.begin(), taken.end(), Wide(0),
        [&](Wide total, size_t i) { return total + gain[i]; });
  };
  if (sum(other) > sum(chosen))
    chosen = std::move(other);
  for (size_t i : takeApart(std::move(chosen), optional))
    written[i].apart = true;
}
