//===- OrderedKeepCut.h - The cut at one moment of an order -----*- C++ -*-===//
//
// The cut of docs/Planner/Construct.md, for a moment of an order that is known
// beforehand: all earlier values are at hand, and one minimum cut settles for
// all values at once which of them are kept across that moment. The walk
// (CutScheduler.h) asks this after every kernel; a first plan asks it once per
// guide.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_LIB_PLAN_CONSTRUCT_KEEPCUT_ORDEREDKEEPCUT_H
#define CKPT_LIB_PLAN_CONSTRUCT_KEEPCUT_ORDEREDKEEPCUT_H

#include "Plan/Construct/KeepCut/CutCosts.h"
#include "Plan/Model/KeepCut.h"

namespace ckpt::plan {

class OrderedKeepCut {
public:
  OrderedKeepCut(const RematGraph &graph, const CostWeights &weights);

  /// The facts of the moment just before the root `order[at]` runs.
  struct Moment {
    const std::vector<OpId> &order;
    size_t at = 0;
    /// Per value: it stands in memory. Other values can be kept only if they
    /// are fusible and their sources are there.
    const std::vector<char> &resident;
    /// Per value: by how much its bytes count more than others', as they also
    /// stand in memory at other tight moments.
    const std::vector<double> &weight;
  };

  /// The values to keep so that they and the kernel of the root take at most \p
  /// room bytes. The kernel's own reads are kept in any case, and may be more
  /// than that.
  std::vector<ValueId> keep(const Moment &moment, int64_t room);

private:
  enum class Availability : uint8_t { Dropped, InMemory, Makeable };

  void findPast(const Moment &moment);
  void collectAllDemand(const Moment &moment);
  void findAvailability(const Moment &moment);
  void collectDemand(OpId root, const std::vector<char> *resident);
  int64_t kernelBytes(OpId root) const;
  void collectNodes();
  void buildNetwork(const Moment &moment);
  KeepCut::Answer search(int64_t room);
  std::vector<ValueId> fillRoom(const KeepCut::Answer &answer,
                                int64_t room) const;
  /// In memory to the end at no cost.
  bool isWritten(ValueId value) const {
    return past[value] && graph.problem.values[value].home == Home::Result;
  }

  const RematGraph &graph;
  const CostWeights weights;
  const double unit;          // picoseconds to move a byte
  double unitPs;              // picoseconds per unit of capacity
  std::vector<int64_t> again; // per op
  std::vector<char> past, demanded, demandedLater, pinned; // per value
  std::vector<char> seen;                                  // per op
  /// Per value: its place in `nodes`, or `none`.
  std::vector<int32_t> nodeIndex;
  std::vector<ValueId> nodes;
  std::vector<OpId> ops;
  std::vector<int32_t> opOfNode;
  std::vector<Availability> availability; // per node
  KeepCut cut;
};

} // namespace ckpt::plan

#endif // CKPT_LIB_PLAN_CONSTRUCT_KEEPCUT_ORDEREDKEEPCUT_H
