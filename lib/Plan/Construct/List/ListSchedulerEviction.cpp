//===- ListSchedulerEviction.cpp - Evictions of a schedule ----------------===//
//
// Evictions of a schedule that runs out of memory. ListScheduler calls
// `makeRoom` before each kernel of a limited run.
//
//===----------------------------------------------------------------------===//

#include "Plan/Construct/List/ListScheduler.h"

#include "Plan/Model/Work.h"

#include <algorithm>
#include <array>
#include <limits>

using namespace ckpt::plan;

/// Sorts the reads and writes of a finished schedule by value; \p bursts are
/// the bursts of its kernels.
void ListScheduler::learnUses(const Schedule &before,
                              const std::vector<int32_t> &bursts) {
  const std::vector<Kernel> &kernels = before.plan.kernels;
  firstUse.assign(problem.values.size() + 1, 0);
  for (ValueId value : before.reads)
    ++firstUse[value + 1];
  for (const Kernel &kernel : kernels)
    for (ValueId value : kernel.outputs)
      ++firstUse[value + 1];
  for (size_t value = 0; value < problem.values.size(); ++value)
    firstUse[value + 1] += firstUse[value];
  cursor = firstUse;
  uses.resize(firstUse.back());
  for (size_t k = 0; k < kernels.size(); ++k) {
    for (int32_t i = before.firstRead[k]; i < before.firstRead[k + 1]; ++i)
      uses[cursor[before.reads[i]]++] = {bursts[k], false};
    for (ValueId value : kernels[k].outputs)
      uses[cursor[value]++] = {bursts[k], true};
  }
  cursor = firstUse;
}

int32_t ListScheduler::nextUse(ValueId value) {
  int32_t &at = cursor[value];
  while (at < firstUse[value + 1] && uses[at].burst <= now)
    ++at;
  int32_t next = keptUntil[value] > now ? keptUntil[value] : none;
  if (at < firstUse[value + 1] && !uses[at].made)
    next = next == none ? uses[at].burst : std::min(next, uses[at].burst);
  return next;
}

void ListScheduler::drop(ValueId value) {
  if (!resident[value])
    return;
  resident[value] = 0;
  live -= graph.slot[value];
}

/// Drops each of \p values that has no further reader.
void ListScheduler::dropDead(const std::vector<ValueId> &values, int32_t step) {
  for (ValueId value : values)
    if (problem.values[value].home == Home::Arena &&
        !isNeeded(value, step + 1) && nextUse(value) == none)
      drop(value);
}

/// Whether some value that dies in the next kernel might be overwritten by
/// \p output; the rules of kernels are asked only then.
bool ListScheduler::mightOverwrite(ValueId output,
                                   const std::vector<ValueId> &reads,
                                   int32_t step) {
  for (ValueId value : reads)
    if (problem.values[value].bytes == problem.values[output].bytes &&
        graph.slot[value] > 0 && !isNeeded(value, step + 1) &&
        nextUse(value) == none)
      return true;
  return false;
}

/// Bytes that the next kernel takes while it runs.
int64_t ListScheduler::bytesOf(const Kernel &kernel,
                               const std::vector<ValueId> &reads,
                               int32_t step) {
  int64_t bytes = 0;
  for (OpId op : kernel.ops)
    bytes += slotBytes(problem.ops[op].workspaceBytes);
  bool ask = false;
  for (ValueId value : kernel.outputs)
    if (!resident[value]) {
      bytes += graph.slot[value];
      ask |= graph.slot[value] > 0 && mightOverwrite(value, reads, step);
    }
  if (!ask)
    return bytes;
  ++stamp;
  std::vector<char> written(kernel.outputs.size(), 0);
  for (const InPlacePair &pair : kernels.get(kernel).inPlace) {
    ValueId output = kernel.outputs[pair.output];
    if (written[pair.output] || valueStamp[pair.input] == stamp ||
        resident[output] || graph.slot[pair.input] == 0 ||
        isNeeded(pair.input, step + 1) || nextUse(pair.input) != none)
      continue;
    written[pair.output] = 1;
    valueStamp[pair.input] = stamp;
    bytes -= graph.slot[output];
  }
  return bytes;
}

/// Evicts values until the next kernel has room.
void ListScheduler::makeRoom(const Kernel &kernel,
                             const std::vector<ValueId> &reads, int32_t step) {
  int64_t needed = bytesOf(kernel, reads, step);
  if (live + needed > cap)
    evict(live + needed - cap, step);
  if (live + needed > cap)
    evictPinned(live + needed - cap, reads, step);
  if (live + needed > schedule.peakBytes) {
    schedule.peakBytes = live + needed;
    schedule.peakAt = place;
  }
}

