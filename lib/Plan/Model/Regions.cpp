//===- Regions.cpp - Budgets of parts of a problem ------------------------===//
//
// Measures regions in the simulator, and makes the view in which searches and
// bounds see one region.
//
//===----------------------------------------------------------------------===//

#include "ckpt/Plan/Regions.h"

#include <algorithm>

using namespace ckpt::plan;

/// Whether the op that makes \p value is in the region.
static bool isMadeIn(const Problem &problem, const Region &region,
                     const Value &value) {
  return value.op != none &&
         std::binary_search(region.layers.begin(), region.layers.end(),
                            problem.ops[value.op].layer);
}

std::vector<char> ckpt::plan::membersOf(const Problem &problem,
                                        const Region &region) {
  std::vector<char> isMember(problem.values.size());
  for (size_t i = 0; i < problem.values.size(); ++i)
    isMember[i] = problem.values[i].home == Home::Arena &&
                  isMadeIn(problem, region, problem.values[i]);
  return isMember;
}

Problem ckpt::plan::withoutRegions(const Problem &problem) {
  Problem bare = problem;
  bare.regions.clear();
  return bare;
}

Problem ckpt::plan::regionView(const Problem &problem, const Region &region) {
  Problem view = withoutRegions(problem);
  std::vector<char> isMember = membersOf(problem, region);
  for (size_t i = 0; i < view.values.size(); ++i) {
    Value &value = view.values[i];
    // In a buffer of no one, the value takes no bytes anywhere.
    if (value.home == Home::Arena && !isMember[i])
      value.home = Home::Hosted;
    if (value.op != none && view.ops[value.op].kind == OpKind::Opaque &&
        view.ops[value.op].results.size() > 1)
      value.bytes = 0;
  }
  for (Op &op : view.ops)
    op.workspaceBytes = 0;
  return view;
}

namespace {
/// The most bytes of one region, and the kernel where they stand.
struct RegionPeak {
  int64_t bytes = 0;
  int32_t kernel = none;
};
} // namespace

/// An instance counts from its kernel to its last reader. A takeover of the
/// place of another instance of the region counts there.
static RegionPeak peakOf(const Problem &problem, const Verdict &verdict,
                         const std::vector<char> &isMember) {
  int32_t kernels = 0;
  for (const Instance &instance : verdict.instances)
    kernels = std::max(kernels, instance.lastRead + 1);
  std::vector<int64_t> change(kernels + 1);
  for (const Instance &instance : verdict.instances) {
    if (!isMember[instance.value] || !isInArena(problem, instance))
      continue;
    bool takesOver = instance.takesOver != none &&
                     isMember[verdict.instances[instance.takesOver].value];
    int32_t first = instance.kernel + (takesOver ? 1 : 0);
    int64_t bytes = slotBytes(problem.values[instance.value].bytes);
    if (first > instance.lastRead)
      continue;
    change[first] += bytes;
    change[instance.lastRead + 1] -= bytes;
  }
  RegionPeak peak;
  int64_t live = 0;
  for (int32_t k = 0; k < kernels; ++k) {
    live += change[k];
    if (live > peak.bytes)
      peak = {live, k};
  }
  return peak;
}

std::string ckpt::plan::measureRegions(const Problem &problem,
                                       Verdict &verdict) {
  std::string error;
  verdict.regionPeakBytes.clear();
  for (const Region &region : problem.regions) {
    RegionPeak peak = peakOf(problem, verdict, membersOf(problem, region));
    verdict.regionPeakBytes.push_back(peak.bytes);
    if (error.empty() && peak.bytes > region.budgetBytes)
      error = "kernel " + std::to_string(peak.kernel) + ": region '" +
              region.name + "' takes " + std::to_string(peak.bytes) +
              " bytes, but has a budget of " +
              std::to_string(region.budgetBytes);
  }
  return error;
}
