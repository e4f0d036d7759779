//===- Pack.h - Places for instances in one arena ---------------*- C++ -*-===//

#ifndef CKPT_PLAN_PACK_H
#define CKPT_PLAN_PACK_H

#include "ckpt/Plan/Kernel.h"

namespace ckpt::plan {

/// Places every output and workspace of \p plan (which must be valid without
/// slots), chooses the takeovers of places, and sets `arenaBytes`. Orders by
/// several criteria, then searches canonical placements (MiniMalloc, ASPLOS'23)
/// with a limit on counted steps.
///
/// Stops as soon as the arena fits \p budgetBytes. A plan whose largest live
/// sum exceeds the budget keeps the places of the best order. With a smaller
/// budget than any arena, or none (0), the smallest arena found counts.
///
/// - Orders: the orders alone, a tenth of the time, for plans on the way.
/// - Once: adds a search of little more steps than placing all buffers once.
/// - Thorough: some hundred times the steps (seconds), for packing alone.
///
/// After \p deadline, if there is one, the orders alone.
enum class PackEffort : uint8_t { Orders, Once, Search, Thorough };
class Deadline;
void packSlots(const Problem &problem, Plan &plan, int64_t budgetBytes,
               PackEffort effort = PackEffort::Search);
/// The same with the kernels already analysed, which must belong to \p problem.
void packSlots(const Problem &problem, Plan &plan, int64_t budgetBytes,
               PackEffort effort, KernelCache &kernels,
               const Deadline *deadline = nullptr);

/// The same, but as far as the largest live sum exceeds \p budgetBytes, values
/// lie in the buffers of results that are written later.
void packSlotsInResults(const Problem &problem, Plan &plan, int64_t budgetBytes,
                        KernelCache &kernels, const Deadline *deadline);

/// \p plan as it was before its slots were placed.
Plan withoutSlots(Plan plan);

/// A place that is occupied from moment `first` to `last`, both inclusive:
/// kernels of a plan, or any other numbering from 0.
struct Buffer {
  int32_t first = 0;
  int32_t last = 0;
  int64_t bytes = 0;

  int64_t duration() const { return last - first + 1; }
};

/// An offset per buffer and where the last one ends.
struct Packing {
  std::vector<int64_t> offsets;
  int64_t arenaBytes = 0;
};

/// Largest sum of buffers that live together: no arena is smaller.
int64_t loadBytes(const std::vector<Buffer> &buffers);

/// The part of packSlots that follows once it knows the buffers.
Packing packBuffers(const std::vector<Buffer> &buffers, int64_t budgetBytes,
                    PackEffort effort = PackEffort::Search,
                    const Deadline *deadline = nullptr);

} // namespace ckpt::plan

#endif // CKPT_PLAN_PACK_H
