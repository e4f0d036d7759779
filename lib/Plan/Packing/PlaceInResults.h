//===- PlaceInResults.h - Values in buffers of later results ----*- C++ -*-===//
//
// The packer asks here which of its buffers may lie in the buffer of a result
// that is written later, so that the arena holds less at its tightest moments.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_LIB_PLAN_PACKING_PLACEINRESULTS_H
#define CKPT_LIB_PLAN_PACKING_PLACEINRESULTS_H

#include "ckpt/Plan/Pack.h"

namespace ckpt::plan {

/// A stretch of the buffer of a result that is taken for a time, in bytes and
/// in kernels of the plan; kernels are inclusive.
struct TakenPlace {
  int64_t begin = 0;
  int64_t end = 0;
  int32_t first = 0;
  int32_t last = 0;
};

/// The buffer of a result.
struct ResultBuffer {
  ValueId result = none;
  int64_t bytes = 0;
  std::vector<TakenPlace> taken;
};

/// The buffers that may hold scratch, the smallest first, with the places that
/// \p plan, which is valid, takes there already: of results from their kernel
/// to the end, and of hosted values.
std::vector<ResultBuffer> findResultBuffers(const Problem &problem,
                                            const Plan &plan,
                                            KernelCache &kernels);

/// A buffer that may lie in a result.
struct Guest {
  /// Index of the buffer.
  int32_t buffer = none;
  /// Exact bytes: results have no padding.
  int64_t bytes = 0;
};

/// A result and the offset in its buffer.
struct ScratchPlace {
  ValueId result = none;
  int64_t offset = 0;
};

/// For each of \p buffers its place in a result, if it has one: as few as lower
/// the largest live sum to \p goalBytes, or all that lower it at all. Goes from
/// the tightest moment to the next one, takes the largest guest there, and
/// gives it the lowest place in the smallest result that has one. Each guest is
/// tried once, and looks at the places of its own time.
std::vector<ScratchPlace>
placeInResults(const std::vector<Buffer> &buffers,
               const std::vector<Guest> &guests,
               const std::vector<ResultBuffer> &results, int64_t goalBytes);

} // namespace ckpt::plan

#endif // CKPT_LIB_PLAN_PACKING_PLACEINRESULTS_H
