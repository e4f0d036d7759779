//===- Members.h - The parts of a certificate -------------------*- C++ -*-===//

#ifndef CKPT_LIB_CHECK_MEMBERS_H
#define CKPT_LIB_CHECK_MEMBERS_H

#include "Json.h"
#include "Moment.h"

namespace ckpt::check {

/// The members of an object, each of which has to be asked for.
class Members {
public:
  Members(const Json &json, std::string where, Refusal &refusal)
      : json(json), where(std::move(where)), refusal(refusal) {}

  bool take(const std::string &key, Json::Kind kind, const Json *&member);
  bool integer(const std::string &key, int64_t &number);
  bool text(const std::string &key, std::string &result);
  bool lines(const std::string &key, std::vector<std::string> &result);
  bool list(const std::string &key, const std::vector<Json> *&result);
  /// False if there is a member that no call asked for.
  bool finish();

private:
  const Json &json;
  const std::string where;
  Refusal &refusal;
  std::set<std::string> taken;
};

/// Reads the list \p key of cases; indices are in range afterwards, but for the
/// ops that moments name.
bool readCases(Members &members, const std::string &key, const Step &step,
               std::vector<Evidence> &cases, Refusal &refusal);

} // namespace ckpt::check

#endif // CKPT_LIB_CHECK_MEMBERS_H
