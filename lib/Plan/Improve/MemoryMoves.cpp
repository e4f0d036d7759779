//===- MemoryMoves.cpp - Moves that take bytes off a peak -----------------===//

#include "Plan/Improve/MemoryMoves.h"

#include "Plan/Model/Work.h"

#include "Plan/Model/PlanEdit.h"

#include <algorithm>
#include <cmath>
#include <random>

using namespace ckpt::plan;

/// Least cost of any move, in nanoseconds.
static constexpr double leastCost = 1000;

MemoryMoves::MemoryMoves(const Problem &problem, const Plan &plan,
                         const MemoryOptions &options, KernelCache &kernels)
    : problem(problem), plan(plan), options(options), kernels(kernels) {
  if (options.seed == 0)
    return;
  std::mt19937 random(static_cast<uint32_t>(options.seed));
  for (size_t value = 0; value < problem.values.size(); ++value) {
    double sum = 0;
    for (int i = 0; i < 4; ++i)
      sum += static_cast<double>(random()) / std::mt19937::max() - 0.5;
    factors.push_back(std::exp2(0.25 * sum));
  }
}

Needs ckpt::plan::measureNeeds(const Problem &problem, const Plan &plan,
                               int64_t budgetBytes, KernelCache &kernels) {
  Needs needs;
  needs.verdict = validate(problem, plan, /*slots=*/false, kernels);
  if (!needs.verdict.error.empty())
    return needs;
  needs.infos.reserve(plan.kernels.size());
  for (const Kernel &kernel : plan.kernels)
    needs.infos.push_back(&kernels.get(kernel));
  std::vector<int64_t> &live = needs.live;
  live.assign(plan.kernels.size() + 1, 0);
  for (const Instance &instance : needs.verdict.instances) {
    const Value &value = problem.values[instance.value];
    if (value.home != Home::Arena)
      continue;
    live[instance.kernel + (instance.takesOver != none)] +=
        slotBytes(value.bytes);
    live[instance.lastRead + 1] -= slotBytes(value.bytes);
  }
  for (size_t k = 0; k < plan.kernels.size(); ++k) {
    live[k] += k > 0 ? live[k - 1] : 0;
    needs.overflow += std::max<int64_t>(0, needs.bytesAt(k) - budgetBytes);
  }
  return needs;
}

const MemoryMoves::Life *MemoryMoves::lifeAt(ValueId value,
                                             int32_t reader) const {
  int32_t life = latest[value];
  while (life != none && lives[life].kernel >= reader)
    life = lives[life].before;
  return life == none ? nullptr : &lives[life];
}

void MemoryMoves::findLives() {
  lives.clear();
  latest.assign(problem.values.size(), none);
  // First the life that is read, each time anything is.
  std::vector<int32_t> readLives;
  for (size_t k = 0; k < plan.kernels.size(); ++k) {
    for (ValueId value : now->infos[k]->memoryReads)
      if (inArena(value)) {
        readLives.push_back(latest[value]);
        ++lives[latest[value]].endOfReads;
      }
    for (ValueId value : plan.kernels[k].outputs)
      if (inArena(value)) {
        int32_t before = std::exchange(latest[value], lives.size());
        lives.push_back({value, static_cast<int32_t>(k), before});
      }
  }
  int32_t first = 0;
  for (Life &life : lives) {
    int32_t count = std::exchange(life.endOfReads, first);
    life.firstRead = first;
    first += count;
  }
  reads.resize(readLives.size());
  auto life = readLives.begin();
  for (size_t k = 0; k < plan.kernels.size(); ++k)
    for (ValueId value : now->infos[k]->memoryReads)
      if (inArena(value))
        reads[lives[*life++].endOfReads++] = static_cast<int32_t>(k);
}

void MemoryMoves::shift(int32_t from, int32_t to, int64_t bytes) {
  if (from < to && bytes != 0)
    ranges.push_back({from, to, bytes});
}

/// Enters \p change with the bytes that `ranges` take off.
void MemoryMoves::add(Change change) {
  steps.clear();
  for (const Range &range : ranges) {
    steps.emplace_back(range.from, range.bytes);
    steps.emplace_back(range.to, -range.bytes);
  }
  std::sort(steps.begin(), steps.end());
  int64_t bytes = 0;
  Work::spend(100);
  for (size_t i = 0; i + 1 < steps.size(); ++i) {
    bytes += steps[i].second;
    if (bytes == 0)
      continue;
    Work::spend(2 * int64_t{steps[i + 1].first - steps[i].first});
    for (int32_t k = steps[i].first; k < steps[i + 1].first; ++k) {
      int64_t before = overBy(k);
      change.gain +=
          std::max<int64_t>(0, before) - std::max<int64_t>(0, before + bytes);
    }
  }
  if (change.gain > 0 && (failed.empty() || !failed.count(keyOf(change))))
    changes.push_back(std::move(change));
}

