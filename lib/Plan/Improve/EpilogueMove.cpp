//===- EpilogueMove.cpp - Arithmetic taken to kernels that wait -----------===//
//
// An epilogue takes time behind a product that has no time to spare. A kernel
// without an anchor waits for its bytes: if it reads the same values, the
// arithmetic is free there, and only the result of the product has to be
// written and read on top.
//
//===----------------------------------------------------------------------===//

#include "Plan/Improve/TimeMoves.h"
#include "Plan/Model/PlanEdit.h"

#include <algorithm>

using namespace ckpt::plan;

/// Kernels before number \p until that read an output of \p kernel.
std::vector<size_t> TimeMoves::readersBefore(size_t kernel, size_t until,
                                             const Instances &instances) const {
  std::vector<size_t> readers;
  for (const Instance *instance : instances[kernel])
    for (size_t reader : readersOf(*instance))
      if (reader < until)
        readers.push_back(reader);
  std::sort(readers.begin(), readers.end());
  readers.erase(std::unique(readers.begin(), readers.end()), readers.end());
  return readers;
}

/// Lets kernel \p to, which has no anchor, make \p instance from the result of
/// the anchor of its kernel. The later of the two kernels stays in place;
/// readers of their outputs wait for it.
std::optional<TimeMove> TimeMoves::spill(const Instance &instance, size_t to,
                                         const Instances &instances) const {
  size_t from = instance.kernel, last = std::max(from, to);
  Kernel product = plan.kernels[from], rest = product;
  OpId anchor = infos[from]->anchor;
  product.outputs = problem.ops[anchor].results;
  trim(product);
  rest.ops.erase(std::find(rest.ops.begin(), rest.ops.end(), anchor));
  trim(rest);
  Kernel joined = join(plan.kernels[to], rest);
  joined.outputs.push_back(instance.value);
  int64_t productNs = timeOf(product), joinedNs = timeOf(joined);
  TimeMove change;
  change.savedNs =
      infos[from]->timeNs + infos[to]->timeNs - productNs - joinedNs;
  change.moved = readersBefore(std::min(from, to), last, instances);
  if (productNs < 0 || joinedNs < 0 || change.savedNs <= 0 ||
      !std::all_of(change.moved.begin(), change.moved.end(),
                   [&](size_t reader) { return mayWait(reader, last); }))
    return std::nullopt;
  if (to < from)
    change.moved.insert(change.moved.begin(), to);
  change.behind = last;
  change.replaced.emplace_back(from, std::move(product));
  change.replaced.emplace_back(to, std::move(joined));
  return change;
}

/// Moves an epilogue to a kernel without an anchor that reads the same values:
/// the derivative of an activation, if the activation is written once more for
/// a weight gradient. That kernel waits for its bytes, so the arithmetic is
/// free there.
void TimeMoves::findSpill(const Instance &instance, const Instances &instances,
                          std::vector<TimeMove> &changes) const {
  constexpr size_t farthest = 16;
  size_t from = instance.kernel;
  const Op *anchor =
      infos[from]->anchor == none ? nullptr : &problem.ops[infos[from]->anchor];
  if (!anchor || plan.kernels[from].outputs.size() != 1 ||
      problem.values[instance.value].op == infos[from]->anchor ||
      !anchor->mayRepeat || anchor->results.size() != 1)
    return;
  const std::vector<ValueId> &inputs = infos[from]->memoryReads;
  size_t end = std::min(from + farthest, plan.kernels.size());
  for (size_t to = from - std::min(from, farthest); to < end; ++to) {
    if (!mayJoin(to, inputs, instance.value))
      continue;
    if (std::optional<TimeMove> change = spill(instance, to, instances)) {
      changes.push_back(std::move(*change));
      return;
    }
  }
}
