//===- PebbleSearch.h - Making one value in little memory -------*- C++ -*-===//

#ifndef CKPT_LIB_PLAN_CONSTRUCT_PEBBLE_PEBBLESEARCH_H
#define CKPT_LIB_PLAN_CONSTRUCT_PEBBLE_PEBBLESEARCH_H

#include "Plan/Construct/Pebble/KernelEnumerator.h"
#include "Plan/Model/Clock.h"

#include <map>
#include <optional>

namespace ckpt::plan {

/// Looks for kernels that make a value from nothing but arguments, with any
/// number of remats on the way.
class PebbleSearch {
public:
  explicit PebbleSearch(const RematGraph &graph);

  /// Appends kernels with a live peak of at most \p limitBytes that make \p
  /// goal; false if its effort or \p deadline ends before it finds them.
  bool make(ValueId goal, int64_t limitBytes, Deadline deadline,
            std::vector<Kernel> &kernels);

private:
  /// Values that stand in memory, ascending.
  using Standing = std::vector<ValueId>;
  /// The last of the kernels that make the values standing after it.
  struct Step {
    const KernelChoice *choice = nullptr;
    Standing before;
    /// Live bytes of this kernel; in `known`, of it and all before.
    int64_t bytes = 0;
  };
  struct State {
    Standing standing;
    /// The state after it, and the kernel that leads there, with its live
    /// bytes.
    int32_t next = none;
    const KernelChoice *choice = nullptr;
    int64_t bytes = 0;
  };
  struct HashOfStanding {
    size_t operator()(const Standing &standing) const;
  };

  void findAncestors();
  int32_t countAncestors(const Standing &standing);
  int64_t bytesOf(const Standing &standing) const;
  Step stepTo(const Standing &after, const KernelChoice &choice) const;
  std::vector<Step> findSteps(const Standing &after, int64_t limitBytes) const;
  const Step *findKnown(const Standing &standing, int64_t limitBytes) const;
  bool search(ValueId goal, int64_t limitBytes, int32_t weight,
              Deadline deadline);
  void remember(const std::vector<State> &states, int32_t first);

  const RematGraph &graph;
  const KernelEnumerator choices;
  /// Per op: a set of ops that make nodes, as `words` words of bits.
  std::vector<uint64_t> ancestors;
  size_t words = 0;
  std::vector<uint64_t> united;
  /// How each set of values in memory was made before.
  std::map<Standing, Step> known;
};

} // namespace ckpt::plan

#endif // CKPT_LIB_PLAN_CONSTRUCT_PEBBLE_PEBBLESEARCH_H
