//===- LoadProfile.h - Bytes per stage, changed by ranges -------*- C++ -*-===//
//
// A local search adds and takes away bytes over long ranges of stages, and asks
// after every change by how much the stages exceed the budget. Most are far
// below it, so blocks hold the stages: a block that cannot exceed the budget
// changes as a whole.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_LIB_PLAN_IMPROVE_ANNEAL_LOADPROFILE_H
#define CKPT_LIB_PLAN_IMPROVE_ANNEAL_LOADPROFILE_H

#include <algorithm>
#include <cstdint>
#include <vector>

namespace ckpt::plan {

class LoadProfile {
public:
  LoadProfile(int32_t stages, int64_t budgetBytes);

  /// Adds \p bytes to the stages from \p first to \p last.
  void add(int32_t first, int32_t last, int64_t bytes);
  int64_t at(int32_t stage) const {
    return load[stage] + blocks[stage / blockSize].added;
  }
  /// By how much stages exceed the budget, summed.
  int64_t excessBytes() const { return excess; }
  /// The first stage with the largest load.
  int32_t worstStage() const;

private:
  static constexpr int32_t blockSize = 16;
  struct Block {
    /// Counts for every stage of the block.
    int64_t added = 0;
    int64_t largest = 0, excess = 0;
  };
  void addToPart(int32_t block, int32_t first, int32_t last, int64_t bytes);
  void addToWhole(int32_t block, int64_t bytes);
  int32_t endOf(int32_t block) const {
    return std::min(count, (block + 1) * blockSize);
  }
  int64_t sumExcess(int32_t block) const;
  void setExcess(Block &block, int64_t bytes) {
    excess += bytes - block.excess;
    block.excess = bytes;
  }

  int32_t count;
  int64_t budget;
  std::vector<int64_t> load;
  std::vector<Block> blocks;
  int64_t excess = 0;
};

} // namespace ckpt::plan

#endif // CKPT_LIB_PLAN_IMPROVE_ANNEAL_LOADPROFILE_H
