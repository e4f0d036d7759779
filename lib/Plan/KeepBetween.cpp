//===- KeepBetween.cpp - Fewer repeats where there is room ----------------===//
//
// A plan that makes everything from nothing makes most of it again and again.
// From the last kernel to the first: a kernel whose output nobody reads is
// left out, and one that makes a value again if the instance before fits until
// the last reader of this one. Last ones first, since what is left out takes
// with it what was made for it.
//
//===----------------------------------------------------------------------===//

#include "KeepBetween.h"

#include "ckpt/Plan/Validate.h"

#include <algorithm>

using namespace ckpt::plan;

namespace {

class Keeper {
public:
  Keeper(const Problem &problem, Plan &plan, int64_t limitBytes)
      : problem(problem), plan(plan), limit(limitBytes), kernels(problem) {}
  void run();

private:
  /// What a kernel writes, by the number of the kernel.
  struct Output {
    /// The kernel that wrote the same value before, or `none`.
    int32_t before = none;
    /// Ascending; the last one may write over it.
    std::vector<int32_t> readers;
    bool overwritten = false;
  };

  void measure();
  int32_t lastOf(int32_t kernel) const {
    const std::vector<int32_t> &readers = outputs[kernel].readers;
    return readers.empty() ? kernel : readers.back();
  }
  const Value &valueOf(int32_t kernel) const {
    return problem.values[plan.kernels[kernel].outputs.front()];
  }
  int64_t slotOf(int32_t kernel) const {
    const Value &value = valueOf(kernel);
    return value.home == Home::Arena ? slotBytes(value.bytes) : 0;
  }
  bool keepUntil(int32_t before, int32_t kernel);
  void leaveOut(int32_t kernel);

  const Problem &problem;
  Plan &plan;
  const int64_t limit;
  KernelCache kernels;
  std::vector<Output> outputs;
  std::vector<std::vector<int32_t>> inputs; // per kernel: who wrote them
  std::vector<int64_t> live;                // with workspace
  std::vector<char> isLeftOut;
};

} // namespace

void Keeper::measure() {
  size_t count = plan.kernels.size();
  outputs.resize(count);
  inputs.resize(count);
  isLeftOut.assign(count, 0);
  live.assign(count + 1, 0);
  std::vector<int32_t> latest(problem.values.size(), none);
  for (size_t k = 0; k < count; ++k) {
    for (ValueId value : kernels.get(plan.kernels[k]).memoryReads)
      if (int32_t from = latest[value]; from != none) {
        outputs[from].readers.push_back(static_cast<int32_t>(k));
        inputs[k].push_back(from);
      }
    int32_t &writer = latest[plan.kernels[k].outputs.front()];
    outputs[k].before = writer;
    writer = static_cast<int32_t>(k);
  }
  Verdict verdict = validate(problem, plan, /*slots=*/false, kernels);
  for (const Instance &instance : verdict.instances) {
    int64_t slot = slotOf(instance.kernel);
    bool takesOver = instance.takesOver != none;
    live[instance.kernel + takesOver] += slot;
    live[instance.lastRead + 1] -= slot;
    if (takesOver)
      outputs[verdict.instances[instance.takesOver].kernel].overwritten = true;
  }
  for (size_t k = 0; k < count; ++k)
    live[k] += k > 0 ? live[k - 1] : 0;
  for (size_t k = 0; k < count; ++k)
    live[k] += slotBytes(kernels.get(plan.kernels[k]).workspaceBytes);
}

/// Lets the readers of \p kernel read what \p before wrote, if that fits.
bool Keeper::keepUntil(int32_t before, int32_t kernel) {
  Output &kept = outputs[before];
  int64_t slot = slotOf(before);
  int32_t from = lastOf(before) + !kept.overwritten;
  if (slot > 0)
    for (int32_t k = from; k < kernel; ++k)
      if (live[k] + slot > limit)
        return false;
  for (int32_t k = from; k < kernel; ++k)
    live[k] += slot;
  const std::vector<int32_t> &again = outputs[kernel].readers;
  kept.readers.insert(kept.readers.end(), again.begin(), again.end());
  return true;
}

void Keeper::leaveOut(int32_t kernel) {
  isLeftOut[kernel] = 1;
  for (int32_t from : inputs[kernel]) {
    Output &input = outputs[from];
    int32_t last = lastOf(from);
    input.readers.erase(
        std::find(input.readers.begin(), input.readers.end(), kernel));
    if (last != kernel)
      continue;
    input.overwritten = false;
    for (int32_t k = lastOf(from) + 1; k < kernel; ++k)
      live[k] -= slotOf(from);
  }
}

void Keeper::run() {
  measure();
  for (auto k = static_cast<int32_t>(plan.kernels.size()); k-- > 0;) {
    bool isResult = valueOf(k).home == Home::Result;
    int32_t before = outputs[k].before;
    if ((!isResult && outputs[k].readers.empty()) ||
        (before != none && keepUntil(before, k)))
      leaveOut(k);
  }
  size_t count = 0;
  for (size_t k = 0; k < plan.kernels.size(); ++k)
    if (!isLeftOut[k])
      std::swap(plan.kernels[count++], plan.kernels[k]);
  plan.kernels.resize(count);
}

void ckpt::plan::keepBetween(const Problem &problem, Plan &plan,
                             int64_t limitBytes) {
  Keeper(problem, plan, limitBytes).run();
}
