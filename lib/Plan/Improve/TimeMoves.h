//===- TimeMoves.h - Moves that save time -----------------------*- C++ -*-===//
//
// In a finished list of kernels the exact costs are known: one kernel may write
// a value that several compute inside, readers may compute a value inside that
// is read little, and kernels may join. This class finds each such move, with
// its saving; ReduceTime.cpp makes them.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_LIB_PLAN_IMPROVE_TIMEMOVES_H
#define CKPT_LIB_PLAN_IMPROVE_TIMEMOVES_H

#include "Plan/Improve/PlanState.h"
#include "Plan/Model/Clock.h"

#include <optional>

namespace ckpt::plan {

/// An edit and its saving, with memory not yet considered.
struct TimeMove {
  int64_t savedNs = 0;
  Edit edit;
};

/// Changes of one plan, which is changed between two calls of `find`.
class TimeMoves {
public:
  TimeMoves(const Problem &problem, const PlanState &state,
            KernelCache &kernels);
  /// The best first. Moves not found before \p deadline are left out.
  std::vector<TimeMove> find(Deadline deadline);

private:
  void measure();
  bool isLink(ValueId value) const;
  void findShares(ValueId value, std::vector<TimeMove> &changes) const;
  int32_t sharerOf(int32_t place) const;
  std::vector<ValueId> borderOf(const Kernel &writer,
                                const Kernel &reader) const;
  void findBorder(int32_t place, std::vector<TimeMove> &changes) const;
  void findSink(const Life &life, std::vector<TimeMove> &changes) const;
  TimeMove unwrite(int32_t from, const std::vector<ValueId> &values,
                   Kernel &inner) const;
  void findInline(int32_t from, const std::vector<ValueId> &values,
                  const std::vector<int32_t> &readers,
                  std::vector<TimeMove> &changes) const;
  void findInlines(int32_t from, std::vector<TimeMove> &changes) const;
  void findJoins(const Life &life, std::vector<TimeMove> &changes) const;

  void findOthers(Deadline deadline, std::vector<TimeMove> &changes) const;

  // SplitMove.cpp
  std::vector<ValueId> partsOf(OpId op, const Kernel &kernel) const;
  std::vector<OpId> joinersOf(const Kernel &kernel) const;
  void findParts(int32_t place, std::vector<TimeMove> &changes) const;
  bool hasDestination(OpId op) const;
  bool isFusibleIn(OpId op, const Kernel &kernel) const;
  static bool isPart(const Value &value, int64_t elements);

  // EpilogueMove.cpp
  void findSpill(const Life &life, std::vector<TimeMove> &changes) const;
  std::optional<TimeMove> spill(const Life &life, int32_t to) const;
  std::vector<int32_t> readersBefore(int32_t place, int32_t until) const;

  bool mayJoin(int32_t place, const std::vector<ValueId> &inputs,
               ValueId value) const;
  void leave(int32_t place, Kernel rest, TimeMove &change) const;
  Kernel only(const Life &life) const;
  bool mayWait(int32_t reader, int32_t until) const;
  int32_t sourceOf(const Kernel &kernel, int32_t end) const;
  bool write(Kernel writer, int32_t place, TimeMove &change) const;
  TimeMove share(ValueId value, size_t first) const;
  bool reduce(Kernel &kernel, const std::vector<ValueId> &values,
              int64_t &ns) const;
  /// \p kernel with everything of \p inner inside.
  static Kernel join(Kernel kernel, const Kernel &inner);
  void trim(Kernel &kernel) const;
  /// Whether all allowed work is done. The cost of a look at a kernel grows
  /// with its ops.
  bool isSpent() const { return counted > mostCounted; }
  int64_t timeOf(const Kernel &kernel) const {
    counted += kernel.ops.size();
    const KernelInfo &info = kernels.get(kernel);
    return info.error.empty() ? info.timeNs : -1;
  }

  const Problem &problem;
  const PlanState &state;
  KernelCache &kernels;
  /// Per value: places that compute it inside and do not write it.
  std::vector<std::vector<int32_t>> inside;
  /// Per value: the only op that reads it, or `none`.
  std::vector<OpId> onlyReader;
  /// Ops of kernels that were looked at, in all calls of `find`: five times
  /// more than ordinary steps take end the search.
  static constexpr size_t mostCounted = 5'000'000;
  mutable size_t counted = 0;
};

} // namespace ckpt::plan

#endif // CKPT_LIB_PLAN_IMPROVE_TIMEMOVES_H