/// Whether \p kernel may run anywhere, and again.
bool MemoryMoves::isFree(const Kernel &kernel) const {
  for (OpId op : kernel.ops)
    if (problem.ops[op].hasEffects || !problem.ops[op].mayRepeat)
      return false;
  return true;
}

/// Whether anything from \p from to before \p to exceeds the budget.
bool MemoryMoves::isOver(int32_t from, int32_t to) const {
  auto first = std::lower_bound(overKernels.begin(), overKernels.end(), from);
  return first != overKernels.end() && *first < to;
}

bool MemoryMoves::isMadeAgain(ValueId value, const Change &change) const {
  return std::any_of(
      change.copies.begin(), change.copies.end(),
      [&](const Copy *copy) { return copy->kernel.outputs.front() == value; });
}

const Copy &MemoryMoves::copyFor(ValueId value, int32_t kernel) {
  auto [found, isNew] = copies.try_emplace({now->infos[kernel], value});
  Copy &copy = found->second;
  if (isNew) {
    copy.kernel.ops = plan.kernels[kernel].ops;
    copy.kernel.outputs = {value};
    trimOps(problem, copy.kernel);
    const KernelInfo &info = kernels.get(copy.kernel);
    if (info.error.empty() && isFree(copy.kernel))
      copy.info = &info;
  }
  return copy;
}

/// Adds to \p change a kernel that makes \p value again, behind the makers of
/// operands that are gone: with \p deep, and if an operand would have to stay
/// while the budget is exceeded. False if it cannot be made.
bool MemoryMoves::makeAgain(ValueId value, bool deep, Change &change) {
  constexpr size_t mostKernels = 24;
  const std::vector<ValueId> &notAgain = options.notAgain;
  if (change.copies.size() >= mostKernels ||
      std::find(notAgain.begin(), notAgain.end(), value) != notAgain.end())
    return false;
  const Copy &copy = copyFor(value, lifeAt(value, change.place)->kernel);
  if (!copy.info)
    return false;
  const KernelInfo &info = *copy.info;
  for (ValueId read : info.memoryReads) {
    if (!inArena(read) || isMadeAgain(read, change))
      continue;
    const Life *life = lifeAt(read, change.place);
    if (!life)
      return false;
    int32_t end = lastOf(*life) + 1;
    bool wouldExceed = isOver(end, change.place);
    anyWouldExceed |= wouldExceed;
    if (deep && wouldExceed) {
      if (!makeAgain(read, deep, change))
        return false;
    } else {
      shift(end, change.place, slotOf(read));
    }
  }
  double ns = static_cast<double>(info.timeNs);
  if (info.anchor != none)
    ns += options.flopNs * static_cast<double>(problem.ops[info.anchor].flops);
  change.cost += factors.empty() ? ns : ns * factors[value];
  change.copies.push_back(&copy);
  return true;
}

/// Makes the value again before kernel \p to: its sources stay until then or,
/// if that takes too much, are made again, too.
void MemoryMoves::repeat(const Life &life, int32_t from, int32_t to) {
  anyWouldExceed = false;
  for (bool deep : {false, true}) {
    ranges.clear();
    Change change = {life.kernel, to, {}, nullptr, leastCost};
    if (!makeAgain(life.value, deep, change))
      return;
    // What nobody reads before that is not made in the first place.
    shift(from + (from != life.kernel), to, -slotOf(life.value));
    add(std::move(change));
    if (!anyWouldExceed)
      return;
  }
}

/// Kernel \p reader with the makers of the value inside, as far back as other
/// written values, or the operands of the writer.
const Copy &MemoryMoves::joinFor(const Life &life, int32_t reader) {
  auto [found, isNew] = joins.try_emplace(
      {now->infos[life.kernel], now->infos[reader], life.value});
  Copy &join = found->second;
  if (!isNew || !isFree(plan.kernels[life.kernel]))
    return join;
  const Kernel &writer = plan.kernels[life.kernel];
  std::vector<OpId> &ops = join.kernel.ops;
  join.kernel = plan.kernels[reader];
  std::vector<ValueId> work = {life.value};
  for (size_t i = 0; i < work.size(); ++i) {
    OpId op = problem.values[work[i]].op;
    if (isAnchor(problem.ops[op]))
      return join;
    if (std::find(ops.begin(), ops.end(), op) != ops.end())
      continue;
    ops.push_back(op);
    for (const Read &read : problem.ops[op].reads)
      if (std::binary_search(writer.ops.begin(), writer.ops.end(),
                             problem.values[read.value].op) &&
          std::find(writer.outputs.begin(), writer.outputs.end(), read.value) ==
              writer.outputs.end())
        work.push_back(read.value);
  }
  std::sort(ops.begin(), ops.end());
  const KernelInfo &info = kernels.get(join.kernel);
  if (info.error.empty())
    join.info = &info;
  return join;
}

