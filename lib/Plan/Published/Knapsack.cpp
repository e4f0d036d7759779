//===- Knapsack.cpp - Selection of items within a capacity ----------------===//
//
// SavedBytes.cpp solves one per point of its curve.
//
//===----------------------------------------------------------------------===//

#include "Plan/Published/Knapsack.h"

#include <algorithm>
#include <numeric>

using namespace ckpt::plan;

std::vector<char>
ckpt::plan::greedyKnapsack(const std::vector<KnapsackItem> &items,
                           int64_t capacity) {
  std::vector<int32_t> order(items.size());
  std::iota(order.begin(), order.end(), 0);
  auto ratio = [&](int32_t i) {
    return static_cast<double>(items[i].value) /
           static_cast<double>(std::max<int64_t>(items[i].bytes, 1));
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](int32_t a, int32_t b) { return ratio(a) > ratio(b); });
  std::vector<char> taken(items.size(), 0);
  for (int32_t i : order)
    if (items[i].bytes <= capacity) {
      capacity -= items[i].bytes;
      taken[i] = 1;
    }
  return taken;
}

std::vector<char>
ckpt::plan::exactKnapsack(const std::vector<KnapsackItem> &items,
                          int64_t capacity) {
  constexpr int64_t steps = 10000;
  // Small capacities need no rounding.
  int64_t columns = std::min(steps, std::max<int64_t>(capacity, 0));
  auto sizeOf = [&](int64_t bytes) {
    if (bytes > capacity)
      return columns + 1;
    if (bytes == 0)
      return int64_t{0};
    return static_cast<int64_t>(
        (static_cast<__int128>(bytes) * columns + capacity - 1) / capacity);
  };
  // best[i][c]: most value of the first i items within c steps.
  std::vector<std::vector<int64_t>> best(items.size() + 1);
  best[0].assign(columns + 1, 0);
  for (size_t i = 0; i < items.size(); ++i) {
    best[i + 1] = best[i];
    int64_t size = sizeOf(items[i].bytes);
    for (int64_t c = size; c <= columns; ++c)
      best[i + 1][c] = std::max(best[i][c], best[i][c - size] + items[i].value);
  }
  std::vector<char> taken(items.size(), 0);
  int64_t c = columns;
  for (size_t i = items.size(); i-- > 0;)
    if (best[i + 1][c] != best[i][c]) {
      taken[i] = 1;
      c -= sizeOf(items[i].bytes);
    }
  return taken;
}
