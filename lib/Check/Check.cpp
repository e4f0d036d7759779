//===- Check.cpp - Verifies certificates of plans -------------------------===//
//
// Replays the plan of a certificate and adds up the bounds that its flows
// prove.
//
//===----------------------------------------------------------------------===//

#include "ckpt/Check/Check.h"

#include "Members.h"
#include "Moment.h"

#include <algorithm>
#include <memory>

using namespace ckpt::check;

namespace {

class Checker {
public:
  Checker(const Json &json, const Step &step, Claims &claims, Refusal &refusal)
      : certificate(json, "the certificate", refusal), step(step), facts(step),
        claims(claims), refusal(refusal) {}

  bool run() {
    return checkProblem() && checkPlan() && checkBound() && checkMinimum() &&
           certificate.finish();
  }

private:
  bool checkProblem();
  bool checkPlan();
  bool checkFigure(const char *what, int64_t claimed, int64_t actual);
  bool checkBound();
  bool checkMinimum();
  /// Sets the flow of a case, and the bytes that its kernel takes.
  bool measure(const Evidence &evidence, AgainCost cost, Wide &flow,
               Wide &kernelBytes);
  bool isProven(const char *what, int64_t claimed, Wide proven);

  Members certificate;
  const Step &step;
  const Facts facts;
  Claims &claims;
  Refusal &refusal;
  std::unique_ptr<Moment> last;
  MomentName lastName;
};

bool Checker::checkProblem() {
  std::string format, problem;
  return certificate.text("format", format) &&
         refusal.require(format == "ckpt-certificate-3",
                         "expected format 'ckpt-certificate-3'") &&
         certificate.text("problem", problem) &&
         refusal.require(problem == fingerprint(step),
                         "the certificate is about another problem: expected "
                         "fingerprint " +
                             fingerprint(step));
}

bool Checker::checkFigure(const char *what, int64_t claimed, int64_t actual) {
  return refusal.require(claimed == actual,
                         std::string(what) + " is " + std::to_string(actual) +
                             ", but the certificate claims " +
                             std::to_string(claimed));
}

bool Checker::checkPlan() {
  std::vector<std::string> lines;
  StepPlan plan;
  PlanFacts found;
  return certificate.integer("budget", claims.budgetBytes) &&
         certificate.integer("arena", claims.arenaBytes) &&
         certificate.integer("time_ns", claims.timeNs) &&
         certificate.integer("extra_flops", claims.extraFlops) &&
         certificate.lines("plan", lines) &&
         parsePlan(lines, step, plan, refusal) &&
         replay(step, plan, found, refusal) &&
         checkFigure("the arena", claims.arenaBytes, plan.arenaBytes) &&
         checkFigure("the time", claims.timeNs, found.timeNs) &&
         checkFigure("the extra work", claims.extraFlops, found.extraFlops) &&
         refusal.require(claims.arenaBytes <= claims.budgetBytes,
                         "the arena exceeds the budget");
}

/// Whether the decisions from number \p depth on are the ways to the leaves of
/// a binary tree: all are about one op first, and either answer is a tree.
bool coverDecisions(const Step &step,
                    const std::vector<const Evidence *> &cases, size_t depth) {
  if (cases.size() == 1 && cases[0]->decisions.size() == depth)
    return true;
  std::vector<const Evidence *> halves[2];
  for (const Evidence *evidence : cases) {
    if (evidence->decisions.size() <= depth)
      return false;
    const Decision &decision = evidence->decisions[depth];
    if (decision.op != cases[0]->decisions[depth].op ||
        !step.ops[decision.op].isAnchor())
      return false;
    halves[decision.again].push_back(evidence);
  }
  return !halves[0].empty() && !halves[1].empty() &&
         coverDecisions(step, halves[0], depth + 1) &&
         coverDecisions(step, halves[1], depth + 1);
}

/// Every plan obeys one of the moments. A moment is a single one without
/// assumptions, or one of three: the first anchor runs before the second,
/// between it and the third, or after the third. All other assumptions of the
/// cases of a moment cover it.
bool coverEveryPlan(const Step &step, const std::vector<Evidence> &cases) {
  std::vector<std::vector<const Evidence *>> moments;
  for (const Evidence &evidence : cases)
    if (!moments.empty() && moments.back()[0]->moment == evidence.moment)
      moments.back().push_back(&evidence);
    else
      moments.push_back({&evidence});
  for (const auto &decided : moments)
    if (!coverDecisions(step, decided, 0))
      return false;
  auto is = [&](size_t i, int anchor, int before, int after) {
    return moments[i][0]->moment == MomentName{anchor, before, after};
  };
  if (moments.size() == 1)
    return is(0, cases[0].moment.anchor, -1, -1);
  if (moments.size() != 3)
    return false;
  int held = moments[1][0]->moment.anchor, other = moments[0][0]->moment.anchor,
      later = moments[2][0]->moment.anchor;
  return held != other && held != later && other != later &&
         is(0, other, held, -1) && is(1, held, other, later) &&
         is(2, later, -1, held);
}

bool Checker::measure(const Evidence &evidence, AgainCost cost, Wide &flow,
                      Wide &kernelBytes) {
  if (!refusal.require(isMoment(facts, evidence.moment),
                       "the evidence names an op that is no anchor that has "
                       "to run") ||
      !refusal.require(evidence.price >= 0, "a price is negative"))
    return false;
  // The cases of one moment stand together.
  if (!last || !(lastName == evidence.moment)) {
    last = std::make_unique<Moment>(facts, evidence.moment);
    lastName = evidence.moment;
  }
  kernelBytes = last->kernelBytes();
  return last->checkFlow(evidence, cost, flow, refusal);
}

bool Checker::isProven(const char *what, int64_t claimed, Wide proven) {
  proven = std::min(proven, Wide(INT64_MAX));
  return refusal.require(
      claimed >= 0 && claimed <= proven,
      "the evidence proves a bound on " + std::string(what) + " of " +
          std::to_string(static_cast<int64_t>(proven)) +
          ", but the certificate claims " + std::to_string(claimed));
}

bool Checker::checkBound() {
  const Json *json = nullptr;
  if (!certificate.integer("extra_flops_bound", claims.extraFlopsBound) ||
      !certificate.take("extra_flops_evidence", Json::Kind::Object, json))
    return false;
  Members members(*json, "'extra_flops_evidence'", refusal);
  AgainCost cost;
  std::vector<Evidence> cases;
  if (!members.integer("scale", cost.scale) ||
      !members.integer("unit", cost.unit) ||
      !refusal.require(cost.scale > 0 && cost.unit > 0,
                       "the scale or the unit is not positive") ||
      !readCases(members, "cases", step, cases, refusal) || !members.finish() ||
      !refusal.require(cases.empty() || coverEveryPlan(step, cases),
                       "the cases of the evidence do not cover every plan"))
    return false;
  if (!refusal.require(!cases.empty() || cost.unit == 1,
                       "a unit without cases"))
    return false;
  Wide least = cases.empty() ? Wide(0) : Wide(INT64_MAX);
  for (const Evidence &evidence : cases) {
    Wide flow = 0, kernelBytes = 0;
    if (!measure(evidence, cost, flow, kernelBytes))
      return false;
    Wide room = Wide(claims.budgetBytes) + scratchBytes(step) - kernelBytes;
    Wide proven = std::max(Wide(0), flow - evidence.price * room);
    Wide granule = Wide(cost.scale) * cost.unit;
    least = std::min(least, (proven + granule - 1) / granule * cost.unit);
  }
  return isProven("extra work", claims.extraFlopsBound, least);
}

/// At price 1 with free remats, all flow is bytes that stand next to the
/// kernel, in an arena of any size. Without flow, the values that the kernel
/// overwrites count, too.
bool Checker::checkMinimum() {
  std::vector<Evidence> cases;
  if (!certificate.integer("minimum_bytes_bound", claims.minimumBytesBound) ||
      !readCases(certificate, "minimum_bytes_evidence", step, cases, refusal))
    return false;
  Wide flow = 0, kernelBytes = 0, proven = 0;
  for (const Evidence &evidence : cases) {
    if (!refusal.require(cases.size() == 1 && coverEveryPlan(step, cases) &&
                             evidence.price == 1,
                         "expected one case for every plan, at price 1, for "
                         "the smallest arena") ||
        !measure(evidence, AgainCost(), flow, kernelBytes))
      return false;
    proven = std::max(flow + kernelBytes, Wide(last->aloneBytes()));
    proven = std::max(Wide(0), proven - scratchBytes(step));
  }
  return isProven("the smallest arena", claims.minimumBytesBound, proven);
}

} // namespace

std::string ckpt::check::checkCertificate(std::string_view certificate,
                                          std::string_view problem,
                                          Claims &claims) {
  Refusal refusal;
  Step step;
  Json json;
  if (!parseStep(problem, step, refusal))
    refusal.failIn("the problem");
  else if (parseJson(certificate, json, refusal))
    Checker(json, step, claims, refusal).run();
  return refusal.reason();
}
