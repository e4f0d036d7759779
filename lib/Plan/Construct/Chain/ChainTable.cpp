//===- ChainTable.cpp - Dynamic programme over pieces of a chain ----------===//
//
// As in rotor (Beaumont et al., arXiv 1911.13214): a piece either runs to the
// input of a later stage, keeps it and forgets all values between, or runs its
// first stage and keeps all reads of its backward part. There memory is a
// number of slots and the answer a table. Here it is a list of points, so that
// nothing is rounded while lists are short. Time grows with the cube of the
// stages.
//
//===----------------------------------------------------------------------===//

#include "Plan/Construct/Chain/ChainTable.h"

#include "Plan/Model/Work.h"

#include <algorithm>
#include <tuple>

using namespace ckpt::plan;

using Point = ChainTable::Point;

static auto figuresOf(const ChainCosts::Stage::Bytes &bytes) {
  return std::tie(bytes.reverse, bytes.tape, bytes.tapeReverse);
}

static auto figuresOf(const ChainCosts::Stage &stage) {
  return std::tuple_cat(figuresOf(stage.bytes[ChainCosts::Kept]),
                        figuresOf(stage.bytes[ChainCosts::AfterTape]),
                        std::tie(stage.tapePeakBytes, stage.reverseCost,
                                 stage.tapeCost, stage.waitingBytes));
}

static auto figuresOf(const ChainCosts::Advance &advance) {
  return std::tie(advance.peakBytes, advance.cost, advance.inputBytes);
}

ChainTable::ChainTable(ChainCosts costsOfChain, int64_t mostBytes,
                       size_t mostPoints, Deadline deadline)
    : costs(std::move(costsOfChain)), mostBytes(mostBytes),
      mostPoints(mostPoints), count(costs.count()) {
  findEqualPieces();
  for (std::vector<Points> &list : lists)
    list.resize(static_cast<size_t>(count) * count);
  for (int32_t last = 0; last < count; ++last)
    for (int32_t first = last + 1; first-- > 0 && !deadline.isOver();)
      if (firstEqual[place(first, last)] == first)
        for (Origin origin : {ChainCosts::Kept, ChainCosts::AfterTape})
          fill(first, last, origin);
}

//===----------------------------------------------------------------------===//
// Equal pieces
//===----------------------------------------------------------------------===//

/// How many stages can be run from either stage at the same costs.
int32_t ChainTable::equalAdvances(int32_t first, int32_t other) const {
  const auto &a = costs.advances[first], &b = costs.advances[other];
  size_t length = 0;
  while (length < a.size() && length < b.size() &&
         figuresOf(a[length]) == figuresOf(b[length]))
    ++length;
  return static_cast<int32_t>(length);
}

void ChainTable::findEqualPieces() {
  firstEqual.assign(static_cast<size_t>(count) * count, none);
  // By pair of stages: the longest equal pieces that start there.
  std::vector<int32_t> common((static_cast<size_t>(count) + 1) * (count + 1),
                              0);
  auto commonAt = [&](int32_t a, int32_t b) -> int32_t & {
    return common[static_cast<size_t>(a) * (count + 1) + b];
  };
  for (int32_t a = count; a-- > 0;)
    for (int32_t b = count; b-- > 0;)
      if (figuresOf(costs.stages[a]) == figuresOf(costs.stages[b]))
        commonAt(a, b) =
            std::min(commonAt(a + 1, b + 1) + 1, equalAdvances(a, b));
  for (int32_t first = 0; first < count; ++first)
    for (int32_t last = first; last < count; ++last) {
      int32_t start = 0;
      while (start < first && commonAt(start, first) < last - first + 1)
        ++start;
      firstEqual[place(first, last)] = start;
    }
}

//===----------------------------------------------------------------------===//
// Points
//===----------------------------------------------------------------------===//

