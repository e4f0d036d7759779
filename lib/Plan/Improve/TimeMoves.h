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

#include "Plan/Model/Clock.h"
#include "ckpt/Plan/Validate.h"

#include <optional>

namespace ckpt::plan {

/// A changed list and its saving, with memory not yet considered.
struct TimeMove {
  int64_t savedNs = 0;
  std::vector<std::pair<size_t, Kernel>> replaced;
  std::optional<size_t> dropped;
  /// To run before kernel `at`.
  std::optional<Kernel> added;
  size_t at = 0;
  /// To run right behind kernel `behind`, ascending, as `replaced` has them.
  std::vector<size_t> moved;
  size_t behind = 0;
};

/// Changes of one plan, which is changed between two calls of `find`.
class TimeMoves {
public:
  TimeMoves(const Problem &problem, const Plan &plan, KernelCache &kernels);
  /// The best first; \p verdict is the plan's. Moves not found before \p
  /// deadline are left out.
  std::vector<TimeMove> find(const Verdict &verdict, Deadline deadline);

private:
  void measure();
  bool isLink(ValueId value) const;
  void findShares(ValueId value, std::vector<TimeMove> &changes) const;
  void findSink(const Instance &instance, std::vector<TimeMove> &changes) const;
  TimeMove unwrite(size_t from, const std::vector<ValueId> &values,
                   Kernel &inner) const;
  void findInline(size_t from, const std::vector<ValueId> &values,
                  const std::vector<size_t> &readers,
                  std::vector<TimeMove> &changes) const;
  void findInlines(const std::vector<const Instance *> &instances,
                   std::vector<TimeMove> &changes) const;
  void findJoins(const Instance &instance,
                 std::vector<TimeMove> &changes) const;

  // SplitMove.cpp
  std::vector<ValueId> partsOf(OpId op, const Kernel &kernel) const;
  std::vector<OpId> joinersOf(const Kernel &kernel) const;
  void findParts(size_t index, std::vector<TimeMove> &changes) const;
  bool hasDestination(OpId op) const;
  bool isFusibleIn(OpId op, const Kernel &kernel) const;
  static bool isPart(const Value &value, int64_t elements);

  // EpilogueMove.cpp
  using Instances = std::vector<std::vector<const Instance *>>;
  void findSpill(const Instance &instance, const Instances &instances,
                 std::vector<TimeMove> &changes) const;
  std::optional<TimeMove> spill(const Instance &instance, size_t to,
                                const Instances &instances) const;
  std::vector<size_t> readersBefore(size_t kernel, size_t until,
                                    const Instances &instances) const;

  bool mayJoin(size_t kernel, const std::vector<ValueId> &inputs,
               ValueId value) const;
  TimeMove without(const Instance &instance) const;
  Kernel only(const Instance &instance) const;
  std::vector<size_t> readersOf(const Instance &instance) const;
  bool mayWait(size_t reader, size_t until) const;
  std::optional<size_t> sourceOf(const Kernel &kernel, size_t end) const;
  bool write(Kernel writer, TimeMove &change) const;
  TimeMove share(ValueId value, size_t first) const;
  bool reduce(Kernel &kernel, ValueId value, int64_t &ns) const;
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
  const Plan &plan;
  KernelCache &kernels;
  /// Per kernel.
  std::vector<const KernelInfo *> infos;
  /// Per value: kernels that compute it inside and do not write it; and its
  /// writers.
  std::vector<std::vector<size_t>> inside, writers;
  /// Per value: kernels that read it from memory, ascending.
  std::vector<std::vector<size_t>> readers;
  /// Per value: the only op that reads it, or `none`.
  std::vector<OpId> onlyReader;
  /// Ops of kernels that were looked at, in all calls of `find`: five times
  /// more than ordinary steps take end the search.
  static constexpr size_t mostCounted = 5'000'000;
  mutable size_t counted = 0;
};

} // namespace ckpt::plan

#endif // CKPT_LIB_PLAN_IMPROVE_TIMEMOVES_H
