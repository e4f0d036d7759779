//===- ResultScratchTest.cpp - Values in the buffers of later results -----===//

#include "ckpt/Plan/ResultScratch.h"
#include "Certified.h"
#include "Plan/Model/PlanEdit.h"
#include "ProblemBuilder.h"
#include "RandomSum.h"

#include "ckpt/Check/Check.h"
#include "ckpt/Plan/Generate.h"
#include "ckpt/Plan/Pack.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iostream>

using namespace ckpt::plan;
using testing::HasSubstr;

namespace {

/// Two values wait for each other, then a result is made of them, and a larger
/// one of that.
struct Waiting {
  Waiting() {
    b.problem.scratchInResults = true;
    ValueId argument = b.argument(row);
    first = b.reduction({any(argument)}, part);
    second = b.reduction({any(argument)}, part);
    last = b.contraction({memory(first), memory(second)}, row);
    result = b.contraction({memory(last)}, matrix);
    b.result(last);
    b.result(result);
    for (ValueId value : {first, second, last, result})
      plan.kernels.push_back(b.kernel(value));
  }
  void place(size_t kernel, int64_t offset, ValueId host) {
    plan.kernels[kernel].offsets = {offset};
    plan.kernels[kernel].hosts = {host};
  }
  std::string error() const { return validate(b.problem, plan, true).error; }

