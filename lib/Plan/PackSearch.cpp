//===- PackSearch.cpp - Search over canonical packings --------------------===//
//
// After MiniMalloc (Moffitt, ASPLOS'23). In a canonical packing every buffer
// lies on the floor or on another buffer, and buffers are placed by ascending
// offset; so the state is a skyline over time, and what lies under it is
// settled. A branch ends where what is open at some moment no longer fits above
// the lowest place that an open buffer can still take then. Buffers that no
// longer live at the same time as others are searched apart.
//
//===----------------------------------------------------------------------===//

#include "PackBuffers.h"
#include "RunBoth.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <iterator>
#include <numeric>
#include <tuple>

using namespace ckpt::plan;

namespace {

using Ids = std::vector<int32_t>;

/// What decides the order of buffers at equal offsets: the size, the duration,
/// the area, and the largest sum of open buffers at one of its moments, most of
/// it first.
enum class Precedence {
  SizeAreaWidth,
  WidthAreaTotal,
  TotalAreaWidth,
  TotalWidthArea
};
constexpr Precedence precedences[] = {
    Precedence::SizeAreaWidth, Precedence::WidthAreaTotal,
    Precedence::TotalAreaWidth, Precedence::TotalWidthArea};

class Search {
public:
  Search(const std::vector<Buffer> &buffers, const std::vector<Ids> &neighbours,
         Precedence precedence, int64_t capacityBytes, int64_t stepLimit,
         const std::atomic<bool> &isOver)
      : buffers(buffers), neighbours(neighbours), precedence(precedence),
        capacity(capacityBytes), stepsLeft(stepLimit), isOver(isOver),
        offsets(buffers.size(), -1), floors(buffers.size(), 0) {
    int32_t end = 0;
    for (const Buffer &buffer : buffers)
      end = std::max(end, buffer.last + 1);
    moments.resize(end);
    for (size_t id = 0; id < buffers.size(); ++id)
      for (int32_t t = buffers[id].first; t <= buffers[id].last; ++t) {
        moments[t].ids.push_back(id);
        moments[t].openBytes += buffers[id].bytes;
      }
  }

  bool run() {
    Ids byFirst(buffers.size());
    std::iota(byFirst.begin(), byFirst.end(), 0);
    std::sort(byFirst.begin(), byFirst.end(), [&](int32_t a, int32_t b) {
      return std::tie(buffers[a].first, a) < std::tie(buffers[b].first, b);
    });
    return searchParts(byFirst);
  }

  const std::vector<int64_t> &result() const { return offsets; }

private:
  struct Moment {
    /// No open buffer that lives then can lie lower.
    int64_t floor = 0;
    int64_t openBytes = 0;
    /// All that live then.
    Ids ids;
  };
  /// An open buffer, in the order of tries: the offsets ascend along a branch,
  /// so that every set of placements is met in one order only.
  struct Try {
    int64_t offset;
    int32_t rank, id;
    bool operator<(const Try &other) const {
      return std::tie(offset, rank) < std::tie(other.offset, other.rank);
    }
  };
  /// Open buffers that are searched together, by start.
  struct Part {
    Ids byFirst;
    int32_t first, last;
  };

  std::vector<Part> split(const Ids &open) const;
  bool searchParts(const Ids &open);
  bool searchPart(const Part &part);
  bool searchRest(const Part &part, const std::vector<Try> &tries,
                  const Try &latest);
  bool searchAbove(const Part &part, const std::vector<Try> &tries,
                   const Try &placed);
  std::vector<Try> openTries(const std::vector<Try> &tries) const;
  bool place(int32_t id);
  void raiseFloors(int32_t first, int32_t last);
  bool canHold(const Part &part, int64_t offset);

  void set(int64_t &figure, int64_t value) {
    trail.push_back({&figure, figure});
    figure = value;
  }
  void undoTo(size_t mark);

