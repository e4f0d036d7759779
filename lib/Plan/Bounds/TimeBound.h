//===- TimeBound.h - The least time of a step in any plan -------*- C++ -*-===//
//
// The bound on time without a limit, and the time of remats at a moment.
// Bound.cpp makes one per step.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_LIB_PLAN_BOUNDS_TIMEBOUND_H
#define CKPT_LIB_PLAN_BOUNDS_TIMEBOUND_H

#include "Plan/Bounds/AnchorRelaxation.h"
#include "Plan/Bounds/KernelLowerBound.h"

#include <functional>
#include <optional>

namespace ckpt::plan {

/// Extra time of reading a value in one kernel, on top of its bytes.
struct Share {
  ValueId read;
  /// The first kernel of an anchor; or `none`, and the first that writes a
  /// value.
  OpId anchor;
  ValueId written;
  int64_t bytes;
};

/// A value that every plan writes to memory, itself or as views of it; or one
/// that a plan may write, so that others need not compute it.
struct Written {
  ValueId value = none;
  /// The fewest bytes that serve all its readers in memory.
  int64_t bytes = 0;
  /// The fewest that a kernel with an anchor writes of it.
  int64_t epilogueBytes = 0, epilogueElements = 0;
  /// Ops that read it, or a view of it, from memory.
  std::vector<OpId> readers;
  /// Anchors whose first kernels can write it.
  std::vector<OpId> writers;
  /// The ops between the first of `writers` and it, in its first kernel.
  std::vector<OpId> epilogue;
  /// Anchors whose kernels can write it when they run again, and for each the
  /// arithmetic between both at least, in picoseconds.
  std::vector<OpId> repeaters;
  std::vector<int64_t> repeaterPs;
  /// Per repeater: the least time of its kernel if it writes the value, in
  /// nanoseconds, and the time of its bytes.
  std::vector<int64_t> repeaterNs, repeaterMoveNs;
  /// Whether `repeaters` is complete.
  bool knowsRepeaters = true;
  /// No two values with this are first written by one kernel, but for the first
  /// kernels of anchors.
  bool apart = false;
  /// The least time of it in a kernel that is no first kernel of an anchor.
  int64_t elsewhereNs = 0;
  /// Whether a plan need not write it. Then kernels that read it count some
  /// bytes more, which take `creditNs` in all: no more than its first writing.
  bool isOptional = false;
  std::vector<Share> shares;
  int64_t creditNs = 0;

  /// Whether nothing follows from it.
  bool isSuperfluous() const { return isOptional && shares.empty(); }
};

/// A value that the first kernel of an anchor computes inside if it does not
/// stand in memory by then.
struct InsideValue {
  ValueId value = none;
  OpId anchor = none;
  /// The least time of its arithmetic there, in nanoseconds.
  int64_t ns = 0;
  /// The only anchor behind which it can be written, or `none`.
  OpId writer = none;
};

/// Adds up the least times of the kernels of any plan: one for each anchor, and
/// the kernels that write values that no first kernel of an anchor writes.
/// Memory plays no part here: remats of anchors come on top.
class TimeBound {
public:
  explicit TimeBound(const RematGraph &graph);
  /// Least time that remats after a moment add to `totalNs`, in nanoseconds.
  RematCosts repeatNs(const AnchorRelaxation &moment) const;
  /// The values that `repeatNs` tells from their sources.
  std::vector<ValueId> insideValues() const;
  /// The least time of any kernel with an anchor, per op.
  const std::vector<int64_t> &kernelNs() const { return kernel; }
  /// No plan is faster.
  int64_t totalNs() const { return total; }

private:
  /// More values that one first kernel may write are too many to try.
  static constexpr size_t mostChoices = 4;

  // FirstWrites.cpp
  bool isOneToOne(OpId op, ValueId value) const;
  void findWritten();
  void findDependents(OpId anchor);
  void follow(std::vector<ValueId> &forms, bool mayBeFar, size_t most);
  void findWriters();
  void findEpilogue(Written &item);
  void findRepeaters(Written &item) const;
  void numberEvents();
  void findBefore();
  void enterRead(OpId op, const Read &read);
  std::vector<int64_t> gainsApart();
  std::vector<size_t> takeApart(std::vector<size_t> chosen,
                                const std::vector<size_t> &order);
  void chooseApart();
  bool waits(const Written &later, const Written &earlier) const;
  bool areApart(const Written &left, const Written &right) const;
  bool neverTogether(const Written &left, const Written &right) const;

