//===- PackSearch.cpp - Search over canonical packings --------------------===//
//
// After MiniMalloc (Moffitt, ASPLOS'23). In a canonical packing every buffer
// lies on the floor or on another buffer, so it is enough to choose the next
// buffer and its neighbours below: the state is a skyline over time. The search
// places the lowest open buffer on the skyline. If that fails, the buffer
// *waits* until another open one lies below it, which gives a least height for
// it; MiniMalloc only skips it.
//
// A branch ends if the open buffers at some moment no longer fit above the
// lowest place that one of them can still take. Buffers that no longer live at
// the same time as others are searched apart.
//
// Luck decides between equally low buffers, so no try lasts long. Tries follow
// the universal sequence (Luby, Sinclair and Zuckerman, IPL 47, 1993), with
// changed orders. Half of these put first the buffers that live at moments of
// failures (as constraints are weighed in Boussemart et al., ECAI'04).
//
//===----------------------------------------------------------------------===//

#include "Plan/Model/Clock.h"
#include "Plan/Model/RunBoth.h"
#include "Plan/Packing/PackBuffers.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <numeric>
#include <random>
#include <tuple>

using namespace ckpt::plan;

namespace {

using Ids = std::vector<int32_t>;

/// The order of buffers at equal offsets, the first key first: the largest sum
/// of open buffers at one of its moments, the width in time, the area, and the
/// failures of tries at one of its moments.
enum class Precedence { TotalWidth, TotalArea, FailuresWidth, FailuresArea };

enum class Answer { Found, Impossible, Unknown };

/// Tries at one capacity, which learn where they fail.
class Search {
public:
  Search(const std::vector<Buffer> &buffers, const std::vector<Buffer> &spans,
         const std::vector<Ids> &neighbours, int64_t capacityBytes,
         uint64_t seed, const std::atomic<bool> &isOver)
      : buffers(buffers), spans(spans), neighbours(neighbours),
        capacity(capacityBytes), random(seed), isOver(isOver),
        states(buffers.size()), widths(buffers.size()) {
    int32_t end = 0;
    for (size_t id = 0; id < buffers.size(); ++id) {
      widths[id] = static_cast<double>(buffers[id].duration());
      end = std::max(end, spans[id].last + 1);
    }
    moments.resize(end);
    next.resize(end + 1);
    for (size_t id = 0; id < buffers.size(); ++id)
      addToMoments(id, 1);
  }

  /// Tries the order of \p by for \p stepLimit steps.
  Answer run(Precedence by, int64_t stepLimit);

  /// Changes the keys of the order a bit.
  void shake();

  int64_t offset(int32_t id) const { return states[id].offset; }

private:
  struct State {
    /// The top of the placed buffers below it: its next place.
    int64_t rest = 0;
    /// It will lie no lower.
    int64_t lowest = 0;
    /// -1: it is open.
    int64_t offset = -1;
    /// Something open has to lie below it first.
    bool waits = false;
  };
  struct Moment {
    int64_t openBytes = 0;
    /// Open buffers that live then and at the next moment.
    int32_t crossing = 0;
    int64_t failures = 0;
  };
  /// An open buffer in the order of tries.
  struct Try {
    int64_t lowest;
    int32_t rank, id;
    bool operator<(const Try &other) const {
      return std::tie(lowest, rank) < std::tie(other.lowest, other.rank);
    }
  };
  /// Open buffers that are searched together, and the moments they live at.
  struct Part {
    std::vector<Try> open;
    int32_t first, last;
  };

  bool isOpen(int32_t id) const { return states[id].offset < 0; }
  int64_t top(int32_t id) const { return states[id].rest + spans[id].bytes; }
  void addToMoments(int32_t id, int32_t sign);
  State &change(int32_t id) {
    trail.push_back({id, states[id]});
    return states[id];
  }
  void undoTo(size_t mark);

  std::vector<Part> split(const std::vector<Try> &open);
  bool searchParts(const Part &whole);
  bool searchPart(Part part);
  void sortPart(Part &part);
  bool place(int32_t id);
  bool letWait(int32_t id);
  bool settle(const Part &part, Part &settled);
  bool fits(const Part &part);
  int32_t findUncovered(int32_t t);
  bool hinders(int32_t id);
  bool isSplitBy(int32_t id) const;

