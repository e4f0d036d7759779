//===- TimeMoves.cpp - Moves that save time -------------------------------===//

#include "Plan/Improve/TimeMoves.h"

#include "Plan/Model/Work.h"

#include "Plan/Model/PlanEdit.h"

#include <algorithm>
#include <map>

using namespace ckpt::plan;

TimeMoves::TimeMoves(const Problem &problem, const Plan &plan,
                     KernelCache &kernels)
    : problem(problem), plan(plan), kernels(kernels),
      onlyReader(problem.values.size(), none) {
  std::vector<int32_t> count(problem.values.size(), 0);
  for (size_t op = 0; op < problem.ops.size(); ++op)
    for (const Read &read : problem.ops[op].reads)
      onlyReader[read.value] =
          count[read.value]++ == 0 ? static_cast<OpId>(op) : none;
}

void TimeMoves::measure() {
  infos.clear();
  inside.assign(problem.values.size(), {});
  writers.assign(problem.values.size(), {});
  readers.assign(problem.values.size(), {});
  for (size_t k = 0; k < plan.kernels.size(); ++k) {
    const Kernel &kernel = plan.kernels[k];
    infos.push_back(&kernels.get(kernel));
    for (ValueId value : infos[k]->memoryReads)
      readers[value].push_back(k);
    for (OpId op : kernel.ops)
      for (ValueId value : problem.ops[op].results) {
        bool written = std::find(kernel.outputs.begin(), kernel.outputs.end(),
                                 value) != kernel.outputs.end();
        (written ? writers : inside)[value].push_back(k);
      }
  }
}

