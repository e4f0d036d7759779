//===- RetentionTest.cpp - The local search with fixed kernels ------------===//
//
// The state of the search is compared with the simulator after random changes,
// the search itself with the optimum of an exhaustive one.
//
//===----------------------------------------------------------------------===//

#include "Plan/Improve/Anneal/Retention.h"
#include "FixedKernels.h"
#include "Plan/Improve/Anneal/RetentionAnnealing.h"
#include "Plan/Improve/Anneal/RetentionMoves.h"
#include "Plan/Improve/Anneal/StageKeepCut.h"
#include "Plan/Improve/LiveProfile.h"
#include "ProblemBuilder.h"
#include "ckpt/Plan/Validate.h"

#include <gtest/gtest.h>

using namespace ckpt::plan;

namespace {

TEST(LiveProfile, AgreesWithPlainSums) {
  constexpr int32_t stages = 53;
  constexpr int64_t budget = 1000;
  std::mt19937_64 random(1);
  std::vector<int64_t> plain(stages, 0);
  LiveProfile profile(plain);
  for (int step = 0; step < 5000; ++step) {
    auto first = static_cast<int32_t>(random() % stages);
    auto last = static_cast<int32_t>(first + random() % (stages - first));
    int64_t bytes = static_cast<int64_t>(random() % 400) - 200;
    profile.add(first, last + 1, bytes);
    int64_t excess = 0;
    int32_t worst = 0;
    for (int32_t t = 0; t < stages; ++t) {
      plain[t] += t >= first && t <= last ? bytes : 0;
      excess += std::max<int64_t>(plain[t] - budget, 0);
      worst = plain[t] > plain[worst] ? t : worst;
      ASSERT_EQ(profile.at(t), plain[t]);
    }
    ASSERT_EQ(profile.values(stages), plain);
    ASSERT_EQ(profile.excess(budget), excess);
    ASSERT_EQ(profile.at(profile.worst()), plain[worst]);
  }
}

/// The figures of \p state are those of the plan that it stands for, before
/// what that plan writes for nobody is left out.
void checkAgainstSimulator(const Problem &problem, const Retention &state) {
  Plan plan;
  for (const KernelRun &run : state.list()) {
    plan.kernels.push_back(state.kernels().nodes[run.node].kernel);
    plan.kernels.back().outputs = run.outputs;
  }
  Verdict verdict = validate(problem, plan, /*slots=*/false);
  ASSERT_EQ(verdict.error, "");
  EXPECT_EQ(state.timeNs(), verdict.timeNs);
  EXPECT_EQ(state.peakBytes(state.worstStage()), verdict.livePeakBytes);
}

TEST(Retention, AgreesWithTheSimulatorAfterAnyMove) {
  for (uint64_t seed = 0; seed < 24; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Problem problem = randomFixedKernels(seed, 5 + seed % 12);
    KernelGraph graph(problem, oneKernelPerOp(problem));
    Retention state(graph, 12 * slotAlignment);
    RetentionMoves moves(state, seed);
    moves.bytePrice = 1;
    for (int step = 0; step < 200; ++step) {
      std::vector<char> before = state.save();
      int64_t time = state.timeNs(), overflow = state.overflowBytes();
      bool changed = moves.propose();
      if (step % 3 == 0 || !changed) {
        state.rollBack();
        ASSERT_EQ(state.save(), before);
        ASSERT_EQ(state.timeNs(), time);
        ASSERT_EQ(state.overflowBytes(), overflow);
        continue;
      }
      state.commit();
      checkAgainstSimulator(problem, state);
      Retention again(graph, 12 * slotAlignment);
      again.restore(state.save());
      ASSERT_EQ(again.timeNs(), state.timeNs());
      ASSERT_EQ(again.overflowBytes(), state.overflowBytes());
    }
  }
}

/// Ops that run once are kept for whoever runs again.
TEST(Retention, MovesKeepWhatRunsOnce) {
  for (uint64_t seed = 0; seed < 10; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Problem problem = randomFixedKernels(seed, 6);
    problem.ops[1].mayRepeat = problem.ops[3].mayRepeat = false;
    Plan start = oneKernelPerOp(problem);
    int64_t budget = validate(problem, start, false).livePeakBytes * 3 / 4;
    RetentionOptions options;
    options.budgetBytes = budget;
    options.mostRounds = 2;
    options.enter = [&](const Plan &plan) {
      Verdict verdict = validate(problem, plan, /*slots=*/false);
      EXPECT_EQ(verdict.error, "");
      EXPECT_LE(verdict.livePeakBytes, budget);
      return true;
    };
    EXPECT_TRUE(annealRetention(problem, start, options));
  }
}

/// Where a cut can make the worst stage fit, it does.
TEST(StageKeepCut, MakesTheStageFit) {
  for (uint64_t seed = 0; seed < 100; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Problem problem = randomFixedKernels(seed, 8);
    KernelGraph graph(problem, oneKernelPerOp(problem));
    Retention state(graph, 1);
    int32_t worst = state.worstStage();
    int64_t budget = state.peakBytes(worst) * 4 / 5;
    StageKeepCut(graph).apply(state, worst, budget);
    checkAgainstSimulator(problem, state);
    EXPECT_LE(state.peakBytes(worst), budget);
  }
}

/// Engines that do not fuse hand over views, which run in no kernel of their
/// own.
TEST(RetentionAnnealing, IsForStepsWithViews) {
  ProblemBuilder builder;
  ValueId first = builder.opaque({}, 0);
  ValueId view = builder.view(first, Access::Reshape, 0);
  ValueId last = builder.opaque({{view, Access::Any}}, 0);
  EXPECT_TRUE(hasFixedKernels(builder.problem));
  builder.fusible({{last, Access::Pointwise}}, 0);
  EXPECT_FALSE(hasFixedKernels(builder.problem));
}

TEST(RetentionAnnealing, FindsOptimaOfSmallSteps) {
  int feasible = 0, optimal = 0;
  for (uint64_t seed = 0; seed < 24; ++seed)
    for (int percent : {85, 70, 60}) {
      SCOPED_TRACE("seed " + std::to_string(seed));
      Problem problem = randomFixedKernels(seed, 4 + seed % 3);
      Plan start = oneKernelPerOp(problem);
      int64_t budget =
          validate(problem, start, false).livePeakBytes * percent / 100;
      std::optional<int64_t> least = leastTimeNs(problem, budget);
      int64_t found = INT64_MAX;
      RetentionOptions options;
      options.budgetBytes = budget;
      options.mostRounds = 3;
      options.enter = [&](const Plan &plan) {
        Verdict verdict = validate(problem, plan, /*slots=*/false);
        EXPECT_EQ(verdict.error, "");
        EXPECT_LE(verdict.livePeakBytes, budget);
        found = std::min(found, verdict.timeNs);
        return true;
      };
      annealRetention(problem, start, options);
      if (!least) {
        EXPECT_EQ(found, INT64_MAX);
        continue;
      }
      EXPECT_GE(found, *least);
      ++feasible;
      optimal += found == *least;
    }
  EXPECT_GE(feasible, 40);
  EXPECT_GE(optimal * 100, feasible * 95) << optimal << " of " << feasible;
}

} // namespace
