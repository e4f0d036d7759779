//===- Donation.cpp - Results in the buffers of arguments -----------------===//
//
// Donation is no rule for plans: walks write a result after the readers of its
// argument (`findFollowers`). Afterwards this file finds the results that lie
// in their arguments, and moves the results that are a little too early.
//
//===----------------------------------------------------------------------===//

#include "ckpt/Plan/Donation.h"
#include "Plan/Model/PlanEdit.h"
#include "ckpt/Plan/Kernel.h"
#include "ckpt/Plan/Pack.h"

#include <algorithm>

using namespace ckpt::plan;

static bool isDonated(const Problem &problem, ValueId value) {
  const Value &v = problem.values[value];
  return v.home == Home::Result && v.host != none;
}

std::vector<ValueId> ckpt::plan::donatedResults(const Problem &problem,
                                                const Plan &plan) {
  std::vector<ValueId> donated;
  for (size_t id = 0; id < problem.values.size(); ++id)
    if (isDonated(problem, static_cast<ValueId>(id)))
      donated.push_back(static_cast<ValueId>(id));
  if (donated.empty())
    return donated;
  constexpr int32_t never = -1;
  std::vector<int32_t> lastRead(problem.values.size(), never);
  std::vector<int32_t> firstWrite(problem.values.size(), never);
  // Whether the kernel that writes a result first may write it over the
  // argument.
  std::vector<char> isOver(problem.values.size(), false);
  for (size_t k = 0; k < plan.kernels.size(); ++k) {
    const Kernel &kernel = plan.kernels[k];
    KernelInfo info = analyze(problem, kernel);
    for (ValueId read : info.memoryReads)
      lastRead[read] = static_cast<int32_t>(k);
    for (ValueId output : kernel.outputs)
      if (firstWrite[output] == never)
        firstWrite[output] = static_cast<int32_t>(k);
    for (const InPlacePair &pair : info.inPlace) {
      ValueId output = kernel.outputs[pair.output];
      if (isDonated(problem, output) &&
          problem.values[output].host == pair.input &&
          firstWrite[output] == static_cast<int32_t>(k))
        isOver[output] = true;
    }
  }
  auto isTooEarly = [&](ValueId result) {
    int32_t read = lastRead[problem.values[result].host];
    return read > firstWrite[result] ||
           (read == firstWrite[result] && !isOver[result]);
  };
  donated.erase(std::remove_if(donated.begin(), donated.end(), isTooEarly),
                donated.end());
  return donated;
}

int64_t ckpt::plan::donatedBytes(const Problem &problem, const Plan &plan) {
  int64_t bytes = 0;
  for (ValueId result : donatedResults(problem, plan))
    bytes += problem.values[result].bytes;
  return bytes;
}

/// First kernel that writes \p result and last one that reads the argument in
/// whose buffer it should lie.
static std::pair<size_t, size_t> writerAndReader(const Problem &problem,
                                                 const Plan &plan,
                                                 ValueId result,
                                                 KernelCache &kernels) {
  ValueId argument = problem.values[result].host;
  size_t writer = plan.kernels.size(), reader = 0;
  for (size_t k = plan.kernels.size(); k-- > 0;) {
    const Kernel &kernel = plan.kernels[k];
    if (std::count(kernel.outputs.begin(), kernel.outputs.end(), result))
      writer = k;
    const std::vector<ValueId> &reads = kernels.get(kernel).memoryReads;
    if (reader == 0 && std::binary_search(reads.begin(), reads.end(), argument))
      reader = k;
  }
  return {writer, reader};
}

/// Lets \p plan, which has no slots, write \p result after the last read of its
/// argument; true if that is a valid plan within \p limitBytes. The moved
/// kernel reads other instances of its values, so that some may lose all
/// readers.
static bool moveForDonation(const Problem &problem, Plan &plan, ValueId result,
                            int64_t limitBytes, KernelCache &kernels) {
  auto [writer, reader] = writerAndReader(problem, plan, result, kernels);
  if (writer >= reader)
    return false;
  for (bool late : {true, false}) {
    Plan moved = plan;
    auto first = moved.kernels.begin() + writer;
    auto end = moved.kernels.begin() + reader + 1;
    std::rotate(first, late ? first + 1 : end - 1, end);
    removeDeadOutputs(problem, moved);
    Verdict verdict = validate(problem, moved, /*slots=*/false, kernels);
    if (!verdict.error.empty() || verdict.livePeakBytes > limitBytes)
      continue;
    plan = std::move(moved);
    return true;
  }
  return false;
}

Solution ckpt::plan::moveForDonations(const Problem &problem, Solution solution,
                                      int64_t limitBytes) {
  // A step of more kernels than that is looked at for fewer results.
  constexpr size_t mostWork = 1 << 20;
  KernelCache kernels(problem);
  Plan plan = withoutSlots(solution.plan);
  std::vector<ValueId> inPlace = donatedResults(problem, plan);
  size_t tries = mostWork / std::max<size_t>(1, plan.kernels.size());
  bool changed = false;
  for (size_t id = 0; id < problem.values.size() && tries > 0; ++id) {
    ValueId value = static_cast<ValueId>(id);
    if (!isDonated(problem, value) ||
        std::binary_search(inPlace.begin(), inPlace.end(), value))
      continue;
    --tries;
    changed |= moveForDonation(problem, plan, value, limitBytes, kernels);
  }
  if (!changed)
    return solution;
  packSlots(problem, plan, limitBytes, PackEffort::Search, kernels);
  Verdict verdict = validate(problem, plan, /*slots=*/true, kernels);
  bool isBetter =
      verdict.error.empty() && plan.arenaBytes <= limitBytes &&
      donatedBytes(problem, plan) > donatedBytes(problem, solution.plan);
  return isBetter ? Solution{std::move(plan), std::move(verdict),
                             std::move(solution.subSolver)}
                  : solution;
}
