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

/// Places before \p until that read an output of the kernel at \p place.
std::vector<int32_t> TimeMoves::readersBefore(int32_t place,
                                              int32_t until) const {
  std::vector<int32_t> readers;
  for (ValueId value : state.kernel(place).outputs) {
    Life life = state.lifeFrom(value, place);
    readers.insert(readers.end(), life.firstRead,
                   std::lower_bound(life.firstRead, life.endOfReads, until));
  }
  std::sort(readers.begin(), readers.end());
  readers.erase(std::unique(readers.begin(), readers.end()), readers.end());
  return readers;
}

/// Lets the kernel at \p to, which has no anchor, make \p life from the result
/// of the anchor of its kernel. The later of the two kernels stays in place;
/// readers of their outputs wait for it.
std::optional<TimeMove> TimeMoves::spill(const Life &life, int32_t to) const {
  int32_t from = life.place, last = std::max(from, to);
  Kernel product = state.kernel(from), rest = product;
  OpId anchor = state.info(from).anchor;
  product.outputs = problem.ops[anchor].results;
  trim(product);
  rest.ops.erase(std::find(rest.ops.begin(), rest.ops.end(), anchor));
  trim(rest);
  Kernel joined = join(state.kernel(to), rest);
  joined.outputs.push_back(life.value);
  int64_t productNs = timeOf(product), joinedNs = timeOf(joined);
  TimeMove change;
  change.savedNs =
      state.info(from).timeNs + state.info(to).timeNs - productNs - joinedNs;
  if (productNs < 0 || joinedNs < 0 || change.savedNs <= 0)
    return std::nullopt;
  change.edit.replaced.emplace_back(from, std::move(product));
  if (to < from)
    change.edit.move(to, std::move(joined), last + 1);
  else
    change.edit.replaced.emplace_back(to, std::move(joined));
  for (int32_t reader : readersBefore(std::min(from, to), last)) {
    if (!mayWait(reader, last))
      return std::nullopt;
    change.edit.move(reader, state.kernel(reader), last + 1);
  }
  return change;
}

/// Moves an epilogue to a kernel without an anchor that reads the same values:
/// the derivative of an activation, if the activation is written once more for
/// a weight gradient. That kernel waits for its bytes, so the arithmetic is
/// free there.
void TimeMoves::findSpill(const Life &life,
                          std::vector<TimeMove> &changes) const {
  constexpr int32_t farthest = 16;
  int32_t from = life.place;
  const KernelInfo &info = state.info(from);
  const Op *anchor = info.anchor == none ? nullptr : &problem.ops[info.anchor];
  if (!anchor || state.kernel(from).outputs.size() != 1 ||
      problem.values[life.value].op == info.anchor || !anchor->mayRepeat ||
      anchor->results.size() != 1)
    return;
  int32_t end = std::min(from + farthest, state.size());
  for (int32_t to = std::max(0, from - farthest); to < end; ++to) {
    if (!mayJoin(to, info.memoryReads, life.value))
      continue;
    if (std::optional<TimeMove> change = spill(life, to)) {
      changes.push_back(std::move(*change));
      return;
    }
  }
}