/// Computes the value inside its last reader, so that it is used by \p from
/// for the last time, or not written at all.
void MemoryMoves::absorb(const Life &life, int32_t from) {
  int32_t reader = lastOf(life);
  if (isAnchor(problem.ops[problem.values[life.value].op]))
    return;
  const Copy &join = joinFor(life, reader);
  if (!join.info)
    return;
  for (ValueId value : join.info->memoryReads)
    if (inArena(value)) {
      const Life *read = lifeAt(value, reader);
      if (!read)
        return;
      shift(lastOf(*read) + 1, reader + 1, slotOf(value));
    }
  shift(from + (from != life.kernel), reader + 1, -slotOf(life.value));
  int64_t ns = join.info->timeNs - now->infos[reader]->timeNs;
  add({reader, reader, {}, &join, leastCost + std::max<double>(0, ns)});
}

/// Makes a value just before kernel \p to, its first reader.
void MemoryMoves::delay(const Life &life, int32_t to) {
  if (!isFree(plan.kernels[life.kernel]))
    return;
  for (ValueId output : plan.kernels[life.kernel].outputs) {
    if (!inArena(output))
      continue;
    const Life *other = lifeAt(output, life.kernel + 1);
    if (other->numReads() == 0 || reads[other->firstRead] < to)
      return;
    shift(life.kernel + 1, to, -slotOf(output));
  }
  for (ValueId value : now->infos[life.kernel]->memoryReads)
    if (inArena(value)) {
      const Life *read = lifeAt(value, life.kernel);
      shift(std::max(lastOf(*read), life.kernel) + 1, to, slotOf(value));
      // A later instance would be read instead.
      if (lifeAt(value, to) != read)
        return;
    }
  add({life.kernel, to, {}, nullptr, leastCost});
}

/// Earliest place at which \p reader of the operands in \p info could run;
/// `none` if it reads results: their writers are not looked up.
int32_t MemoryMoves::earliest(const KernelInfo &info, int32_t reader) const {
  int32_t place = 0;
  for (ValueId value : info.memoryReads)
    if (const Life *read = lifeAt(value, reader))
      place = std::max(place, read->kernel + 1);
    else if (problem.values[value].home != Home::Argument)
      return none;
  return place;
}

/// Ends the live range of each of \p values whose last reader is \p reader at
/// its previous use, or at \p place if that is later. It takes no bytes until
/// \p end.
void MemoryMoves::free(const std::vector<ValueId> &values, int32_t place,
                       int32_t reader, int32_t end) {
  for (ValueId value : values)
    if (const Life *read = lifeAt(value, reader);
        read && lastOf(*read) == reader) {
      int32_t before =
          read->numReads() > 1 ? reads[read->endOfReads - 2] : read->kernel;
      shift(std::max(place, before + 1), end, -slotOf(value));
    }
}

/// Runs the last reader as soon as it can, so that the value dies.
void MemoryMoves::advance(const Life &life, int32_t from) {
  int32_t reader = lastOf(life);
  if (!isFree(plan.kernels[reader]))
    return;
  int32_t place = earliest(*now->infos[reader], reader);
  if (place == none || std::max(place, from + 1) >= reader)
    return;
  place = std::max(place, from + 1);
  free(now->infos[reader]->memoryReads, place, reader, reader);
  for (ValueId output : plan.kernels[reader].outputs)
    shift(place, reader, slotOf(output));
  add({reader, place, {}, nullptr, leastCost});
}

/// Runs the maker of \p value, which a kernel computes inside, before the other
/// ops; `freed` is empty if that is no kernel or takes more than it frees.
Split MemoryMoves::splitAt(const Kernel &whole, ValueId value) {
  Split split;
  Kernel &part = split.part.kernel, &rest = split.rest.kernel;
  part.ops = whole.ops;
  part.outputs = {value};
  trimOps(problem, part);
  rest = whole;
  rest.ops.erase(
      std::find(rest.ops.begin(), rest.ops.end(), problem.values[value].op));
  trimOps(problem, rest);
  split.part.info = &kernels.get(part);
  split.rest.info = &kernels.get(rest);
  if (!split.part.info->error.empty() || !split.rest.info->error.empty())
    return split;
  const std::vector<ValueId> &left = split.rest.info->memoryReads;
  int64_t bytes = 0;
  for (ValueId read : split.part.info->memoryReads)
    if (!std::binary_search(left.begin(), left.end(), read)) {
      split.freed.push_back(read);
      bytes += slotOf(read);
    }
  if (bytes <= slotOf(value))
    split.freed.clear();
  return split;
}