  ProblemBuilder b;
  ValueId first, second, last, result;
  Plan plan;
};

TEST(ResultScratch, HoldsAllThatFits) {
  Waiting w;
  KernelCache kernels(w.b.problem);
  packSlotsInResults(w.b.problem, w.plan, /*budgetBytes=*/0, kernels, nullptr);
  EXPECT_EQ(w.error(), "");
  EXPECT_EQ(w.plan.arenaBytes, 0);
  EXPECT_EQ(scratchBytes(w.b.problem, w.plan), 4096);
  EXPECT_EQ(w.plan.kernels[0].hosts, std::vector<ValueId>{w.result});
  EXPECT_NE(w.plan.kernels[0].offsets, w.plan.kernels[1].offsets);
}

TEST(ResultScratch, HoldsNoMoreThanTheBudgetNeeds) {
  Waiting w;
  KernelCache kernels(w.b.problem);
  packSlotsInResults(w.b.problem, w.plan, /*budgetBytes=*/2048, kernels,
                     nullptr);
  EXPECT_EQ(w.error(), "");
  EXPECT_EQ(w.plan.arenaBytes, 2048);
  EXPECT_EQ(scratchBytes(w.b.problem, w.plan), 2048);
}

/// A plan of all bytes may drop a result and make it again. Its buffer holds it
/// from the first write on.
TEST(ResultScratch, WritesAResultOnce) {
  Waiting w;
  w.plan.kernels.push_back(w.b.kernel(w.last));
  writeResultsOnce(w.b.problem, w.plan);
  ASSERT_EQ(w.plan.kernels.size(), 4u);
  EXPECT_EQ(w.plan.kernels[2].outputs, std::vector<ValueId>{w.last});
}

/// A value that the problem hosts stays in its result until its last reader.
TEST(ResultScratch, KeepsClearOfValuesThatWait) {
  ProblemBuilder b;
  b.problem.scratchInResults = true;
  ValueId argument = b.argument(row);
  ValueId waiting = b.reduction({any(argument)}, matrix);
  ValueId half = b.reduction({any(argument)}, part);
  ValueId last = b.contraction({memory(half)}, row);
  ValueId result = b.fusible({point(waiting), any(last)}, matrix);
  b.result(result);
  b.problem.values[waiting].home = Home::Hosted;
  b.problem.values[waiting].host = result;
  Plan plan;
  for (ValueId value : {waiting, half, last, result})
    plan.kernels.push_back(b.kernel(value));
  KernelCache kernels(b.problem);
  packSlotsInResults(b.problem, plan, /*budgetBytes=*/0, kernels, nullptr);
  EXPECT_EQ(validate(b.problem, plan, true).error, "");
  EXPECT_EQ(scratchBytes(b.problem, plan), 0);
}

TEST(ResultScratch, SimulatorKnowsTheRules) {
  Waiting w;
  packSlots(w.b.problem, w.plan, 0);
  const Plan packed = w.plan;
  w.place(0, 0, w.result);
  w.place(1, 2048, w.result);
  EXPECT_EQ(w.error(), "");
  w.place(1, 1792, w.result);
  EXPECT_THAT(w.error(), HasSubstr("lies in the buffer of value 4"));
  for (auto [offset, host] : {std::pair<int64_t, ValueId>(2304, w.result),
                              {8, w.result},
                              {-256, w.result},
                              {0, w.last},
                              {0, w.first},
                              {0, 99},
                              {0, -7}}) {
    w.plan = packed;
    w.place(1, offset, host);
    EXPECT_THAT(w.error(), HasSubstr("has no place in the buffer"));
  }
  // Its last reader comes after the result is written.
  w.plan = packed;
  w.place(0, 0, w.result);
  w.b.problem.ops.back().reads.push_back(memory(w.first));
  EXPECT_THAT(w.error(), HasSubstr("is written before it is dead"));
}

TEST(ResultScratch, NotWhereTheProblemOrADonationForbidsIt) {
  Waiting w;
  packSlots(w.b.problem, w.plan, 0);
  w.place(0, 0, w.result);
  EXPECT_EQ(w.error(), "");
  w.b.problem.scratchInResults = false;
  EXPECT_THAT(w.error(), HasSubstr("has no place in the buffer"));
  EXPECT_EQ(mostScratchBytes(w.b.problem), 0);
  w.b.problem.scratchInResults = true;
  w.b.problem.values[w.result].host = 0;
  EXPECT_THAT(w.error(), HasSubstr("has no place in the buffer"));
  EXPECT_EQ(mostScratchBytes(w.b.problem), 256);
}

TEST(ResultScratch, PackerKnowsTheRules) {
  int hosted = 0;
  for (uint64_t seed = 0; seed < 400; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomOptions options;
    options.ops = 4 + seed % 20;
    // Sums have values that the problem puts in results.
    Problem problem = seed % 2 ? randomSum(seed) : randomProblem(seed, options);
    Solution unlimited = solveUnlimited(problem, oneRound());
    if (!unlimited.verdict.error.empty())
      continue;
    problem.scratchInResults = true;
    KernelCache kernels(problem);
    Plan plan = withoutSlots(unlimited.plan);
    packSlotsInResults(problem, plan, /*budgetBytes=*/0, kernels, nullptr);
    EXPECT_EQ(validate(problem, plan, true).error, "");
    hosted += scratchBytes(problem, plan) > 0;
  }
  EXPECT_GT(hosted, 100);
}

/// Values that lie in results, in an arena behind the plan's.
Plan withMoreArena(const Problem &problem, Plan plan) {
  std::vector<int64_t> begin(problem.values.size(), 0);
  for (ValueId result : scratchResults(problem)) {
    begin[result] = plan.arenaBytes;
    plan.arenaBytes += slotBytes(problem.values[result].bytes);
  }
  for (Kernel &kernel : plan.kernels)
    for (size_t i = 0; i < kernel.hosts.size(); ++i)
      if (ValueId host = kernel.hosts[i]; host != none) {
        kernel.offsets[i] += begin[host];
        kernel.hosts[i] = none;
      }
  return plan;
}

struct Looked {
  int plans = 0, hosted = 0, spared = 0;
};

void look(Problem problem, int percent, Looked &looked) {
  Solution unlimited = solveUnlimited(problem, oneRound());
  if (!unlimited.verdict.error.empty())
    return;
  problem.scratchInResults = true;
  int64_t budget = unlimited.plan.arenaBytes * percent / 100;
  std::optional<Certified> made = certifyWithin(problem, budget);
  if (!made)
    return;
  ++looked.plans;
  const Solution &solution = made->solution;
  EXPECT_EQ(validate(problem, solution.plan, true).error, "");
  EXPECT_LE(solution.plan.arenaBytes, budget);
  ckpt::check::Claims claims;
  EXPECT_EQ(checkCertificate(made->certificate, made->text, claims), "");
  int64_t most = mostScratchBytes(problem);
  Bound bound(problem);
  EXPECT_LE(bound.extraFlops(budget + most), solution.verdict.extraFlops);
  EXPECT_LE(bound.timeNs(budget + most), solution.verdict.timeNs);
  EXPECT_LE(minimumArenaBytes(problem, bound.minimumBytes()),
            solution.plan.arenaBytes);
  int64_t scratch = scratchBytes(problem, solution.plan);
  EXPECT_LE(scratch, most);
  if (scratch == 0)
    return;
  ++looked.hosted;
  Plan larger = withMoreArena(problem, solution.plan);
  EXPECT_EQ(validate(problem, larger, true).error, "");
  problem.scratchInResults = false;
  BudgetResult alone = solveBudget(problem, budget, oneRound());
  looked.spared += !alone.best ||
                   solution.verdict.extraFlops < alone.best->verdict.extraFlops;
}

TEST(ResultScratch, PlansAreRightAndSpareWork) {
  Looked looked;
  for (uint64_t seed = 0; seed < 60; ++seed)
    for (int percent : {70, 50, 30}) {
      SCOPED_TRACE("seed " + std::to_string(seed));
      RandomOptions options;
      options.ops = 4 + seed % 20;
      options.keeps = seed % 4 == 0;
      options.runOnce = seed % 3 == 0;
      look(randomProblem(seed, options), percent, looked);
    }
  std::cout << looked.plans << " plans, " << looked.hosted
            << " with values in results, " << looked.spared
            << " better than without\n";
  EXPECT_GT(looked.hosted, 20);
  EXPECT_GT(looked.spared, 10);
}

/// The checker refuses a bound that is proven for the arena alone.
TEST(ResultScratch, CheckerRefusesBoundsOfTheArenaAlone) {
  int refused = 0;
  for (uint64_t seed = 0; seed < 100; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::optional<Certified> alone = certifyRandom(seed, 4 + seed % 20, 65);
    if (!alone)
      continue;
    Problem problem = alone->problem;
    problem.scratchInResults = true;
    Bound bound(problem);
    int64_t most = mostScratchBytes(problem);
    ckpt::check::Claims claims;
    ASSERT_EQ(checkCertificate(alone->certificate, alone->text, claims), "");
    if (claims.extraFlopsBound <= bound.extraFlops(alone->budgetBytes + most))
      continue;
    std::string forged = alone->certificate;
    std::string print = fingerprint(alone->problem);
    forged.replace(forged.find(print), print.size(), fingerprint(problem));
    EXPECT_THAT(checkCertificate(forged, textOf(problem), claims),
                HasSubstr("extra work"));
    ++refused;
  }
  EXPECT_GT(refused, 10);
}

/// The simulator and the checker of certificates agree on moved places.
TEST(ResultScratch, CheckerAgreesOnMovedPlaces) {
  int refused = 0, accepted = 0;
  for (uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Problem problem = randomProblem(seed, fewOps(seed));
    Solution unlimited = solveUnlimited(problem, oneRound());
    if (!unlimited.verdict.error.empty())
      continue;
    problem.scratchInResults = true;
    Bound bound(problem);
    for (size_t k = 0; k < unlimited.plan.kernels.size(); ++k)
      for (size_t i = 0; i < unlimited.plan.kernels[k].outputs.size(); ++i)
        for (ValueId host = 0;
             host < static_cast<ValueId>(problem.values.size()); ++host) {
          Solution moved = unlimited;
          Kernel &kernel = moved.plan.kernels[k];
          kernel.hosts.assign(kernel.outputs.size(), none);
          kernel.hosts[i] = host;
          kernel.offsets[i] = 0;
          Verdict verdict = validate(problem, moved.plan, true);
          ckpt::check::Claims claims;
          std::string error = checkCertificate(
              certify(problem, moved, moved.plan.arenaBytes, bound),
              textOf(problem), claims);
          EXPECT_EQ(error.empty(), verdict.error.empty())
              << error << " and " << verdict.error;
          ++(error.empty() ? accepted : refused);
        }
  }
  EXPECT_GT(accepted, 20);
  EXPECT_GT(refused, 200);
}

/// Where results have next to no room, the search of the arena has all of the
/// effort.
TEST(ResultScratch, ASearchWithoutRoomInResultsIsThatOfTheArena) {
  Problem problem;
  ASSERT_EQ(generateProblem("resnet", 60, problem), "");
  Solution unlimited = solveUnlimited(problem, {});
  // Elements of results shrink, so that these hold nothing.
  for (Value &value : problem.values)
    if (value.home == Home::Result)
      value.bytes = 1;
  ASSERT_LT(mostScratchBytes(problem), unlimited.plan.arenaBytes / 100);
  auto solve = [&](bool scratch) {
    problem.scratchInResults = scratch;
    SolverOptions options;
    options.effortMs = 50;
    return solveBudget(problem, unlimited.plan.arenaBytes * 7 / 10, options,
                       &unlimited);
  };
  BudgetResult without = solve(false), with = solve(true);
  ASSERT_TRUE(without.best && with.best);
  EXPECT_TRUE(without.stoppedByClock);
  EXPECT_EQ(with.best->verdict.timeNs, without.best->verdict.timeNs);
  EXPECT_EQ(with.best->verdict.extraFlops, without.best->verdict.extraFlops);
}

} // namespace
