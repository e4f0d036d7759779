//===- ListScheduler.h - A schedule from an order and guides ----*- C++ -*-===//
//
// Runs roots in a given order and makes each missing operand just before its
// root. A guide decides beforehand which values are dropped: those that do not
// stand in memory at one moment. If memory runs out, the scheduler evicts the
// value with the last use and the cheapest remat first, as in DTR (Kirisame et
// al., ICLR 2021), but with the uses known from a run before. Each step takes
// time in proportion to the kernels that it writes.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_LIB_PLAN_CONSTRUCT_LIST_LISTSCHEDULER_H
#define CKPT_LIB_PLAN_CONSTRUCT_LIST_LISTSCHEDULER_H

#include "Plan/Construct/KeepCut/CutCosts.h"
#include "ckpt/Plan/Kernel.h"

namespace ckpt::plan {

class ListScheduler {
public:
  /// Only the values `kept` stand in memory when the root at place `at` of the
  /// order runs.
  struct Guide {
    size_t at = 0;
    std::vector<ValueId> kept;
  };
  /// In the order in which they come.
  using Guides = std::vector<Guide>;

  struct Schedule {
    Plan plan;
    /// False if it gave up: it does not fit, or recomputed far more than is
    /// sensible.
    bool complete = false;
    /// The most bytes that stand in the arena at once, where everything leaves
    /// with its last use, and where in the order.
    int64_t peakBytes = 0;
    size_t peakAt = 0;
    /// Values that kernel k reads: from `firstRead[k]` to `firstRead[k + 1]`.
    std::vector<ValueId> reads;
    std::vector<int32_t> firstRead;
    /// Per kernel: the place in the order of the root that it was written for
    /// or after, and the number of its burst: a root or a value of a guide,
    /// with all values made for it.
    std::vector<int32_t> place, burst;
  };

  /// \p kernels are kernels of the problem already analysed.
  ListScheduler(const RematGraph &graph, std::vector<OpId> order,
                const CostWeights &weights, KernelCache &kernels);

  /// Without a limit: every value is there until one of \p guides drops it.
  Schedule run(const Guides &guides);
  /// Within \p capBytes, or not complete; the uses are those of \p before.
  Schedule runWithin(const Guides &guides, const Schedule &before,
                     int64_t capBytes);

  /// Per value: it stands in memory before the root at place \p at of a run
  /// without a limit.
  std::vector<char> residentsAt(const Guides &guides, size_t at);

  /// The values that \p guide keeps and that stand in memory when the root at
  /// place \p at of \p schedule runs.
  std::vector<ValueId> keptAcross(const Guide &guide, const Schedule &schedule,
                                  size_t at) const;

  const std::vector<OpId> &rootOrder() const { return order; }

private:
  /// A burst that reads a value, or makes it.
  struct Use {
    int32_t burst;
    bool made;
  };

  /// Fusible ops that belong into the kernel of an anchor.
  struct Fold {
    std::vector<OpId> ops;
    std::vector<ValueId> outputs;
    /// Values that these ops read and that the kernel does not make.
    std::vector<Leaf> leaves;
    bool checked = false;
  };

  void chooseWritten();
  bool isWorthWriting(ValueId value) const;
  void findReady();
  void findFolds();
  void foldIntoResults(OpId root);
  void foldIntoReader(OpId root);
  void findLeaves(OpId root);
  void placeGuides(const Guides &guides);
  void learnUses(const Schedule &before, const std::vector<int32_t> &bursts);
  void start();
  Schedule play(const Guides &guides, size_t end);
  void measure(Schedule &played);
  void applyGuide(const Guide &guide);
  bool isHopeless() const;
  void runWithMissing(OpId op, ValueId wanted);
  void runDetour(OpId op, ValueId wanted, int32_t step);
  void beginBackward(const Kernel &kernel);

  bool inMemory(ValueId value) const {
    return resident[value] || graph.isFree(value);
  }
  template <typename Function>
  void forEachLeaf(OpId op, Function function) const;
  std::vector<ValueId> findMissing(OpId root);
  void findNeeds(const std::vector<ValueId> &burst, OpId root);
  void needLeaves(OpId op, int32_t step);

  std::vector<ValueId> outputsOf(OpId op, ValueId wanted) const;
  bool fold(OpId op, Kernel &kernel);
  void collectOps(Kernel &kernel);
  void emit(OpId op, ValueId wanted, int32_t step);
  void enter(const Kernel &kernel, const std::vector<ValueId> &reads,
             int32_t step);
  bool mightOverwrite(ValueId output, const std::vector<ValueId> &reads,
                      int32_t step);
  int64_t bytesOf(const Kernel &kernel, const std::vector<ValueId> &reads,
                  int32_t step);
  void makeRoom(const Kernel &kernel, const std::vector<ValueId> &reads,
                int32_t step);
  void dropDead(const std::vector<ValueId> &values, int32_t step);
  void drop(ValueId value);
  void rankResidents(int32_t step);
  bool evictNext(int32_t step);
  void evict(int64_t bytes, int32_t step);
  void evictPinned(int64_t bytes, const std::vector<ValueId> &reads,
                   int32_t step);
  double rematPs(ValueId value);
  void keepForRestoring(ValueId value, int32_t until);
  /// The burst after the present one that reads it next, or `none` if it is
  /// made again before, or never read.
  int32_t nextUse(ValueId value);
  bool isNeeded(ValueId value, int32_t step) const {
    return needStamp[value] == burstStamp && needStep[value] >= step;
  }

  const RematGraph &graph;
  const Problem &problem;
  const CostWeights weights;
  KernelCache &kernels;
  const std::vector<OpId> order;
  std::vector<int64_t> again; // per op
  /// Per op: the place in the order after which it can run.
  std::vector<int32_t> ready;
  /// Per value: whoever reads it reads it from memory.
  std::vector<char> written;
  size_t writtenCount = 0;
  /// Per op: the ops and outputs of its kernel instead of its own result.
  std::vector<Fold> folds;
  /// Per place in the order: fusible values that guides want from there on.
  std::vector<std::vector<ValueId>> guided;

  // The present run.
  Schedule schedule;
  bool limited = false;
  bool isStale = false;   // something left that the present burst needs
  int32_t depth = 0;      // of detours
  bool isTooDeep = false; // for detours to lead anywhere
  bool backwardBegan = false;
  int64_t cap = 0, live = 0;
  int32_t place = 0, now = 0;     // its place and burst, as in Schedule
  std::vector<char> resident;     // per value
  std::vector<char> done;         // per op
  std::vector<char> readNow;      // per value: by the next kernel
  std::vector<ValueId> residents; // A superset of the values in the arena.
  std::vector<char> listed;       // per value: in `residents`
  size_t scanned = 0;             // values looked at for eviction
  std::vector<ValueId> ranked;    // The next value to evict is the last.
  int64_t rankedBytes = 0;        // that may leave until they are ranked again

  // Uses of each value, and the next that is still to come.
  std::vector<Use> uses;
  std::vector<int32_t> firstUse, cursor;
  std::vector<int32_t> keptUntil; // per value: see keepForRestoring

  /// Of the present kernel: ops to be looked at, ops looked at, and memory
  /// reads.
  std::vector<OpId> seeds, collected;
  std::vector<ValueId> found;

  // Scratch, valid while its stamp is current.
  int32_t stamp = 0, burstStamp = 0;
  std::vector<int32_t> opStamp, valueStamp, needStamp, needStep;
};

} // namespace ckpt::plan

#endif // CKPT_LIB_PLAN_CONSTRUCT_LIST_LISTSCHEDULER_H
