//===- LoadProfile.cpp - Bytes per stage, changed by ranges ---------------===//
//
// Sums per block of stages. Retention changes it at every step.
//
//===----------------------------------------------------------------------===//

#include "Plan/Improve/Anneal/LoadProfile.h"

using namespace ckpt::plan;

LoadProfile::LoadProfile(int32_t stages, int64_t budgetBytes)
    : count(stages), budget(budgetBytes), load(stages, 0),
      blocks((stages + blockSize - 1) / blockSize) {}

int64_t LoadProfile::sumExcess(int32_t block) const {
  int64_t sum = 0, limit = budget - blocks[block].added;
  for (int32_t t = block * blockSize; t < endOf(block); ++t)
    sum += std::max<int64_t>(load[t] - limit, 0);
  return sum;
}

void LoadProfile::addToWhole(int32_t block, int64_t bytes) {
  Block &all = blocks[block];
  all.added += bytes;
  all.largest += bytes;
  if (all.excess > 0 || all.largest > budget)
    setExcess(all, all.largest > budget ? sumExcess(block) : 0);
}

void LoadProfile::addToPart(int32_t block, int32_t first, int32_t last,
                            int64_t bytes) {
  for (int32_t t = first; t <= last; ++t)
    load[t] += bytes;
  Block &part = blocks[block];
  auto begin = load.begin() + block * blockSize;
  part.largest =
      *std::max_element(begin, load.begin() + endOf(block)) + part.added;
  if (part.excess > 0 || part.largest > budget)
    setExcess(part, part.largest > budget ? sumExcess(block) : 0);
}

void LoadProfile::add(int32_t first, int32_t last, int64_t bytes) {
  for (int32_t block = first / blockSize; first <= last; ++block) {
    int32_t end = endOf(block);
    if (first == block * blockSize && last >= end - 1)
      addToWhole(block, bytes);
    else
      addToPart(block, first, std::min(last, end - 1), bytes);
    first = end;
  }
}

int32_t LoadProfile::worstStage() const {
  size_t worst = 0;
  for (size_t block = 1; block < blocks.size(); ++block)
    if (blocks[block].largest > blocks[worst].largest)
      worst = block;
  auto begin = load.begin() + static_cast<int64_t>(worst) * blockSize;
  auto end = load.begin() + endOf(static_cast<int32_t>(worst));
  return static_cast<int32_t>(std::max_element(begin, end) - load.begin());
}
