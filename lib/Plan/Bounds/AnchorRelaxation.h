//===- AnchorRelaxation.h - The moment when an anchor first runs *- C++ -*-===//
//
// The snapshot relaxation: the minimum cut behind every bound on extra FLOPs
// and time. Bound.cpp, BranchAndBound and TimeBound enter one moment after the
// other; a cut takes milliseconds for a step of 1,000 ops.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_LIB_PLAN_BOUNDS_ANCHORRELAXATION_H
#define CKPT_LIB_PLAN_BOUNDS_ANCHORRELAXATION_H

#include "Plan/Model/MinCut.h"
#include "Plan/Model/RematGraph.h"
#include "ckpt/Plan/Bound.h"

namespace ckpt::plan {

/// The cost of a remat of a value that is not kept, on top of the cost of its
/// op. Nothing if the anchor `behind` runs again and may write it.
struct Rewrite {
  ValueId value;
  int64_t cost;
  /// `none`: it takes that in any case.
  OpId behind;
};

/// The costs of remats; empty: only ops that may not repeat cost.
struct RematCosts {
  /// Per op: the cost of one more run.
  std::vector<int64_t> ops;
  std::vector<Rewrite> values;
};

/// The moment when the kernel of one anchor first runs, and its network; built
/// anew for each anchor.
class AnchorRelaxation {
public:
  /// With \p statisticsAreFree, statistics (`isStatistic`) are kept at no
  /// price. The bound then says a little less about bytes and more about
  /// remats: a value less its mean is as good as the value. \p moreNodes become
  /// nodes beside their sources, even if keeping these needs no more bytes.
  explicit AnchorRelaxation(const RematGraph &graph,
                            bool statisticsAreFree = false,
                            const std::vector<ValueId> &moreNodes = {});

  /// Looks at the first execution of \p anchor, in plans where \p before has
  /// run by then and \p after has not (`none`: no condition).
  void enter(OpId anchor, OpId before = none, OpId after = none);
  /// Whether plans need to keep \p value rather than its sources.
  bool isNode(ValueId value) const { return node[value]; }
  bool hasRun(OpId op) const { return ancestor[op]; }
  bool isFuture(OpId op) const { return future[op]; }
  /// Whether it runs for the first time after the moment.
  bool isToCome(OpId op) const { return future[op] && !ancestor[op]; }
  /// The nodes that its kernel reads if everything between is computed inside.
  const std::vector<ValueId> &leavesOf(OpId op) const { return leaves[op]; }
  /// Whether the op runs in no kernel of another anchor: a run-once op that
  /// need not be written may run inside a kernel that reads it.
  bool hasOwnKernel(OpId op) const;
  /// Whether it is free to keep, as the kernel needs it in memory anyway.
  bool isOperand(ValueId value) const { return operand[value]; }
  /// The value that an operand is, or is a view of.
  ValueId baseOf(ValueId value) const;
  /// Bytes that its kernel needs, whatever else stands in memory.
  int64_t kernelBytes() const { return needed; }
  /// Bytes that its kernel needs, with the values that it may write over.
  int64_t aloneBytes() const { return alone; }
  /// An upper limit of `aloneBytes` after `enter(anchor)`, without its cost.
  int64_t mostAloneBytes(OpId anchor);
  /// The anchor whose kernel needs most bytes alone, and these bytes; `none` if
  /// there is no anchor. In large steps only promising anchors are compared.
  std::pair<OpId, int64_t> largestAlone();
  /// Bytes of all values that may have to be kept.
  int64_t demandedBytes() const;
  /// Whether it is far smaller than its sources, such as a mean.
  bool isStatistic(ValueId value) const { return statistic[value]; }
  /// Whether something to come needs \p value, which has been made: it is kept
  /// or made again.
  bool isNeeded(ValueId value) const { return isDemanded[value]; }
  /// Whether something to come needs \p value in memory, or a view of all of
  /// it.
  bool isMemoryDemanded(ValueId value) const { return inMemory[value]; }
  /// Value of the minimum cut, where plans pay \p costs and obey \p decisions.
  /// Prices must rise from call to call after `build`.
  void build(const RematCosts &costs,
             const std::vector<Decision> &decisions = {});
  int64_t solve(int64_t price);
  /// Bytes that the last cut keeps at a price, and the ops whose running again
  /// it pays.
  int64_t keptBytes() const;
  std::vector<OpId> paidOps() const;

private:
  void findNodes(const std::vector<ValueId> &more);
  void findRelatives(OpId anchor, OpId before, OpId after);
  int64_t operandBytes(OpId anchor);
  /// The least output of the kernel, and whether it may lie over a read.
  struct Output {
    int64_t bytes = 0;
    bool overOperand = false, overOther = false;
  };
  Output findOutput(OpId anchor) const;
  bool mayReadArena(ValueId value) const;
  void findDemand(OpId anchor);
  void demand(ValueId value);
  void collectNodes();
  int64_t pricedBytes(ValueId value) const;
  void addCosts(OpId op, const RematCosts &costs);

  const RematGraph &graph;
  const Problem &problem;
  bool statisticsAreFree;
  std::vector<char> node;                   // per value
  std::vector<std::vector<ValueId>> leaves; // per op
  std::vector<char> memoryRead, statistic;  // per value
  /// Per op: it cannot have run yet; it has run; it cannot be in the kernel of
  /// the anchor, as another anchor has to run between.
  std::vector<char> future, ancestor, far;
  std::vector<char> operand;    // per value: free to keep
  std::vector<char> isDemanded; // per value
  std::vector<char> inMemory;   // per value: see `isMemoryDemanded`
  std::vector<char> expanded;   // per op
  std::vector<ValueId> demanded, nodes;
  std::vector<int32_t> number; // per value
  std::vector<int32_t> keepArc;
  /// Per place in `nodes`: the node "not kept".
  std::vector<int32_t> dropped;
  /// Per op: its network node "rematerialised for a later reader", and the node
  /// "runs again", which may be the same; or `none`.
  std::vector<int32_t> computed, repeated;
  /// Ops that cost something in the network.
  std::vector<OpId> priced;
  int64_t price = 0; // of the last cut
  int64_t needed = 0, alone = 0;
  MinCut cut;
};

} // namespace ckpt::plan

#endif // CKPT_LIB_PLAN_BOUNDS_ANCHORRELAXATION_H