  const std::vector<Buffer> &buffers, &spans;
  const std::vector<Ids> &neighbours;
  const int64_t capacity;
  std::mt19937_64 random;
  /// No caller waits for an answer any more.
  const std::atomic<bool> &isOver;
  std::vector<State> states;
  /// The width in time that the order uses.
  std::vector<double> widths;
  std::vector<Moment> moments;
  Precedence precedence = Precedence::TotalWidth;
  /// Work that may still be done, in figures looked at or changed.
  int64_t stepsLeft = 0;
  /// How many buffers wait.
  int32_t waiting = 0;
  /// Former states of all buffers that placements changed, in order.
  std::vector<std::pair<int32_t, State>> trail;
  /// In `fits`, the next moment that is not covered yet, or one before it.
  Ids next;
  /// In `settle`: the open buffers at their former places, and the raised ones.
  std::vector<Try> unmoved, raised;
};

Answer Search::run(Precedence by, int64_t stepLimit) {
  undoTo(0);
  precedence = by;
  stepsLeft = stepLimit;
  Part whole{{}, 0, static_cast<int32_t>(moments.size()) - 1};
  for (size_t id = 0; id < buffers.size(); ++id)
    whole.open.push_back({0, 0, static_cast<int32_t>(id)});
  bool isFound = fits(whole) && searchParts(whole);
  Work::spend(3 * (stepLimit - stepsLeft));
  if (isFound)
    return Answer::Found;
  return stepsLeft < 0 || isOver ? Answer::Unknown : Answer::Impossible;
}

void Search::shake() {
  constexpr double most = 0.1;
  for (size_t id = 0; id < widths.size(); ++id) {
    // A share of 2^53, the same on every platform.
    double share = static_cast<double>(random() >> 11) / 9007199254740992.0;
    widths[id] = static_cast<double>(buffers[id].duration()) *
                 (1 + most * (2 * share - 1));
  }
}

void Search::addToMoments(int32_t id, int32_t sign) {
  const Buffer &span = spans[id];
  for (int32_t t = span.first; t <= span.last; ++t) {
    moments[t].openBytes += sign * span.bytes;
    if (t < span.last)
      moments[t].crossing += sign;
  }
}

void Search::undoTo(size_t mark) {
  for (; trail.size() > mark; trail.pop_back()) {
    auto [id, former] = trail.back();
    if (former.offset < 0 && !isOpen(id))
      addToMoments(id, 1);
    waiting += former.waits - states[id].waits;
    states[id] = former;
  }
}

/// Splits \p open where nothing crosses.
std::vector<Search::Part> Search::split(const std::vector<Try> &open) {
  std::vector<Try> byFirst = open;
  std::sort(byFirst.begin(), byFirst.end(), [&](const Try &a, const Try &b) {
    return std::tie(spans[a.id].first, a.id) <
           std::tie(spans[b.id].first, b.id);
  });
  stepsLeft -= 4 * open.size();
  std::vector<Part> parts;
  for (const Try &each : byFirst) {
    const Buffer &span = spans[each.id];
    if (parts.empty() || span.first > parts.back().last)
      parts.push_back({{}, span.first, span.last});
    parts.back().open.push_back(each);
    parts.back().last = std::max(parts.back().last, span.last);
  }
  return parts;
}

bool Search::searchParts(const Part &whole) {
  for (Part &part : split(whole.open)) {
    sortPart(part);
    if (!searchPart(std::move(part)))
      return false;
  }
  return true;
}

void Search::sortPart(Part &part) {
  using Keys = std::array<double, 3>;
  std::vector<std::tuple<Keys, int32_t>> order;
  for (const Try &each : part.open) {
    const Buffer &span = spans[each.id];
    int64_t mostBytes = 0, mostFailures = 0;
    for (int32_t t = span.first; t <= span.last; ++t) {
      mostBytes = std::max(mostBytes, moments[t].openBytes);
      mostFailures = std::max(mostFailures, moments[t].failures);
    }
    stepsLeft -= span.duration();
    bool byTotal = precedence == Precedence::TotalWidth ||
                   precedence == Precedence::TotalArea;
    double most = -static_cast<double>(byTotal ? mostBytes : mostFailures);
    double width = -widths[each.id];
    double area = width * static_cast<double>(span.bytes);
    bool byWidth = precedence == Precedence::TotalWidth ||
                   precedence == Precedence::FailuresWidth;
    order.push_back(
        {byWidth ? Keys{most, width, area} : Keys{most, area, width}, each.id});
  }
  std::sort(order.begin(), order.end());
  part.open.clear();
  for (size_t i = 0; i < order.size(); ++i) {
    int32_t id = std::get<int32_t>(order[i]);
    part.open.push_back({states[id].lowest, static_cast<int32_t>(i), id});
  }
  std::sort(part.open.begin(), part.open.end());
}

/// Puts a buffer on the skyline; false if another one then ends too high.
bool Search::place(int32_t id) {
  int64_t height = top(id);
  change(id).offset = states[id].rest;
  addToMoments(id, -1);
  stepsLeft -= 2 * spans[id].duration() + neighbours[id].size();
  bool fit = true;
  for (int32_t other : neighbours[id]) {
    if (!isOpen(other) ||
        (!states[other].waits && states[other].rest >= height))
      continue;
    State &state = change(other);
    waiting -= state.waits;
    state.waits = false;
    state.rest = std::max(state.rest, height);
    state.lowest = std::max(state.lowest, state.rest);
    fit &= state.lowest + spans[other].bytes <= capacity;
  }
  return fit;
}

/// Raises a buffer that waits to the lowest top that an open one can have.
/// False if no open one can lie below its top: at its former place it would be
/// in the way of none.
bool Search::letWait(int32_t id) {
  int64_t below = INT64_MAX;
  bool canBeBelow = false;
  for (int32_t other : neighbours[id])
    if (isOpen(other)) {
      int64_t lowest = states[other].lowest;
      below = std::min(below, lowest + spans[other].bytes);
      canBeBelow |= lowest < top(id);
    }
  stepsLeft -= neighbours[id].size();
  if (!canBeBelow || below + spans[id].bytes > capacity)
    return false;
  if (below > states[id].lowest)
    change(id).lowest = below;
  return true;
}

/// Raises the waiting buffers of \p part, and makes \p settled of its open
/// ones; false if these do not fit.
bool Search::settle(const Part &part, Part &settled) {
  for (bool isRaised = waiting > 0; isRaised;) {
    isRaised = false;
    for (const Try &each : part.open) {
      const State &state = states[each.id];
      int64_t former = state.lowest;
      if (!state.waits || state.offset >= 0)
        continue;
      if (!letWait(each.id))
        return false;
      isRaised |= state.lowest != former;
    }
  }
  settled.first = part.first;
  settled.last = part.last;
  unmoved.clear();
  raised.clear();
  for (const Try &each : part.open)
    if (isOpen(each.id)) {
      int64_t lowest = states[each.id].lowest;
      (lowest == each.lowest ? unmoved : raised)
          .push_back({lowest, each.rank, each.id});
    }
  stepsLeft -= 2 * part.open.size() + 6 * raised.size();
  std::sort(raised.begin(), raised.end());
  settled.open.resize(unmoved.size() + raised.size());
  std::merge(unmoved.begin(), unmoved.end(), raised.begin(), raised.end(),
             settled.open.begin());
  return fits(settled);
}

int32_t Search::findUncovered(int32_t t) {
  while (next[t] != t)
    t = next[t] = next[next[t]];
  return t;
}

/// Whether the open buffers at every moment of \p part fit above the lowest
/// place of all that live then. By ascending places, each moment is met once.
bool Search::fits(const Part &part) {
  stepsLeft -= part.last - part.first + 1;
  std::iota(next.begin() + part.first, next.begin() + part.last + 2,
            part.first);
  int32_t left = part.last - part.first + 1;
  for (size_t i = 0; i < part.open.size() && left > 0; ++i) {
    const Buffer &span = spans[part.open[i].id];
    --stepsLeft;
    for (int32_t t = findUncovered(span.first); t <= span.last;
         t = findUncovered(t)) {
      next[t] = t + 1;
      --left;
      if (part.open[i].lowest + moments[t].openBytes > capacity) {
        ++moments[t].failures;
        return false;
      }
    }
  }
  return true;
}

/// Whether something open could lie lower than the top of \p id if that stayed
/// open.
bool Search::hinders(int32_t id) {
  stepsLeft -= neighbours[id].size();
  return std::any_of(neighbours[id].begin(), neighbours[id].end(),
                     [&](int32_t other) {
                       return isOpen(other) && states[other].lowest < top(id);
                     });
}

/// Whether no buffer crosses some moment of \p id any more.
bool Search::isSplitBy(int32_t id) const {
  const Buffer &span = spans[id];
  if (moments[span.first].openBytes == 0 || moments[span.last].openBytes == 0)
    return true;
  return std::any_of(moments.begin() + span.first, moments.begin() + span.last,
                     [](const Moment &each) { return each.crossing == 0; });
}

bool Search::searchPart(Part part) {
  size_t mark = trail.size();
  Part rest;
  for (;;) {
    auto lowest =
        std::find_if(part.open.begin(), part.open.end(),
                     [&](const Try &each) { return !states[each.id].waits; });
    stepsLeft -= lowest - part.open.begin() + 1;
    if (stepsLeft < 0 || isOver || lowest == part.open.end())
      break;
    int32_t id = lowest->id;
    bool mayWait = hinders(id);
    size_t before = trail.size();
    if (place(id) && settle(part, rest)) {
      if (isSplitBy(id) ? searchParts(rest) : searchPart(std::move(rest)))
        return true;
    }
    undoTo(before);
    if (!mayWait || stepsLeft < 0 || isOver)
      break;
    change(id).waits = true;
    ++waiting;
    if (!letWait(id) || !settle(part, rest))
      break;
    std::swap(part, rest);
  }
  undoTo(mark);
  return false;
}

/// 1, 1, 2, 1, 1, 2, 4, 1, 1, 2, ..., from \p i = 1.
int64_t universal(int64_t i) {
  int64_t size = 1;
  while (2 * size <= i)
    size *= 2;
  return i == 2 * size - 1 ? size : universal(i - size + 1);
}

} // namespace

