//===- SnapshotCut.h - Which demanded values to keep ------------*- C++ -*-===//
//
// Before every kernel, the cut scheduler asks which of the demanded values
// stand in memory from here on. The network holds the demanded values and all
// values from which they can be made, as far as the price can reach them; the
// search for the price starts at the last one.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_LIB_PLAN_CONSTRUCT_KEEPCUT_SNAPSHOTCUT_H
#define CKPT_LIB_PLAN_CONSTRUCT_KEEPCUT_SNAPSHOTCUT_H

#include "Plan/Construct/KeepCut/SnapshotDemand.h"
#include "Plan/Model/KeepCut.h"

#include <optional>

namespace ckpt::plan {

class SnapshotCut {
public:
  SnapshotCut(const WalkState &state, const SnapshotDemand &demand);

  /// Takes the options of \p state and forgets the prices of the walk before.
  void start();
  /// Builds the network of the demand. With \p allAtHand every value with a
  /// kernel of its own counts as being in memory.
  void build(bool allAtHand);
  /// Chooses the values to keep so that they take at most \p room bytes.
  void choose(int64_t room);

  /// The values of the network, producers first.
  const std::vector<ValueId> &values() const { return nodes; }
  bool has(ValueId value) const { return isNode.has(value); }
  bool isKept(ValueId value) const {
    return has(value) && cut.isKept(answer, nodeIndex[value]);
  }
  /// It is not in memory, and a fusible kernel can write it now.
  bool isMakeable(ValueId value) const {
    return availability[nodeIndex[value]] == Availability::Makeable;
  }
  /// Bytes of values in memory that cannot be kept for the backward pass.
  int64_t bytesBeforeBorder() const;
  /// Snapshots whose pinned values alone exceeded the room.
  size_t numOverfull() const { return overfull; }
  /// Enters that \p value has been dropped; writing it again costs more.
  void noteDrop(ValueId value) { ++drops[value]; }

private:
  enum class Availability : uint8_t {
    /// A kernel of its own would have to make it again first.
    Dropped,
    InMemory,
    /// A fusible value with all operands at hand.
    Makeable,
  };

  /// Picoseconds that a byte costs at price 1: the time to move it.
  double pricePerByte() const {
    return 1e6 / static_cast<double>(graph.problem.bytesPerMicrosecond);
  }
  double floorPrice() const {
    return state.options.floorPrice * pricePerByte();
  }
  double highestPrice() const { return 1e6 * pricePerByte(); }

  bool isSurelyKept(ValueId value) const;
  void explore(size_t from);
  void addLeaves(OpId op);
  bool extend(double price);
  void orderNodes();
  void findAvailability();
  Availability availabilityOf(ValueId value) const;
  bool isFinal(OpId op) const;
  bool isRecomputed(OpId op) const;
  void buildNetwork();
  KeepCut::Answer solveAtFloor();
  KeepCut::Answer search(int64_t room);
  std::optional<KeepCut::Corner> findCorner(const KeepCut::Answer &atFloor,
                                            int64_t room, double price);

  const WalkState &state;
  const RematGraph &graph;
  const SnapshotDemand &demand;
  bool allAtHand = false;

  /// All values that may be nodes, and their makers, producers first.
  std::vector<ValueId> valuesInOrder;
  std::vector<OpId> makersInOrder;
  /// Per op: picoseconds to compute it again.
  std::vector<int64_t> again;
  /// Per value.
  std::vector<int32_t> drops;

  std::vector<ValueId> nodes;
  std::vector<OpId> makers;
  Marks isNode, isMaker;
  /// Per value and op of the network, its place among nodes and makers.
  std::vector<int32_t> nodeIndex, makerIndex;
  std::vector<Availability> availability; // per node
  /// Nodes lead to their operands if a price up to this one may drop them.
  double exploredUpTo = 0;
  std::vector<ValueId> unexplored;
  KeepCut cut;
  KeepCut::Answer answer;
  /// The price at which the last tight snapshot fitted, and whether it fitted
  /// at no price.
  double lastPrice = 0;
  bool exceeded = false;
  size_t overfull = 0;
};

} // namespace ckpt::plan

#endif // CKPT_LIB_PLAN_CONSTRUCT_KEEPCUT_SNAPSHOTCUT_H
