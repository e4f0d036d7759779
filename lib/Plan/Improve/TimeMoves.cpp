//===- TimeMoves.cpp - Moves that save time -------------------------------===//

#include "Plan/Improve/TimeMoves.h"

#include "Plan/Model/Work.h"

#include "Plan/Model/PlanEdit.h"

#include <algorithm>
#include <map>
#include <set>

using namespace ckpt::plan;

TimeMoves::TimeMoves(const Problem &problem, const PlanState &state,
                     KernelCache &kernels)
    : problem(problem), state(state), kernels(kernels),
      onlyReader(problem.values.size(), none) {
  std::vector<int32_t> count(problem.values.size(), 0);
  for (size_t op = 0; op < problem.ops.size(); ++op)
    for (const Read &read : problem.ops[op].reads)
      onlyReader[read.value] =
          count[read.value]++ == 0 ? static_cast<OpId>(op) : none;
}

void TimeMoves::measure() {
  inside.assign(problem.values.size(), {});
  for (int32_t place = 0; place < state.size(); ++place) {
    const Kernel &kernel = state.kernel(place);
    for (OpId op : kernel.ops)
      for (ValueId value : problem.ops[op].results)
        if (std::find(kernel.outputs.begin(), kernel.outputs.end(), value) ==
            kernel.outputs.end())
          inside[value].push_back(place);
  }
}

/// Takes \p values out of a kernel, which then reads them from memory, as far
/// as it computes them and writes no result of their ops. Sets the time of the
/// remaining kernel; false if there are none.
bool TimeMoves::reduce(Kernel &kernel, const std::vector<ValueId> &values,
                       int64_t &ns) const {
  size_t before = kernel.ops.size();
  for (ValueId value : values) {
    const OpId op = problem.values[value].op;
    auto found = std::lower_bound(kernel.ops.begin(), kernel.ops.end(), op);
    bool isWritten = std::any_of(
        kernel.outputs.begin(), kernel.outputs.end(),
        [&](ValueId output) { return problem.values[output].op == op; });
    if (found != kernel.ops.end() && *found == op && !isWritten)
      kernel.ops.erase(found);
  }
  if (kernel.ops.size() == before)
    return false;
  trim(kernel);
  ns = timeOf(kernel);
  return ns >= 0;
}

Kernel TimeMoves::join(Kernel kernel, const Kernel &inner) {
  kernel.ops.insert(kernel.ops.end(), inner.ops.begin(), inner.ops.end());
  std::sort(kernel.ops.begin(), kernel.ops.end());
  kernel.ops.erase(std::unique(kernel.ops.begin(), kernel.ops.end()),
                   kernel.ops.end());
  return kernel;
}

/// The last place before \p end that writes an operand of \p kernel, or `none`.
int32_t TimeMoves::sourceOf(const Kernel &kernel, int32_t end) const {
  int32_t last = none;
  for (ValueId read : kernels.get(kernel).memoryReads)
    last = std::max(last, state.lifeAt(read, end).place);
  return last;
}

void TimeMoves::trim(Kernel &kernel) const {
  counted += kernel.ops.size();
  Work::spend(50 * static_cast<int64_t>(kernel.ops.size()));
  trimOps(problem, kernel);
}

/// Lets \p change write the output of \p writer before \p place: along with its
/// source (the derivative of an activation, behind the product that makes its
/// argument), or by a kernel of its own. False if no kernel can.
bool TimeMoves::write(Kernel writer, int32_t place, TimeMove &change) const {
  int64_t ns = timeOf(writer);
  if (ns < 0)
    return false;
  if (int32_t source = sourceOf(writer, place); source != none) {
    Kernel joined = join(state.kernel(source), writer);
    joined.outputs.push_back(writer.outputs.front());
    int64_t more = timeOf(joined) - state.info(source).timeNs;
    if (timeOf(joined) >= 0 && more < ns) {
      change.savedNs -= more;
      change.edit.replaced.emplace_back(source, std::move(joined));
      return true;
    }
  }
  change.savedNs -= ns;
  change.edit.inserted.emplace_back(place, std::move(writer));
  return true;
}

