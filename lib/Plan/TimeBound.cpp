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
  findWriters();
  for (Written &item : written)
    findRepeaters(item);
  chooseApart();
  addElsewhere();
  addKernels();
}

/// Whether \p op reads \p value only element by element.
bool TimeBound::isOneToOne(OpId op, ValueId value) const {
  for (const Read &read : problem.ops[op].reads)
    if (read.value == value && read.access != Access::Pointwise &&
        read.access != Access::Reshape && read.access != Access::Permute)
      return false;
  return true;
}

/// Bytes that serve all who need a value in memory, readers first: the value,
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
      if (!isResult && graph.isView(value))
        throughViews[problem.ops[op].reads.front().value] += bytes;
      else if (bytes > 0)
        written.push_back({value,
                           bytes,
                           isResult ? v.bytes : smallest[value],
                           isResult ? v.elements : fewest[value],
                           {},
                           {},
                           {},
                           {},
                           true,
                           false,
                           0});
    }
  }
  std::reverse(written.begin(), written.end());
  writtenIndex.assign(numValues, none);
  for (size_t i = 0; i < written.size(); ++i)
    writtenIndex[written[i].value] = static_cast<int32_t>(i);
}

/// Marks the ops that depend on \p anchor, and those that do so through another
/// anchor: these are in no first kernel of it.
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

/// Adds to \p forms what is computed from them one to one, until there are
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

/// The first kernel of an anchor holds all between the anchor and what it
/// writes, as none of that has run before. Views take no time.
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

/// Walks back from a value to the anchors behind which it can be computed.
void TimeBound::findRepeaters(Written &item) {
  constexpr size_t most = 1024;
  std::vector<ValueId> reached = {item.value};
  isReached[item.value] = 1;
  for (size_t i = 0; i < reached.size() && reached.size() < most; ++i) {
    OpId op = problem.values[reached[i]].op;
    if (op == none)
      continue;
    const Op &o = problem.ops[op];
    if (isAnchor(o)) {
      if ((o.kind != OpKind::Opaque || i == 0) && !graph.once[op])
        item.repeaters.push_back(op);
      continue;
    }
    for (const Read &read : o.reads)
      if (!isReached[read.value] && isOneToOne(op, read.value)) {
        isReached[read.value] = 1;
        reached.push_back(read.value);
      }
  }
  for (ValueId value : reached)
    isReached[value] = 0;
  item.knowsRepeaters = reached.size() < most;
  std::sort(item.repeaters.begin(), item.repeaters.end());
  item.repeaters.erase(
      std::unique(item.repeaters.begin(), item.repeaters.end()),
      item.repeaters.end());
}

/// Whether no kernel, other than first kernels of anchors, can write both:
/// their shapes differ, nobody needs a view of them instead, and no anchor
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

/// Chooses values of which no two are first written by one kernel: one depends
/// on an op that needs the other in memory, or no kernel can write both. Those
/// come first that add most; what a first kernel may write adds nothing.
void TimeBound::chooseApart() {
  constexpr size_t most = 4096;
  size_t numOps = problem.ops.size(), words = (written.size() + 63) / 64;
  // Per op: written values that have to stand in memory before it runs.
  std::vector<std::vector<uint64_t>> before(numOps);
  seenThroughViews.assign(problem.values.size(), 0);
  for (size_t op = 0; op < numOps; ++op) {
    if (!graph.live[op])
      continue;
    before[op].assign(words, 0);
    const Op &o = problem.ops[op];
    for (const Read &read : o.reads) {
      if (OpId producer = problem.values[read.value].op; producer != none)
        for (size_t word = 0; word < words; ++word)
          before[op][word] |= before[producer][word];
      if (read.need == Need::Inline && o.kind != OpKind::Opaque)
        continue;
      // A result on the way may be written without what it is a view of.
      ValueId value = read.value;
      bool isSure = true;
      while (graph.isView(value)) {
        isSure &= problem.values[value].home != Home::Result;
        value = problem.ops[problem.values[value].op].reads.front().value;
        seenThroughViews[value] = 1;
      }
      if (int32_t index = writtenIndex[value]; index != none && isSure)
        before[op][index / 64] |= uint64_t{1} << index % 64,
            written[index].readers.push_back(static_cast<OpId>(op));
    }
  }
  auto waits = [&](size_t later, size_t earlier) {
    OpId op = problem.values[written[later].value].op;
    return (before[op][earlier / 64] >> earlier % 64 & 1) != 0;
  };
  std::vector<size_t> order, chosen;
  std::vector<int64_t> gain;
  for (const Written &item : written)
    gain.push_back(item.writers.empty() ? floor.readBytes(none, {item.value})
                                        : 0);
  for (size_t i = 0; i < written.size(); ++i)
    if (!isAnchor(problem.ops[problem.values[written[i].value].op]))
      order.push_back(i);
  std::stable_sort(order.begin(), order.end(), [&](size_t left, size_t right) {
    return gain[left] > gain[right];
  });
  order.resize(std::min(order.size(), most));
  for (size_t i : order) {
    written[i].apart =
        std::all_of(chosen.begin(), chosen.end(), [&](size_t other) {
          return waits(i, other) || waits(other, i) ||
                 neverTogether(written[i], written[other]);
        });
    if (written[i].apart)
      chosen.push_back(i);
  }
}