  const std::vector<Buffer> &buffers;
  const std::vector<Ids> &neighbours;
  const Precedence precedence;
  const int64_t capacity;
  /// Work that may still be done, in figures looked at or changed.
  int64_t stepsLeft;
  /// Nobody waits for an answer any more.
  const std::atomic<bool> &isOver;
  /// Offset of each placed buffer; -1 for open ones.
  std::vector<int64_t> offsets;
  /// Lowest offset of each open buffer.
  std::vector<int64_t> floors;
  std::vector<Moment> moments;
  /// Former values of all figures that placements changed, in order.
  std::vector<std::pair<int64_t *, int64_t>> trail;
};

/// Splits \p open, which is sorted by start, where nothing crosses.
std::vector<Search::Part> Search::split(const Ids &open) const {
  std::vector<Part> parts;
  for (int32_t id : open) {
    if (parts.empty() || buffers[id].first > parts.back().last)
      parts.push_back({{}, buffers[id].first, buffers[id].last});
    parts.back().byFirst.push_back(id);
    parts.back().last = std::max(parts.back().last, buffers[id].last);
  }
  return parts;
}

bool Search::searchParts(const Ids &open) {
  for (const Part &part : split(open))
    if (!searchPart(part))
      return false;
  return true;
}

bool Search::searchPart(const Part &part) {
  using Keys = std::array<double, 3>;
  std::vector<std::pair<Keys, int32_t>> order;
  for (int32_t id : part.byFirst) {
    const Buffer &buffer = buffers[id];
    int64_t most = 0;
    for (int32_t t = buffer.first; t <= buffer.last; ++t)
      most = std::max(most, moments[t].openBytes);
    stepsLeft -= buffer.duration();
    double total = most, width = buffer.duration();
    double area = double(buffer.bytes) * width;
    switch (precedence) {
    case Precedence::SizeAreaWidth:
      order.push_back({{-double(buffer.bytes), -area, -width}, id});
      break;
    case Precedence::WidthAreaTotal:
      order.push_back({{-width, -area, -total}, id});
      break;
    case Precedence::TotalAreaWidth:
      order.push_back({{-total, -area, -width}, id});
      break;
    case Precedence::TotalWidthArea:
      order.push_back({{-total, -width, -area}, id});
      break;
    }
  }
  std::sort(order.begin(), order.end());
  std::vector<Try> tries;
  for (size_t i = 0; i < order.size(); ++i)
    tries.push_back({0, int32_t(i), order[i].second});
  return searchRest(part, tries, {-1, -1, -1});
}

std::vector<Search::Try>
Search::openTries(const std::vector<Try> &tries) const {
  std::vector<Try> open;
  for (const Try &old : tries)
    if (offsets[old.id] < 0)
      open.push_back({floors[old.id], old.rank, old.id});
  return open;
}

/// Whether at every moment of \p part what is open fits above \p offset, below
/// which nothing more is placed, and above the floor.
bool Search::canHold(const Part &part, int64_t offset) {
  stepsLeft -= part.last - part.first + 1;
  for (int32_t t = part.first; t <= part.last; ++t)
    if (std::max(offset, moments[t].floor) + moments[t].openBytes > capacity)
      return false;
  return true;
}

/// A moment has no floor below the lowest open buffer that lives then.
void Search::raiseFloors(int32_t first, int32_t last) {
  for (int32_t t = first; t <= last; ++t) {
    Moment &moment = moments[t];
    stepsLeft -= moment.ids.size();
    int64_t lowest = INT64_MAX;
    for (size_t i = 0; i < moment.ids.size() && lowest > moment.floor; ++i)
      if (int32_t id = moment.ids[i]; offsets[id] < 0)
        lowest = std::min(lowest, floors[id]);
    if (lowest != INT64_MAX && lowest > moment.floor)
      set(moment.floor, lowest);
  }
}

/// Puts a buffer on its floor; returns whether it lies below an open one.
bool Search::place(int32_t id) {
  const Buffer &buffer = buffers[id];
  int64_t top = floors[id] + buffer.bytes;
  set(offsets[id], floors[id]);
  for (int32_t t = buffer.first; t <= buffer.last; ++t) {
    set(moments[t].floor, top);
    set(moments[t].openBytes, moments[t].openBytes - buffer.bytes);
  }
  int32_t first = buffer.first, last = buffer.last;
  bool below = false;
  for (int32_t other : neighbours[id]) {
    if (offsets[other] >= 0)
      continue;
    below = true;
    if (floors[other] >= top)
      continue;
    set(floors[other], top);
    first = std::min(first, buffers[other].first);
    last = std::max(last, buffers[other].last);
  }
  stepsLeft -= 2 * buffer.duration() + neighbours[id].size();
  raiseFloors(first, last);
  return below;
}

void Search::undoTo(size_t mark) {
  for (; trail.size() > mark; trail.pop_back())
    *trail.back().first = trail.back().second;
}

/// Searches what is open after \p placed, apart where it has come apart.
bool Search::searchAbove(const Part &part, const std::vector<Try> &tries,
                         const Try &placed) {
  Part rest{{}, part.first, part.last};
  for (int32_t id : part.byFirst)
    if (offsets[id] < 0)
      rest.byFirst.push_back(id);
  std::vector<Part> parts = split(rest.byFirst);
  if (parts.size() == 1)
    return searchRest(parts[0], tries, placed);
  return std::all_of(parts.begin(), parts.end(),
                     [&](const Part &each) { return searchPart(each); });
}

bool Search::searchRest(const Part &part, const std::vector<Try> &tries,
                        const Try &latest) {
  std::vector<Try> open = openTries(tries);
  stepsLeft -= 4 * tries.size();
  // With anything above the lowest top first, that lowest one would still fit
  // below it.
  int64_t lowestTop = INT64_MAX;
  for (const Try &next : open)
    lowestTop = std::min(lowestTop, next.offset + buffers[next.id].bytes);
  std::vector<Try> lowest;
  for (const Try &next : open)
    if (latest < next && next.offset < lowestTop)
      lowest.push_back(next);
  std::sort(lowest.begin(), lowest.end());
  for (const Try &next : lowest) {
    if (stepsLeft < 0 || isOver)
      return false;
    size_t mark = trail.size();
    bool below = place(next.id);
    if (canHold(part, next.offset) && searchAbove(part, open, next))
      return true;
    undoTo(mark);
    // What bears nothing hinders nothing: another order does not help.
    if (!below)
      return false;
  }
  return false;
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

/// What \p search found.
static Packing toPacking(const std::vector<Buffer> &buffers,
                         const Search &search) {
  Packing packing;
  packing.offsets = search.result();
  for (size_t i = 0; i < buffers.size(); ++i)
    packing.arenaBytes =
        std::max(packing.arenaBytes, packing.offsets[i] + buffers[i].bytes);
  return packing;
}

bool PackSearch::find(int64_t capacityBytes, int64_t stepLimit,
                      Packing &packing) const {
  // What one order does not find soon, another often does: all get little
  // first, then more.
  int64_t count = buffers.size();
  for (int64_t steps = 64 * count * count + stepLimit / 16;; steps *= 4) {
    for (size_t i = 0; i < std::size(precedences); i += 2) {
      std::atomic<bool> never = false, isFound = false;
      auto make = [&](size_t which, const std::atomic<bool> &isOver) {
        return Search(buffers, neighbours, precedences[which], capacityBytes,
                      steps, isOver);
      };
      Search first = make(i, never), second = make(i + 1, isFound);
      auto runFirst = [&] {
        bool found = first.run();
        isFound = found;
        return found;
      };
      auto [byFirst, bySecond] =
          runBoth(buffers.size(), runFirst, [&] { return second.run(); });
      if (byFirst || bySecond) {
        packing = toPacking(buffers, byFirst ? first : second);
        return true;
      }
    }
    if (steps >= stepLimit)
      return false;
  }
}