/// Keeps the points that no other point beats, and of many points those whose
/// bytes are farthest apart: dropped points round bytes up.
void ChainTable::prune(Points &points) const {
  std::sort(points.begin(), points.end(), [](const Point &a, const Point &b) {
    return std::tie(a.bytes, a.cost, a.split, a.later, a.earlier) <
           std::tie(b.bytes, b.cost, b.split, b.later, b.earlier);
  });
  size_t kept = 0;
  for (const Point &point : points)
    if (kept == 0 || point.cost < points[kept - 1].cost)
      points[kept++] = point;
  while (kept > 1 && points[kept - 1].bytes > mostBytes)
    --kept;
  points.resize(kept);
  if (kept <= mostPoints)
    return;
  int64_t least = points.front().bytes;
  int64_t step =
      (points.back().bytes - least) / (static_cast<int64_t>(mostPoints) - 1) +
      1;
  std::vector<Point> thinned;
  for (size_t i = 0; i < kept; ++i)
    if (i == 0 || i + 1 == kept ||
        (points[i].bytes - least) / step !=
            (points[i + 1].bytes - least) / step)
      thinned.push_back(points[i]);
  points = std::move(thinned);
}

void ChainTable::fill(int32_t first, int32_t last, Origin origin) {
  Points &found = lists[origin][place(first, last)];
  const ChainCosts::Stage &stage = costs.stages[first];
  if (first == last) {
    found.push_back(
        {stage.bytes[origin].reverse, stage.reverseCost, 0, none, none});
    return;
  }
  addTape(first, last, origin, found);
  for (int32_t split = first + 1; split <= last; ++split)
    addSplit(first, split, last, origin, found);
  Work::spend(50 * static_cast<int64_t>(found.size()));
  prune(found);
}

void ChainTable::addTape(int32_t first, int32_t last, Origin origin,
                         Points &found) const {
  const ChainCosts::Stage &stage = costs.stages[first];
  int64_t least =
      std::max(stage.tapePeakBytes + costs.stages[last].waitingBytes,
               stage.bytes[origin].tapeReverse);
  const Points &later = at(first + 1, last, ChainCosts::AfterTape);
  for (size_t i = 0; i < later.size(); ++i)
    found.push_back({std::max(least, stage.bytes[origin].tape + later[i].bytes),
                     stage.tapeCost + later[i].cost, 0, static_cast<int32_t>(i),
                     none});
}

void ChainTable::addSplit(int32_t first, int32_t split, int32_t last,
                          Origin origin, Points &found) const {
  const ChainCosts::Advance &advance = costs.advance(first, split);
  int64_t least = advance.peakBytes + costs.stages[last].waitingBytes;
  const Points &later = at(split, last, ChainCosts::Kept);
  const Points &earlier = at(first, split - 1, origin);
  // Both parts use the same bytes, so for each amount at which one improves,
  // the best of the other that fits counts.
  size_t i = 0, j = 0;
  while (true) {
    int64_t laterBytes = later[i].bytes + advance.inputBytes;
    found.push_back({std::max({least, laterBytes, earlier[j].bytes}),
                     advance.cost + later[i].cost + earlier[j].cost,
                     split - first, static_cast<int32_t>(i),
                     static_cast<int32_t>(j)});
    bool moreLater = i + 1 < later.size(), moreEarlier = j + 1 < earlier.size();
    if (!moreLater && !moreEarlier)
      return;
    if (moreLater && (!moreEarlier || later[i + 1].bytes + advance.inputBytes <=
                                          earlier[j + 1].bytes))
      ++i;
    else
      ++j;
  }
}

//===----------------------------------------------------------------------===//
// Schedules
//===----------------------------------------------------------------------===//

std::vector<ChainStep> ChainTable::steps(size_t number) const {
  std::vector<ChainStep> result;
  collect(0, count - 1, ChainCosts::Kept, number, result);
  return result;
}

void ChainTable::collect(int32_t first, int32_t last, Origin origin,
                         size_t number, std::vector<ChainStep> &steps) const {
  using Kind = ChainStep::Kind;
  const Point &point = at(first, last, origin)[number];
  if (first < last && point.split > 0) {
    int32_t split = first + point.split;
    steps.push_back({Kind::SaveInput, split});
    collect(split, last, ChainCosts::Kept, point.later, steps);
    collect(first, split - 1, origin, point.earlier, steps);
    return;
  }
  if (first < last) {
    steps.push_back({Kind::SaveTape, first});
    collect(first + 1, last, ChainCosts::AfterTape, point.later, steps);
  }
  steps.push_back({Kind::BackwardFromInput, first});
}
