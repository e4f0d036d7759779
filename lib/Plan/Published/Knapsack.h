//===- Knapsack.h - Selection of items within a capacity --------*- C++ -*-===//

#ifndef CKPT_LIB_PLAN_PUBLISHED_KNAPSACK_H
#define CKPT_LIB_PLAN_PUBLISHED_KNAPSACK_H

#include <cstdint>
#include <vector>

namespace ckpt::plan {

struct KnapsackItem {
  int64_t bytes = 0;
  int64_t value = 0;
};

/// PyTorch's `greedy_knapsack`: items by value per byte, as long as they fit.
/// Returns for each item whether it is taken.
std::vector<char> greedyKnapsack(const std::vector<KnapsackItem> &items,
                                 int64_t capacity);

/// PyTorch's `dp_knapsack`: the most valuable set, with sizes in steps of
/// 1 / 10000 of the capacity. Sizes are rounded up, where PyTorch rounds to the
/// nearest, so that the set never exceeds the capacity.
std::vector<char> exactKnapsack(const std::vector<KnapsackItem> &items,
                                int64_t capacity);

} // namespace ckpt::plan

#endif // CKPT_LIB_PLAN_PUBLISHED_KNAPSACK_H
