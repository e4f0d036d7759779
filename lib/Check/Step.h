//===- Step.h - A training step as the checker sees it ----------*- C++ -*-===//
//
// The checker's own reading of docs/PlanFormat.md. Words stay close to the
// text: an enumerator of the planner is a word here.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_LIB_CHECK_STEP_H
#define CKPT_LIB_CHECK_STEP_H

#include "Refusal.h"

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace ckpt::check {

struct StepRead {
  int value = -1;
  std::string access = "any", need = "inline";
  bool destination = false;
};

struct StepValue {
  std::string name, home = "arena", keep = "free";
  int64_t bytes = 0, elements = 0, shape = 0;
  int64_t host = -1, same = -1;
  /// The op that makes it; -1 for an argument.
  int op = -1;
};

struct StepOp {
  std::string name, kind;
  std::vector<StepRead> reads;
  std::vector<int> results;
  int64_t flops = 0, computePs = 0, workspaceBytes = 0, layer = -1;
  bool once = false, effects = false, backward = false;

  bool isAnchor() const { return kind != "fusible" && kind != "view"; }
  bool isView() const { return kind == "view"; }
};

/// Values made in some layers take at most `budget` bytes of the arena.
struct StepRegion {
  std::string name;
  std::vector<int> layers;
  int64_t budget = 0;
};

struct Step {
  std::vector<StepValue> values;
  std::vector<StepOp> ops;
  int64_t bytesPerMicrosecond = 10000, launchNs = 1000;
  /// An output may lie over an operand that dies; otherwise, only that of an
  /// opaque op over its destination.
  bool takesOver = true;
  bool scratchInResults = false;
  int64_t layers = 0;
  std::vector<StepRegion> regions;
};

struct StepKernel {
  std::vector<int> ops, outputs;
  std::vector<int64_t> offsets;
  /// Per output the result in whose buffer the plan puts it, or -1.
  std::vector<int64_t> hosts;
  int64_t workspaceOffset = -1;
};

struct StepPlan {
  int64_t arenaBytes = 0;
  std::vector<StepKernel> kernels;
};

/// Numbers of a step that is read without a refusal are in range throughout,
/// and sums over a whole step fit 62 bits (`checkStep`).
bool parseStep(std::string_view text, Step &step, Refusal &refusal);
bool parsePlan(const std::vector<std::string> &lines, const Step &step,
               StepPlan &plan, Refusal &refusal);

/// The rules of docs/PlanFormat.md for a step of which every index is in range.
bool checkStep(const Step &step, Refusal &refusal);

/// A number that differs for different steps, names apart (FNV-1a).
std::string fingerprint(const Step &step);

/// Bytes of a slot: a multiple of 256.
inline int64_t slotBytes(int64_t bytes) { return (bytes + 255) / 256 * 256; }
/// Bytes that a value takes in the arena.
inline int64_t arenaBytes(const StepValue &value) {
  return value.home == "arena" ? slotBytes(value.bytes) : 0;
}

/// Bytes of results in which a plan may put values of the arena.
inline int64_t scratchBytes(const Step &step) {
  int64_t bytes = 0;
  for (const StepValue &value : step.values)
    if (step.scratchInResults && value.home == "result" && value.host == -1)
      bytes += slotBytes(value.bytes);
  return bytes;
}

} // namespace ckpt::check

#endif // CKPT_LIB_CHECK_STEP_H
