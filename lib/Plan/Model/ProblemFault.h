//===- ProblemFault.h - The faulty item of a problem ------------*- C++ -*-===//
//
// `check` describes a fault of a problem; the reader of its text form also
// names the line.
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
  /// Index of the value, the op or the region.
  int32_t index = none;
  /// The whole sentence, with the item.
  std::string what;
};

/// The first fault of \p problem; none if `check` is content.
std::optional<ProblemFault> findFault(const Problem &problem);

} // namespace ckpt::plan

#endif // CKPT_LIB_PLAN_MODEL_PROBLEMFAULT_H