/// Lets the kernels from number \p first of the ones that compute \p value
/// inside read it instead. If no kernel wrote it by then, a kernel before them
/// does.
TimeMove TimeMoves::share(ValueId value, size_t first) const {
  TimeMove change;
  const std::vector<int32_t> &users = inside[value];
  if (!state.lifeAt(value, users[first])) {
    Kernel writer = state.kernel(users[first]);
    writer.outputs = {value};
    trim(writer);
    if (!write(std::move(writer), users[first], change))
      return TimeMove();
  }
  for (size_t i = first; i < users.size(); ++i) {
    Kernel kernel = state.kernel(users[i]);
    int64_t ns = 0, before = state.info(users[i]).timeNs;
    if (!reduce(kernel, {value}, ns) || ns > before)
      continue;
    change.savedNs += before - ns;
    change.edit.replaced.emplace_back(users[i], std::move(kernel));
  }
  return change;
}

/// True if \p value has one consumer, its result is no larger, and every kernel
/// that inlines \p value inlines that result: sharing the result saves more.
bool TimeMoves::isLink(ValueId value) const {
  OpId reader = onlyReader[value];
  if (reader == none || problem.ops[reader].kind != OpKind::Fusible ||
      problem.ops[reader].results.size() != 1)
    return false;
  ValueId next = problem.ops[reader].results[0];
  const Value &made = problem.values[next];
  return made.home == Home::Arena && made.keep == Keep::Free &&
         made.elements == problem.values[value].elements &&
         made.bytes <= problem.values[value].bytes &&
         inside[next] == inside[value];
}

void TimeMoves::findShares(ValueId value,
                           std::vector<TimeMove> &changes) const {
  constexpr size_t mostStarts = 4;
  const Value &v = problem.values[value];
  if (v.op == none || problem.ops[v.op].kind != OpKind::Fusible ||
      problem.ops[v.op].results.size() != 1 || v.home != Home::Arena ||
      v.keep != Keep::Free || isLink(value))
    return;
  TimeMove best;
  for (size_t first = 0; first < std::min(inside[value].size(), mostStarts);
       ++first)
    if (TimeMove change = share(value, first); change.savedNs > best.savedNs)
      best = std::move(change);
  if (best.savedNs > 0)
    changes.push_back(std::move(best));
}

/// The kernel before \p place that computes inside the most of its ops, or
/// `none`.
int32_t TimeMoves::sharerOf(int32_t place) const {
  std::map<int32_t, int32_t> shared;
  for (OpId op : state.kernel(place).ops) {
    const std::vector<ValueId> &results = problem.ops[op].results;
    if (results.empty())
      continue;
    const std::vector<int32_t> &users = inside[results.front()];
    auto user = std::lower_bound(users.begin(), users.end(), place);
    if (user != users.begin())
      ++shared[*std::prev(user)];
  }
  counted += state.kernel(place).ops.size();
  auto most = std::max_element(
      shared.begin(), shared.end(),
      [](const auto &a, const auto &b) { return a.second < b.second; });
  return most == shared.end() ? none : most->first;
}