/// Ways to run a part of a kernel first whose result takes less than the
/// operands that it frees, as a part of a sum does.
const std::vector<Split> &MemoryMoves::splitsOf(int32_t kernel) {
  constexpr size_t mostOps = 64;
  auto [found, isNew] = splits.try_emplace(now->infos[kernel]);
  const Kernel &whole = plan.kernels[kernel];
  if (!isNew || whole.ops.size() > mostOps || !isFree(whole))
    return found->second;
  for (OpId id : whole.ops) {
    const Op &op = problem.ops[id];
    if (op.results.size() != 1 || op.kind == OpKind::View)
      continue;
    ValueId value = op.results[0];
    bool isInside = std::find(whole.outputs.begin(), whole.outputs.end(),
                              value) == whole.outputs.end();
    if (!isInside || !inArena(value) ||
        problem.values[value].keep != Keep::Free)
      continue;
    if (Split split = splitAt(whole, value); !split.freed.empty())
      found->second.push_back(std::move(split));
  }
  return found->second;
}

/// Runs the part of \p kernel as soon as it can.
void MemoryMoves::advancePart(const Split &split, int32_t kernel) {
  ranges.clear();
  int32_t place = earliest(*split.part.info, kernel);
  if (place == none)
    return;
  free(split.freed, place, kernel, kernel + 1);
  bool isWanted =
      std::any_of(ranges.begin(), ranges.end(), [&](const Range &range) {
        return isOver(range.from, range.to);
      });
  if (!isWanted)
    return;
  shift(place, kernel + 1, slotOf(split.part.kernel.outputs[0]));
  int64_t ns = split.part.info->timeNs + split.rest.info->timeNs -
               now->infos[kernel]->timeNs;
  double cost = leastCost + std::max<double>(0, static_cast<double>(ns));
  add({kernel, place, {&split.part}, &split.rest, cost});
}

/// The instance is used by \p from and next by \p to.
void MemoryMoves::findInGap(const Life &life, int32_t from, int32_t to) {
  if (!isOver(from + (from != life.kernel), to))
    return;
  repeat(life, from, to);
  ranges.clear();
  if (from == life.kernel)
    delay(life, to);
  if (to != lastOf(life))
    return;
  ranges.clear();
  advance(life, from);
  ranges.clear();
  absorb(life, from);
}

/// Finds the parts of \p kernel, if values wait for it alone while the budget
/// is exceeded.
void MemoryMoves::findParts(int32_t kernel) {
  const std::vector<ValueId> &values = now->infos[kernel]->memoryReads;
  bool isWanted = std::any_of(values.begin(), values.end(), [&](ValueId value) {
    const Life *life = lifeAt(value, kernel);
    return life && lastOf(*life) == kernel &&
           isOver(life->kernel + 1, kernel + 1);
  });
  if (isWanted)
    for (const Split &split : splitsOf(kernel))
      advancePart(split, kernel);
}

std::vector<Change> MemoryMoves::find(const Needs &needs) {
  now = &needs;
  overKernels.clear();
  for (size_t k = 0; k < plan.kernels.size(); ++k)
    if (overBy(static_cast<int32_t>(k)) > 0)
      overKernels.push_back(static_cast<int32_t>(k));
  findLives();
  changes.clear();
  for (const Life &life : lives) {
    if (slotOf(life.value) == 0)
      continue;
    int32_t from = life.kernel;
    for (int32_t i = life.firstRead; i < life.endOfReads; ++i) {
      findInGap(life, from, reads[i]);
      from = reads[i];
    }
  }
  for (size_t k = 0; k < plan.kernels.size(); ++k)
    findParts(static_cast<int32_t>(k));
  Work::spend(50 * static_cast<int64_t>(lives.size() + reads.size()) +
              200 * static_cast<int64_t>(changes.size()));
  std::sort(changes.begin(), changes.end());
  return std::move(changes);
}

MemoryMoves::Key MemoryMoves::keyOf(const Change &change) const {
  if (change.isSplit())
    return {4, change.copies[0]->kernel.outputs};
  if (change.rest)
    return {5, change.rest->kernel.ops};
  if (!change.copies.empty())
    return {change.copies.size() > 1 ? 3 : 0,
            change.copies.back()->kernel.outputs};
  return {change.kernel < change.place ? 1 : 2,
          plan.kernels[change.kernel].outputs};
}
