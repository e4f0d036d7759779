//===- PackLowest.cpp - Filling an arena from the floor up ----------------===//
//
// Only the skyline over time of the placed buffers counts. The packer puts on
// its lowest stretch the best buffer that fits between the higher neighbours.
// If none fits, the stretch is wasted up to its lower neighbour (the best-fit
// heuristic of Sekiyama et al., "Profile-guided memory optimization for deep
// neural networks", arXiv:1804.10001). Both happen about as often as there are
// buffers. A tree over first and last moments finds the best buffer, so that a
// million take a few seconds.
//
// The best buffer lives when most bytes do, and longest among equals: buffers
// at the peak are placed first and nest. This is the first descent of
// PackSearch.cpp without a capacity.
//
//===----------------------------------------------------------------------===//

#include "Plan/Packing/PackBuffers.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <random>
#include <set>

using namespace ckpt::plan;

namespace {

/// Finds the open buffer of least rank that lives within some moments: a tree
/// that halves buffers by their first and their last moment in turn (Bentley,
/// CACM 18, 1975).
class OpenBuffers {
public:
  static constexpr int32_t none = INT32_MAX;

  /// \p order has them by rank.
  OpenBuffers(const std::vector<Buffer> &buffers,
              const std::vector<int32_t> &order)
      : leafOf(buffers.size()) {
    for (size_t rank = 0; rank < order.size(); ++rank) {
      const Buffer &buffer = buffers[order[rank]];
      ranked.push_back({buffer.first, buffer.last, static_cast<int32_t>(rank)});
    }
    while (leaves * leafSize < ranked.size())
      leaves *= 2;
    nodes.resize(2 * leaves);
    build(1, 0, static_cast<int32_t>(ranked.size()), true);
  }

  /// The least rank of one that lives from \p first to \p last at most, both
  /// inclusive, or `none`.
  int32_t find(int32_t first, int32_t last) const {
    int32_t best = none;
    find(1, first, last, best);
    return best;
  }

  /// The one of \p rank is no longer open.
  void erase(int32_t rank) {
    Node &leaf = nodes[leafOf[rank]];
    for (int32_t i = leaf.begin; i < leaf.end; ++i)
      if (ranked[i].rank == rank)
        ranked[i] = ranked[--leaf.end];
    summarize(leaf);
    for (size_t node = leafOf[rank] / 2; node > 0; node /= 2)
      unite(node);
  }

private:
  struct Ranked {
    int32_t first, last, rank;
  };
  /// A part of the open buffers: the ranges of their first and last moments,
  /// and the least rank.
  struct Node {
    int32_t leastFirst = INT32_MAX, mostFirst = -1;
    int32_t leastLast = INT32_MAX, mostLast = -1;
    int32_t best = none;
    /// Range in `ranked` of the buffers of a leaf.
    int32_t begin = 0, end = 0;

    void add(const Node &other) {
      leastFirst = std::min(leastFirst, other.leastFirst);
      mostFirst = std::max(mostFirst, other.mostFirst);
      leastLast = std::min(leastLast, other.leastLast);
      mostLast = std::max(mostLast, other.mostLast);
      best = std::min(best, other.best);
    }
  };
  static constexpr size_t leafSize = 8;

  void build(size_t index, int32_t begin, int32_t end, bool byFirst) {
    if (index >= leaves) {
      nodes[index].begin = begin;
      nodes[index].end = end;
      for (int32_t i = begin; i < end; ++i)
        leafOf[ranked[i].rank] = index;
      summarize(nodes[index]);
      return;
    }
    int32_t middle = begin + (end - begin) / 2;
    std::nth_element(ranked.begin() + begin, ranked.begin() + middle,
                     ranked.begin() + end,
                     [&](const Ranked &a, const Ranked &b) {
                       return byFirst ? a.first < b.first : a.last < b.last;
                     });
    build(2 * index, begin, middle, !byFirst);
    build(2 * index + 1, middle, end, !byFirst);
    unite(index);
  }

