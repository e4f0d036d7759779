//===- ResultAliasing.cpp - Values in result buffers before the results ---===//
//
// A result's buffer belongs to the step from its start, but is written near the
// end. A value that only becomes that result, element by element, may lie there
// in the meantime: a gradient that is summed from two parts, one of them made
// long before the other, or one that an opaque op makes, such as the scatter of
// an embedding, with the zero that it adds to. XLA does this too. The gradient
// of a tied embedding of GPT-2 is 154 MB at the tightest moment of the step.
// Problem builders call it once.
//
//===----------------------------------------------------------------------===//

#include "Plan/Model/PlanEdit.h"
#include "ckpt/Plan/Kernel.h"

#include <algorithm>
#include <array>
#include <set>

using namespace ckpt::plan;

namespace {

/// The ops at which the uses of a value end, with no anchor between: results
/// and reductions such as a norm. Other uses, or more, are many.
struct Ends {
  static constexpr int most = 8;
  std::array<OpId, most> ops;
  int count = 0;
  bool areMany = false;

  void add(OpId op) {
    auto end = ops.begin() + count;
    if (std::find(ops.begin(), end, op) != end)
      return;
    areMany |= count == most;
    if (!areMany)
      ops[count++] = op;
  }
  void add(const Ends &others) {
    areMany |= others.areMany;
    for (int i = 0; i < others.count && !areMany; ++i)
      add(others.ops[i]);
  }
  bool isWithin(const Ends &others) const {
    auto end = others.ops.begin() + others.count;
    return !areMany &&
           std::all_of(ops.begin(), ops.begin() + count, [&](OpId op) {
             return std::find(others.ops.begin(), end, op) != end;
           });
  }
  OpId last() const {
    return areMany || count == 0
               ? static_cast<OpId>(none)
               : *std::max_element(ops.begin(), ops.begin() + count);
  }
};

/// Per value.
std::vector<Ends> findEnds(const Problem &problem) {
  std::vector<Ends> ends(problem.values.size());
  for (size_t id = problem.ops.size(); id-- > 0;) {
    const Op &op = problem.ops[id];
    Ends own;
    if (op.results.size() != 1 || !op.mayRepeat) {
      own.areMany = true;
    } else if (isAnchor(op)) {
      own.add(static_cast<OpId>(id));
      own.areMany = op.kind != OpKind::Reduction;
    } else {
      if (problem.values[op.results[0]].home == Home::Result)
        own.add(static_cast<OpId>(id));
      own.add(ends[op.results[0]]);
    }
    for (const Read &read : op.reads)
      ends[read.value].add(own);
  }
  return ends;
}

/// Per op: the last anchor that it has to wait for.
std::vector<OpId> lastAnchors(const Problem &problem) {
  std::vector<OpId> last(problem.ops.size(), none);
  for (size_t id = 0; id < problem.ops.size(); ++id) {
    for (const Read &read : problem.ops[id].reads)
      if (OpId maker = problem.values[read.value].op; maker != none)
        last[id] = std::max(last[id], last[maker]);
    if (isAnchor(problem.ops[id]))
      last[id] = static_cast<OpId>(id);
  }
  return last;
}

/// The op that alone reads a value, or `none` if there are several.
std::vector<OpId> onlyUsers(const Problem &problem) {
  constexpr OpId unread = -2;
  std::vector<OpId> only(problem.values.size(), unread);
  for (size_t id = 0; id < problem.ops.size(); ++id)
    for (const Read &read : problem.ops[id].reads)
      only[read.value] = only[read.value] == unread ? static_cast<OpId>(id)
                                                    : static_cast<OpId>(none);
  std::replace(only.begin(), only.end(), unread, static_cast<OpId>(none));
  return only;
}

class Hosting {
public:
  explicit Hosting(Problem &problem)
      : problem(problem), ends(findEnds(problem)),
        lastAnchor(lastAnchors(problem)), onlyUser(onlyUsers(problem)) {}
  void host(ValueId result);

private:
  Kernel kernelTo(const Ends &some) const;
  Ends allEnds(ValueId result) const;
  ValueId firstGuest(ValueId result, const Ends &some) const;
  bool mayWait(ValueId value, ValueId result, const Ends &some) const;
  bool isOverwritten(ValueId value, Kernel kernel, ValueId result) const;
  bool mayReplace(ValueId part, ValueId sum) const;
  ValueId nextSum(ValueId part, ValueId result) const;
  ValueId overwrittenBy(ValueId guest) const;

