//===- Check.h - Verifies certificates of plans -----------------*- C++ -*-===//
//
// Judges the output of `ckpt-plan --certificate` (docs/Certificates.md) from
// the text of the problem alone. It shares no code with the planner, so that a
// mistake there cannot hide itself. It is slow and obvious, and the planner is
// fast.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_CHECK_CHECK_H
#define CKPT_CHECK_CHECK_H

#include <cstdint>
#include <string>
#include <string_view>

namespace ckpt::check {

/// The claims of a certificate that was verified.
struct Claims {
  int64_t budgetBytes = 0;
  int64_t arenaBytes = 0;
  int64_t timeNs = 0;
  int64_t extraFlops = 0;
  /// No plan with an arena of `budgetBytes` has fewer extra FLOPs.
  int64_t extraFlopsBound = 0;
  /// No plan has a smaller arena.
  int64_t minimumBytesBound = 0;
};

/// Verifies every claim of \p certificate about \p problem. Returns an empty
/// string and sets \p claims, or returns the claim that does not hold.
std::string checkCertificate(std::string_view certificate,
                             std::string_view problem, Claims &claims);

} // namespace ckpt::check

#endif // CKPT_CHECK_CHECK_H
