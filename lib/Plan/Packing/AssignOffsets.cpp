//===- AssignOffsets.cpp - From a draft to a plan with slots --------------===//
//
// Packs a draft and asks the simulator for its verdict. Every search calls it
// for the plans that it keeps.
//
//===----------------------------------------------------------------------===//

#include "Plan/Packing/AssignOffsets.h"

#include <utility>

using namespace ckpt::plan;

Solution ckpt::plan::assignOffsets(const Problem &problem, Draft draft,
                                   int64_t budgetBytes, PackEffort effort,
                                   Deadline deadline) {
  KernelCache kernels(problem);
  return assignOffsets(problem, std::move(draft), budgetBytes, effort, kernels,
                       deadline);
}

Solution ckpt::plan::assignOffsets(const Problem &problem, Draft draft,
                                   int64_t budgetBytes, PackEffort effort,
                                   KernelCache &kernels, Deadline deadline) {
  Solution solution;
  solution.plan = std::move(draft.plan);
  packSlots(problem, solution.plan, budgetBytes, effort, kernels, &deadline);
  solution.verdict = validate(problem, solution.plan, true, kernels);
  return solution;
}

Solution ckpt::plan::assignInResults(const Problem &problem, Draft draft,
                                     int64_t budgetBytes, Deadline deadline) {
  KernelCache kernels(problem);
  Solution solution;
  solution.plan = std::move(draft.plan);
  packSlotsInResults(problem, solution.plan, budgetBytes, kernels, &deadline);
  solution.verdict = validate(problem, solution.plan, true, kernels);
  return solution;
}
