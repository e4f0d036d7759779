//===- RootOrder.h - The order in which roots first run ---------*- C++ -*-===//

#ifndef CKPT_LIB_PLAN_CONSTRUCT_KEEPCUT_ROOTORDER_H
#define CKPT_LIB_PLAN_CONSTRUCT_KEEPCUT_ROOTORDER_H

#include "Plan/Model/RematGraph.h"

namespace ckpt::plan {

/// An order of all roots in which each can run: results as soon as they can be
/// made, then roots that let more bytes die than they make (weight gradients),
/// then all others in program order. Without \p reorder, program order.
std::vector<OpId> orderRoots(const RematGraph &graph, bool reorder);

} // namespace ckpt::plan

#endif // CKPT_LIB_PLAN_CONSTRUCT_KEEPCUT_ROOTORDER_H
