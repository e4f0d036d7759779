//===- PackSearch.cpp - Search over canonical packings --------------------===//
//
// After MiniMalloc (Moffitt, ASPLOS'23). In a canonical packing every buffer
// lies on the floor or on another buffer, and buffers are placed by ascending
// offset; so the state is a skyline over time, and what lies under it is
// settled. A branch ends where the space that it wastes at some moment exceeds
// what that moment has to spare. Buffers that no longer live at the same time
// as others are searched apart.
//
//===----------------------------------------------------------------------===//

#include "PackBuffers.h"

#include <algorithm>
#include <array>
#include <functional>
#include <iterator>
#include <numeric>
#include <queue>
#include <tuple>

using namespace ckpt::plan;

namespace {

using Ids = std::vector<int32_t>;

class Search {
public:
  Search(const std::vector<Buffer> &buffers, const std::vector<Ids> &neighbours,
         int64_t capacityBytes, int64_t stepLimit)
      : buffers(buffers), neighbours(neighbours), stepsLeft(stepLimit),
        offsets(buffers.size(), -1), floors(buffers.size(), 0),
        rank(buffers.size()) {
    int32_t end = 0;
    for (const Buffer &buffer : buffers)
      end = std::max(end, buffer.last + 1);
    skyline.assign(end, 0);
    spare.assign(end, capacityBytes);
    for (const Buffer &buffer : buffers)
      for (int32_t t = buffer.first; t <= buffer.last; ++t)
        spare[t] -= buffer.bytes;
  }

  /// Tries buffers of equal offset in the order \p ids.
  bool run(const Ids &ids) {
    idOfRank = ids;
    for (size_t i = 0; i < ids.size(); ++i)
      rank[ids[i]] = i;
    Ids byFirst = ids;
    std::sort(byFirst.begin(), byFirst.end(), [&](int32_t a, int32_t b) {
      return std::tie(buffers[a].first, a) < std::tie(buffers[b].first, b);
    });
    return searchParts(byFirst, {-1, -1});
  }

  const std::vector<int64_t> &result() const { return offsets; }

private:
  /// Offset and rank of a placement; ascending along a branch, so that every
  /// set of placements is met in one order only.
  using Key = std::pair<int64_t, int32_t>;

  bool searchParts(const Ids &open, Key last);
  bool searchPart(const Ids &open, Key last);
  bool fits(int32_t id) const;
  bool wastesTooMuch(const Ids &open);
  void place(int32_t id);
  std::vector<Key> candidates(const Ids &open, Key last) const;

  void set(int64_t &figure, int64_t value) {
    trail.push_back({&figure, figure});
    figure = value;
  }
  void undoTo(size_t mark);

