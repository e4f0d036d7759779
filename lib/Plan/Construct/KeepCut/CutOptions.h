//===- CutOptions.h - Prices and limits of one walk -------------*- C++ -*-===//
//
// CutWalk.h chooses them; the parts of the cut scheduler read them.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_LIB_PLAN_CONSTRUCT_KEEPCUT_CUTOPTIONS_H
#define CKPT_LIB_PLAN_CONSTRUCT_KEEPCUT_CUTOPTIONS_H

#include "Plan/Model/Clock.h"
#include "ckpt/Plan/Plan.h"

#include <limits>

namespace ckpt::plan {

/// A snapshot found beforehand for the tightest moment: until root `until` has
/// run, only the roots in `before` and the values `kept` are planned for.
struct Guide {
  OpId until = none;
  std::vector<char> before;
  std::vector<ValueId> kept;
};

struct CutOptions {
  /// Bytes that may stand in memory.
  int64_t capBytes = std::numeric_limits<int64_t>::max() / 4;
  /// Price of keeping a byte even if there is room, in moves of a byte.
  double floorPrice = 0;
  /// Recomputed contractions count as this many times their time.
  double contractionWeight = 1;
  /// Weight of the additional bytes that readers of an inlined value read.
  double readWeight = 0.5;
  /// How much more it costs to recompute values for the end of the program than
  /// for its start. The backward pass needs late values first, while memory is
  /// tight, so a little decides among equals. If memory is tight later once
  /// more, the opposite may be right.
  double urgency = 0;
  /// Share of the cap left free before contractions are recomputed.
  double reserve = 0;
  /// Off: a value that stood in memory is kept until its last reader.
  bool repeatAnchors = true;
  bool reorder = true;
  /// Whether large results that only function results wait for (the gradient
  /// of a tied embedding) wait until there is room for them.
  bool delayHeld = false;
  /// The walk gives up when it has recomputed more than this.
  int64_t mostExtraFlops = std::numeric_limits<int64_t>::max();
  const Guide *guide = nullptr;
  /// Per op: it does not run twice, whatever has to make room for that.
  const std::vector<char> *runOnce = nullptr;
  /// The walk gives up then.
  Deadline deadline;
  /// Another such moment, which may come nearer while the walk runs.
  const Cutoff *cutoff = nullptr;
};

struct CutSchedule {
  Plan plan;
  bool complete = false;
  /// Roots in the order in which they first ran, and the kernel each ran in.
  std::vector<OpId> rootOrder;
  std::vector<int32_t> rootKernel;
};

} // namespace ckpt::plan

#endif // CKPT_LIB_PLAN_CONSTRUCT_KEEPCUT_CUTOPTIONS_H
