//===- ConstrainLayers.h - From decisions on layers to values ---*- C++ -*-===//

#ifndef CKPT_PLAN_CONSTRAINLAYERS_H
#define CKPT_PLAN_CONSTRAINLAYERS_H

#include "ckpt/Plan/Problem.h"
#include "ckpt/Plan/Strategies.h"

namespace ckpt::plan {

/// The value whose memory a view shows.
ValueId throughViews(const Problem &problem, ValueId value);

/// Demands of the values of \p problem what \p selection says; \p layerOfOp
/// gives for each op its layer, or `none`. Of a layer that is recomputed, what
/// is handed on is saved: what other parts of the forward pass read (family A),
/// or what crosses a saved boundary or is read outside of all layers (family
/// B). Everything else in it is made again. Other layers, and what is pinned,
/// are left as they are. Returns the ops whose results should be made again
/// and cannot be: they may run only once.
std::vector<OpId> constrainLayers(Problem &problem,
                                  const std::vector<int32_t> &layerOfOp,
                                  const Selection &selection);

} // namespace ckpt::plan

#endif // CKPT_PLAN_CONSTRAINLAYERS_H