  void summarize(Node &leaf) {
    Node node;
    for (int32_t i = leaf.begin; i < leaf.end; ++i) {
      auto [first, last, rank] = ranked[i];
      node.add({first, first, last, last, rank});
    }
    node.begin = leaf.begin;
    node.end = leaf.end;
    leaf = node;
  }

  void unite(size_t index) {
    Node node = nodes[2 * index];
    node.add(nodes[2 * index + 1]);
    nodes[index] = node;
  }

  void find(size_t index, int32_t first, int32_t last, int32_t &best) const {
    const Node &node = nodes[index];
    if (node.best >= best || node.mostFirst < first || node.leastLast > last)
      return;
    if (node.leastFirst >= first && node.mostLast <= last) {
      best = node.best;
      return;
    }
    if (index >= leaves) {
      for (int32_t i = node.begin; i < node.end; ++i)
        if (ranked[i].first >= first && ranked[i].last <= last)
          best = std::min(best, ranked[i].rank);
      return;
    }
    size_t better = 2 * index;
    better += nodes[better + 1].best < nodes[better].best;
    find(better, first, last, best);
    find(better ^ 1, first, last, best);
  }

  std::vector<Ranked> ranked;
  std::vector<size_t> leafOf; // per rank
  size_t leaves = 1;
  /// The children of node i are 2 i and 2 i + 1; the root is node 1.
  std::vector<Node> nodes;
};

/// Stretches of moments at which the placed buffers end at one height;
/// neighbours differ.
class Skyline {
public:
  struct Stretch {
    int64_t height;
    int32_t first, last;
  };

  explicit Skyline(int32_t moments)
      : end(moments), next(moments + 1), previous(moments + 1),
        heights(moments) {
    next[0] = moments;
    byHeight.insert({0, 0});
  }

  Stretch lowest() const {
    auto [height, first] = *byHeight.begin();
    return {height, first, next[first] - 1};
  }

  /// Raises the moments from \p first to \p last of \p stretch.
  void raise(const Stretch &stretch, int32_t first, int32_t last,
             int64_t height) {
    split(stretch.first, first);
    split(first, last + 1);
    setHeight(first, height);
  }

  /// Raises \p stretch, which has one, to its lower neighbour.
  void level(const Stretch &stretch) {
    int64_t height = INT64_MAX;
    if (stretch.first > 0)
      height = heights[previous[stretch.first]];
    if (stretch.last + 1 < end)
      height = std::min(height, heights[stretch.last + 1]);
    setHeight(stretch.first, height);
  }

private:
  /// Lets a stretch start at \p at, which is in the one from \p first or behind
  /// it.
  void split(int32_t first, int32_t at) {
    if (at == first || at == next[first])
      return;
    next[at] = next[first];
    previous[next[at]] = at;
    next[first] = at;
    previous[at] = first;
    heights[at] = heights[first];
    byHeight.insert({heights[at], at});
  }

  void setHeight(int32_t first, int64_t height) {
    byHeight.erase({heights[first], first});
    heights[first] = height;
    byHeight.insert({height, first});
    if (next[first] < end && heights[next[first]] == height)
      joinNext(first);
    if (first > 0 && heights[previous[first]] == height)
      joinNext(previous[first]);
  }

  void joinNext(int32_t first) {
    int32_t joined = next[first];
    byHeight.erase({heights[joined], joined});
    next[first] = next[joined];
    previous[next[first]] = first;
  }

  const int32_t end;
  /// Per start of a stretch: the starts of the next and the previous one, and
  /// its height.
  std::vector<int32_t> next, previous;
  std::vector<int64_t> heights;
  std::set<std::pair<int64_t, int32_t>> byHeight;
};

/// Fills an arena in several orders.
class FloorPacker {
public:
  explicit FloorPacker(const std::vector<Buffer> &all)
      : buffers(withoutIdleMoments(all)) {
    for (const Buffer &buffer : buffers)
      moments = std::max(moments, buffer.last + 1);
    findLoads();
    for (const Buffer &buffer : all)
      durations.push_back(static_cast<double>(buffer.duration()));
  }