/// Takes \p value out of a kernel, which then reads it from memory. Sets the
/// time of the remaining kernel.
bool TimeMoves::reduce(Kernel &kernel, ValueId value, int64_t &ns) const {
  const OpId op = problem.values[value].op;
  auto found = std::find(kernel.ops.begin(), kernel.ops.end(), op);
  // The op may have another result, which the kernel writes.
  bool isWritten = std::any_of(
      kernel.outputs.begin(), kernel.outputs.end(),
      [&](ValueId output) { return problem.values[output].op == op; });
  if (found == kernel.ops.end() || isWritten)
    return false;
  kernel.ops.erase(found);
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

/// The last kernel before number \p end that writes something \p kernel reads.
std::optional<size_t> TimeMoves::sourceOf(const Kernel &kernel,
                                          size_t end) const {
  std::optional<size_t> last;
  for (ValueId read : kernels.get(kernel).memoryReads)
    for (size_t writer : writers[read])
      if (writer < end && (!last || writer > *last))
        last = writer;
  return last;
}

void TimeMoves::trim(Kernel &kernel) const {
  counted += kernel.ops.size();
  Work::spend(50 * static_cast<int64_t>(kernel.ops.size()));
  trimOps(problem, kernel);
}

/// Lets \p change write the output of \p writer before kernel `at`: along with
/// its source (the derivative of an activation, behind the product that makes
/// its argument), or by a kernel of its own. False if no kernel can.
bool TimeMoves::write(Kernel writer, TimeMove &change) const {
  int64_t ns = timeOf(writer);
  if (ns < 0)
    return false;
  if (std::optional<size_t> source = sourceOf(writer, change.at)) {
    Kernel joined = join(plan.kernels[*source], writer);
    joined.outputs.push_back(writer.outputs.front());
    int64_t more = timeOf(joined) - infos[*source]->timeNs;
    if (timeOf(joined) >= 0 && more < ns) {
      change.savedNs -= more;
      change.replaced.emplace_back(*source, std::move(joined));
      return true;
    }
  }
  change.savedNs -= ns;
  change.added = std::move(writer);
  return true;
}

/// Lets the kernels from number \p first of the ones that compute \p value
/// inside read it instead. If no kernel wrote it by then, a kernel before them
/// does.
TimeMove TimeMoves::share(ValueId value, size_t first) const {
  TimeMove change;
  const std::vector<size_t> &users = inside[value];
  change.at = users[first];
  bool isWritten =
      !writers[value].empty() && writers[value].front() < change.at;
  if (!isWritten) {
    Kernel writer = plan.kernels[change.at];
    writer.outputs = {value};
    trim(writer);
    if (!write(std::move(writer), change))
      return TimeMove();
  }
  for (size_t i = first; i < users.size(); ++i) {
    Kernel kernel = plan.kernels[users[i]];
    int64_t ns = 0;
    if (!reduce(kernel, value, ns) || ns > infos[users[i]]->timeNs)
      continue;
    change.savedNs += infos[users[i]]->timeNs - ns;
    change.replaced.emplace_back(users[i], std::move(kernel));
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

std::vector<size_t> TimeMoves::readersOf(const Instance &instance) const {
  const std::vector<size_t> &all = readers[instance.value];
  auto last = static_cast<size_t>(instance.lastRead);
  return {
      std::upper_bound(all.begin(), all.end(), size_t(instance.kernel)),
      std::upper_bound(all.begin(), all.end(), last),
  };
}

/// Takes \p instance out of its kernel, which goes if it has no other output.
TimeMove TimeMoves::without(const Instance &instance) const {
  TimeMove change;
  size_t from = instance.kernel;
  change.savedNs = infos[from]->timeNs;
  Kernel left = plan.kernels[from];
  left.outputs.erase(
      std::find(left.outputs.begin(), left.outputs.end(), instance.value));
  if (left.outputs.empty()) {
    change.dropped = from;
    return change;
  }
  trim(left);
  change.savedNs -= timeOf(left);
  change.replaced.emplace_back(from, std::move(left));
  return change;
}

/// A kernel that writes only \p instance, as its kernel does.
Kernel TimeMoves::only(const Instance &instance) const {
  Kernel kernel = plan.kernels[instance.kernel];
  kernel.outputs = {instance.value};
  trim(kernel);
  return kernel;
}

/// Takes \p values out of the outputs of kernel \p from and sets the ops that
/// make them. An anchor stays: the kernel then writes its result.
TimeMove TimeMoves::unwrite(size_t from, const std::vector<ValueId> &values,
                            Kernel &inner) const {
  Kernel left = plan.kernels[from];
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
  change.savedNs = infos[from]->timeNs;
  if (left.outputs.empty()) {
    change.dropped = from;
    return change;
  }
  trim(left);
  change.savedNs -= timeOf(left);
  change.replaced.emplace_back(from, std::move(left));
  return change;
}

/// Computes \p values, which kernel \p from writes, inside all \p readers.
void TimeMoves::findInline(size_t from, const std::vector<ValueId> &values,
                           const std::vector<size_t> &readers,
                           std::vector<TimeMove> &changes) const {
  Kernel inner;
  TimeMove change = unwrite(from, values, inner);
  if (!change.dropped && timeOf(change.replaced.front().second) < 0)
    return;
  for (size_t reader : readers) {
    Kernel joined = join(plan.kernels[reader], inner);
    trim(joined);
    int64_t ns = timeOf(joined);
    if (ns < 0)
      return;
    change.savedNs += infos[reader]->timeNs - ns;
    change.replaced.emplace_back(reader, std::move(joined));
  }
  if (change.savedNs > 0)
    changes.push_back(std::move(change));
}

/// Computes outputs of a kernel inside their readers: each value by itself, and
/// all values that one kernel alone reads (products with values read again
/// there), as each of them may save nothing without the others.
void TimeMoves::findInlines(const std::vector<const Instance *> &instances,
                            std::vector<TimeMove> &changes) const {
  std::map<size_t, std::vector<ValueId>> onlyIn;
  for (const Instance *instance : instances) {
    const Value &v = problem.values[instance->value];
    if (isAnchor(problem.ops[v.op]) || v.home != Home::Arena)
      continue;
    std::vector<size_t> readers = readersOf(*instance);
    findInline(instance->kernel, {instance->value}, readers, changes);
    if (readers.size() == 1)
      onlyIn[readers.front()].push_back(instance->value);
  }
  for (auto &[reader, values] : onlyIn)
    if (values.size() > 1)
      findInline(instances.front()->kernel, values, {reader}, changes);
}

/// Joins a kernel that holds an anchor and makes one value with the elementwise
/// one that alone reads it.
void TimeMoves::findSink(const Instance &instance,
                         std::vector<TimeMove> &changes) const {
  size_t from = instance.kernel, index = instance.lastRead;
  if (infos[index]->anchor != none || infos[from]->anchor == none ||
      plan.kernels[from].outputs.size() != 1 ||
      problem.values[instance.value].home == Home::Result ||
      readersOf(instance).size() != 1)
    return;
  Kernel joined = join(plan.kernels[index], plan.kernels[from]);
  int64_t ns = timeOf(joined);
  TimeMove change;
  change.savedNs = infos[from]->timeNs + infos[index]->timeNs - ns;
  if (ns < 0 || change.savedNs <= 0)
    return;
  change.dropped = from;
  change.replaced.emplace_back(index, std::move(joined));
  changes.push_back(std::move(change));
}

/// Whether no kernel up to \p until needs the outputs of \p reader, or that it
/// runs in its place.
bool TimeMoves::mayWait(size_t reader, size_t until) const {
  if (!mayRepeat(problem, plan.kernels[reader]))
    return false;
  for (size_t k = reader + 1; k <= until; ++k)
    for (ValueId output : plan.kernels[reader].outputs)
      if (std::binary_search(infos[k]->memoryReads.begin(),
                             infos[k]->memoryReads.end(), output))
        return false;
  return true;
}

/// Whether \p kernel has no anchor, neither reads nor writes \p value, and
/// reads one of \p inputs that is as large.
bool TimeMoves::mayJoin(size_t kernel, const std::vector<ValueId> &inputs,
                        ValueId value) const {
  const std::vector<ValueId> &reads = infos[kernel]->memoryReads;
  const std::vector<ValueId> &outputs = plan.kernels[kernel].outputs;
  return infos[kernel]->anchor == none &&
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
void TimeMoves::findJoins(const Instance &instance,
                          std::vector<TimeMove> &changes) const {
  constexpr size_t mostReaders = 2, farthest = 64;
  size_t from = instance.kernel;
  if (infos[from]->anchor != none)
    return;
  std::vector<size_t> readers = readersOf(instance);
  if (readers.empty() || readers.size() > mostReaders)
    return;
  Kernel inner = only(instance);
  const std::vector<ValueId> &inputs = timeOf(inner) < 0
                                           ? infos[from]->memoryReads
                                           : kernels.get(inner).memoryReads;
  size_t end = std::min(from + farthest, plan.kernels.size());
  for (size_t to = readers.front() + 1; to < end; ++to) {
    if (!mayJoin(to, inputs, instance.value))
      continue;
    TimeMove change = without(instance);
    for (size_t reader : readers)
      if (reader < to)
        change.moved.push_back(reader);
    if (!std::all_of(change.moved.begin(), change.moved.end(),
                     [&](size_t reader) { return mayWait(reader, to); }))
      return;
    Kernel joined = join(plan.kernels[to], inner);
    joined.outputs.push_back(instance.value);
    int64_t ns = timeOf(joined);
    change.savedNs += infos[to]->timeNs - ns;
    if (ns < 0 || change.savedNs <= 0)
      continue;
    change.behind = to;
    change.replaced.emplace_back(to, std::move(joined));
    changes.push_back(std::move(change));
    return;
  }
}

std::vector<TimeMove> TimeMoves::find(const Verdict &verdict,
                                      Deadline deadline) {
  auto isOver = [&] { return isSpent() || deadline.isOver(); };
  measure();
  Work::spend(200 * static_cast<int64_t>(plan.kernels.size()) +
              20 * static_cast<int64_t>(problem.values.size()));
  std::vector<TimeMove> changes;
  for (size_t value = 0; value < problem.values.size() && !isOver(); ++value)
    findShares(static_cast<ValueId>(value), changes);
  for (size_t k = 0; k < plan.kernels.size() && !isOver(); ++k)
    findParts(k, changes);
  std::vector<std::vector<const Instance *>> instances(plan.kernels.size());
  for (const Instance &instance : verdict.instances)
    instances[instance.kernel].push_back(&instance);
  for (size_t k = 0; k < plan.kernels.size() && !isOver(); ++k) {
    findInlines(instances[k], changes);
    for (const Instance *instance : instances[k]) {
      findSink(*instance, changes);
      findSpill(*instance, instances, changes);
      findJoins(*instance, changes);
    }
  }
  std::stable_sort(changes.begin(), changes.end(),
                   [](const TimeMove &left, const TimeMove &right) {
                     return left.savedNs > right.savedNs;
                   });
  return changes;
}
