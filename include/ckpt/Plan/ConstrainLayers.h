//===- ConstrainLayers.h - From decisions on layers to values ---*- C++ -*-===//

#ifndef CKPT_PLAN_CONSTRAINLAYERS_H
#define CKPT_PLAN_CONSTRAINLAYERS_H

#include "ckpt/Plan/Problem.h"
#include "ckpt/Plan/Strategies.h"

namespace ckpt::plan {

/// The value whose memory a view shows.
ValueId throughViews(const Problem &problem, ValueId value);

/// Sets the demands of \p selection on the values of \p problem; \p layerOfOp
/// gives for each op its layer, or `none`. A recomputed layer saves the values
/// that it hands on. In family A, other parts of the forward pass read these.
/// In family B, they cross a saved boundary or are read outside of all layers.
/// All other values of the layer are rematerialised.
/// Other layers and pinned values stay as they are. Returns the ops whose
/// results should be rematerialised but that may run only once.
std::vector<OpId> constrainLayers(Problem &problem,
                                  const std::vector<int32_t> &layerOfOp,
                                  const Selection &selection);

} // namespace ckpt::plan

#endif // CKPT_PLAN_CONSTRAINLAYERS_H