  const std::vector<Buffer> &buffers;
  const std::vector<Ids> &neighbours;
  /// Work that may still be done, in figures looked at or changed.
  int64_t stepsLeft;
  /// Looking ahead pays near dead ends; the first descent often meets none.
  static constexpr int32_t lookAheadsAfterDeadEnd = 64;
  int32_t lookAheads = 0;
  /// Offset of each placed buffer; -1 for open ones.
  std::vector<int64_t> offsets;
  /// Lowest offset of each open buffer on the skyline.
  std::vector<int64_t> floors;
  Ids rank, idOfRank;
  /// Per moment: the top of what is placed, and how many bytes may be wasted.
  std::vector<int64_t> skyline, spare;
  /// Former values of all figures that placements changed, in order.
  std::vector<std::pair<int64_t *, int64_t>> trail;
};

/// Splits \p open, which is sorted by start, where nothing crosses.
bool Search::searchParts(const Ids &open, Key last) {
  size_t begin = 0;
  while (begin < open.size()) {
    size_t end = begin;
    int32_t reach = buffers[open[begin]].last;
    while (end < open.size() && buffers[open[end]].first <= reach)
      reach = std::max(reach, buffers[open[end++]].last);
    bool whole = begin == 0 && end == open.size();
    if (whole
            ? !searchPart(open, last)
            : !searchPart(Ids(open.begin() + begin, open.begin() + end), last))
      return false;
    begin = end;
  }
  return true;
}

/// Open buffers whose floor is below the lowest top: with any other first, that
/// lowest one would still fit below it.
std::vector<Search::Key> Search::candidates(const Ids &open, Key last) const {
  int64_t lowestTop = INT64_MAX;
  for (int32_t id : open)
    lowestTop = std::min(lowestTop, floors[id] + buffers[id].bytes);
  std::vector<Key> keys;
  for (int32_t id : open)
    if (Key key{floors[id], rank[id]}; key > last && key.first < lowestTop)
      keys.push_back(key);
  std::sort(keys.begin(), keys.end());
  return keys;
}

bool Search::fits(int32_t id) const {
  const Buffer &buffer = buffers[id];
  for (int32_t t = buffer.first; t <= buffer.last; ++t)
    if (floors[id] - skyline[t] > spare[t])
      return false;
  return true;
}

/// Whether all open buffers that live at some moment lie so high above its
/// skyline that more is wasted there than may be.
bool Search::wastesTooMuch(const Ids &open) {
  --lookAheads;
  stepsLeft -= 16 * open.size();
  // By floor; what has ended goes when it comes to the top.
  using Started = std::pair<int64_t, int32_t>;
  std::priority_queue<Started, std::vector<Started>, std::greater<Started>>
      started;
  size_t next = 0;
  for (int32_t time = buffers[open[0]].first;; ++time) {
    for (; next < open.size() && buffers[open[next]].first == time; ++next)
      started.push({floors[open[next]], buffers[open[next]].last});
    while (!started.empty() && started.top().second < time)
      started.pop();
    if (started.empty())
      return false;
    if (started.top().first - skyline[time] > spare[time])
      return true;
  }
}

void Search::place(int32_t id) {
  const Buffer &buffer = buffers[id];
  int64_t floor = floors[id], top = floor + buffer.bytes;
  stepsLeft -= buffer.duration() + neighbours[id].size();
  set(offsets[id], floor);
  for (int32_t t = buffer.first; t <= buffer.last; ++t) {
    set(spare[t], spare[t] - (floor - skyline[t]));
    set(skyline[t], top);
  }
  for (int32_t other : neighbours[id])
    if (offsets[other] < 0 && floors[other] < top)
      set(floors[other], top);
}

void Search::undoTo(size_t mark) {
  for (; trail.size() > mark; trail.pop_back())
    *trail.back().first = trail.back().second;
}

bool Search::searchPart(const Ids &open, Key last) {
  stepsLeft -= open.size();
  if (lookAheads > 0 && wastesTooMuch(open))
    return false;
  for (Key key : candidates(open, last)) {
    if (stepsLeft < 0)
      return false;
    int32_t id = idOfRank[key.second];
    if (!fits(id))
      continue;
    size_t mark = trail.size();
    place(id);
    Ids rest;
    std::remove_copy(open.begin(), open.end(), std::back_inserter(rest), id);
    if (searchParts(rest, key))
      return true;
    undoTo(mark);
  }
  lookAheads = lookAheadsAfterDeadEnd;
  return false;
}

/// MiniMalloc's orders: by size, area, duration in three precedences.
bool before(const Buffer &a, const Buffer &b, int32_t variant) {
  auto keys = [&](const Buffer &buffer) {
    double bytes = buffer.bytes, time = buffer.duration();
    double area = bytes * time;
    return variant == 0   ? std::array<double, 3>{bytes, area, time}
           : variant == 1 ? std::array<double, 3>{time, area, bytes}
                          : std::array<double, 3>{time, bytes, area};
  };
  return keys(a) > keys(b);
}

} // namespace

PackSearch::PackSearch(const std::vector<Buffer> &buffers)
    : buffers(buffers), neighbours(buffers.size()) {
  Ids byFirst(buffers.size());
  std::iota(byFirst.begin(), byFirst.end(), 0);
  std::stable_sort(byFirst.begin(), byFirst.end(), [&](int32_t a, int32_t b) {
    return buffers[a].first < buffers[b].first;
  });
  for (size_t i = 0; i < byFirst.size(); ++i) {
    int32_t a = byFirst[i];
    for (size_t j = i + 1; j < byFirst.size(); ++j) {
      int32_t b = byFirst[j];
      if (buffers[b].first > buffers[a].last)
        break;
      neighbours[a].push_back(b);
      neighbours[b].push_back(a);
    }
  }
}

bool PackSearch::find(int64_t capacityBytes, Packing &packing) const {
  // One descent to the last buffer and some way back in each order, then more:
  // what one order does not find soon, another often does.
  int64_t count = buffers.size();
  int64_t descent = 2 * count * count;
  for (int64_t stepLimit : {descent + 200000, descent + 4000000})
    for (int32_t variant : {0, 1, 2})
      if (tryOrder(variant, capacityBytes, stepLimit, packing))
        return true;
  return false;
}

bool PackSearch::tryOrder(int32_t variant, int64_t capacityBytes,
                          int64_t stepLimit, Packing &packing) const {
  Ids order(buffers.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int32_t a, int32_t b) {
    return before(buffers[a], buffers[b], variant);
  });
  Search search(buffers, neighbours, capacityBytes, stepLimit);
  if (!search.run(order))
    return false;
  packing.offsets = search.result();
  packing.arenaBytes = 0;
  for (size_t i = 0; i < buffers.size(); ++i)
    packing.arenaBytes =
        std::max(packing.arenaBytes, packing.offsets[i] + buffers[i].bytes);
  return true;
}
