//===- RefitKernels.cpp - Values shared or joined after the fact ----------===//
//
// A walk prices what is computed inside kernels by what it knows beforehand: it
// cannot see that five kernels in a row will each read a whole embedding table,
// that two readers would compute a sum faster than it is written and read, or
// that a weight gradient could wait for the update that ends the step. In the
// finished list the exact costs are known, so that the best of such changes can
// be found one by one; the simulator says whether the peak allows them.
//
//===----------------------------------------------------------------------===//

#include "RefitKernels.h"

#include "PostPasses.h"
#include "ckpt/Plan/Kernel.h"

#include <algorithm>
#include <optional>

using namespace ckpt::plan;

namespace {

class Refit {
public:
  Refit(const Problem &problem, Plan &plan, int64_t allowedBytes,
        std::chrono::steady_clock::time_point deadline)
      : problem(problem), plan(plan), allowedBytes(allowedBytes),
        deadline(deadline), kernels(problem),
        verdict(validate(problem, plan, false, kernels)),
        onlyReader(problem.values.size(), none) {
    std::vector<int32_t> readers(problem.values.size(), 0);
    for (size_t op = 0; op < problem.ops.size(); ++op)
      for (const Read &read : problem.ops[op].reads)
        onlyReader[read.value] =
            readers[read.value]++ == 0 ? static_cast<OpId>(op) : none;
  }

  bool run();

private:
  /// A changed list and what it saves before anybody looked at memory.
  struct Change {
    int64_t savedNs = 0;
    std::vector<std::pair<size_t, Kernel>> replaced;
    std::optional<size_t> dropped;
    /// To run before kernel `at`.
    std::optional<Kernel> added;
    size_t at = 0;
    /// To run right behind kernel `behind`, ascending.
    std::vector<size_t> moved;
    size_t behind = 0;
  };

  void measure();
  std::vector<Change> findChanges() const;
  std::vector<ValueId> partsOf(OpId op, const Kernel &kernel) const;
  void findParts(size_t index, std::vector<Change> &changes) const;
  bool isLink(ValueId value) const;
  void findShares(ValueId value, std::vector<Change> &changes) const;
  void findSinks(size_t index, std::vector<Change> &changes) const;
  void findInlines(const Instance &instance,
                   std::vector<Change> &changes) const;
  void findJoins(const Instance &instance, std::vector<Change> &changes) const;
  Change without(const Instance &instance) const;
  Kernel only(const Instance &instance) const;
  std::vector<size_t> readersOf(const Instance &instance) const;
  bool mayWait(size_t reader, size_t until) const;
  Change share(ValueId value, size_t first) const;
  bool reduce(Kernel &kernel, ValueId value, int64_t &ns) const;
  std::vector<const Change *>
  compatible(const std::vector<Change> &changes) const;
  Plan apply(const std::vector<const Change *> &changes) const;
  void extend(std::vector<const Change *> &accepted,
              const std::vector<const Change *> &more, int &tries);
  bool isOver() const { return std::chrono::steady_clock::now() > deadline; }
  int64_t timeOf(const Kernel &kernel) const {
    const KernelInfo &info = kernels.get(kernel);
    return info.error.empty() ? info.timeNs : -1;
  }

  const Problem &problem;
  Plan &plan;
  const int64_t allowedBytes;
  const std::chrono::steady_clock::time_point deadline;
  mutable KernelCache kernels;
  Verdict verdict;
  /// Of the plan with what is accepted in a round.
  int64_t bestNs = 0;
  /// Per kernel.
  std::vector<const KernelInfo *> infos;
  /// Per value: kernels that compute it inside and do not write it; and those
  /// that write it.
  std::vector<std::vector<size_t>> inside, writers;
  /// Per value: the only op that reads it, or `none`.
  std::vector<OpId> onlyReader;
};

} // namespace

void Refit::measure() {
  infos.clear();
  inside.assign(problem.values.size(), {});
  writers.assign(problem.values.size(), {});
  for (size_t k = 0; k < plan.kernels.size(); ++k) {
    const Kernel &kernel = plan.kernels[k];
    infos.push_back(&kernels.get(kernel));
    for (OpId op : kernel.ops)
      for (ValueId value : problem.ops[op].results) {
        bool written = std::find(kernel.outputs.begin(), kernel.outputs.end(),
                                 value) != kernel.outputs.end();
        (written ? writers : inside)[value].push_back(k);
      }
  }
}

