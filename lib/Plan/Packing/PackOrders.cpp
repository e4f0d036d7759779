//===- PackOrders.cpp - Packing one buffer after another ------------------===//
//
// Places buffers one after another in orders by several keys, and in orders
// that learn. `packBuffers` calls it first.
//
//===----------------------------------------------------------------------===//

#include "Plan/Model/RunBoth.h"
#include "Plan/Packing/PackBuffers.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <numeric>

using namespace ckpt::plan;

int64_t ckpt::plan::loadBytes(const std::vector<Buffer> &buffers) {
  int32_t end = 0;
  for (const Buffer &buffer : buffers)
    end = std::max(end, buffer.last + 1);
  std::vector<int64_t> change(end + 1, 0);
  for (const Buffer &buffer : buffers) {
    change[buffer.first] += buffer.bytes;
    change[buffer.last + 1] -= buffer.bytes;
  }
  int64_t live = 0, load = 0;
  for (int64_t step : change)
    load = std::max(load, live += step);
  return load;
}

namespace {

enum class Fit { First, Best };

/// Packs in one order and fit. Placed buffers are kept by ascending offset, so
/// that one pass over them meets the gaps.
class OrderedPacker {
public:
  explicit OrderedPacker(const std::vector<Buffer> &buffers)
      : buffers(buffers) {}

  /// Gives up once it takes \p enough bytes.
  Packing run(const std::vector<int32_t> &order, Fit fit,
              int64_t enough = INT64_MAX) {
    packing.offsets.assign(buffers.size(), -1);
    for (int32_t id : order) {
      int64_t offset = findGap(buffers[id], fit);
      packing.offsets[id] = offset;
      packing.arenaBytes =
          std::max(packing.arenaBytes, offset + buffers[id].bytes);
      if (packing.arenaBytes >= enough)
        break;
      auto above = std::upper_bound(
          placed.begin(), placed.end(), offset,
          [](int64_t at, const Placed &other) { return at < other.offset; });
      placed.insert(above, {offset, buffers[id]});
    }
    return std::move(packing);
  }

private:
  struct Placed {
    int64_t offset;
    Buffer buffer;
  };

  int64_t findGap(const Buffer &buffer, Fit fit) const {
    Work::spend(50 + static_cast<int64_t>(placed.size()));
    int64_t end = 0, best = -1, bestGap = INT64_MAX;
    for (const Placed &other : placed) {
      if (other.buffer.last < buffer.first || other.buffer.first > buffer.last)
        continue;
      int64_t gap = other.offset - end;
      if (gap >= buffer.bytes && gap < bestGap) {
        best = end;
        bestGap = gap;
        if (fit == Fit::First)
          break;
      }
      end = std::max(end, other.offset + other.buffer.bytes);
    }
    return best >= 0 ? best : end;
  }

  const std::vector<Buffer> &buffers;
  std::vector<Placed> placed;
  Packing packing;
};

double byArea(const Buffer &b) {
  return double(b.bytes) * double(b.duration());
}
double byDuration(const Buffer &b) { return double(b.duration()); }

constexpr std::array<Criterion, 4> criteria = {
    [](const Buffer &b) { return double(b.bytes); }, byArea, byDuration,
    [](const Buffer &b) { return -double(b.first); }};

} // namespace

std::vector<int32_t>
ckpt::plan::largestFirst(const std::vector<Buffer> &buffers,
                         Criterion criterion) {
  std::vector<int32_t> order(buffers.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int32_t a, int32_t b) {
    return criterion(buffers[a]) > criterion(buffers[b]);
  });
  return order;
}

Packing ckpt::plan::packByOrders(const std::vector<Buffer> &buffers,
                                 int64_t goalBytes) {
  Packing best;
  best.arenaBytes = INT64_MAX;
  for (Criterion criterion : criteria) {
    std::vector<int32_t> order = largestFirst(buffers, criterion);
    for (Fit fit : {Fit::First, Fit::Best}) {
      Packing packing = OrderedPacker(buffers).run(order, fit, best.arenaBytes);
      if (packing.arenaBytes < best.arenaBytes)
        best = std::move(packing);
      if (best.arenaBytes <= goalBytes)
        return best;
    }
  }
  return best;
}

/// \p order, with the buffers that end above \p goalBytes in \p packing moved
/// to \p share of their positions.
static std::vector<int32_t> moveForward(const std::vector<Buffer> &buffers,
                                        const std::vector<int32_t> &order,
                                        const Packing &packing,
                                        int64_t goalBytes, double share) {
  std::vector<std::pair<double, int32_t>> keys;
  for (size_t i = 0; i < order.size(); ++i) {
    int32_t id = order[i];
    bool isAbove = packing.offsets[id] + buffers[id].bytes > goalBytes;
    double position = static_cast<double>(i);
    keys.push_back({isAbove ? position * share - 1 : position, id});
  }
  std::stable_sort(keys.begin(), keys.end(),
                   [](const auto &left, const auto &right) {
                     return left.first < right.first;
                   });
  std::vector<int32_t> next;
  for (auto [key, id] : keys)
    next.push_back(id);
  return next;
}

/// One order that learns, until it meets the goal or \p isOver.
static Packing learnOrder(const std::vector<Buffer> &buffers,
                          Criterion criterion, double share, int64_t goalBytes,
                          int64_t tries, const std::atomic<bool> &isOver) {
  Packing best;
  best.arenaBytes = INT64_MAX;
  std::vector<int32_t> order = largestFirst(buffers, criterion);
  for (int64_t i = 0; i < tries && !isOver; ++i) {
    Packing packing = OrderedPacker(buffers).run(order, Fit::First);
    if (packing.arenaBytes <= goalBytes)
      return packing;
    order = moveForward(buffers, order, packing, goalBytes, share);
    if (packing.arenaBytes < best.arenaBytes)
      best = std::move(packing);
  }
  return best;
}

Packing ckpt::plan::packByReordering(const std::vector<Buffer> &buffers,
                                     int64_t goalBytes) {
  // Every try compares each buffer with the buffers placed before.
  constexpr int64_t mostTries = 100, mostCompared = 40000000;
  int64_t count = static_cast<int64_t>(buffers.size());
  int64_t tries = std::min(mostTries, mostCompared / (count * count + 1));
  Packing best;
  best.arenaBytes = INT64_MAX;
  for (double share : {0.8, 0.5, 0.0}) {
    std::atomic<bool> never = false, isOver = false;
    auto first = [&] {
      Packing packing =
          learnOrder(buffers, byDuration, share, goalBytes, tries, never);
      isOver = packing.arenaBytes <= goalBytes;
      return packing;
    };
    auto second = [&] {
      return learnOrder(buffers, byArea, share, goalBytes, tries, isOver);
    };
    auto [ofDuration, ofArea] = runBoth(buffers.size(), first, second);
    for (Packing *packing : {&ofDuration, &ofArea}) {
      if (packing->arenaBytes < best.arenaBytes)
        best = std::move(*packing);
      if (best.arenaBytes <= goalBytes)
        return best;
    }
  }
  return best;
}
