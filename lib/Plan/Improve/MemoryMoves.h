//===- MemoryMoves.h - Moves that take bytes off a peak ---------*- C++ -*-===//
//
// While a plan needs more than the limit, some values wait. A value can be made
// again afterwards (from sources that may have to be made again), or later; its
// last reader, or a part of it, can run before, or can compute it inside. This
// class finds each such move, with its cost and the bytes that it takes off;
// ReduceMemory.cpp makes them.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_LIB_PLAN_IMPROVE_MEMORYMOVES_H
#define CKPT_LIB_PLAN_IMPROVE_MEMORYMOVES_H

#include "Plan/Improve/PlanState.h"
#include "Plan/Improve/ReduceMemory.h"

#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace ckpt::plan {

/// The slice of a kernel that computes one output. `info` is null if the slice
/// must not be rematerialised.
struct Copy {
  Kernel kernel;
  const KernelInfo *info = nullptr;
};

/// A part of a kernel that may run before it, so that its operands wait no
/// longer.
struct Split {
  /// Makes one value, which `rest` reads.
  Copy part, rest;
  /// Values that `rest` reads no more.
  std::vector<ValueId> freed;
};

/// A gap between two moments at which an instance is used is given up.
struct Change {
  /// The kernel that is repeated or moved, and before which one it goes.
  int32_t kernel, place;
  /// Kernels that run at `place` besides; if none, the kernel itself moves
  /// there.
  std::vector<const Copy *> copies;
  /// The rest of `kernel` if `copies` are a part, or `kernel` with a former
  /// operand inside; or null.
  const Copy *rest = nullptr;
  /// Its cost, in nanoseconds: at least a little, so that moves of small values
  /// do not come first.
  double cost = 0;
  /// Bytes over the budget, summed over kernels, that it takes off.
  int64_t gain = 0;

  bool isMove() const { return copies.empty() && !rest; }
  bool isSplit() const { return !copies.empty() && rest; }
  bool isRepeat() const { return !copies.empty() && !rest; }

  bool operator<(const Change &other) const {
    double mine = static_cast<double>(gain) / cost;
    double its = static_cast<double>(other.gain) / other.cost;
    return mine != its
               ? mine > its
               : std::tie(kernel, place) < std::tie(other.kernel, other.place);
  }
};

/// Changes of one plan, which is changed between two calls.
class MemoryMoves {
public:
  MemoryMoves(const Problem &problem, const PlanState &state,
              const MemoryOptions &options, KernelCache &kernels);

  /// All changes but those that failed, the best first.
  std::vector<Change> find();
  /// \p change takes nothing off the present plan.
  void setFailed(const Change &change) {
    failed.insert(keyOf(change));
    failedHere.insert(keyOf(change));
  }
  /// The plan changed: moves that failed may do now, once all others fail.
  void startNext() { failedHere.clear(); }
  /// Forgets the moves that failed on other plans only. Whether there were any.
  bool forgetFailed() {
    bool any = failed.size() > failedHere.size();
    failed = failedHere;
    return any;
  }

private:
  bool inArena(ValueId value) const {
    return problem.values[value].home == Home::Arena;
  }
  int64_t slotOf(ValueId value) const {
    return inArena(value) ? slotBytes(problem.values[value].bytes) : 0;
  }
  /// The instance that \p reader finds, if the value lies in the arena.
  Life lifeAt(ValueId value, int32_t reader) const {
    return inArena(value) ? state.lifeAt(value, reader) : Life();
  }
  int64_t overBy(int32_t k) const { return bytes[k] - options.budgetBytes; }
  bool isOver(int32_t from, int32_t to) const;
  void findInGap(const Life &life, int32_t from, int32_t to);
  const Copy &copyFor(ValueId value, int32_t kernel);
  bool isMadeAgain(ValueId value, const Change &change) const;
  bool makeAgain(ValueId value, bool deep, Change &change);
  void repeat(const Life &life, int32_t from, int32_t to);
  const Copy &joinFor(const Life &life, int32_t reader);
  void absorb(const Life &life, int32_t from);
  void delay(const Life &life, int32_t to);
  void advance(const Life &life, int32_t from);
  int32_t earliest(const KernelInfo &info, int32_t reader) const;
  void free(const std::vector<ValueId> &values, int32_t place, int32_t reader,
            int32_t end);
  Split splitAt(const Kernel &whole, ValueId value);
  const std::vector<Split> &splitsOf(int32_t kernel);
  void advancePart(const Split &split, int32_t kernel);
  void findParts(int32_t kernel);
  void shift(int32_t from, int32_t to, int64_t bytes);
  void add(Change change);
  /// Identity of a move for any numbers of kernels: its kind and the values
  /// that the kernel writes.
  using Key = std::pair<int, std::vector<ValueId>>;
  Key keyOf(const Change &change) const;

  const Problem &problem;
  const PlanState &state;
  const MemoryOptions &options;
  KernelCache &kernels;
  /// Per value, a factor on the costs of its remats; empty: 1.
  std::vector<double> factors;
  /// Per kernel.
  std::vector<int64_t> bytes;
  /// Kernels that exceed the budget.
  std::vector<int32_t> overKernels;
  /// By the kernel, of which there is one `KernelInfo`, and the value.
  std::map<std::pair<const KernelInfo *, ValueId>, Copy> copies;
  /// By the kernel that writes a value, the one that reads it, and the value.
  std::map<std::tuple<const KernelInfo *, const KernelInfo *, ValueId>, Copy>
      joins;
  /// By the kernel.
  std::map<const KernelInfo *, std::vector<Split>> splits;
  std::vector<Change> changes;
  /// Moves that failed, and those of them that failed on the present plan.
  std::set<Key> failed, failedHere;
  /// Addition of the present move to `live`, as ranges.
  struct Range {
    int32_t from, to;
    int64_t bytes;
  };
  std::vector<Range> ranges;
  /// Ends of ranges, and the bytes added from there on.
  std::vector<std::pair<int32_t, int64_t>> steps;
  /// Whether something would stay, or be made again, where the budget is
  /// exceeded.
  bool anyWouldExceed = false;
};

} // namespace ckpt::plan

#endif // CKPT_LIB_PLAN_IMPROVE_MEMORYMOVES_H
