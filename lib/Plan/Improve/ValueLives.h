//===- ValueLives.h - Where values are written and read ---------*- C++ -*-===//
//
// The places of a list of kernels that write and read each value. A value has
// one life per place that writes it, until the next such place. PlanState keeps
// them up to date under edits.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_LIB_PLAN_IMPROVE_VALUELIVES_H
#define CKPT_LIB_PLAN_IMPROVE_VALUELIVES_H

#include "ckpt/Plan/Kernel.h"

namespace ckpt::plan {

/// An instance of a value: the place that writes it and the places that read
/// it, ascending. Valid until the next change of the list.
struct Life {
  ValueId value = none;
  int32_t place = none;
  const int32_t *firstRead = nullptr, *endOfReads = nullptr;

  explicit operator bool() const { return place != none; }
  int64_t numReads() const { return endOfReads - firstRead; }
  /// The last place that reads it, or the place that writes it.
  int32_t last() const { return numReads() > 0 ? endOfReads[-1] : place; }
};

class ValueLives {
public:
  explicit ValueLives(const Problem &problem)
      : problem(problem), uses(problem.values.size()) {}

  /// Adds the reads and writes of the kernel at \p place, or takes them out.
  void enter(int32_t place, const Kernel &kernel, const KernelInfo &info);
  void leave(int32_t place, const Kernel &kernel, const KernelInfo &info);
  /// Gives place `p` the number `newPlace(p)`; the order stays.
  template <typename NewPlace>
  void renumber(NewPlace newPlace) {
    for (Uses &use : uses)
      for (auto *places : {&use.writes, &use.reads})
        for (int32_t &place : *places)
          place = newPlace(place);
  }

  /// Places that write and read \p value, ascending.
  const std::vector<int32_t> &writes(ValueId value) const {
    return uses[value].writes;
  }
  const std::vector<int32_t> &reads(ValueId value) const {
    return uses[value].reads;
  }
  /// The instance of \p value that the kernel at \p reader finds; its place is
  /// `none` if no kernel before wrote the value.
  Life at(ValueId value, int32_t reader) const;
  /// The instance of \p value that the kernel at \p writer writes.
  Life from(ValueId value, int32_t writer) const {
    return at(value, writer + 1);
  }
  /// Whether the instance of \p value that the kernel at \p writer writes has
  /// to be written: for a reader, as a result or because it is to be saved.
  bool isWanted(ValueId value, int32_t writer) const;
  /// Reads of \p value before any kernel wrote it.
  int64_t unmadeReads(ValueId value) const;

private:
  struct Uses {
    std::vector<int32_t> writes, reads;
  };

  const Problem &problem;
  std::vector<Uses> uses; // per value
};

} // namespace ckpt::plan

#endif // CKPT_LIB_PLAN_IMPROVE_VALUELIVES_H