PackSearch::PackSearch(const std::vector<Buffer> &buffers,
                       const Deadline *deadline)
    : buffers(buffers), deadline(deadline), spans(withoutIdleMoments(buffers)),
      neighbours(buffers.size()) {
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

/// The packing that \p search found.
static Packing toPacking(const std::vector<Buffer> &buffers,
                         const Search &search) {
  Packing packing;
  for (size_t i = 0; i < buffers.size(); ++i) {
    packing.offsets.push_back(search.offset(i));
    packing.arenaBytes =
        std::max(packing.arenaBytes, packing.offsets[i] + buffers[i].bytes);
  }
  return packing;
}

bool PackSearch::find(int64_t capacityBytes, int64_t &stepsLeft,
                      Packing &packing) const {
  const int64_t shortest = 2 * onceSteps(buffers.size());
  std::atomic<bool> never = false, isOver = false;
  Search first(buffers, spans, neighbours, capacityBytes, 1, never);
  Search second(buffers, spans, neighbours, capacityBytes, 2, isOver);
  auto isTimeOver = [&] { return deadline && deadline->isOver(); };
  for (int64_t round = 0; stepsLeft > 0 && !isTimeOver(); ++round) {
    int64_t steps = std::min(stepsLeft, shortest * universal(round / 2 + 1));
    stepsLeft -= steps;
    bool learned = round % 2 != 0;
    auto tryOne = [&](Search &search, Precedence fixed, Precedence learning) {
      if (round >= 2)
        search.shake();
      return search.run(learned ? learning : fixed, steps);
    };
    auto runFirst = [&] {
      Answer answer =
          tryOne(first, Precedence::TotalWidth, Precedence::FailuresArea);
      isOver = answer != Answer::Unknown;
      return answer;
    };
    auto runSecond = [&] {
      return tryOne(second, Precedence::TotalArea, Precedence::FailuresWidth);
    };
    auto [byFirst, bySecond] = runBoth(buffers.size(), runFirst, runSecond);
    if (byFirst == Answer::Found || bySecond == Answer::Found) {
      packing = toPacking(buffers, byFirst == Answer::Found ? first : second);
      return true;
    }
    if (byFirst == Answer::Impossible || bySecond == Answer::Impossible)
      return false;
  }
  return false;
}
