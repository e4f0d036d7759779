//===- CutScheduler.h - Plans made by one snapshot cut per kernel *- C++
//-*-===//
//
// The heart of the planner. It walks through the roots (kernels that have to
// run) and asks after every kernel: which values stand in memory from here, and
// which are computed later, inside their readers or again? That question is
// one minimum cut ("snapshot"), whose answer settles fusion, materialisation
// and recomputation together. One walk makes a whole plan; portfolios of walks
// with different prices are in SolveBudget.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_LIB_PLAN_CONSTRUCT_KEEPCUT_CUTSCHEDULER_H
#define CKPT_LIB_PLAN_CONSTRUCT_KEEPCUT_CUTSCHEDULER_H

#include "Plan/Model/Clock.h"
#include "Plan/Model/KeepCut.h"
#include "Plan/Model/RematGraph.h"
#include "ckpt/Plan/Plan.h"

#include <limits>
#include <optional>
#include <set>

namespace ckpt::plan {

/// A snapshot found beforehand for the tightest moment: until root `until` has
/// run, only the roots in `before` and the values `kept` are planned for.
struct Guide {
  OpId until = none;
  std::vector<char> before;
  std::vector<ValueId> kept;
};

struct CutOptions {
  /// Bytes that may stand in memory.
  int64_t capBytes = std::numeric_limits<int64_t>::max() / 4;
  /// Price of keeping a byte even if there is room, in moves of a byte.
  double floorPrice = 0;
  /// Recomputed contractions count as this many times their time.
  double contractionWeight = 1;
  /// Weight of the additional bytes that readers of an inlined value read.
  double readWeight = 0.5;
  /// How much more it costs to recompute what the end of the program needs than
  /// what its start does. The backward pass needs late values first, while
  /// memory is tight, so a little decides among equals; where it is tight later
  /// once more, the opposite may be right.
  double urgency = 0;
  /// Share of the cap left free before contractions are recomputed.
  double reserve = 0;
  /// Off: what stood in memory once is kept until its last reader.
  bool repeatAnchors = true;
  bool reorder = true;
  /// Whether large results that only function results wait for (the gradient
  /// of a tied embedding) wait until there is room for them.
  bool delayHeld = false;
  /// The walk gives up when it has this many kernels per root, and also per
  /// kernel that writes something for the first time.
  size_t kernelsPerNew = 2;
  /// The walk gives up when it has recomputed more than this.
  int64_t mostExtraFlops = std::numeric_limits<int64_t>::max();
  const Guide *guide = nullptr;
  /// Per op: it does not run twice, whatever has to make room for that.
  const std::vector<char> *runOnce = nullptr;
  /// The walk gives up then.
  Deadline deadline;
  /// Another such moment, which may come nearer while the walk runs.
  const Cutoff *cutoff = nullptr;
};

struct CutSchedule {
  Plan plan;
  bool complete = false;
  /// Roots in the order in which they first ran, and the kernel each ran in.
  std::vector<OpId> rootOrder;
  std::vector<int32_t> rootKernel;
};

/// One walk. Construct once per graph and call `run` for every setting.
class CutScheduler {
public:
  explicit CutScheduler(const RematGraph &graph);
  CutSchedule run(const CutOptions &options);
  /// The snapshot just before root \p until of an earlier run with order
  /// \p order, as if everything before it were still at hand.
  Guide makeGuide(const CutOptions &options, const std::vector<OpId> &order,
                  OpId until);

private:
  /// A value that has to be made again before the next root can run.
  using Burst = std::vector<ValueId>;

  // CutScheduler.cpp: state and kernels.
  void start(const CutOptions &options);
  void emit(OpId op, const std::vector<ValueId> &outputs);
  void emitRoot(OpId op);
  void finishRoot(OpId op);
  void emitValue(ValueId value);
  void becomePast(ValueId value);
  void dropRecomputed();
  bool isHopeless() const;
  OpId pickRoot();
  bool isDelayed(OpId root) const;
  int64_t growth(OpId root);
  void countUses();
  template <typename Function>
  void forEachResidentRead(OpId op, Function function);
  bool recomputesContraction(OpId root);
  Burst missing(OpId root);
  ValueId firstOperand(OpId root, const Burst &burst) const;
  /// What stands while what an op reads is made, and all that it reads of that.
  struct Way {
    int64_t peakBytes = 0, operandBytes = 0;
  };
  const Way &wayTo(OpId op);
  int64_t besides(const Leaf &leaf);
  void addMissing(OpId op, Burst &burst);
  /// Whether a kernel of its own makes the leaf.
  bool isMadeFirst(const Leaf &leaf) const {
    return leaf.memory || graph.rooted[graph.problem.values[leaf.value].op];
  }
  bool inMemory(ValueId value) const {
    return graph.isFree(value) || resident[value];
  }
  /// In memory to the end at no cost, or not in the step at all.
  bool isWritten(ValueId value) const {
    return resident[value] && graph.problem.values[value].home == Home::Result;
  }

