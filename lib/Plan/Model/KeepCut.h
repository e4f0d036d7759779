//===- KeepCut.h - Which values to keep and which to recompute --*- C++ -*-===//
//
// At one place of a schedule, some values are demanded by later kernels. Each
// of them stands in memory there or is computed later, from values that stand
// in memory or are computed later themselves. The cheapest choice at a price
// per byte is a minimum cut. A value has a node "available" (A), the op that
// makes it a node "computed later" (P):
//
//   source -> A         infinite   a later kernel demands the value
//   A -> P of its op    keep       cut: it stands in memory and pays for bytes
//   P -> sink           again      cut: the op is computed again
//   P -> A of operands  infinite   the op needs its operands
//
// `climb` raises the price until the kept values fit a room, `narrow` looks for
// the lowest such price, and `round` fills the bytes that this price leaves.
//
// Callers: the cut scheduler after every kernel, the guides of the list
// scheduler at their tight places, the annealing at its start.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_LIB_PLAN_MODEL_KEEPCUT_H
#define CKPT_LIB_PLAN_MODEL_KEEPCUT_H

#include "Plan/Model/MinCut.h"

#include <cstddef>
#include <limits>

namespace ckpt::plan {

class KeepCut {
public:
  struct Value {
    /// Place of the op that makes it among the makers.
    int32_t maker = 0;
    int64_t bytes = 0;
    /// The bytes that the price counts; more than `bytes` where the value also
    /// stands in memory at other tight places.
    double pricedBytes = 0;
    /// Picoseconds that keeping it costs beside its bytes.
    double keepPs = 0;
    bool isDemanded = false;
    /// It is in memory or can be written now.
    bool mayKeep = false;
  };

  /// A cut: which values are available, and which makers run later.
  struct Answer {
    std::vector<char> available, computed;
    /// Bytes of the kept values.
    int64_t bytes = 0;
    double pricedBytes = 0;
    /// Picoseconds to keep and to compute, without the price of bytes.
    double costPs = 0;
    /// Picoseconds per byte.
    double price = 0;
    /// False if some demanded value can be neither kept nor computed.
    bool isFeasible = false;
  };

  /// Two answers: the cheaper one takes too many bytes. The other one, at a
  /// higher price, fits if any price that was tried does.
  struct Corner {
    Answer cheaper, fitting;
  };

  /// Factor between the prices that `climb` tries.
  static constexpr double priceStep = 4;
  static constexpr double anyPrice = std::numeric_limits<double>::infinity();

  /// Capacities count units of \p unitPs picoseconds.
  void reset(size_t numValues, size_t numMakers, double unitPs = 1);
  /// Adds the next value.
  void addValue(const Value &value);
  /// Adds the next maker, and then its operands one by one. A maker that runs
  /// only once needs no operands.
  void addMaker(int64_t againPs, bool mayRepeat);
  void addOperand(int32_t value);

  /// The cheapest answer at \p price, which is at least the last price since
  /// `reset` or `forgetFlow`.
  Answer solveAt(double price);
  /// Lets prices start at 0 again.
  void forgetFlow();
  /// Raises the price from \p price on until an answer fits \p room, the price
  /// reaches \p highestPrice, or a next price would exceed \p exploredUpTo.
  /// \p first is the last answer and does not fit.
  Corner climb(const Answer &first, int64_t room, double price,
               double highestPrice, double exploredUpTo = anyPrice);
  /// Moves the last corner of `climb`, which fits, towards the price at which
  /// both answers cost the same.
  void narrow(Corner &corner, int64_t room, int mostSteps = 8);
  /// The best answer that fits between both answers of \p corner and beyond;
  /// the remaining room is filled at prices from \p lowest to \p highest.
  Answer round(const Corner &corner, int64_t room, double lowest,
               double highest);

  /// How `moveTowards` fills the room: by the saving per priced byte alone, or
  /// first by a knapsack.
  enum class Filling : uint8_t { Greedy, Knapsack };
  /// Changes the connected parts in which \p answer differs from \p cheaper,
  /// if they save time and fit \p room.
  void moveTowards(Answer &answer, const Answer &cheaper, int64_t room,
                   Filling filling) const;

  bool isKept(const Answer &answer, size_t value) const {
    return answer.available[value] && !answer.computed[values[value].maker];
  }

private:
  struct Maker {
    int64_t againPs;
    /// Place of its first operand in `operands`.
    size_t firstOperand;
  };

  int32_t nodeOf(size_t value) const { return 2 + static_cast<int32_t>(value); }
  int32_t nodeOfMaker(size_t maker) const {
    return 2 + static_cast<int32_t>(numValues + maker);
  }
  int64_t toCapacity(double ps) const;
  size_t endOfOperands(size_t maker) const {
    return maker + 1 < makers.size() ? makers[maker + 1].firstOperand
                                     : operands.size();
  }
  Answer read(double price);
  void evaluate(Answer &answer) const;
  void saveFlow();
  void restoreFlow();
  void fill(Answer &answer, int64_t room, double lowest, double highest);

  // KeepCutRounding.cpp
  std::vector<int32_t> findComponents(const Answer &answer,
                                      const Answer &cheaper) const;

  size_t numValues = 0;
  double unitPs = 1;
  std::vector<Value> values;
  std::vector<Maker> makers;
  std::vector<int32_t> operands;
  /// Per value: its arc "keep", or -1, and the capacity of the arc.
  std::vector<int32_t> keepArc;
  std::vector<int64_t> keepCapacity;
  MinCut cut;
  /// The flow of `Corner::cheaper`.
  MinCut::State savedCut;
  std::vector<int64_t> savedCapacity;
};

} // namespace ckpt::plan

#endif // CKPT_LIB_PLAN_MODEL_KEEPCUT_H