/// Sorts the values in memory that \p step does not need: the value with the
/// last use and the cheapest remat first.
void ListScheduler::rankResidents(int32_t step) {
  std::vector<std::pair<double, ValueId>> candidates;
  size_t kept = 0;
  scanned += residents.size();
  Work::spend(50 * static_cast<int64_t>(residents.size()));
  for (ValueId value : residents) {
    if (!resident[value]) {
      listed[value] = 0;
      continue;
    }
    residents[kept++] = value;
    if (isNeeded(value, step) || graph.once[problem.values[value].op])
      continue;
    int32_t next = nextUse(value);
    double distance = next == none ? std::numeric_limits<int32_t>::max()
                                   : static_cast<double>(next - now);
    candidates.emplace_back(
        rematPs(value) / (distance * static_cast<double>(graph.slot[value])),
        value);
  }
  residents.resize(kept);
  std::sort(candidates.rbegin(), candidates.rend());
  ranked.clear();
  for (auto [score, value] : candidates)
    ranked.push_back(value);
}

/// Drops the next of the ranking; false if none is left.
bool ListScheduler::evictNext(int32_t step) {
  while (!ranked.empty()) {
    ValueId value = ranked.back();
    ranked.pop_back();
    if (!resident[value] || isNeeded(value, step))
      continue;
    if (int32_t next = nextUse(value); next != none)
      keepForRestoring(value, next);
    rankedBytes -= graph.slot[value];
    drop(value);
    return true;
  }
  return false;
}

/// Makes room for \p bytes, as far as that can be.
void ListScheduler::evict(int64_t bytes, int32_t step) {
  // With many values, a ranking holds for a while.
  constexpr size_t many = 128;
  constexpr int64_t shareOfCap = 64;
  bool isNew = false;
  auto rank = [&] {
    rankResidents(step);
    rankedBytes = cap / shareOfCap;
    isNew = true;
  };
  if (ranked.size() < many || rankedBytes <= 0)
    rank();
  int64_t goal = live - bytes;
  while (live > goal)
    if (!evictNext(step)) {
      if (isNew)
        return;
      rank();
    }
}

/// Drops values that the burst needs later, the last needed and cheapest first;
/// a detour makes each again in time.
void ListScheduler::evictPinned(int64_t bytes,
                                const std::vector<ValueId> &reads,
                                int32_t step) {
  for (ValueId value : reads)
    readNow[value] = 1;
  std::vector<std::pair<double, ValueId>> candidates;
  for (ValueId value : residents)
    if (resident[value] && !readNow[value] && isNeeded(value, step + 1) &&
        !graph.once[problem.values[value].op] && graph.slot[value] > 0)
      candidates.push_back(
          {rematPs(value) / (static_cast<double>(graph.slot[value]) *
                             (needStep[value] - step)),
           value});
  for (ValueId value : reads)
    readNow[value] = 0;
  std::sort(candidates.begin(), candidates.end());
  int64_t goal = live - bytes;
  for (auto [score, value] : candidates) {
    if (live <= goal)
      break;
    drop(value);
    isStale = true;
  }
}

/// The time of a remat of \p value with its missing sources; a guess if these
/// are many.
double ListScheduler::rematPs(ValueId value) {
  constexpr size_t mostVisited = 64;
  constexpr double muchMore = 30;
  ++stamp;
  std::array<OpId, mostVisited> work = {problem.values[value].op};
  size_t visited = 1;
  opStamp[work.front()] = stamp;
  double ps = 0;
  bool isMore = false;
  for (size_t i = 0; i < visited; ++i) {
    ps += static_cast<double>(again[work[i]]);
    for (const Leaf &leaf : graph.leaves[work[i]]) {
      OpId producer = problem.values[leaf.value].op;
      if (opStamp[producer] == stamp || resident[leaf.value])
        continue;
      if (visited == mostVisited) {
        isMore = true;
        continue;
      }
      opStamp[producer] = stamp;
      work[visited++] = producer;
    }
  }
  // Gradients that wait have a common past that is made again only once.
  bool isGuess = isMore && !problem.ops[work.front()].backward;
  return isGuess ? ps * muchMore : ps;
}

/// The sources of \p value must not leave before its remat: one source may
/// serve several remats.
void ListScheduler::keepForRestoring(ValueId value, int32_t until) {
  for (const Leaf &leaf : graph.leaves[problem.values[value].op])
    if (resident[leaf.value])
      keptUntil[leaf.value] = std::max(keptUntil[leaf.value], until);
}