/// The values that ops of \p reader alone read and both kernels compute inside;
/// empty if one of them must not stand in memory.
std::vector<ValueId> TimeMoves::borderOf(const Kernel &writer,
                                         const Kernel &reader) const {
  auto has = [](const Kernel &kernel, OpId op) {
    return std::binary_search(kernel.ops.begin(), kernel.ops.end(), op);
  };
  std::vector<ValueId> border;
  for (OpId op : reader.ops) {
    if (has(writer, op))
      continue;
    for (const Read &read : problem.ops[op].reads) {
      ValueId value = read.value;
      auto isOf = [&](OpKind kind) {
        OpId maker = problem.values[value].op;
        return maker != none && problem.ops[maker].kind == kind &&
               has(writer, maker) && has(reader, maker);
      };
      while (isOf(OpKind::View))
        value = problem.ops[problem.values[value].op].reads.front().value;
      const Value &v = problem.values[value];
      if (!isOf(OpKind::Fusible) || problem.ops[v.op].reads.empty())
        continue;
      if (v.home != Home::Arena || v.keep != Keep::Free)
        return {};
      if (std::find(border.begin(), border.end(), value) == border.end())
        border.push_back(value);
    }
  }
  return border;
}

/// A kernel writes all values that it has in common with the rest of the kernel
/// at \p place and those after it. Where a recurrence reads its last two
/// values, each kernel may compute all of them from the start: one of the two
/// in memory saves nothing.
void TimeMoves::findBorder(int32_t place,
                           std::vector<TimeMove> &changes) const {
  constexpr size_t mostValues = 4;
  int32_t from = sharerOf(place);
  if (from == none)
    return;
  Kernel writer = state.kernel(from);
  std::vector<ValueId> border = borderOf(writer, state.kernel(place));
  if (border.size() < 2 || border.size() > mostValues)
    return;
  std::set<int32_t> users;
  for (ValueId value : border) {
    writer.outputs.push_back(value);
    users.insert(inside[value].begin(), inside[value].end());
  }
  int64_t ns = timeOf(writer);
  if (ns < 0)
    return;
  TimeMove change;
  change.savedNs = state.info(from).timeNs - ns;
  change.edit.replaced.emplace_back(from, std::move(writer));
  for (auto user = users.upper_bound(from); user != users.end(); ++user) {
    Kernel kernel = state.kernel(*user);
    int64_t before = state.info(*user).timeNs;
    if (!reduce(kernel, border, ns) || ns > before)
      continue;
    change.savedNs += before - ns;
    change.edit.replaced.emplace_back(*user, std::move(kernel));
  }
  if (change.savedNs > 0)
    changes.push_back(std::move(change));
}

/// Lets \p rest run in place of the kernel at \p place, or nothing if it has no
/// outputs.
void TimeMoves::leave(int32_t place, Kernel rest, TimeMove &change) const {
  change.savedNs += state.info(place).timeNs;
  if (rest.outputs.empty()) {
    rest.ops.clear();
  } else {
    trim(rest);
    change.savedNs -= timeOf(rest);
  }
  change.edit.replaced.emplace_back(place, std::move(rest));
}

/// A kernel that writes only \p life, as its kernel does.
Kernel TimeMoves::only(const Life &life) const {
  Kernel kernel = state.kernel(life.place);
  kernel.outputs = {life.value};
  trim(kernel);
  return kernel;
}

/// Takes \p values out of the outputs of kernel \p from and sets the ops that
/// make them. An anchor stays: the kernel then writes its result.
TimeMove TimeMoves::unwrite(int32_t from, const std::vector<ValueId> &values,
                            Kernel &inner) const {
  Kernel left = state.kernel(from);
  auto has = [](auto &list, auto item) {
    return std::find(list.begin(), list.end(), item) != list.end();
  };
  left.outputs.erase(std::remove_if(left.outputs.begin(), left.outputs.end(),
                                    [&](ValueId v) { return has(values, v); }),
                     left.outputs.end());
  std::vector<ValueId> work = values;
  for (size_t i = 0; i < work.size(); ++i) {
    OpId op = problem.values[work[i]].op;
    if (isAnchor(problem.ops[op])) {
      left.outputs.push_back(work[i]);
      continue;
    }
    if (!has(inner.ops, op))
      inner.ops.push_back(op);
    for (const Read &read : problem.ops[op].reads)
      if (std::binary_search(left.ops.begin(), left.ops.end(),
                             problem.values[read.value].op) &&
          !has(left.outputs, read.value) && !has(work, read.value))
        work.push_back(read.value);
  }
  TimeMove change;
  leave(from, std::move(left), change);
  return change;
}

