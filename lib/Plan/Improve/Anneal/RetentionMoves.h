//===- RetentionMoves.h - How a local search changes a state ----*- C++ -*-===//
//
// Keeping is a knapsack with dependences: for one large value, several small
// ones may have to go, and a dropped value is cheap to make again only if its
// sources are there. Single drops and keeps alone get stuck early, so moves go
// on until memory is used and respected again.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_LIB_PLAN_IMPROVE_ANNEAL_RETENTIONMOVES_H
#define CKPT_LIB_PLAN_IMPROVE_ANNEAL_RETENTIONMOVES_H

#include "Plan/Improve/Anneal/Retention.h"

#include <random>

namespace ckpt::plan {

class RetentionMoves {
public:
  RetentionMoves(Retention &state, uint64_t seed);

  /// Changes the state somehow; false if nothing could be done. The caller
  /// commits or rolls back.
  bool propose();

  /// Time, and the price of bytes beyond the budget.
  double energy() const {
    return static_cast<double>(state.timeNs()) +
           bytePrice * static_cast<double>(state.overflowBytes());
  }
  /// At random, from 0 to below 1.
  double chance() { return static_cast<double>(random() >> 11) * 0x1p-53; }

  /// Nanoseconds per byte and stage beyond the budget.
  double bytePrice = 0;

private:
  /// The kernel `node`, which runs again in `stage`.
  struct Repeat {
    int32_t stage, node;
  };
  /// A drop (of `value` at `stage`) or a keep (of a remat), and its changes on
  /// its own.
  struct Item {
    ValueId value;
    Repeat repeat;
    int64_t timeNs, bytes;
  };

  size_t pick(size_t count) { return static_cast<size_t>(random() % count); }
  int32_t pickStage() {
    return static_cast<int32_t>(pick(static_cast<size_t>(state.stages())));
  }
  ValueId pickKept(int32_t stage);
  bool dropAt(int32_t stage);
  bool dropSomewhere();
  bool dropForInputs();
  int32_t pickRepeated(int32_t stage);
  bool keepSomething();
  bool keep(const Repeat &repeat);
  void findRepeats(int32_t first);
  bool isRepeated(const Repeat &repeat) const;
  void fill(int tries);
  void relieve(int drops, int tries);

  // RetentionExchange.cpp
  bool exchange();
  int32_t pickTightStage();
  void measure(ValueId value, const Repeat &repeat, int32_t stage);
  std::vector<char> chooseItems(int64_t room) const;

  Retention &state;
  const KernelGraph &graph;
  std::mt19937_64 random;
  std::vector<ValueId> movable;
  std::vector<Repeat> repeats;
  std::vector<Item> items;
};

} // namespace ckpt::plan

#endif // CKPT_LIB_PLAN_IMPROVE_ANNEAL_RETENTIONMOVES_H