  // OptionalWriteCharge.cpp
  void findOptional();
  void eraseShares(Written &item,
                   const std::function<bool(const Written &)> &hasKernel);
  void limitShares();
  std::vector<int64_t> guessBudgets();
  void addOptional();
  void shareAmong(OpId anchor, ValueId reader,
                  const std::vector<Share *> &shares,
                  std::vector<int64_t> &left);
  void shareWrites();
  void findSharing();
  void spread(OpId anchor, ValueId written, bool isGuess,
              const std::vector<int64_t> &budgetNs,
              const std::function<void(ValueId, int64_t)> &take);
  KernelLowerBound::Extra extraFor(OpId anchor, ValueId written) const;
  int64_t writeHereNs(const Written &item);

  int64_t nextToNs(OpId anchor, const Written &item) const;
  bool isPast(const Written &item,
              const std::function<bool(OpId)> &hasRun) const;
  int64_t elsewhere(const Written &item, ValueId reader);
  int64_t cheapest(OpId anchor, const std::vector<const Written *> &mine,
                   const Written *unlessIdle = nullptr);
  int64_t epiloguePs(const std::vector<const Written *> &items) const;
  int64_t epiloguePs(OpId op, const Written &item) const;
  void addKernels();
  void addRepeats(Written &item);

  // EpilogueCharge.cpp
  bool isMadeOnlyFor(OpId op, const Read &read) const;
  int64_t chainPs(ValueId value, const Written &item) const;
  std::vector<InsideValue> findInside(OpId anchor, const Written &item) const;
  int64_t enterInside(OpId anchor, const std::vector<const Written *> &mine,
                      int64_t least);
  bool isMadeBefore(const InsideValue &inside,
                    const AnchorRelaxation &moment) const;
  void addInside(const AnchorRelaxation &moment, RematCosts &costs) const;

  /// The charge on the first writing of a value still to come, which an anchor
  /// that runs again may do.
  struct Charge {
    const Written *item;
    /// Place of the anchor in `Written::repeaters`.
    size_t repeater;
    int64_t ns;
  };
  bool findCharges(const AnchorRelaxation &moment,
                   std::vector<std::vector<Charge>> &charges) const;
  int64_t againNs(OpId anchor, const std::vector<Charge> &charges) const;
  std::vector<Charge> withoutLater(const std::vector<Charge> &charges,
                                   OpId reader) const;
  std::vector<std::optional<std::vector<OpId>>>
  findRereaders(const AnchorRelaxation &moment) const;
  void addRereads(const AnchorRelaxation &moment,
                  const std::vector<std::vector<Charge>> &charges,
                  RematCosts &costs) const;
  bool isWrittenAgain(const Written &item,
                      const AnchorRelaxation &moment) const;

  const RematGraph &graph;
  const Problem &problem;
  KernelLowerBound floor;
  std::vector<Written> written;
  std::vector<int32_t> writtenIndex;   // per value, or `none`
  std::vector<char> seenThroughViews;  // per value
  std::vector<int64_t> smallestOutput; // per anchor, of its first kernel
  std::vector<int64_t> smallestAgain;  // per anchor, of any kernel
  std::vector<char> depends, far;      // per op
  std::vector<char> isReached;         // per value, all zero between calls
  /// Per op: bits of the values that have been written before it runs, and of
  /// the anchors that it depends on.
  std::vector<std::vector<uint64_t>> before;
  std::vector<size_t> bitOf; // per anchor
  size_t bits = 0;
  /// Per anchor: places in `written` of the values that it may write when it
  /// runs again and that are not apart. The last entry: values that any kernel
  /// may write.
  std::vector<std::vector<size_t>> sharing;
  /// Whether `Written::creditNs` is final.
  bool isShared = false;
  std::vector<int64_t> kernel;       // per op
  std::vector<int64_t> operandBytes; // per anchor, that its kernel reads
  /// Per anchor: time that its first kernel saves if others write all of
  /// `writers`.
  std::vector<int64_t> savedBehind;
  std::vector<InsideValue> insides;
  int64_t total = 0;
};

} // namespace ckpt::plan

#endif // CKPT_LIB_PLAN_BOUNDS_TIMEBOUND_H
