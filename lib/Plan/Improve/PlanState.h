//===- PlanState.h - A plan under edits, with its figures -------*- C++ -*-===//
//
// Moves change a few kernels of a finished list and ask for the consequences:
// live bytes, time, extra FLOPs. The state keeps these up to date under `apply`
// and `undo` instead of simulating the whole list for each try. Its figures are
// those of the simulator (Validate.h), which remains the judge: it checks rules
// that no move breaks often, such as the order of effects.
//
// Kernels are numbered by places. An erased kernel leaves an empty place until
// `compact`; an inserted one shifts the places behind it.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_LIB_PLAN_IMPROVE_PLANSTATE_H
#define CKPT_LIB_PLAN_IMPROVE_PLANSTATE_H

#include "Plan/Improve/LiveProfile.h"
#include "Plan/Improve/ValueLives.h"
#include "ckpt/Plan/Validate.h"

#include <algorithm>
#include <utility>

namespace ckpt::plan {

/// One step of a move.
struct Edit {
  using Kernels = std::vector<std::pair<int32_t, Kernel>>;
  /// Kernels that take the place of others; one without ops erases.
  Kernels replaced;
  /// Kernels that run before the kernel of a place, in their order.
  Kernels inserted;

  /// Runs \p kernel before place \p to instead of at \p from.
  void move(int32_t from, Kernel kernel, int32_t to);
  /// Makes both edits at once; \p other replaces none of the same kernels.
  void add(const Edit &other);
};

class PlanState {
public:
  /// \p kernels must belong to \p problem.
  PlanState(const Problem &problem, Plan plan, KernelCache &kernels);

  /// Makes \p edit and removes outputs that it leaves without readers.
  void apply(Edit edit);
  /// Takes the last `apply` back; only one.
  void undo();
  /// Removes empty places.
  void compact();
  Plan plan() const;
  /// The plan, moved out of the state, which is worth nothing afterwards.
  Plan takePlan();

  int32_t size() const { return static_cast<int32_t>(list.size()); }
  const Kernel &kernel(int32_t place) const { return list[place]; }
  const KernelInfo &info(int32_t place) const { return *infos[place]; }
  bool isEmpty(int32_t place) const { return list[place].ops.empty(); }

  /// All kernels obey the rules, and every read finds its value.
  bool isLegal() const { return illegalKernels == 0 && unmadeReads == 0; }
  int64_t timeNs() const { return time; }
  int64_t extraFlops() const { return extra; }
  /// Live bytes of the kernel at \p place, with workspace.
  int64_t bytesAt(int32_t place) const { return live.at(place); }
  int64_t peakBytes() const { return std::max<int64_t>(0, live.peak()); }
  /// The most live bytes of kernels from \p first to before \p end.
  int64_t peakBytes(int32_t first, int32_t end) const {
    return live.most(first, end);
  }
  /// `bytesAt` of all places.
  std::vector<int64_t> bytes() const { return live.values(list.size()); }
  int64_t excessBytes(int64_t limitBytes) const {
    return live.excess(limitBytes);
  }

  /// See ValueLives.
  const std::vector<int32_t> &writes(ValueId value) const {
    return lives.writes(value);
  }
  const std::vector<int32_t> &reads(ValueId value) const {
    return lives.reads(value);
  }
  Life lifeAt(ValueId value, int32_t reader) const {
    return lives.at(value, reader);
  }
  Life lifeFrom(ValueId value, int32_t writer) const {
    return lives.from(value, writer);
  }
  bool isWanted(ValueId value, int32_t writer) const {
    return lives.isWanted(value, writer);
  }

private:
  /// The places of an instance, from the writer to the last reader.
  struct Range {
    ValueId value;
    int32_t place, last;
  };

  bool inArena(ValueId value) const {
    return problem.values[value].home == Home::Arena;
  }
  int64_t slotOf(ValueId value) const {
    return inArena(value) ? slotBytes(problem.values[value].bytes) : 0;
  }
  const KernelInfo &infoOf(const Kernel &kernel) {
    return kernel.ops.empty() ? nothing : kernels.get(kernel);
  }
  void enter(int32_t place, Kernel kernel, const KernelInfo &info);
  void leave(int32_t place);
  void count(int32_t place, int sign);
  void replace(Edit::Kernels changes);
  void touch(int32_t place, const Kernel &kernel, const KernelInfo &info);
  std::vector<Range> touchedRanges() const;
  int64_t unmadeOfTouched() const;
  void updateRanges(const std::vector<Range> &before);
  void updateTakenOver();
  int64_t takenOver(int32_t place) const;
  void removeDead();
  std::vector<int32_t> placesOfDead() const;
  Kernel withoutDead(int32_t place) const;
  void open(const std::vector<int32_t> &before);
  void close(const std::vector<int32_t> &places);
  void rebuild();

  const Problem &problem;
  KernelCache &kernels;
  const KernelInfo nothing; // of an empty place
  std::vector<Kernel> list;
  std::vector<const KernelInfo *> infos;
  /// Per place: bytes of outputs that take the places of dying inputs over.
  std::vector<int64_t> takenBytes;
  std::vector<int32_t> runs; // per op
  ValueLives lives;
  LiveProfile live;
  int64_t time = 0, extra = 0;
  int64_t illegalKernels = 0, unmadeReads = 0;

  /// The kernels that the last `apply` replaced, the first first, and the
  /// places that it inserted.
  Edit::Kernels before;
  std::vector<int32_t> opened;
  /// Values that the last change touched, with the places that read or wrote
  /// them, their instances there, and places where these begin or end.
  std::vector<std::pair<ValueId, int32_t>> touched;
  std::vector<Range> ranges;
  std::vector<int32_t> touchedPlaces;
};

} // namespace ckpt::plan

#endif // CKPT_LIB_PLAN_IMPROVE_PLANSTATE_H
