//===- Check.cpp - Verifies certificates of plans -------------------------===//
//
// Reads a certificate, replays its plan, and adds up what its flows prove.
//
//===----------------------------------------------------------------------===//

#include "ckpt/Check/Check.h"

#include "Moment.h"

#include <algorithm>

using namespace ckpt::check;

namespace {

/// The members of an object, each used exactly once.
class Members {
public:
  Members(const Json &json, std::string where)
      : object(json.object), where(std::move(where)) {
    if (json.kind != Json::Kind::Object)
      throw Refusal("expected an object: " + this->where);
  }
  const Json &take(const std::string &key, Json::Kind kind) {
    auto found = object.find(key);
    if (found == object.end() || found->second.kind != kind)
      throw Refusal("expected '" + key + "' of another kind in " + where);
    taken.insert(key);
    return found->second;
  }
  int64_t integer(const std::string &key) {
    return take(key, Json::Kind::Integer).integer;
  }
  const std::string &text(const std::string &key) {
    return take(key, Json::Kind::Text).text;
  }
  const std::vector<Json> &list(const std::string &key) {
    return take(key, Json::Kind::List).list;
  }
  void finish() const {
    for (auto &[key, value] : object)
      if (!taken.count(key))
        throw Refusal("unexpected '" + key + "' in " + where);
  }

private:
  const std::map<std::string, Json> &object;
  std::string where;
  std::set<std::string> taken;
};

class Checker {
public:
  Checker(const Json &certificate, const Step &step)
      : certificate(certificate, "the certificate"), step(step), facts(step) {}

  Claims run();

private:
  void checkProblem();
  void checkPlan();
  void checkBound();
  void checkMinimum();
  Evidence readEvidence(const Json &json) const;
  std::vector<int64_t> readArc(const Json &json, size_t indices) const;
  std::map<int, int64_t> readFlows(const std::vector<Json> &list,
                                   size_t size) const;

