//===- ProblemFault.h - Which item of a problem is wrong --------*- C++ -*-===//
//
// `check` says what is wrong with a problem; who has read it from a text also
// wants to say on which line.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_LIB_PLAN_MODEL_PROBLEMFAULT_H
#define CKPT_LIB_PLAN_MODEL_PROBLEMFAULT_H

#include "ckpt/Plan/Problem.h"

#include <optional>

namespace ckpt::plan {

struct ProblemFault {
  enum class Item : uint8_t { Bandwidth, Launch, Value, Op, Region };
  Item item = Item::Bandwidth;
  /// Of the value, the op or the region.
  int32_t index = none;
  /// The whole sentence, with the item.
  std::string what;
};

/// The first fault of \p problem; none if `check` is content.
std::optional<ProblemFault> findFault(const Problem &problem);

} // namespace ckpt::plan

#endif // CKPT_LIB_PLAN_MODEL_PROBLEMFAULT_H