/// What is written by no first kernel of an anchor pays its bytes; one value
/// of each kernel pays the launch and what the kernel reads as well, and the
/// arithmetic of an anchor that runs again if nothing else could hide in it.
void TimeBound::addElsewhere() {
  std::vector<char> isShared(problem.ops.size(), 0);
  for (const Written &item : written)
    if (!item.apart)
      for (OpId anchor : item.repeaters)
        isShared[anchor] = 1;
  for (Written &item : written) {
    int64_t bytes = item.repeaters.empty() && item.knowsRepeaters
                        ? item.bytes
                        : std::min(item.bytes, item.epilogueBytes);
    if (!item.apart) {
      item.elsewhereNs = floor.moveNs(bytes);
      continue;
    }
    if (!item.knowsRepeaters) {
      item.elsewhereNs = floor.timeNs(0, bytes);
      continue;
    }
    item.elsewhereNs =
        floor.timeNs(0, item.bytes + floor.readBytes(none, {item.value}));
    for (OpId anchor : item.repeaters)
      item.elsewhereNs = std::min(
          item.elsewhereNs,
          floor.timeNs(isShared[anchor] ? 0 : problem.ops[anchor].computePs,
                       item.epilogueBytes +
                           floor.readBytes(anchor, {item.value})));
  }
}

/// Arithmetic between an anchor and what its first kernel writes: each op makes
/// at least the elements that one output has.
int64_t TimeBound::epiloguePs(const std::vector<const Written *> &items) const {
  std::map<OpId, int64_t> perOp;
  for (const Written *item : items)
    for (OpId id : item->epilogue) {
      const Op &op = problem.ops[id];
      int64_t elements = 1;
      for (ValueId result : op.results)
        elements = std::max(elements, problem.values[result].elements);
      Wide ps = Wide(op.computePs) *
                std::min(item->epilogueElements, elements) / elements;
      perOp[id] = std::max(perOp[id], static_cast<int64_t>(ps));
    }
  int64_t sum = 0;
  for (auto [id, ps] : perOp)
    sum += std::min(ps, INT64_MAX / 64 - sum);
  return sum;
}

/// The least time of the first kernel of \p anchor and of the writing of
/// \p mine, over all ways to write some of them there.
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
      } else {
        ns += mine[i]->elsewhereNs;
      }
    if (ns >= best)
      continue;
    bytes = std::max(bytes, smallestOutput[anchor]) +
            floor.readBytes(anchor, outputs);
    int64_t computePs = problem.ops[anchor].computePs + epiloguePs(items);
    best = std::min(best, ns + floor.timeNs(computePs, bytes));
  }
  return best;
}

void TimeBound::addKernels() {
  constexpr size_t mostChoices = 4;
  std::vector<std::vector<const Written *>> mine(problem.ops.size());
  for (const Written &item : written) {
    if (item.writers.empty()) {
      total += item.elsewhereNs;
    } else if (item.writers.size() == 1) {
      auto &list = mine[item.writers.front()];
      if (list.size() < mostChoices)
        list.push_back(&item);
    }
  }
  savedBehind.assign(problem.ops.size(), 0);
  kernel.assign(problem.ops.size(), 0);
  for (size_t op = 0; op < problem.ops.size(); ++op) {
    if (!graph.live[op] || !isAnchor(problem.ops[op]))
      continue;
    OpId anchor = static_cast<OpId>(op);
    int64_t least = cheapest(anchor, mine[op]);
    total += least;
    if (!mine[op].empty())
      savedBehind[op] = least - cheapest(anchor, {});
    kernel[op] = floor.timeNs(problem.ops[op].computePs,
                              smallestAgain[op] + floor.readBytes(anchor, {}));
  }
}

/// An anchor that runs again may write what is charged to others, but not what
/// stood in memory before, and of values that are apart one: only what its
/// kernel takes beyond that is a cost of its own.
std::vector<int64_t>
TimeBound::repeatNs(const std::function<bool(OpId)> &hasRun) const {
  std::vector<int64_t> ns = kernel, apart(ns.size(), 0);
  for (const Written &item : written) {
    if (item.writers.size() > 1 ||
        std::any_of(item.readers.begin(), item.readers.end(), hasRun))
      continue;
    if (!item.knowsRepeaters)
      return std::vector<int64_t>(ns.size(), 0);
    int64_t charge = item.elsewhereNs;
    if (item.writers.size() == 1)
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
