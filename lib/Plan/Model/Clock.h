//===- Clock.h - The time limit of a search ---------------------*- C++ -*-===//
//
// Every search makes one clock from the user's limit and asks nothing else for
// the time. It hands deadlines of this clock down to constructions and moves.
// The clock shows time or, if the user limits the effort, counted work.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_LIB_PLAN_MODEL_CLOCK_H
#define CKPT_LIB_PLAN_MODEL_CLOCK_H

#include "Plan/Model/Work.h"
#include "ckpt/Plan/SolverOptions.h"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <limits>
#include <utility>

namespace ckpt::plan {

class Clock;

/// A moment at which a part of a search ends: by default never.
class Deadline {
public:
  Deadline() = default;
  Deadline(const Clock &clock, int64_t atNs) : clock(&clock), atNs(atNs) {}
  bool isOver() const;
  static Deadline past(const Clock &clock) { return {clock, -1}; }

private:
  const Clock *clock = nullptr;
  int64_t atNs = std::numeric_limits<int64_t>::max();
};

/// The time since a search began, and the share of its limit that is over. If
/// the user's limit began earlier, the search has the time that is left.
class Clock {
public:
  static constexpr int64_t nsPerMs = 1'000'000;
  /// No search takes so long.
  static constexpr int64_t forever = std::numeric_limits<int64_t>::max() / 4;

  explicit Clock(const SolverOptions &options)
      : countsWork(options.effortMs > 0), begin(now()),
        limitNs(limitOf(options)), interrupted(options.interrupted) {
    if (countsWork)
      Work::startClock();
  }
  ~Clock() {
    if (countsWork)
      Work::stopClock();
  }
  Clock(const Clock &) = delete;
  Clock &operator=(const Clock &) = delete;

  /// All time is over for a search that was interrupted.
  int64_t ns() const {
    return interrupted && *interrupted ? forever + 1 : now() - begin;
  }
  int64_t ms() const { return ns() / nsPerMs; }

  /// Without a limit no share is ever over.
  bool isLimited() const { return limitNs > 0; }
  double share() const {
    return isLimited()
               ? static_cast<double>(ns()) / static_cast<double>(limitNs)
               : 0;
  }
  bool isOver(double shareOfLimit = 1) const {
    return isLimited() ? share() > shareOfLimit : ns() > forever;
  }

  /// How long \p shareOfLimit lasts.
  int64_t part(double shareOfLimit) const {
    return static_cast<int64_t>(shareOfLimit * static_cast<double>(limitNs));
  }
  /// \p options with \p part of the time left as their limit, if there is one.
  SolverOptions rest(SolverOptions options, double part) const {
    return lasting(std::move(options), part * (1 - share()));
  }
  /// \p options with \p shareOfLimit as their limit, if there is one, or with
  /// the time left, if that is less.
  SolverOptions lasting(SolverOptions options, double shareOfLimit) const {
    if (!isLimited())
      return options;
    options.limitBegin.reset();
    double share = std::max(0.0, std::min(shareOfLimit, 1 - this->share()));
    int64_t &limitMs = countsWork ? options.effortMs : options.timeLimitMs;
    limitMs = std::max<int64_t>(
        1,
        static_cast<int64_t>(share * static_cast<double>(limitNs / nsPerMs)));
    return options;
  }
  /// When \p shareOfLimit is over.
  Deadline at(double shareOfLimit) const {
    return isLimited() ? Deadline(*this, part(shareOfLimit)) : atInterrupt();
  }
  /// When another \p shareOfLimit is over, counted from now.
  Deadline in(double shareOfLimit) const {
    int64_t end = isLimited() ? ns() + part(shareOfLimit) : forever;
    return Deadline(*this, std::min(end, forever));
  }
  /// Never, but where the search is interrupted.
  Deadline atInterrupt() const { return Deadline(*this, forever); }

private:
  int64_t now() const {
    if (countsWork)
      return Work::ns();
    return std::chrono::nanoseconds(
               std::chrono::steady_clock::now().time_since_epoch())
        .count();
  }

  /// The time left for \p options, at least a nanosecond; 0: no limit.
  int64_t limitOf(const SolverOptions &options) const {
    int64_t limit =
        (countsWork ? options.effortMs : options.timeLimitMs) * nsPerMs;
    if (limit <= 0 || countsWork || !options.limitBegin)
      return limit;
    int64_t since =
        std::chrono::nanoseconds(options.limitBegin->time_since_epoch())
            .count();
    return std::max<int64_t>(1, limit - (begin - since));
  }

  bool countsWork;
  int64_t begin, limitNs;
  const std::atomic<bool> *interrupted;
};

inline bool Deadline::isOver() const { return clock && clock->ns() > atNs; }

/// A deadline that one of two lanes sets for the other one.
class Cutoff {
public:
  explicit Cutoff(const Clock &clock) : clock(clock) {}
  void set(int64_t ns) { atNs = ns; }
  bool isOver() const { return clock.ns() > atNs; }

private:
  const Clock &clock;
  std::atomic<int64_t> atNs{Clock::forever};
};

} // namespace ckpt::plan

#endif // CKPT_LIB_PLAN_MODEL_CLOCK_H
