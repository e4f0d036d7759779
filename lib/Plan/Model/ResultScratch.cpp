//===- ResultScratch.cpp - Bytes of results that hold other values --------===//
//
// Counts them in plans and at most, for reports, bounds and certificates.
//
//===----------------------------------------------------------------------===//

#include "ckpt/Plan/ResultScratch.h"

#include <algorithm>
#include <map>

using namespace ckpt::plan;

std::vector<ValueId> ckpt::plan::scratchResults(const Problem &problem) {
  std::vector<ValueId> results;
  for (size_t id = 0; id < problem.values.size(); ++id)
    if (const Value &value = problem.values[id]; problem.scratchInResults &&
                                                 value.home == Home::Result &&
                                                 value.host == none)
      results.push_back(static_cast<ValueId>(id));
  return results;
}

int64_t ckpt::plan::scratchBytes(const Problem &problem, const Plan &plan) {
  std::map<ValueId, int64_t> ends;
  for (const Kernel &kernel : plan.kernels)
    for (size_t i = 0; i < kernel.hosts.size(); ++i)
      if (ValueId host = kernel.hosts[i]; host != none) {
        int64_t bytes = problem.values[kernel.outputs[i]].bytes;
        ends[host] = std::max(ends[host], kernel.offsets[i] + slotBytes(bytes));
      }
  int64_t sum = 0;
  for (auto [result, end] : ends)
    sum += end;
  return sum;
}

int64_t ckpt::plan::mostScratchBytes(const Problem &problem) {
  int64_t sum = 0;
  for (ValueId result : scratchResults(problem))
    sum += slotBytes(problem.values[result].bytes);
  return sum;
}

int64_t ckpt::plan::minimumArenaBytes(const Problem &problem,
                                      int64_t boundBytes) {
  return std::max<int64_t>(0, boundBytes - mostScratchBytes(problem));
}