  /// Buffers that live when most bytes do come first if \p byLoad is set, then
  /// buffers of the longest durations, give or take \p shaken of them.
  std::vector<int32_t> order(bool byLoad, double shaken);

  /// Gives up once it takes \p enough bytes.
  Packing fill(const std::vector<int32_t> &order, int64_t enough) const;

private:
  void findLoads();

  const std::vector<Buffer> buffers;
  int32_t moments = 0;
  /// Per buffer: the most bytes that live at one of its moments.
  std::vector<int64_t> loads;
  std::vector<double> durations;
  std::mt19937_64 random;
};

void FloorPacker::findLoads() {
  size_t leaves = 1;
  while (leaves < static_cast<size_t>(moments))
    leaves *= 2;
  std::vector<int64_t> most(2 * leaves, 0), change(moments + 1, 0);
  for (const Buffer &buffer : buffers) {
    change[buffer.first] += buffer.bytes;
    change[buffer.last + 1] -= buffer.bytes;
  }
  std::partial_sum(change.begin(), change.end() - 1, most.begin() + leaves);
  for (size_t i = leaves; --i > 0;)
    most[i] = std::max(most[2 * i], most[2 * i + 1]);
  for (const Buffer &buffer : buffers) {
    int64_t load = 0;
    size_t begin = leaves + buffer.first, end = leaves + buffer.last + 1;
    for (; begin < end; begin /= 2, end /= 2) {
      if (begin % 2 != 0)
        load = std::max(load, most[begin++]);
      if (end % 2 != 0)
        load = std::max(load, most[--end]);
    }
    loads.push_back(load);
  }
}

std::vector<int32_t> FloorPacker::order(bool byLoad, double shaken) {
  using Key = std::array<double, 3>;
  std::vector<std::pair<Key, int32_t>> keys;
  for (size_t id = 0; id < buffers.size(); ++id) {
    // A share of 2^53, the same on every platform.
    double share = static_cast<double>(random() >> 11) / 9007199254740992.0;
    double duration = durations[id] * (1 + shaken * (2 * share - 1));
    keys.push_back({{byLoad ? -static_cast<double>(loads[id]) : 0, -duration,
                     -static_cast<double>(buffers[id].bytes)},
                    static_cast<int32_t>(id)});
  }
  std::sort(keys.begin(), keys.end());
  std::vector<int32_t> ids;
  for (const auto &[key, id] : keys)
    ids.push_back(id);
  return ids;
}

Packing FloorPacker::fill(const std::vector<int32_t> &order,
                          int64_t enough) const {
  Packing packing;
  packing.offsets.assign(buffers.size(), 0);
  OpenBuffers open(buffers, order);
  Skyline skyline(moments);
  for (size_t left = buffers.size(); left > 0 && packing.arenaBytes < enough;) {
    Skyline::Stretch lowest = skyline.lowest();
    int32_t rank = open.find(lowest.first, lowest.last);
    if (rank == OpenBuffers::none) {
      skyline.level(lowest);
      continue;
    }
    const Buffer &buffer = buffers[order[rank]];
    int64_t top = lowest.height + buffer.bytes;
    packing.offsets[order[rank]] = lowest.height;
    packing.arenaBytes = std::max(packing.arenaBytes, top);
    skyline.raise(lowest, buffer.first, buffer.last, top);
    open.erase(rank);
    --left;
  }
  return packing;
}

} // namespace

Packing ckpt::plan::packLowestFirst(const std::vector<Buffer> &buffers,
                                    int64_t goalBytes, int mostTries) {
  constexpr double shaken = 0.1;
  FloorPacker packer(buffers);
  Packing best;
  best.arenaBytes = INT64_MAX;
  for (int i = 0; i < mostTries; ++i) {
    Packing packing =
        packer.fill(packer.order(i != 1, i < 2 ? 0 : shaken), best.arenaBytes);
    if (packing.arenaBytes < best.arenaBytes)
      best = std::move(packing);
    if (best.arenaBytes <= goalBytes)
      break;
  }
  return best;
}