  // CutSchedulerMemory.cpp: what is demanded and what becomes of it.
  enum class Availability : uint8_t {
    /// It would have to be recomputed by a kernel of its own first.
    dropped,
    inMemory,
    /// A fusible value all of whose inputs are at hand.
    makeable,
  };
  void settle(const Burst &pending, OpId root);
  void collectDemand(OpId op);
  void demand(ValueId value);
  void collectForRecompute();
  std::vector<ValueId> residentReads(OpId root);
  void pinReads(const Burst &pending, OpId root);
  void releaseReads(const Burst &pending, OpId root,
                    std::vector<ValueId> &reads);
  bool isSurelyKept(ValueId value) const;
  void explore(size_t from);
  void addLeaves(OpId op);
  void buildNodes(double highestPrice);
  bool extendNodes(double highestPrice);
  void orderNodes();
  void findAvailability();
  // CutSchedulerNetwork.cpp: the network, its prices and its cuts.
  /// Picoseconds that a byte costs at price 1: those of a move.
  double pricePerByte() const {
    return 1e6 / static_cast<double>(graph.problem.bytesPerMicrosecond);
  }
  double floorPrice() const { return options.floorPrice * pricePerByte(); }
  double highestPrice() const { return 1e6 * pricePerByte(); }
  void buildNetwork();
  KeepCut::Answer chooseAnswer(int64_t room);
  KeepCut::Answer solveAtFloor();
  std::optional<KeepCut::Corner> findCorner(const KeepCut::Answer &atFloor,
                                            int64_t room, double price);
  void apply(const KeepCut::Answer &answer);
  int64_t roomFor(const Burst &pending, OpId root);
  int64_t transientBytes(const Burst &pending, OpId root);
  bool mayOverwrite(OpId op, ValueId output);
  int64_t againPs(OpId op) const;
  double keepPs(size_t node) const;
  bool isFinal(OpId op) const;
  bool recomputed(OpId op) const;
  bool runsOnce(OpId op) const {
    return graph.once[op] || (options.runOnce && (*options.runOnce)[op]);
  }

  const RematGraph &graph;
  CutOptions options;
  CutSchedule result;

  std::vector<int32_t> rank;    // per op: place in the order of roots
  std::vector<OpId> rootByRank; // inverse
  std::vector<char> held;       // per op: see CutOptions::delayHeld
  const bool hasRecompute;

  std::vector<char> resident; // per value
  std::vector<char> written;  // per value: has been in memory
  size_t newKernels = 0;      // wrote something for the first time
  std::vector<char> past;     // per value: can be made from what has run
  std::vector<char> done;     // per op: the root has run
  std::vector<int32_t> pendingLeaves;
  std::vector<int32_t> drops; // per value
  std::set<int32_t> ready;    // ranks
  std::vector<OpId> remaining;
  int64_t extraFlops = 0;
  size_t overfull = 0; // snapshots whose pinned values alone exceeded the room
  bool borderCrossed = false;
  OpId turn = none;             // the next root
  ValueId begun = none;         // what is being made for it
  std::vector<OpId> madeFor;    // per value: `turn` when it was last written
  std::vector<OpId> droppedFor; // per value: `turn` when it was last dropped
  const std::vector<std::vector<OpId>> followers; // per op: see `findFollowers`
  std::vector<int64_t> again;        // per op: `againPs` under `options`
  std::vector<ValueId> nodesInOrder; // all nodes, producers first
  std::vector<OpId> nodeOpsInOrder;
  std::vector<int32_t> uses; // per value: remaining roots that read it

  // Scratch, valid while its stamp is current.
  int32_t stamp = 0;
  std::vector<int32_t> opStamp;
  std::vector<int32_t> valueStamp;
  std::vector<Way> ways; // per op: see `wayTo`
  std::vector<int32_t> wayStamp;
  int32_t readMark = 0; // of `residentReads`, per op and per value
  std::vector<int32_t> readOpMark;
  std::vector<int32_t> readValueMark;

  // The current snapshot.
  std::vector<ValueId> demanded;
  std::vector<int32_t> demandStamp;
  std::vector<int32_t> otherStamp;
  std::vector<int32_t> pinStamp;
  std::vector<int32_t> earlyStamp;
  std::vector<ValueId> nodes;
  std::vector<int32_t> nodeIndex;
  std::vector<int32_t> nodeStamp;
  std::vector<OpId> opNodes;
  double exploredUpTo = 0; // see `isSurelyKept`
  std::vector<ValueId> unexplored;
  std::vector<int32_t> opIndex;
  std::vector<int32_t> opNodeStamp;
  std::vector<Availability> availability;
  bool everythingAvailable = false;
  KeepCut cut;
  double lastPrice = 0;  // that made the last tight snapshot fit
  bool exceeded = false; // at no price the last tight snapshot fitted
};

/// Whether walks are left out. A walk takes a snapshot of the ops per root.
inline bool isTooLargeToWalk(const RematGraph &graph) {
  constexpr size_t mostRoots = 6000;
  return graph.roots.size() > mostRoots;
}

/// Whether walks are left out where no clock ends them.
inline bool isTooLargeToFinish(const RematGraph &graph) {
  constexpr size_t mostWork = 5'000'000;
  return graph.roots.size() * graph.problem.ops.size() > mostWork;
}

} // namespace ckpt::plan

#endif // CKPT_LIB_PLAN_CONSTRUCT_KEEPCUT_CUTSCHEDULER_H
