//===- Retention.h - Kept values between first runs of kernels --*- C++ -*-===//
//
// The state of a local search over plans with fixed kernels. Kernels first run
// in a fixed order; the first run of a kernel, with its remats, is a stage. A
// state says for every value and stage whether the value is kept into that
// stage (Checkmate's matrix S; Jain et al., MLSys 2020). All else follows: a
// stage rematerialises the values that it needs and that are not kept,
// recursively, in the order of first runs. The time and the peak of a stage
// depend only on the values kept into it and out of it, so a change concerns
// few stages.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_LIB_PLAN_IMPROVE_ANNEAL_RETENTION_H
#define CKPT_LIB_PLAN_IMPROVE_ANNEAL_RETENTION_H

#include "Plan/Improve/LiveProfile.h"
#include "Plan/Model/KernelGraph.h"

namespace ckpt::plan {

class Retention {
public:
  /// Keeps every value from the stage that makes it to its last reader.
  Retention(const KernelGraph &graph, int64_t budgetBytes);

  const KernelGraph &kernels() const { return graph; }
  int64_t budgetBytes() const { return budget; }
  int32_t stages() const { return count; }
  int64_t timeNs() const { return time; }
  /// Whether nothing runs again that may run only once.
  bool isLegal() const;
  /// By how much stages exceed the budget, summed.
  int64_t overflowBytes() const { return load.excess(budget); }
  int64_t peakBytes(int32_t stage) const { return load.at(stage); }
  int32_t worstStage() const { return static_cast<int32_t>(load.worst()); }
  /// Kernels of the stage, in order; its own kernel for the first time.
  const std::vector<int32_t> &runs(int32_t stage) const {
    return stageOf[stage].runs;
  }
  bool isKept(ValueId value, int32_t stage) const {
    return kept[index(value, stage)] != 0;
  }
  /// Whether the stage makes or reads the value.
  bool isTouched(ValueId value, int32_t stage) const {
    return touched[index(value, stage)] != 0;
  }

  /// Drops the value, which is kept into \p stage, from its last touch before
  /// to the next touch: there it is made again.
  void drop(ValueId value, int32_t stage);
  /// Keeps the value, which is made again in \p stage, from its last touch.
  void keep(ValueId value, int32_t stage);
  /// A moment to go back to: changes since the last call of `commit`.
  size_t mark() const { return journal.size(); }
  /// Undoes all drops and keeps since \p mark.
  void rollBack(size_t mark = 0);
  void commit();

  /// The list of kernels.
  std::vector<KernelRun> list() const;
  /// A copy of the decisions, and its return.
  std::vector<char> save() const { return kept; }
  void restore(const std::vector<char> &decisions);

private:
  struct Stage {
    int64_t timeNs = 0, aboveBytes = 0;
    std::vector<int32_t> runs;
    /// Values made or read.
    std::vector<ValueId> touched;
  };
  /// The change of one step: a range of stages of a value, or a whole stage.
  struct Change {
    ValueId value = none;
    int32_t first = 0, last = 0;
    Stage before;
  };

  size_t index(ValueId value, int32_t stage) const {
    return static_cast<size_t>(value) * (count + 1) + stage;
  }
  int32_t lastTouchBefore(ValueId value, int32_t stage) const;
  void evaluateAll();
  void flip(ValueId value, int32_t first, int32_t last);
  void setBorn(ValueId value, int32_t stage, bool isBorn);
  void markDirty(int32_t stage);
  void settle();
  void letGo();
  void collectRuns(int32_t stage);
  void orderDepthFirst(int32_t stage);
  void need(ValueId value, int32_t stage);
  void measure(int32_t stage, Stage &result);
  void exchange(int32_t stage, Stage &other);
  Stage takeSpare();

  const KernelGraph &graph;
  const int32_t count;
  const int64_t budget;
  std::vector<int64_t> slot; // per value
  std::vector<char> kept;    // see `index`
  std::vector<char> touched; // see `index`
  LiveProfile load;          // per stage
  /// Per stage: values kept out of it, but not into it, that it makes again.
  std::vector<std::vector<ValueId>> born;
  std::vector<Stage> stageOf;
  std::vector<Stage> spare;
  int64_t time = 0;

  std::vector<Change> journal;
  std::vector<int32_t> dirty;
  std::vector<char> isDirty;
  std::vector<std::pair<ValueId, int32_t>> idle; // kept to a stage in vain
  // Scratch, valid while its stamp is current.
  int32_t stamp = 0;
  std::vector<int32_t> nodeStamp, valueStamp, lastUse, work;
  std::vector<int32_t> runsNow;
};

} // namespace ckpt::plan

#endif // CKPT_LIB_PLAN_IMPROVE_ANNEAL_RETENTION_H
