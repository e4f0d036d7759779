//===- CutScheduler.h - Plans made by one cut per kernel --------*- C++ -*-===//
//
// The heart of the planner. It walks through the roots (kernels that have to
// run) and asks before every kernel: which values stand in memory from here,
// and which are computed later, inside their readers or again? One minimum cut,
// a snapshot, answers this, and settles fusion, materialisation and
// recomputation together. One walk makes a whole plan; the portfolio runs walks
// with different prices (CutWalk.h).
//
//   WalkState        kernels so far, values in memory, roots that can run
//   RootPicker       the root that runs next
//   MissingOperands  values to make before it runs
//   SnapshotDemand   values that the rest of the plan needs
//   SnapshotCut      which of them to keep
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_LIB_PLAN_CONSTRUCT_KEEPCUT_CUTSCHEDULER_H
#define CKPT_LIB_PLAN_CONSTRUCT_KEEPCUT_CUTSCHEDULER_H

#include "Plan/Construct/KeepCut/RootPicker.h"
#include "Plan/Construct/KeepCut/SnapshotCut.h"

namespace ckpt::plan {

/// One walk. Construct once per graph and call `run` for every setting.
class CutScheduler {
public:
  explicit CutScheduler(const RematGraph &graph);
  CutScheduler(const CutScheduler &) = delete;
  CutScheduler &operator=(const CutScheduler &) = delete;

  CutSchedule run(const CutOptions &options);
  /// The snapshot just before root \p until of an earlier run with order
  /// \p order, as if every value before it were still at hand.
  Guide makeGuide(const CutOptions &options, const std::vector<OpId> &order,
                  OpId until);

private:
  void start(const CutOptions &options);
  bool runRoot(OpId root);
  void settle(const std::vector<ValueId> &pending, OpId root);
  int64_t roomFor(const std::vector<ValueId> &pending, OpId root) const;
  void makeKept();
  void dropOthers();
  bool isHopeless() const;

  WalkState state;
  MissingOperands missing;
  RootPicker picker;
  SnapshotDemand demand;
  SnapshotCut cut;
};

/// Whether walks are left out. A walk takes a snapshot of the ops per root.
inline bool isTooLargeToWalk(const RematGraph &graph) {
  constexpr size_t mostRoots = 6000;
  return graph.roots.size() > mostRoots;
}

/// Whether walks are left out where no clock ends them.
inline bool isTooLargeToFinish(const RematGraph &graph) {
  constexpr size_t mostWork = 5'000'000;
  return graph.roots.size() * graph.problem.ops.size() > mostWork;
}

} // namespace ckpt::plan

#endif // CKPT_LIB_PLAN_CONSTRUCT_KEEPCUT_CUTSCHEDULER_H
