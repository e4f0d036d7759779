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

MemoryMoves::MemoryMoves(const Problem &problem, const PlanState &state,
                         const MemoryOptions &options, KernelCache &kernels)
    : problem(problem), state(state), options(options), kernels(kernels) {
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
  auto [found, isNew] = copies.try_emplace({&state.info(kernel), value});
  Copy &copy = found->second;
  if (isNew) {
    copy.kernel.ops = state.kernel(kernel).ops;
    copy.kernel.outputs = {value};
    trimOps(problem, copy.kernel);
    const KernelInfo &info = kernels.get(copy.kernel);
    if (info.error.empty() && mayRepeat(problem, copy.kernel))
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
  const Copy &copy = copyFor(value, lifeAt(value, change.place).place);
  if (!copy.info)
    return false;
  const KernelInfo &info = *copy.info;
  for (ValueId read : info.memoryReads) {
    if (!inArena(read) || isMadeAgain(read, change))
      continue;
    Life life = lifeAt(read, change.place);
    if (!life)
      return false;
    int32_t end = life.last() + 1;
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
    Change change = {life.place, to, {}, nullptr, leastCost};
    if (!makeAgain(life.value, deep, change))
      return;
    // Without a reader before, the value is not made in the first place.
    shift(from + (from != life.place), to, -slotOf(life.value));
    add(std::move(change));
    if (!anyWouldExceed)
      return;
  }
}

/// Kernel \p reader with the makers of the value inside, as far back as other
/// written values, or the operands of the writer.
const Copy &MemoryMoves::joinFor(const Life &life, int32_t reader) {
  auto [found, isNew] = joins.try_emplace(
      {&state.info(life.place), &state.info(reader), life.value});
  Copy &join = found->second;
  if (!isNew || !mayRepeat(problem, state.kernel(life.place)))
    return join;
  const Kernel &writer = state.kernel(life.place);
  std::vector<OpId> &ops = join.kernel.ops;
  join.kernel = state.kernel(reader);
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
  int32_t reader = life.last();
  if (isAnchor(problem.ops[problem.values[life.value].op]))
    return;
  const Copy &join = joinFor(life, reader);
  if (!join.info)
    return;
  for (ValueId value : join.info->memoryReads)
    if (inArena(value)) {
      Life read = lifeAt(value, reader);
      if (!read)
        return;
      shift(read.last() + 1, reader + 1, slotOf(value));
    }
  shift(from + (from != life.place), reader + 1, -slotOf(life.value));
  int64_t ns = join.info->timeNs - state.info(reader).timeNs;
  add({reader, reader, {}, &join, leastCost + std::max<double>(0, ns)});
}

/// Makes a value just before kernel \p to, its first reader.
void MemoryMoves::delay(const Life &life, int32_t to) {
  if (!mayRepeat(problem, state.kernel(life.place)))
    return;
  for (ValueId output : state.kernel(life.place).outputs) {
    if (!inArena(output))
      continue;
    Life other = lifeAt(output, life.place + 1);
    if (other.numReads() == 0 || *other.firstRead < to)
      return;
    shift(life.place + 1, to, -slotOf(output));
  }
  for (ValueId value : state.info(life.place).memoryReads)
    if (inArena(value)) {
      Life read = lifeAt(value, life.place);
      shift(std::max(read.last(), life.place) + 1, to, slotOf(value));
      // A later instance would be read instead.
      if (lifeAt(value, to).place != read.place)
        return;
    }
  add({life.place, to, {}, nullptr, leastCost});
}

/// Earliest place at which \p reader of the operands in \p info could run;
/// `none` if it reads results: their writers are not looked up.
int32_t MemoryMoves::earliest(const KernelInfo &info, int32_t reader) const {
  int32_t place = 0;
  for (ValueId value : info.memoryReads)
    if (Life read = lifeAt(value, reader))
      place = std::max(place, read.place + 1);
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
    if (Life read = lifeAt(value, reader); read && read.last() == reader) {
      int32_t before = read.numReads() > 1 ? read.endOfReads[-2] : read.place;
      shift(std::max(place, before + 1), end, -slotOf(value));
    }
}

/// Runs the last reader as soon as it can, so that the value dies.
void MemoryMoves::advance(const Life &life, int32_t from) {
  int32_t reader = life.last();
  if (!mayRepeat(problem, state.kernel(reader)))
    return;
  int32_t place = earliest(state.info(reader), reader);
  if (place == none || std::max(place, from + 1) >= reader)
    return;
  place = std::max(place, from + 1);
  free(state.info(reader).memoryReads, place, reader, reader);
  for (ValueId output : state.kernel(reader).outputs)
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
  auto [found, isNew] = splits.try_emplace(&state.info(kernel));
  const Kernel &whole = state.kernel(kernel);
  if (!isNew || whole.ops.size() > mostOps || !mayRepeat(problem, whole))
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
               state.info(kernel).timeNs;
  double cost = leastCost + std::max<double>(0, static_cast<double>(ns));
  add({kernel, place, {&split.part}, &split.rest, cost});
}

/// The instance is used by \p from and next by \p to.
void MemoryMoves::findInGap(const Life &life, int32_t from, int32_t to) {
  if (!isOver(from + (from != life.place), to))
    return;
  repeat(life, from, to);
  ranges.clear();
  if (from == life.place)
    delay(life, to);
  if (to != life.last())
    return;
  ranges.clear();
  advance(life, from);
  ranges.clear();
  absorb(life, from);
}

/// Finds the parts of \p kernel, if values wait for it alone while the budget
/// is exceeded.
void MemoryMoves::findParts(int32_t kernel) {
  const std::vector<ValueId> &values = state.info(kernel).memoryReads;
  bool isWanted = std::any_of(values.begin(), values.end(), [&](ValueId value) {
    Life life = lifeAt(value, kernel);
    return life && life.last() == kernel && isOver(life.place + 1, kernel + 1);
  });
  if (isWanted)
    for (const Split &split : splitsOf(kernel))
      advancePart(split, kernel);
}

std::vector<Change> MemoryMoves::find() {
  bytes = state.bytes();
  overKernels.clear();
  for (int32_t k = 0; k < state.size(); ++k)
    if (overBy(k) > 0)
      overKernels.push_back(k);
  changes.clear();
  int64_t uses = 0;
  for (int32_t k = 0; k < state.size(); ++k)
    for (ValueId output : state.kernel(k).outputs) {
      if (slotOf(output) == 0)
        continue;
      Life life = lifeAt(output, k + 1);
      uses += 1 + life.numReads();
      int32_t from = k;
      for (const int32_t *read = life.firstRead; read != life.endOfReads;
           ++read) {
        findInGap(life, from, *read);
        from = *read;
      }
    }
  for (int32_t k = 0; k < state.size(); ++k)
    findParts(k);
  Work::spend(50 * uses + 200 * static_cast<int64_t>(changes.size()));
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
          state.kernel(change.kernel).outputs};
}