  Problem &problem;
  const std::vector<Ends> ends;
  const std::vector<OpId> lastAnchor;
  const std::vector<OpId> onlyUser;
};

} // namespace

/// Writes the results among \p some, with all inside that ends there only.
Kernel Hosting::kernelTo(const Ends &some) const {
  Kernel kernel;
  std::set<OpId> inside;
  std::vector<OpId> work;
  for (int i = 0; i < some.count; ++i)
    if (OpId op = some.ops[i]; !isAnchor(problem.ops[op])) {
      kernel.outputs.push_back(problem.ops[op].results[0]);
      inside.insert(op);
      work.push_back(op);
    }
  while (!work.empty()) {
    OpId op = work.back();
    work.pop_back();
    for (const Read &read : problem.ops[op].reads) {
      OpId id = problem.values[read.value].op;
      if (id == none)
        continue;
      const Op &maker = problem.ops[id];
      bool isPart = !isAnchor(maker) && maker.results.size() == 1 &&
                    maker.mayRepeat && ends[read.value].isWithin(some);
      if (isPart && inside.insert(id).second)
        work.push_back(id);
    }
  }
  kernel.ops.assign(inside.begin(), inside.end());
  return kernel;
}

/// The ends of all values, as large as \p result, of which it is the last
/// consumer; not of values that wait for nothing, such as a learning rate.
Ends Hosting::allEnds(ValueId result) const {
  OpId last = problem.values[result].op;
  Ends all;
  all.add(last);
  auto isPart = [&](ValueId read) {
    OpId maker = problem.values[read].op;
    return maker != none && lastAnchor[maker] != none &&
           problem.values[read].elements == problem.values[result].elements &&
           ends[read].last() == last;
  };
  for (int before = 0; before < all.count && !all.areMany;) {
    before = all.count;
    for (ValueId read : analyze(problem, kernelTo(all)).memoryReads)
      if (isPart(read))
        all.add(ends[read]);
  }
  return all;
}

/// Whether \p value may lie in the buffer of \p result until that is written.
bool Hosting::mayWait(ValueId value, ValueId result, const Ends &some) const {
  const Value &v = problem.values[value], &host = problem.values[result];
  return v.home == Home::Arena && v.keep == Keep::Free && v.op != none &&
         problem.ops[v.op].kind != OpKind::View && lastAnchor[v.op] != none &&
         v.bytes == host.bytes && v.elements == host.elements &&
         ends[value].isWithin(some) && ends[value].last() == host.op;
}

/// Whether \p kernel could write \p result over \p value, made beforehand.
bool Hosting::isOverwritten(ValueId value, Kernel kernel,
                            ValueId result) const {
  auto maker =
      std::find(kernel.ops.begin(), kernel.ops.end(), problem.values[value].op);
  if (maker != kernel.ops.end())
    kernel.ops.erase(maker);
  trimOps(problem, kernel);
  KernelInfo info = analyze(problem, kernel);
  return std::any_of(
      info.inPlace.begin(), info.inPlace.end(), [&](const InPlacePair &pair) {
        return pair.input == value && kernel.outputs[pair.output] == result;
      });
}

/// The oldest value that the results among \p some come from and that stands in
/// memory before them: it waits for something else they come from, or an opaque
/// op makes it.
ValueId Hosting::firstGuest(ValueId result, const Ends &some) const {
  constexpr int mostTries = 16;
  Kernel kernel = kernelTo(some);
  KernelInfo info = analyze(problem, kernel);
  std::vector<ValueId> values = info.memoryReads;
  OpId youngest = none;
  for (ValueId read : info.memoryReads)
    if (OpId maker = problem.values[read].op; maker != none)
      youngest = std::max(youngest, lastAnchor[maker]);
  for (OpId op : kernel.ops)
    values.push_back(problem.ops[op].results[0]);
  auto isMadeWithResult = [&](ValueId value) {
    OpId maker = problem.values[value].op;
    return lastAnchor[maker] >= youngest &&
           problem.ops[maker].kind != OpKind::Opaque;
  };
  values.erase(std::remove_if(values.begin(), values.end(),
                              [&](ValueId value) {
                                return !mayWait(value, result, some) ||
                                       isMadeWithResult(value);
                              }),
               values.end());
  std::sort(values.begin(), values.end(), [&](ValueId left, ValueId right) {
    return problem.values[left].op < problem.values[right].op;
  });
  if (values.size() > mostTries)
    values.resize(mostTries);
  auto found = std::find_if(values.begin(), values.end(), [&](ValueId value) {
    return isOverwritten(value, kernel, result);
  });
  return found == values.end() ? static_cast<ValueId>(none) : *found;
}

