//===- CertificateForgeTest.cpp - Whatever is proven is true --------------===//
//
// The checker must not believe too much, whoever wrote the certificate: here
// somebody pushes as much flow as it accepts, at every anchor.
//
//===----------------------------------------------------------------------===//

#include "Certified.h"
#include "ProblemBuilder.h"

#include "ckpt/Check/Check.h"
#include "ckpt/Plan/Pack.h"

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <set>

using namespace ckpt::plan;
using ckpt::check::checkCertificate;
using ckpt::check::Claims;

namespace {

/// Tries to prove too much: pushes flow along paths of the problem, whether the
/// moment has such arcs or not, as far as the checker lets it.
class Forger {
public:
  Forger(const Certified &made, OpId anchor, int64_t price)
      : made(made), anchor(anchor), price(price) {
    // Everything but the evidence.
    size_t end = made.certificate.find("\"extra_flops_bound\"");
    front = made.certificate.substr(0, end);
  }

  /// The most that the checker takes for proven.
  int64_t proveMost() {
    for (size_t value = 0; value < made.problem.values.size(); ++value)
      followPaths(static_cast<ValueId>(value), {});
    return provenBy(text(INT64_MAX));
  }

private:
  using Flows = std::map<std::vector<int32_t>, int64_t>;
  static constexpr int64_t scale = 16;

  static std::string print(const Flows &flows) {
    std::string text;
    for (const auto &[arc, flow] : flows) {
      text += text.empty() ? "[" : ",[";
      for (int32_t end : arc)
        text += std::to_string(end) + ",";
      text += std::to_string(flow) + "]";
    }
    return "[" + text + "]";
  }
  std::string text(int64_t claim) const {
    return front + "\"extra_flops_bound\": " + std::to_string(claim) +
           ", \"extra_flops_evidence\": {\"scale\": 16, \"unit\": 1, "
           "\"cases\": "
           "[{\"anchor\": " +
           std::to_string(anchor) +
           ", \"before\": -1, \"after\": -1, \"price\": " +
           std::to_string(price) +
           ", \"decisions\": [], \"force\": [], \"demand\": " + print(demand) +
           ", \"keep\": " + print(keep) + ", \"again\": " + print(again) +
           ", \"needs\": " + print(needs) +
           "}]}, \"minimum_bytes_bound\": 0, \"minimum_bytes_evidence\": []}";
  }
  /// The figure in the refusal of a claim that is too high; -1 if the flow is
  /// refused.
  int64_t provenBy(const std::string &certificate) const {
    Claims claims;
    std::string error = checkCertificate(certificate, made.text, claims);
    const std::string start = "the evidence proves a bound on extra work of ";
    return error.compare(0, start.size(), start) == 0
               ? std::stoll(error.substr(start.size()))
               : -1;
  }
  void push(const std::vector<ValueId> &path, OpId last, int64_t amount) {
    Flows before[] = {demand, keep, again, needs};
    demand[{path.front()}] += amount;
    for (size_t i = 0; i < path.size(); ++i) {
      keep[{path[i]}] += amount;
      if (i)
        needs[{made.problem.values[path[i - 1]].op, path[i]}] += amount;
    }
    again[{last}] += amount;
    if (provenBy(text(INT64_MAX)) >= 0)
      return;
    demand = before[0];
    keep = before[1];
    again = before[2];
    needs = before[3];
  }
  /// Pushes along every path from \p value back, through at most three values.
  void followPaths(ValueId value, std::vector<ValueId> path) {
    OpId op = made.problem.values[value].op;
    path.push_back(value);
    if (op == none || path.size() > 3)
      return;
    std::set<int64_t, std::greater<>> amounts = {
        made.problem.ops[op].flops * scale, 1 << 20};
    for (ValueId kept : path)
      amounts.insert(slotBytes(made.problem.values[kept].bytes) * price);
    for (int64_t amount : amounts)
      if (amount > 0)
        push(path, op, amount);
    for (const Read &read : made.problem.ops[op].reads)
      followPaths(read.value, path);
  }

  const Certified &made;
  const OpId anchor;
  const int64_t price;
  std::string front;
  Flows demand, keep, again, needs;
};

/// How many forged bounds are positive; none may be above the optimum.
int forge(const Certified &made) {
  int positive = 0;
  std::optional<Plan> plan = solveReference(made.problem, made.budgetBytes);
  if (!plan) {
    ADD_FAILURE() << "no plan";
    return 0;
  }
  int64_t optimum = validate(made.problem, *plan, false).extraFlops;
  for (size_t op = 0; op < made.problem.ops.size(); ++op)
    for (int64_t price : {1, 4, 50, 1 << 20})
      if (isAnchor(made.problem.ops[op])) {
        SCOPED_TRACE("op " + std::to_string(op));
        Forger forger(made, static_cast<OpId>(op), price);
        int64_t proven = forger.proveMost();
        EXPECT_LE(proven, optimum);
        positive += proven > 0;
      }
  return positive;
}

TEST(ForgedCertificate, ProvesNothingAboveTheOptimum) {
  int positive = 0;
  for (uint64_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    if (auto made = certifyRandom(seed, 6, 60 + seed % 5 * 10))
      positive += forge(*made);
  }
  EXPECT_GT(positive, 20);
}

/// The last product's kernel writes the sum over its second operand.
TEST(ForgedCertificate, KnowsThatAnEpilogueMayOverwriteWhatItReads) {
  ProblemBuilder b;
  ValueId x = b.argument(matrix);
  ValueId first = b.contraction({memory(x)}, matrix);
  ValueId second = b.contraction({memory(first)}, matrix);
  ValueId third = b.contraction({memory(second)}, matrix);
  ValueId sum = b.fusible({point(third), point(first)}, matrix);
  b.result(b.contraction({memory(sum)}, matrix));
  for (Op &op : b.problem.ops)
    op.flops = 1000;
  std::optional<Certified> made = certifyWithin(b.problem, 2 * 4096);
  ASSERT_TRUE(made);
  EXPECT_EQ(forge(*made), 0);
}

/// An op that runs once may run inside the very kernel of the moment.
TEST(ForgedCertificate, ProvesNothingForWhatRunsOnceInsideAKernel) {
  ProblemBuilder b;
  ValueId x = b.argument(matrix);
  ValueId once = b.fusible({point(x)}, matrix);
  b.problem.ops.back().mayRepeat = false;
  ValueId sum = b.reduction({point(once)}, matrix);
  b.result(b.fusible({point(sum), point(once)}, matrix));
  std::optional<Plan> plan = solveReference(b.problem, 0);
  ASSERT_TRUE(plan);
  EXPECT_EQ(Bound(b.problem).minimumBytes(), 0);
  EXPECT_EQ(Bound(b.problem).extraFlops(0), 0);
  Certified made;
  made.problem = b.problem;
  made.text = textOf(b.problem);
  made.solution.plan = *plan;
  packSlots(b.problem, made.solution.plan, 0);
  made.solution.verdict = validate(b.problem, made.solution.plan, true);
  made.certificate = certify(b.problem, made.solution, 0, Bound(b.problem));
  EXPECT_EQ(forge(made), 0);
}

} // namespace
