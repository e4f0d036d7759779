//===- Refusal.h - Why a certificate is refused -----------------*- C++ -*-===//

#ifndef CKPT_LIB_CHECK_REFUSAL_H
#define CKPT_LIB_CHECK_REFUSAL_H

#include <string>

namespace ckpt::check {

/// The first reason to refuse. Whatever finds one returns false, and its
/// callers hand that on.
class Refusal {
public:
  bool fail(const std::string &what) {
    if (text.empty())
      text = what;
    return false;
  }
  bool require(bool holds, const std::string &what) {
    return holds || fail(what);
  }
  /// Says where the reason was found; returns false.
  bool failIn(const std::string &where) {
    text = where + ": " + text;
    return false;
  }
  /// Empty if there is none.
  const std::string &reason() const { return text; }

private:
  std::string text;
};

} // namespace ckpt::check

#endif // CKPT_LIB_CHECK_REFUSAL_H