/// Whether \p sum, made by an op with one result, may be written over \p part,
/// and \p part has no other reader.
bool Hosting::mayReplace(ValueId part, ValueId sum) const {
  const Value &from = problem.values[part], &to = problem.values[sum];
  const Op &op = problem.ops[to.op];
  bool may = problem.takesOver && onlyUser[part] == to.op &&
             op.kind == OpKind::Fusible && op.results.size() == 1 &&
             from.home == Home::Arena && from.keep == Keep::Free &&
             from.bytes == to.bytes && from.elements == to.elements;
  for (const Read &read : op.reads)
    may &= read.value != part || read.access == Access::Pointwise;
  return may;
}

/// The value that \p part becomes, if it waits for less than \p result does.
ValueId Hosting::nextSum(ValueId part, ValueId result) const {
  OpId user = onlyUser[part];
  if (user == none || lastAnchor[user] >= lastAnchor[problem.values[result].op])
    return none;
  ValueId sum = problem.ops[user].results.front();
  const Value &value = problem.values[sum];
  bool isFree = value.home == Home::Arena && value.keep == Keep::Free;
  return isFree && mayReplace(part, sum) ? sum : static_cast<ValueId>(none);
}

/// The destination over which an opaque op writes \p guest, if that op alone
/// reads it: the zero of a scatter that adds.
ValueId Hosting::overwrittenBy(ValueId guest) const {
  const Value &value = problem.values[guest];
  const Op &maker = problem.ops[value.op];
  if (maker.kind != OpKind::Opaque || maker.results.front() != guest)
    return none;
  // The first destination belongs to the first result.
  auto read = std::find_if(maker.reads.begin(), maker.reads.end(),
                           [](const Read &read) { return read.destination; });
  if (read == maker.reads.end() || onlyUser[read->value] != value.op)
    return none;
  const Value &from = problem.values[read->value];
  bool isOverwritten = from.home == Home::Arena && from.keep == Keep::Free &&
                       problem.ops[from.op].kind != OpKind::View &&
                       from.bytes == value.bytes &&
                       from.elements == value.elements;
  return isOverwritten ? read->value : static_cast<ValueId>(none);
}

/// A value that becomes this result alone is most often a part of it; next come
/// the values that become several results, of which it is the last.
void Hosting::host(ValueId result) {
  OpId op = problem.values[result].op;
  if (isAnchor(problem.ops[op]) || problem.ops[op].results.size() != 1 ||
      !problem.ops[op].mayRepeat)
    return;
  Ends alone;
  alone.add(op);
  ValueId guest = firstGuest(result, alone);
  if (guest == none)
    if (Ends all = allEnds(result); !all.areMany && all.count > 1)
      guest = firstGuest(result, all);
  auto hostOne = [&](ValueId value) {
    problem.values[value].home = Home::Hosted;
    problem.values[value].host = result;
  };
  if (guest != none)
    for (ValueId before = overwrittenBy(guest); before != none;
         before = overwrittenBy(before))
      hostOne(before);
  while (guest != none) {
    ValueId next = nextSum(guest, result);
    hostOne(guest);
    guest = next;
  }
}

void ckpt::plan::hostInResults(Problem &problem) {
  Hosting hosting(problem);
  for (size_t value = 0; value < problem.values.size(); ++value)
    if (problem.values[value].home == Home::Result &&
        problem.values[value].host == none)
      hosting.host(static_cast<ValueId>(value));
}
