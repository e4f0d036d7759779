//===- Moment.h - The cost of any plan when an anchor first runs *- C++ -*-===//
//
// The network of a moment, in which every flow is a bound; docs/Certificates.md
// has the proof.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_LIB_CHECK_MOMENT_H
#define CKPT_LIB_CHECK_MOMENT_H

#include "Replay.h"

namespace ckpt::check {

/// The cost of running an anchor again: `scale` per FLOP, in whole multiples of
/// `unit`.
struct AgainCost {
  int64_t scale = 0, unit = 1;

  Wide of(const StepOp &op) const {
    return Wide(op.flops / unit * unit) * scale;
  }
};

/// The kernel in which `anchor` first runs, in plans in which `before` has run
/// earlier and `after` has not (-1: nothing is said).
struct MomentName {
  int anchor = -1, before = -1, after = -1;

  bool operator==(const MomentName &other) const {
    return anchor == other.anchor && before == other.before &&
           after == other.after;
  }
};

/// Whether an op runs in that kernel or later.
struct Decision {
  int op = -1;
  bool again = false;
};

/// The evidence of a certificate at one moment.
struct Evidence {
  MomentName moment;
  int64_t price = 0;
  /// Further assumptions on the plans of this case.
  std::vector<Decision> decisions;
  /// Flow on the arcs of values, and of ops; (op, value) for reads of ops.
  std::map<int, int64_t> demand, keep, again, force;
  std::map<std::pair<int, int>, int64_t> needs;
};

/// Facts of a step that hold at every moment.
class Facts {
public:
  explicit Facts(const Step &step);

  const Step &step;
  /// Per op: some result or effect depends on it.
  std::vector<bool> live;
  /// Per op: it runs once in every plan.
  std::vector<bool> once;
  /// Per op: it runs in no kernel of another anchor, as it is an anchor or has
  /// to be written, and only values that depend on the anchor are.
  std::vector<bool> ownKernel;
  /// Per value: some op needs it, or a view of it, in memory.
  std::vector<bool> memoryRead;
  /// Per value: live ops that read it.
  std::vector<std::vector<int>> users;
  /// Per value: its place, or that of something from which it is computed
  /// inside a kernel, may be in the arena.
  std::vector<bool> mayReadArena;
};

/// Whether the ops named are anchors that have to run.
bool isMoment(const Facts &facts, MomentName name);

class Moment {
public:
  /// The ops that \p name names are live anchors (`isMoment`).
  Moment(const Facts &facts, MomentName name);

  /// Bytes that the kernel takes whatever else stands in memory.
  int64_t kernelBytes() const {
    return inputBytes + (overOperand || overOther ? 0 : outputBytes);
  }
  /// The same with the values that the output may overwrite.
  int64_t aloneBytes() const {
    return inputBytes + (overOperand ? 0 : outputBytes);
  }

  /// Whether there is such a flow where running anchors again has that \p cost;
  /// sets its value.
  bool checkFlow(const Evidence &evidence, AgainCost cost, Wide &flow,
                 Refusal &refusal) const;

private:
  void findRelatives();
  void countOperands();
  void countOutput();
  bool isOneToOne(int user, int form) const;
  bool mayCarryAgain(const Evidence &evidence, int id, int64_t flow,
                     AgainCost cost) const;
  bool checkArcs(const Evidence &evidence, AgainCost cost,
                 Refusal &refusal) const;

  const Facts &facts;
  const Step &step;
  const MomentName name;
  /// Per op: it has run or runs now; it runs now or later, not before; another
  /// anchor has to run between this kernel and it.
  std::vector<bool> ancestor, future, far;
  /// Per value: it stands in memory as an operand, or an operand may show it;
  /// and: an op still to run reads it.
  std::vector<bool> operand, demanded;
  /// Operands and workspace; the smallest output.
  int64_t inputBytes = 0, outputBytes = 0;
  /// Whether the output may be written over an operand of the anchor, or over
  /// something else that the kernel reads.
  bool overOperand = false, overOther = false;
};

} // namespace ckpt::check

#endif // CKPT_LIB_CHECK_MOMENT_H
