//===- FixedKernels.h - Problems of opaque ops, and their optimum -*- C++
//-*-===//
//
// Random training steps whose kernels are single ops, as published instances
// are, and an exhaustive search over what is kept: Dijkstra's algorithm over
// what stands in memory and how many ops have run. It shares nothing with the
// planner.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_TEST_UNIT_PLAN_FIXEDKERNELS_H
#define CKPT_TEST_UNIT_PLAN_FIXEDKERNELS_H

#include "ckpt/Plan/Problem.h"

#include <algorithm>
#include <map>
#include <optional>
#include <queue>
#include <random>

namespace ckpt::plan {

/// \p forward ops, each of which reads some before it, and as many backward
/// ones in the opposite order. The last op makes the result.
inline Problem randomFixedKernels(uint64_t seed, int32_t forward) {
  std::mt19937_64 random(seed);
  auto pick = [&](int32_t count) {
    return static_cast<int32_t>(random() % static_cast<uint64_t>(count));
  };
  Problem problem;
  problem.bytesPerMicrosecond = int64_t{1} << 59;
  problem.launchNs = 0;
  int32_t count = 2 * forward;
  for (OpId id = 0; id < count; ++id) {
    Op op;
    op.name = "op";
    op.results = {id};
    op.computePs = (1 + pick(20)) * 1000;
    op.flops = op.computePs / 1000;
    op.workspaceBytes = pick(4) == 0 ? slotAlignment : 0;
    op.backward = id >= forward;
    std::vector<ValueId> reads;
    if (id > 0)
      reads.push_back(id - 1);
    if (id >= forward)
      reads.push_back(count - 1 - id);
    if (id > 1 && pick(2) == 0)
      reads.push_back(pick(id - 1));
    std::sort(reads.begin(), reads.end());
    reads.erase(std::unique(reads.begin(), reads.end()), reads.end());
    for (ValueId read : reads)
      op.reads.push_back({read, Access::Any, Need::Memory});
    problem.ops.push_back(op);
    Value value;
    value.name = "v";
    value.op = id;
    value.elements = 1;
    value.bytes = (1 + pick(6)) * slotAlignment;
    value.home = id == count - 1 ? Home::Result : Home::Arena;
    problem.values.push_back(value);
  }
  return problem;
}

/// The least time of any plan with a live peak of at most \p budgetBytes whose
/// ops run first in program order; nothing if there is none. Up to 12 ops with
/// one result each.
inline std::optional<int64_t> leastTimeNs(const Problem &problem,
                                          int64_t budgetBytes) {
  // What stands in memory, and how many ops have run for the first time.
  using State = std::pair<uint32_t, int32_t>;
  auto bytesOf = [&](uint32_t resident) {
    int64_t bytes = 0;
    for (size_t v = 0; v < problem.values.size(); ++v)
      if (resident >> v & 1 && problem.values[v].home == Home::Arena)
        bytes += slotBytes(problem.values[v].bytes);
    return bytes;
  };
  auto count = static_cast<int32_t>(problem.ops.size());
  std::map<State, int64_t> least;
  std::priority_queue<std::pair<int64_t, State>,
                      std::vector<std::pair<int64_t, State>>, std::greater<>>
      queue;
  auto reach = [&](State state, int64_t time) {
    auto [at, isNew] = least.insert({state, time});
    if (!isNew && at->second <= time)
      return;
    at->second = time;
    queue.push({time, state});
  };
  reach({0, 0}, 0);
  while (!queue.empty()) {
    auto [time, state] = queue.top();
    queue.pop();
    if (least[state] < time)
      continue;
    auto [resident, done] = state;
    if (done == count)
      return time;
    for (int32_t v = 0; v < count; ++v)
      if (resident >> v & 1)
        reach({resident & ~(1u << v), done}, time);
    for (OpId id = 0; id <= done; ++id) {
      const Op &op = problem.ops[id];
      bool canRun = !(resident >> id & 1);
      for (const Read &read : op.reads)
        canRun &= (resident >> read.value & 1) != 0;
      uint32_t after = resident | 1u << id;
      if (canRun &&
          bytesOf(after) + slotBytes(op.workspaceBytes) <= budgetBytes)
        reach({after, std::max(done, id + 1)}, time + op.computePs / 1000);
    }
  }
  return std::nullopt;
}

} // namespace ckpt::plan

#endif // CKPT_TEST_UNIT_PLAN_FIXEDKERNELS_H
