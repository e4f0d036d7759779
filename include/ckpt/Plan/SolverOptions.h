//===- SolverOptions.h - Limits and switches of solvers ---------*- C++ -*-===//

#ifndef CKPT_PLAN_SOLVEROPTIONS_H
#define CKPT_PLAN_SOLVEROPTIONS_H

#include "ckpt/Plan/Validate.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ckpt::plan {

/// Switches for comparison; users get the defaults.
struct SolverOptions {
  /// Off: one kernel per op that has to stand in memory; nothing is inlined.
  bool fusion = true;
  /// Off: kernels in program order of their anchors or outputs.
  bool reorder = true;
  /// Between rounds, stop after this. 0: one round.
  int64_t timeLimitMs = 5000;
  /// The moment from which the time limit counts; none: from the start of each
  /// solver. Callers that need several solvers for one answer set it, so that
  /// all of them together keep the limit.
  std::optional<std::chrono::steady_clock::time_point> limitBegin;
  /// If not 0, stop after so much counted work instead of time: the same plan
  /// on every machine. A millisecond of effort is about one of time.
  int64_t effortMs = 0;
  /// Names of `subSolverNames()` that do not run.
  std::vector<std::string> without;
  /// Called between rounds with a line for people; may be empty.
  std::function<void(const std::string &)> progress;
  /// Called with every legal plan that a walk of `solveBudget` makes, within
  /// the budget or not, before slots are placed; may be empty.
  std::function<void(const Plan &, const Verdict &)> onPlan;
  /// Another thread sets it to true to end the search at its next look at the
  /// clock, whose plan is then worth nothing. May be null.
  const std::atomic<bool> *interrupted = nullptr;

  bool allows(std::string_view subSolver) const {
    return std::find(without.begin(), without.end(), subSolver) ==
           without.end();
  }
  bool isInterrupted() const { return interrupted && *interrupted; }
  /// Lets the time limit count from now.
  void beginLimit() { limitBegin = std::chrono::steady_clock::now(); }
  /// For parts whose work is not effort: with counted work, an interrupt alone
  /// ends them.
  SolverOptions withoutEffort() const {
    SolverOptions timed = *this;
    if (effortMs > 0)
      timed.effortMs = timed.timeLimitMs = 0;
    return timed;
  }
};

} // namespace ckpt::plan

#endif // CKPT_PLAN_SOLVEROPTIONS_H
