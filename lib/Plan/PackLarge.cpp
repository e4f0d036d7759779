//===- PackLarge.cpp - Packing of very many buffers -----------------------===//
//
// The orders of PackOrders.cpp look at every placed buffer once per buffer,
// which is too slow for tens of thousands. Here a tree over time knows how high
// the buffers of each moment reach and how much of that is waste. Where some
// moment has no waste to spare, a buffer lies on top, as no gap below others
// spans it: values that are saved for the backward pass nest like parentheses,
// and the longest first waste nothing. Only the others are compared with those
// placed before, with a limit on the comparisons.
//
//===----------------------------------------------------------------------===//

#include "PackBuffers.h"

#include <algorithm>
#include <array>
#include <cstring>

using namespace ckpt::plan;

namespace {

/// Per moment of time, how high the placed buffers reach and their sum.
class Skyline {
public:
  explicit Skyline(int32_t moments) {
    while (leaves < moments)
      leaves *= 2;
    nodes.resize(2 * leaves);
  }

  struct Range {
    int64_t height = 0;
    /// Least difference of height and sum.
    int64_t waste = INT64_MAX;
  };

  Range find(int32_t first, int32_t last) {
    Range range;
    find(1, 0, leaves, first, last + 1, range);
    return range;
  }

  /// Enters a buffer that ends at \p height.
  void place(int32_t first, int32_t last, int64_t bytes, int64_t height) {
    place(1, 0, leaves, first, last + 1, bytes, height);
  }

private:
  struct Node {
    int64_t highest = 0, lowest = 0;
    /// Least height minus sum of a moment below this node.
    int64_t waste = 0;
    /// What still has to be done to all below: a sum to add, and a height, if
    /// any, that all moments have.
    int64_t added = 0, assigned = -1;
  };

  /// Makes the height of all moments of \p node equal; only for nodes whose
  /// moments have one height before, so that their waste moves together.
  static void assign(Node &node, int64_t height) {
    node.waste += height - node.highest;
    node.highest = node.lowest = node.assigned = height;
  }
  static void add(Node &node, int64_t bytes) {
    node.waste -= bytes;
    node.added += bytes;
  }

  void push(int32_t index) {
    Node &node = nodes[index];
    for (int32_t child : {2 * index, 2 * index + 1}) {
      if (node.assigned >= 0)
        assign(nodes[child], node.assigned);
      add(nodes[child], node.added);
    }
    node.assigned = -1;
    node.added = 0;
  }

  void pull(int32_t index) {
    const Node &left = nodes[2 * index], &right = nodes[2 * index + 1];
    nodes[index].highest = std::max(left.highest, right.highest);
    nodes[index].lowest = std::min(left.lowest, right.lowest);
    nodes[index].waste = std::min(left.waste, right.waste);
  }

  void find(int32_t index, int32_t begin, int32_t end, int32_t first,
            int32_t last, Range &range) {
    if (last <= begin || end <= first)
      return;
    if (first <= begin && end <= last) {
      range.height = std::max(range.height, nodes[index].highest);
      range.waste = std::min(range.waste, nodes[index].waste);
      return;
    }
    push(index);
    int32_t middle = begin + (end - begin) / 2;
    find(2 * index, begin, middle, first, last, range);
    find(2 * index + 1, middle, end, first, last, range);
  }

  void place(int32_t index, int32_t begin, int32_t end, int32_t first,
             int32_t last, int64_t bytes, int64_t height) {
    if (last <= begin || end <= first)
      return;
    Node &node = nodes[index];
    if (first <= begin && end <= last &&
        (node.lowest == node.highest || height <= node.lowest)) {
      if (height > node.highest)
        assign(node, height);
      add(node, bytes);
      return;
    }
    push(index);
    int32_t middle = begin + (end - begin) / 2;
    place(2 * index, begin, middle, first, last, bytes, height);
    place(2 * index + 1, middle, end, first, last, bytes, height);
    pull(index);
  }

  int32_t leaves = 1;
  std::vector<Node> nodes;
};

/// Placed buffers by ascending offset, in chunks so that entering one moves
/// few.
class PlacedBuffers {
public:
  void insert(int64_t offset, const Buffer &buffer) {
    if (chunks.empty())
      chunks.emplace_back();
    auto chunk = std::upper_bound(chunks.begin(), chunks.end(), offset,
                                  [](int64_t at, const Chunk &other) {
                                    return !other.places.empty() &&
                                           at < other.places.front().offset;
                                  });
    if (chunk != chunks.begin())
      --chunk;
    auto above = std::upper_bound(
        chunk->places.begin(), chunk->places.end(), offset,
        [](int64_t at, const Place &other) { return at < other.offset; });
    auto at = above - chunk->places.begin();
    chunk->firsts.insert(chunk->firsts.begin() + at, buffer.first);
    chunk->lasts.insert(chunk->lasts.begin() + at, buffer.last);
    chunk->places.insert(above, {offset, offset + buffer.bytes});
    chunk->first = std::min(chunk->first, buffer.first);
    chunk->last = std::max(chunk->last, buffer.last);
    if (chunk->places.size() > largest)
      halve(chunk - chunks.begin());
  }