/// Computes \p values, which kernel \p from writes, inside all \p readers.
void TimeMoves::findInline(int32_t from, const std::vector<ValueId> &values,
                           const std::vector<int32_t> &readers,
                           std::vector<TimeMove> &changes) const {
  Kernel inner;
  TimeMove change = unwrite(from, values, inner);
  const Kernel &left = change.edit.replaced.front().second;
  if (!left.ops.empty() && timeOf(left) < 0)
    return;
  for (int32_t reader : readers) {
    Kernel joined = join(state.kernel(reader), inner);
    trim(joined);
    int64_t ns = timeOf(joined);
    if (ns < 0)
      return;
    change.savedNs += state.info(reader).timeNs - ns;
    change.edit.replaced.emplace_back(reader, std::move(joined));
  }
  if (change.savedNs > 0)
    changes.push_back(std::move(change));
}

/// Computes outputs of the kernel at \p from inside their readers: each value
/// by itself, and all values that one kernel alone reads (products with values
/// read again there), as each of them may save nothing without the others.
void TimeMoves::findInlines(int32_t from,
                            std::vector<TimeMove> &changes) const {
  std::map<int32_t, std::vector<ValueId>> onlyIn;
  for (ValueId value : state.kernel(from).outputs) {
    const Value &v = problem.values[value];
    Life life = state.lifeFrom(value, from);
    if (isAnchor(problem.ops[v.op]) || v.home != Home::Arena ||
        life.numReads() == 0)
      continue;
    findInline(from, {value}, {life.firstRead, life.endOfReads}, changes);
    if (life.numReads() == 1)
      onlyIn[life.last()].push_back(value);
  }
  for (auto &[reader, values] : onlyIn)
    if (values.size() > 1)
      findInline(from, values, {reader}, changes);
}

/// Joins a kernel that holds an anchor and makes one value with the elementwise
/// one that alone reads it.
void TimeMoves::findSink(const Life &life,
                         std::vector<TimeMove> &changes) const {
  int32_t from = life.place, reader = life.last();
  if (state.info(reader).anchor != none || state.info(from).anchor == none ||
      state.kernel(from).outputs.size() != 1 ||
      problem.values[life.value].home == Home::Result || life.numReads() != 1)
    return;
  Kernel joined = join(state.kernel(reader), state.kernel(from));
  int64_t ns = timeOf(joined);
  TimeMove change;
  change.savedNs = state.info(from).timeNs + state.info(reader).timeNs - ns;
  if (ns < 0 || change.savedNs <= 0)
    return;
  change.edit.replaced.emplace_back(from, Kernel());
  change.edit.replaced.emplace_back(reader, std::move(joined));
  changes.push_back(std::move(change));
}

/// Whether no kernel up to \p until needs the outputs of \p reader, or that it
/// runs in its place.
bool TimeMoves::mayWait(int32_t reader, int32_t until) const {
  const Kernel &kernel = state.kernel(reader);
  return mayRepeat(problem, kernel) &&
         std::none_of(
             kernel.outputs.begin(), kernel.outputs.end(), [&](ValueId output) {
               const std::vector<int32_t> &reads = state.reads(output);
               auto next = std::upper_bound(reads.begin(), reads.end(), reader);
               return next != reads.end() && *next <= until;
             });
}

/// Whether the kernel at \p place has no anchor, neither reads nor writes \p
/// value, and reads one of \p inputs that is as large.
bool TimeMoves::mayJoin(int32_t place, const std::vector<ValueId> &inputs,
                        ValueId value) const {
  const std::vector<ValueId> &reads = state.info(place).memoryReads;
  const std::vector<ValueId> &outputs = state.kernel(place).outputs;
  return state.info(place).anchor == none &&
         !std::binary_search(reads.begin(), reads.end(), value) &&
         std::find(outputs.begin(), outputs.end(), value) == outputs.end() &&
         std::any_of(inputs.begin(), inputs.end(), [&](ValueId read) {
           return problem.values[read].bytes >= problem.values[value].bytes &&
                  std::binary_search(reads.begin(), reads.end(), read);
         });
}

