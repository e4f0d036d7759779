//===- ChainTable.h - Least cost of reversing a chain -----------*- C++ -*-===//
//
// A chain runs forward stage by stage, then backward from its last stage to its
// first. The input of a stage may be kept, or made again from the input of an
// earlier one. The table answers for every amount of memory at once: per piece
// of the chain it holds the exact list of amounts at which a cheaper schedule
// becomes possible.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_LIB_PLAN_CONSTRUCT_CHAIN_CHAINTABLE_H
#define CKPT_LIB_PLAN_CONSTRUCT_CHAIN_CHAINTABLE_H

#include "Plan/Construct/Chain/ChainSchedule.h"
#include "Plan/Model/Clock.h"

namespace ckpt::plan {

/// The table's view of a chain. Bytes come on top of the input of the stage at
/// which a piece starts. That input is not needed beyond the backward part of
/// its stage, so that other bytes may take its place.
struct ChainCosts {
  /// Why the input of a piece stands in memory: it was kept alone, or the tape
  /// of the stage before was kept, so that values of both stay.
  enum Origin : uint8_t { Kept, AfterTape };
  /// The bytes of a piece at its first stage, run with its backward part.
  /// Values that wait for the backward pass count where that runs.
  struct Stage {
    struct Bytes {
      /// Forward and at once backward.
      int64_t reverse = 0;
      /// From forward to backward, if the tape and the next input stand then.
      int64_t tape = 0;
      /// Backward from the tape.
      int64_t tapeReverse = 0;
    };
    Bytes bytes[2]; // by origin
    /// Forward to the tape and the next input.
    int64_t tapePeakBytes = 0;
    /// Forward and backward, at once and by the tape.
    int64_t reverseCost = 0, tapeCost = 0;
    /// Bytes that wait for backward parts of this stage and earlier ones.
    int64_t waitingBytes = 0;
  };
  /// Running forward to the input of a later stage.
  struct Advance {
    int64_t peakBytes = 0, cost = 0;
    /// The input of that stage.
    int64_t inputBytes = 0;
  };

  std::vector<Stage> stages;
  /// By first stage and stages run.
  std::vector<std::vector<Advance>> advances;

  int32_t count() const { return static_cast<int32_t>(stages.size()); }
  const Advance &advance(int32_t first, int32_t split) const {
    return advances[first][split - first];
  }
};

class ChainTable {
public:
  /// A schedule that needs so many bytes.
  struct Point {
    int64_t bytes, cost;
    /// An input is kept this many stages after the first; 0: the tape of the
    /// first stage is or, in pieces of one stage, nothing.
    int32_t split;
    /// Which points of the parts from there and before it consists of.
    int32_t later, earlier;
  };

  /// Above \p mostBytes, only the first point is found. Lists of more than \p
  /// mostPoints are thinned.
  ChainTable(ChainCosts costs, int64_t mostBytes, size_t mostPoints,
             Deadline deadline);

  /// For the whole chain: bytes rise, costs fall. None if the deadline came
  /// first.
  const std::vector<Point> &points() const {
    return at(0, count - 1, ChainCosts::Kept);
  }
  std::vector<ChainStep> steps(size_t point) const;

private:
  using Points = std::vector<Point>;
  using Origin = ChainCosts::Origin;

  void findEqualPieces();
  int32_t equalAdvances(int32_t first, int32_t other) const;
  size_t place(int32_t first, int32_t last) const {
    return static_cast<size_t>(first) * count + last;
  }
  /// Pieces that look the same share the list of the first of them.
  const Points &at(int32_t first, int32_t last, Origin origin) const {
    int32_t start = firstEqual[place(first, last)];
    return lists[origin][place(start, last - first + start)];
  }
  void fill(int32_t first, int32_t last, Origin origin);
  void addTape(int32_t first, int32_t last, Origin origin, Points &found) const;
  void addSplit(int32_t first, int32_t split, int32_t last, Origin origin,
                Points &found) const;
  void collect(int32_t first, int32_t last, Origin origin, size_t number,
               std::vector<ChainStep> &steps) const;
  void prune(Points &points) const;

  ChainCosts costs;
  int64_t mostBytes;
  size_t mostPoints;
  int32_t count;
  /// By origin and piece.
  std::vector<Points> lists[2];
  /// By piece: where the first one starts that looks the same.
  std::vector<int32_t> firstEqual;
};

} // namespace ckpt::plan

#endif // CKPT_LIB_PLAN_CONSTRUCT_CHAIN_CHAINTABLE_H