  Members certificate;
  const Step &step;
  const Facts facts;
  Claims claims;
};

/// A list of \p indices indices and the flow.
std::vector<int64_t> Checker::readArc(const Json &json, size_t indices) const {
  std::vector<int64_t> numbers;
  for (const Json &number : json.list)
    if (number.kind == Json::Kind::Integer)
      numbers.push_back(number.integer);
  if (json.kind != Json::Kind::List || json.list.size() != indices + 1 ||
      numbers.size() != indices + 1)
    throw Refusal("expected an arc: a list of integers");
  return numbers;
}

std::map<int, int64_t> Checker::readFlows(const std::vector<Json> &list,
                                          size_t size) const {
  std::map<int, int64_t> flows;
  for (const Json &item : list) {
    std::vector<int64_t> arc = readArc(item, 1);
    if (arc[0] < 0 || arc[0] >= static_cast<int64_t>(size))
      throw Refusal("an arc names what does not exist");
    if (!flows.emplace(static_cast<int>(arc[0]), arc[1]).second)
      throw Refusal("an arc stands twice");
  }
  return flows;
}

/// The op of that number, or -1.
static int opNumber(int64_t number, const Step &step) {
  if (number < -1 || number >= static_cast<int64_t>(step.ops.size()))
    throw Refusal("op " + std::to_string(number) + " does not exist");
  return static_cast<int>(number);
}

Evidence Checker::readEvidence(const Json &json) const {
  Members members(json, "evidence");
  Evidence evidence;
  evidence.moment = {opNumber(members.integer("anchor"), step),
                     opNumber(members.integer("before"), step),
                     opNumber(members.integer("after"), step)};
  evidence.price = members.integer("price");
  if (evidence.price < 0)
    throw Refusal("expected a price that is not negative");
  evidence.demand = readFlows(members.list("demand"), step.values.size());
  evidence.keep = readFlows(members.list("keep"), step.values.size());
  evidence.again = readFlows(members.list("again"), step.ops.size());
  for (const Json &item : members.list("needs")) {
    std::vector<int64_t> arc = readArc(item, 2);
    if (arc[0] < 0 || arc[0] >= static_cast<int64_t>(step.ops.size()) ||
        arc[1] < 0 || arc[1] >= static_cast<int64_t>(step.values.size()))
      throw Refusal("an arc names what does not exist");
    std::pair<int, int> key(arc[0], arc[1]);
    if (!evidence.needs.emplace(key, arc[2]).second)
      throw Refusal("an arc stands twice");
  }
  members.finish();
  return evidence;
}

void Checker::checkProblem() {
  if (certificate.text("format") != "ckpt-certificate-1")
    throw Refusal("expected format 'ckpt-certificate-1'");
  if (certificate.text("problem") != fingerprint(step))
    throw Refusal("the certificate is about another problem: expected "
                  "fingerprint " +
                  fingerprint(step));
}

void Checker::checkPlan() {
  claims.budgetBytes = certificate.integer("budget");
  claims.arenaBytes = certificate.integer("arena");
  claims.timeNs = certificate.integer("time_ns");
  claims.extraFlops = certificate.integer("extra_flops");
  std::vector<std::string> lines;
  for (const Json &line : certificate.list("plan")) {
    if (line.kind != Json::Kind::Text)
      throw Refusal("expected lines of text in 'plan'");
    lines.push_back(line.text);
  }
  StepPlan plan = parsePlan(lines, step);
  PlanFacts found = replay(step, plan);
  auto demand = [](const char *what, int64_t claimed, int64_t actual) {
    if (claimed != actual)
      throw Refusal(std::string(what) + " is " + std::to_string(actual) +
                    ", but the certificate claims " + std::to_string(claimed));
  };
  demand("the arena", claims.arenaBytes, plan.arenaBytes);
  demand("the time", claims.timeNs, found.timeNs);
  demand("the extra work", claims.extraFlops, found.extraFlops);
  if (claims.arenaBytes > claims.budgetBytes)
    throw Refusal("the arena exceeds the budget");
}

/// Every plan obeys one of the cases: a single one that assumes nothing; or of
/// three anchors, the first runs before the second, or between it and the
/// third, or after the third.
static void demandAllCases(const std::vector<Evidence> &cases) {
  auto is = [&](size_t i, int anchor, int before, int after) {
    const MomentName &name = cases[i].moment;
    return name.anchor == anchor && name.before == before &&
           name.after == after;
  };
  bool covers = cases.size() == 1 && is(0, cases[0].moment.anchor, -1, -1);
  if (cases.size() == 3) {
    int held = cases[1].moment.anchor, other = cases[0].moment.anchor,
        later = cases[2].moment.anchor;
    covers = held != other && held != later && other != later &&
             is(0, other, held, -1) && is(1, held, other, later) &&
             is(2, later, -1, held);
  }
  if (!covers)
    throw Refusal("the cases of the evidence do not cover every plan");
}

void Checker::checkBound() {
  claims.extraFlopsBound = certificate.integer("extra_flops_bound");
  Members members(certificate.take("extra_flops_evidence", Json::Kind::Object),
                  "'extra_flops_evidence'");
  int64_t scale = members.integer("scale");
  if (scale < 1)
    throw Refusal("expected a positive scale");
  std::vector<Evidence> cases;
  for (const Json &item : members.list("cases"))
    cases.push_back(readEvidence(item));
  members.finish();
  Wide proven = 0;
  if (!cases.empty()) {
    demandAllCases(cases);
    proven = Wide(INT64_MAX);
  }
  for (const Evidence &evidence : cases) {
    Moment moment(facts, evidence.moment);
    Wide room = Wide(claims.budgetBytes) - moment.kernelBytes();
    Wide scaled = moment.checkFlow(evidence, scale) - evidence.price * room;
    proven = std::min(proven, scaled <= 0 ? 0 : (scaled + scale - 1) / scale);
  }
  if (claims.extraFlopsBound < 0 || claims.extraFlopsBound > proven)
    throw Refusal("the evidence proves a bound on extra work of " +
                  std::to_string(static_cast<int64_t>(proven)) +
                  ", but the certificate claims " +
                  std::to_string(claims.extraFlopsBound));
}

/// At price 1, where repeating costs nothing, all flow is bytes that have to
/// stand next to the kernel.
void Checker::checkMinimum() {
  claims.minimumBytesBound = certificate.integer("minimum_bytes_bound");
  const std::vector<Json> &list = certificate.list("minimum_bytes_evidence");
  if (list.size() > 1)
    throw Refusal("expected at most one case for the smallest arena");
  Wide proven = 0;
  for (const Json &item : list) {
    Evidence evidence = readEvidence(item);
    if (evidence.price != 1)
      throw Refusal("expected price 1 for the smallest arena");
    demandAllCases({evidence});
    Moment moment(facts, evidence.moment);
    proven = moment.checkFlow(evidence, 0) + moment.kernelBytes();
  }
  if (claims.minimumBytesBound < 0 || claims.minimumBytesBound > proven)
    throw Refusal("the evidence proves that no arena is smaller than " +
                  std::to_string(static_cast<int64_t>(proven)) +
                  " bytes, but the certificate claims " +
                  std::to_string(claims.minimumBytesBound));
}

Claims Checker::run() {
  checkProblem();
  checkPlan();
  checkBound();
  checkMinimum();
  certificate.finish();
  return claims;
}

} // namespace

std::string ckpt::check::checkCertificate(std::string_view certificate,
                                          std::string_view problem,
                                          Claims &claims) {
  Step step;
  try {
    step = parseStep(problem);
  } catch (const Refusal &refusal) {
    return std::string("the problem: ") + refusal.what();
  }
  try {
    claims = Checker(parseJson(certificate), step).run();
    return "";
  } catch (const Refusal &refusal) {
    return refusal.what();
  }
}
