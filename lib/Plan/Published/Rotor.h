//===- Rotor.h - Optimal persistent schedules of chains ---------*- C++ -*-===//

#ifndef CKPT_LIB_PLAN_PUBLISHED_ROTOR_H
#define CKPT_LIB_PLAN_PUBLISHED_ROTOR_H

#include "Plan/Construct/Chain/ChainSchedule.h"

#include <optional>

namespace ckpt::plan {

/// The dynamic programme's view of a stage. Sizes count whole units of memory,
/// rounded up.
struct RotorStage {
  int64_t forwardNs = 0, backwardNs = 0;
  /// By an earlier stage: units of the input beside the input of that stage
  /// (skip connections belong to both).
  std::vector<int64_t> inputUnits;
  /// Reads of the backward part; the same with the input of the next stage.
  int64_t ownUnits = 0, tapeUnits = 0;
  /// Other bytes while the stage runs forward or backward, in units.
  int64_t forwardUnits = 0, backwardUnits = 0;
};

/// The table of Beaumont et al.: for every piece of the chain and every amount
/// of memory the least time to reverse it, if kept values stay until their
/// backward part has run ("persistent").
class RotorTable {
public:
  RotorTable(std::vector<RotorStage> stages, int32_t units);

  /// Time of the forward and backward passes within \p units, or nothing.
  std::optional<int64_t> timeNs(int32_t units) const;
  /// The schedule; requires a time.
  std::vector<ChainStep> steps(int32_t units) const;

private:
  struct Entry {
    int64_t timeNs;
    /// The stage whose input is kept; the first one: its tape; `none`: no way.
    int32_t choice;
  };
  Entry &at(int32_t first, int32_t last, int32_t units) {
    return entries[(static_cast<size_t>(first) * count + last) * (most + 1) +
                   units];
  }
  const Entry &at(int32_t first, int32_t last, int32_t units) const {
    return const_cast<RotorTable *>(this)->at(first, last, units);
  }
  void fill(int32_t first, int32_t last, int32_t units);
  void trySplit(int32_t first, int32_t split, int32_t last, int32_t units);
  void tryTape(int32_t first, int32_t last, int32_t units);
  void collect(int32_t first, int32_t last, int32_t units,
               std::vector<ChainStep> &steps) const;

  std::vector<RotorStage> stages;
  int32_t count, most;
  std::vector<Entry> entries;
};

} // namespace ckpt::plan

#endif // CKPT_LIB_PLAN_PUBLISHED_ROTOR_H
