//===- AnchorSelection.h - The moments that bounds look at ------*- C++ -*-===//

#ifndef CKPT_LIB_PLAN_BOUNDS_ANCHORSELECTION_H
#define CKPT_LIB_PLAN_BOUNDS_ANCHORSELECTION_H

#include "Plan/Bounds/AnchorRelaxation.h"

namespace ckpt::plan {

/// Chooses anchors from pairs of demanded bytes and anchor: those with most
/// bytes, and some all along the step.
std::vector<OpId> chooseAnchors(std::vector<std::pair<int64_t, OpId>> demanded);

/// Three anchors of which every plan runs `held` before `other`, or between it
/// and `later`, or after that.
struct Triple {
  OpId held, other, later;
};

/// Finds results that stand in memory from their kernel to the end of the step
/// (the gradient of a tied embedding) and share an operand with the start of
/// the backward pass. One moment alone does not see both the operand and the
/// result, as the plan could run the anchor at another time.
std::vector<Triple> chooseTriples(const RematGraph &graph,
                                  AnchorRelaxation &moment);

} // namespace ckpt::plan

#endif // CKPT_LIB_PLAN_BOUNDS_ANCHORSELECTION_H