/// Writes the output of a kernel without an anchor in a later one that reads
/// the same values: attention's probabilities, needed once more for a weight
/// gradient, in the kernel of the gradient of its scores. Their readers wait
/// until then.
void TimeMoves::findJoins(const Life &life,
                          std::vector<TimeMove> &changes) const {
  constexpr int64_t mostReaders = 2;
  constexpr int32_t farthest = 64;
  int32_t from = life.place;
  if (state.info(from).anchor != none || life.numReads() == 0 ||
      life.numReads() > mostReaders)
    return;
  Kernel inner = only(life), left = state.kernel(from);
  left.outputs.erase(
      std::find(left.outputs.begin(), left.outputs.end(), life.value));
  const std::vector<ValueId> &inputs = timeOf(inner) < 0
                                           ? state.info(from).memoryReads
                                           : kernels.get(inner).memoryReads;
  int32_t end = std::min(from + farthest, state.size());
  for (int32_t to = *life.firstRead + 1; to < end; ++to) {
    if (!mayJoin(to, inputs, life.value))
      continue;
    TimeMove change;
    leave(from, left, change);
    for (const int32_t *read = life.firstRead;
         read != life.endOfReads && *read < to; ++read) {
      if (!mayWait(*read, to))
        return;
      change.edit.move(*read, state.kernel(*read), to + 1);
    }
    Kernel joined = join(state.kernel(to), inner);
    joined.outputs.push_back(life.value);
    int64_t ns = timeOf(joined);
    change.savedNs += state.info(to).timeNs - ns;
    if (ns < 0 || change.savedNs <= 0)
      continue;
    change.edit.replaced.emplace_back(to, std::move(joined));
    changes.push_back(std::move(change));
    return;
  }
}

/// All moves but those of `findBorder`.
void TimeMoves::findOthers(Deadline deadline,
                           std::vector<TimeMove> &changes) const {
  auto isOver = [&] { return isSpent() || deadline.isOver(); };
  for (size_t value = 0; value < problem.values.size() && !isOver(); ++value)
    findShares(static_cast<ValueId>(value), changes);
  for (int32_t place = 0; place < state.size() && !isOver(); ++place)
    findParts(place, changes);
  for (int32_t place = 0; place < state.size() && !isOver(); ++place) {
    findInlines(place, changes);
    for (ValueId value : state.kernel(place).outputs) {
      Life life = state.lifeFrom(value, place);
      findSink(life, changes);
      findSpill(life, changes);
      findJoins(life, changes);
    }
  }
}

std::vector<TimeMove> TimeMoves::find(Deadline deadline) {
  auto isOver = [&] { return isSpent() || deadline.isOver(); };
  measure();
  Work::spend(200 * static_cast<int64_t>(state.size()) +
              20 * static_cast<int64_t>(problem.values.size()));
  std::vector<TimeMove> changes;
  for (int32_t place = 0; place < state.size() && !isOver(); ++place)
    findBorder(place, changes);
  // Kernels that grow along a recurrence make each look at them dear: other
  // moves wait until they are small.
  constexpr int64_t goodPart = 20;
  bool areLarge =
      std::any_of(changes.begin(), changes.end(), [&](const TimeMove &change) {
        return change.savedNs > state.timeNs() / goodPart;
      });
  if (!areLarge)
    findOthers(deadline, changes);
  std::stable_sort(changes.begin(), changes.end(),
                   [](const TimeMove &left, const TimeMove &right) {
                     return left.savedNs > right.savedNs;
                   });
  return changes;
}