/// Takes \p value out of a kernel, which reads it from memory then. Sets the
/// time of what is left.
bool Refit::reduce(Kernel &kernel, ValueId value, int64_t &ns) const {
  auto found =
      std::find(kernel.ops.begin(), kernel.ops.end(), problem.values[value].op);
  if (found == kernel.ops.end())
    return false;
  kernel.ops.erase(found);
  trimOps(problem, kernel);
  ns = timeOf(kernel);
  return ns >= 0;
}

/// Lets the kernels from number \p first of those that compute \p value inside
/// read it instead. If nobody wrote it by then, a kernel before them does.
Refit::Change Refit::share(ValueId value, size_t first) const {
  Change change;
  const std::vector<size_t> &users = inside[value];
  change.at = users[first];
  bool isWritten =
      !writers[value].empty() && writers[value].front() < change.at;
  if (!isWritten) {
    Kernel writer = plan.kernels[change.at];
    writer.outputs = {value};
    trimOps(problem, writer);
    int64_t ns = timeOf(writer);
    if (ns < 0)
      return Change();
    change.savedNs -= ns;
    change.added = std::move(writer);
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

/// Whether all that compute \p value inside also compute inside what alone is
/// made of it and is no larger: to share that saves more.
bool Refit::isLink(ValueId value) const {
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

void Refit::findShares(ValueId value, std::vector<Change> &changes) const {
  constexpr size_t mostStarts = 4;
  const Value &v = problem.values[value];
  if (v.op == none || problem.ops[v.op].kind != OpKind::Fusible ||
      problem.ops[v.op].results.size() != 1 || v.home != Home::Arena ||
      v.keep != Keep::Free || isLink(value))
    return;
  Change best;
  for (size_t first = 0; first < std::min(inside[value].size(), mostStarts);
       ++first)
    if (Change change = share(value, first); change.savedNs > best.savedNs)
      best = std::move(change);
  if (best.savedNs > 0)
    changes.push_back(std::move(best));
}

/// What \p op and those whose results it completes put together, if \p kernel
/// computes all of it inside.
std::vector<ValueId> Refit::partsOf(OpId op, const Kernel &kernel) const {
  int64_t elements = problem.values[problem.ops[op].results[0]].elements;
  std::vector<ValueId> parts;
  std::vector<OpId> work = {op};
  for (size_t i = 0; i < work.size(); ++i)
    for (const Read &read : problem.ops[work[i]].reads) {
      const Value &v = problem.values[read.value];
      if (!std::binary_search(kernel.ops.begin(), kernel.ops.end(), v.op) ||
          problem.ops[v.op].kind != OpKind::Fusible)
        continue;
      if (v.elements == elements && read.destination)
        work.push_back(v.op);
      else if (1 < v.elements && v.elements < elements &&
               v.home == Home::Arena && v.keep == Keep::Free)
        parts.push_back(read.value);
    }
  return parts;
}

/// Writes the parts that a kernel puts together beforehand, all by one kernel:
/// what they have in common is computed for each of them inside (the halves of
/// random bits).
void Refit::findParts(size_t index, std::vector<Change> &changes) const {
  const Kernel &kernel = plan.kernels[index];
  for (OpId op : kernel.ops) {
    if (problem.ops[op].kind != OpKind::Fusible ||
        problem.ops[op].results.size() != 1)
      continue;
    std::vector<ValueId> parts = partsOf(op, kernel);
    if (parts.size() < 2)
      continue;
    Kernel writer = kernel, rest = kernel;
    writer.outputs = parts;
    trimOps(problem, writer);
    int64_t ns = timeOf(writer), left = 0;
    bool isLegal = ns >= 0;
    for (size_t i = 0; i < parts.size() && isLegal; ++i)
      isLegal = reduce(rest, parts[i], left);
    Change change;
    change.savedNs = infos[index]->timeNs - ns - left;
    if (!isLegal || change.savedNs <= 0)
      continue;
    change.at = index;
    change.added = std::move(writer);
    change.replaced.emplace_back(index, std::move(rest));
    changes.push_back(std::move(change));
  }
}

/// \p kernel with everything of \p inner inside.
static Kernel join(Kernel kernel, const Kernel &inner) {
  kernel.ops.insert(kernel.ops.end(), inner.ops.begin(), inner.ops.end());
  std::sort(kernel.ops.begin(), kernel.ops.end());
  kernel.ops.erase(std::unique(kernel.ops.begin(), kernel.ops.end()),
                   kernel.ops.end());
  return kernel;
}

std::vector<size_t> Refit::readersOf(const Instance &instance) const {
  std::vector<size_t> readers;
  for (size_t k = instance.kernel + 1;
       k <= static_cast<size_t>(instance.lastRead); ++k)
    if (std::binary_search(infos[k]->memoryReads.begin(),
                           infos[k]->memoryReads.end(), instance.value))
      readers.push_back(k);
  return readers;
}

/// Takes what \p instance is out of its kernel, which is dropped if it writes
/// nothing else.
Refit::Change Refit::without(const Instance &instance) const {
  Change change;
  size_t from = instance.kernel;
  change.savedNs = infos[from]->timeNs;
  Kernel left = plan.kernels[from];
  left.outputs.erase(
      std::find(left.outputs.begin(), left.outputs.end(), instance.value));
  if (left.outputs.empty()) {
    change.dropped = from;
    return change;
  }
  trimOps(problem, left);
  change.savedNs -= timeOf(left);
  change.replaced.emplace_back(from, std::move(left));
  return change;
}

/// A kernel that writes only what \p instance is, as its kernel does.
Kernel Refit::only(const Instance &instance) const {
  Kernel kernel = plan.kernels[instance.kernel];
  kernel.outputs = {instance.value};
  trimOps(problem, kernel);
  return kernel;
}

/// Computes what a kernel without an anchor writes inside all that read it.
void Refit::findInlines(const Instance &instance,
                        std::vector<Change> &changes) const {
  if (infos[instance.kernel]->anchor != none ||
      problem.values[instance.value].home != Home::Arena)
    return;
  Change change = without(instance);
  Kernel inner = only(instance);
  for (size_t reader : readersOf(instance)) {
    Kernel joined = join(plan.kernels[reader], inner);
    int64_t ns = timeOf(joined);
    if (ns < 0)
      return;
    change.savedNs += infos[reader]->timeNs - ns;
    change.replaced.emplace_back(reader, std::move(joined));
  }
  if (change.savedNs > 0)
    changes.push_back(std::move(change));
}

/// Joins elementwise kernel number \p index with the last kernel before it that
/// holds an anchor and makes one value, which nobody else reads.
void Refit::findSinks(size_t index, std::vector<Change> &changes) const {
  if (infos[index]->anchor != none)
    return;
  for (const Instance &instance : verdict.instances) {
    size_t from = instance.kernel;
    if (instance.lastRead != static_cast<int32_t>(index) ||
        infos[from]->anchor == none || plan.kernels[from].outputs.size() != 1 ||
        problem.values[instance.value].home == Home::Result)
      continue;
    if (readersOf(instance).size() != 1)
      continue;
    Kernel joined = join(plan.kernels[index], plan.kernels[from]);
    int64_t ns = timeOf(joined);
    Change change;
    change.savedNs = infos[from]->timeNs + infos[index]->timeNs - ns;
    if (ns < 0 || change.savedNs <= 0)
      continue;
    change.dropped = from;
    change.replaced.emplace_back(index, std::move(joined));
    changes.push_back(std::move(change));
  }
}

/// Whether nobody up to kernel \p until needs what \p reader writes, or that it
/// runs where it does.
bool Refit::mayWait(size_t reader, size_t until) const {
  for (OpId op : plan.kernels[reader].ops)
    if (problem.ops[op].hasEffects || !problem.ops[op].mayRepeat)
      return false;
  for (size_t k = reader + 1; k <= until; ++k)
    for (ValueId output : plan.kernels[reader].outputs)
      if (std::binary_search(infos[k]->memoryReads.begin(),
                             infos[k]->memoryReads.end(), output))
        return false;
  return true;
}

/// Writes what a kernel without an anchor writes in a later one that reads the
/// same: attention's probabilities, needed once more for a weight gradient, in
/// the kernel of the gradient of its scores. Those who read it wait until then.
void Refit::findJoins(const Instance &instance,
                      std::vector<Change> &changes) const {
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
    const Kernel &target = plan.kernels[to];
    const std::vector<ValueId> &reads = infos[to]->memoryReads;
    bool sharesRead =
        std::any_of(inputs.begin(), inputs.end(), [&](ValueId read) {
          return problem.values[read].bytes >=
                     problem.values[instance.value].bytes &&
                 std::binary_search(reads.begin(), reads.end(), read);
        });
    if (infos[to]->anchor != none || !sharesRead ||
        std::binary_search(reads.begin(), reads.end(), instance.value) ||
        std::find(target.outputs.begin(), target.outputs.end(),
                  instance.value) != target.outputs.end())
      continue;
    Change change = without(instance);
    for (size_t reader : readers)
      if (reader < to)
        change.moved.push_back(reader);
    if (!std::all_of(change.moved.begin(), change.moved.end(),
                     [&](size_t reader) { return mayWait(reader, to); }))
      return;
    Kernel joined = join(target, inner);
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

std::vector<Refit::Change> Refit::findChanges() const {
  std::vector<Change> changes;
  for (size_t value = 0; value < problem.values.size() && !isOver(); ++value)
    findShares(static_cast<ValueId>(value), changes);
  for (size_t k = 0; k < plan.kernels.size() && !isOver(); ++k) {
    findSinks(k, changes);
    findParts(k, changes);
  }
  for (const Instance &instance : verdict.instances) {
    if (isOver())
      break;
    findInlines(instance, changes);
    findJoins(instance, changes);
  }
  std::stable_sort(changes.begin(), changes.end(),
                   [](const Change &left, const Change &right) {
                     return left.savedNs > right.savedNs;
                   });
  return changes;
}

/// The largest set from the start of the list in which no kernel is changed
/// twice.
std::vector<const Refit::Change *>
Refit::compatible(const std::vector<Change> &changes) const {
  // What saves less than this part of the time is left alone.
  constexpr int64_t worthTrying = 100000;
  std::vector<char> isTouched(plan.kernels.size(), 0);
  std::vector<const Change *> chosen;
  for (const Change &change : changes) {
    if (change.savedNs < verdict.timeNs / worthTrying)
      break;
    bool isFree = !change.dropped || !isTouched[*change.dropped];
    for (const auto &[index, kernel] : change.replaced)
      isFree &= !isTouched[index];
    for (size_t index : change.moved)
      isFree &= !isTouched[index];
    if (!isFree)
      continue;
    for (size_t index : change.moved)
      isTouched[index] = 1;
    if (change.dropped)
      isTouched[*change.dropped] = 1;
    for (const auto &[index, kernel] : change.replaced)
      isTouched[index] = 1;
    chosen.push_back(&change);
  }
  return chosen;
}

Plan Refit::apply(const std::vector<const Change *> &changes) const {
  std::vector<const Kernel *> list;
  for (const Kernel &kernel : plan.kernels)
    list.push_back(&kernel);
  std::vector<std::vector<const Kernel *>> added(list.size()),
      behind(list.size());
  for (const Change *change : changes) {
    for (size_t index : change->moved) {
      behind[change->behind].push_back(list[index]);
      list[index] = nullptr;
    }
    for (const auto &[index, kernel] : change->replaced)
      list[index] = &kernel;
    if (change->dropped)
      list[*change->dropped] = nullptr;
    if (change->added)
      added[change->at].push_back(&*change->added);
  }
  Plan changed;
  for (size_t k = 0; k < list.size(); ++k) {
    for (const Kernel *kernel : added[k])
      changed.kernels.push_back(*kernel);
    if (list[k])
      changed.kernels.push_back(*list[k]);
    for (const Kernel *kernel : behind[k])
      changed.kernels.push_back(*kernel);
  }
  removeDeadOutputs(problem, changed);
  return changed;
}

/// Adds \p more to \p accepted, all or by halves, as far as the simulator
/// agrees and \p tries last.
void Refit::extend(std::vector<const Change *> &accepted,
                   const std::vector<const Change *> &more, int &tries) {
  if (more.empty() || tries-- <= 0 || isOver())
    return;
  std::vector<const Change *> all = accepted;
  all.insert(all.end(), more.begin(), more.end());
  Plan changed = apply(all);
  Verdict next = validate(problem, changed, false, kernels);
  if (next.error.empty() && next.timeNs < bestNs &&
      next.livePeakBytes <= std::max(allowedBytes, verdict.livePeakBytes)) {
    bestNs = next.timeNs;
    accepted = std::move(all);
    return;
  }
  if (more.size() == 1)
    return;
  auto middle = more.begin() + static_cast<std::ptrdiff_t>(more.size() / 2);
  extend(accepted, {more.begin(), middle}, tries);
  extend(accepted, {middle, more.end()}, tries);
}

/// Numbers of kernels hold until the changes of a round are made.
bool Refit::run() {
  constexpr int mostRounds = 40, mostTries = 60;
  bool any = false;
  for (int round = 0; round < mostRounds && verdict.error.empty() && !isOver();
       ++round) {
    measure();
    std::vector<Change> changes = findChanges();
    std::vector<const Change *> accepted;
    int tries = mostTries;
    bestNs = verdict.timeNs;
    extend(accepted, compatible(changes), tries);
    if (accepted.empty())
      break;
    plan = apply(accepted);
    verdict = validate(problem, plan, false, kernels);
    any = true;
  }
  return any;
}

bool ckpt::plan::refitKernels(const Problem &problem, Plan &plan,
                              int64_t allowedBytes,
                              std::chrono::steady_clock::time_point deadline) {
  return Refit(problem, plan, allowedBytes, deadline).run();
}