  /// The lowest gap for \p buffer, or -1 if there is none.
  int64_t findGap(const Buffer &buffer, int64_t &comparisons) const {
    std::array<uint8_t, largest + 8> meets;
    int64_t end = 0;
    for (const Chunk &chunk : chunks) {
      --comparisons;
      if (chunk.last < buffer.first || chunk.first > buffer.last)
        continue;
      comparisons -= static_cast<int64_t>(chunk.places.size());
      // Most share no moment: eight at a time are left out.
      size_t count = chunk.places.size();
      for (size_t i = 0; i < count; ++i)
        meets[i] =
            (chunk.lasts[i] >= buffer.first) & (chunk.firsts[i] <= buffer.last);
      std::fill_n(meets.begin() + count, 8, 0);
      for (size_t begin = 0; begin < count; begin += 8) {
        uint64_t eight;
        std::memcpy(&eight, &meets[begin], 8);
        for (size_t i = begin; eight != 0 && i < begin + 8; ++i) {
          if (!meets[i])
            continue;
          if (chunk.places[i].offset - end >= buffer.bytes)
            return end;
          end = std::max(end, chunk.places[i].end);
        }
      }
    }
    return -1;
  }

private:
  struct Place {
    int64_t offset, end;
  };
  /// Moments, which every buffer is compared with, apart from places.
  struct Chunk {
    std::vector<int32_t> firsts, lasts;
    std::vector<Place> places;
    int32_t first = INT32_MAX, last = -1;

    void findSpan() {
      first = *std::min_element(firsts.begin(), firsts.end());
      last = *std::max_element(lasts.begin(), lasts.end());
    }
  };
  static constexpr size_t largest = 256;

  void halve(size_t index) {
    Chunk upper;
    Chunk &lower = chunks[index];
    auto move = [](auto &from, auto &to) {
      to.assign(from.begin() + largest / 2, from.end());
      from.resize(largest / 2);
    };
    move(lower.firsts, upper.firsts);
    move(lower.lasts, upper.lasts);
    move(lower.places, upper.places);
    lower.findSpan();
    upper.findSpan();
    chunks.insert(chunks.begin() + index + 1, std::move(upper));
  }

  std::vector<Chunk> chunks;
};

/// Gives up once it takes \p enough bytes.
Packing packInOrder(const std::vector<Buffer> &buffers,
                    const std::vector<int32_t> &order, int32_t moments,
                    int64_t comparisons, int64_t enough) {
  Skyline skyline(moments);
  PlacedBuffers placed;
  Packing packing;
  packing.offsets.resize(buffers.size());
  for (int32_t id : order) {
    const Buffer &buffer = buffers[id];
    Skyline::Range range = skyline.find(buffer.first, buffer.last);
    int64_t offset = -1;
    if (range.waste >= buffer.bytes && comparisons > 0)
      offset = placed.findGap(buffer, comparisons);
    if (offset < 0)
      offset = range.height;
    placed.insert(offset, buffer);
    skyline.place(buffer.first, buffer.last, buffer.bytes,
                  offset + buffer.bytes);
    packing.offsets[id] = offset;
    packing.arenaBytes = std::max(packing.arenaBytes, offset + buffer.bytes);
    if (packing.arenaBytes >= enough)
      break;
  }
  return packing;
}

constexpr std::array<Criterion, 3> criteria = {
    [](const Buffer &b) { return double(b.duration()); },
    [](const Buffer &b) { return double(b.bytes) * double(b.duration()); },
    [](const Buffer &b) { return double(b.bytes); },
};

} // namespace

Packing ckpt::plan::packLarge(const std::vector<Buffer> &buffers,
                              int64_t goalBytes) {
  // The second limit where the first leaves gaps of a tenth: looking for them
  // takes less time than planning once more with less.
  constexpr int64_t fewComparisons = 400'000'000,
                    mostComparisons = 4'000'000'000;
  constexpr double muchMore = 1.1;
  int32_t moments = 0;
  for (const Buffer &buffer : buffers)
    moments = std::max(moments, buffer.last + 1);
  Packing best;
  best.arenaBytes = INT64_MAX;
  for (int64_t comparisons : {fewComparisons, mostComparisons}) {
    for (Criterion criterion : criteria) {
      Packing packing = packInOrder(buffers, largestFirst(buffers, criterion),
                                    moments, comparisons, best.arenaBytes);
      if (packing.arenaBytes < best.arenaBytes)
        best = std::move(packing);
      if (best.arenaBytes <= goalBytes)
        return best;
    }
    if (static_cast<double>(best.arenaBytes) <
        muchMore * static_cast<double>(goalBytes))
      break;
  }
  return best;
}
