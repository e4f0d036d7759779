//===- PublishedTest.cpp - Published strategies on our kernels ------------===//

#include "ProblemBuilder.h"
#include "ProductChain.h"
#include "RandomProblem.h"
#include "SolverEffort.h"
#include "TrainingStep.h"

#include "Plan/Construct/Greedy/GreedyRemat.h"
#include "Plan/Improve/KeepMove.h"
#include "Plan/Model/KernelGraph.h"
#include "Plan/Published/Cbc.h"
#include "Plan/Published/Knapsack.h"
#include "Plan/Published/Revolve.h"
#include "Plan/Published/Rotor.h"
#include "ckpt/Plan/Baselines.h"
#include "ckpt/Plan/Budget.h"

#include "gmock/gmock.h"

using namespace ckpt::plan;

namespace {

void expectLegal(const Problem &problem, std::string_view name,
                 const BaselineCurve &curve) {
  for (const BaselinePoint &point : curve.points) {
    Verdict verdict = validate(problem, point.solution.plan, /*slots=*/true);
    EXPECT_EQ(verdict.error, "") << name << ", " << point.setting;
  }
}

/// Demands may contradict each other (the first backward op reads what is to
/// be recomputed), or make a walk run in circles, and DTR may run out of
/// memory; nothing else may go wrong.
bool isHonest(const std::string &refused) {
  for (const char *reason :
       {"is to be recomputed, but", "is to be saved, but",
        "the search gave up after", "out of memory", "cbc finds no answer"})
    if (refused.find(reason) != std::string::npos)
      return true;
  return false;
}

/// Checkmate is an exception where its solver is missing.
bool isAvailable(std::string_view name) {
  return name != "checkmate" || isCbcInstalled();
}

TEST(Published, AreLegalOnRandomProblems) {
  RandomOptions options;
  options.ops = 12;
  options.keeps = false;
  for (uint64_t seed = 0; seed < 300; ++seed) {
    Problem problem = randomProblem(seed, options);
    for (std::string_view name : baselineNames()) {
      // A process for every point is too slow to be done for all.
      if (name == "checkmate" && (seed % 50 != 0 || !isAvailable(name)))
        continue;
      BaselineCurve curve = baselineCurve(problem, name, std::nullopt, {});
      EXPECT_TRUE(curve.error.empty() || isHonest(curve.error)) << curve.error;
      expectLegal(problem, name, curve);
      for (const std::string &refused : curve.refused)
        EXPECT_TRUE(isHonest(refused))
            << name << ", seed " << seed << ", " << refused;
    }
  }
}

TEST(Published, AreLegalOnTrainingSteps) {
  for (int32_t blocks : {1, 4, 9}) {
    Problem problem = TrainingStep(blocks).problem;
    for (std::string_view name : baselineNames()) {
      // At most 64 kernels.
      if (name == "checkmate" && (blocks > 4 || !isAvailable(name)))
        continue;
      BaselineCurve curve = baselineCurve(problem, name, std::nullopt, {});
      EXPECT_EQ(curve.error, "") << name;
      EXPECT_FALSE(curve.points.empty()) << name;
      expectLegal(problem, name, curve);
    }
  }
}

TEST(Published, StayWithinTheirBudgets) {
  Problem problem = TrainingStep(6).problem;
  int64_t unlimited = solveUnlimited(problem, {}).plan.arenaBytes;
  int64_t budget = unlimited * 3 / 4;
  for (std::string_view name : baselineNames()) {
    if (name == "checkmate")
      continue;
    Solution solution = solveBaseline(problem, name, budget, {});
    EXPECT_EQ(solution.verdict.error.empty(), !solution.plan.kernels.empty())
        << name;
    EXPECT_LE(solution.plan.arenaBytes, budget) << name;
  }
  Solution impossible = solveBaseline(problem, "save-all", budget, {});
  EXPECT_EQ(impossible.verdict.error,
            "strategy 'save-all' has no plan within " + std::to_string(budget) +
                " bytes; its smallest takes " + std::to_string(unlimited) +
                " bytes");
}

TEST(Published, SayWhatIsUnknown) {
  Problem problem = TrainingStep(1).problem;
  EXPECT_TRUE(isBaseline("sqrt"));
  EXPECT_FALSE(isBaseline("budget"));
  EXPECT_EQ(solveBaseline(problem, "magic", std::nullopt, {}).verdict.error,
            "unknown strategy 'magic'");
}

/// A plan that writes a value again along with another one.
struct WrittenAlong : ProblemBuilder {
  ValueId v, product, sum;
  Plan plan;

  WrittenAlong() {
    v = fusible({point(argument(matrix))}, matrix);
    product = contraction({memory(v)}, matrix);
    sum = fusible({point(product), point(v)}, matrix);
    ValueId last = contraction({memory(v), memory(sum)}, matrix);
    result(last);
    plan.kernels = {kernel(v), kernel(product), kernel({v, sum}, {v, sum}),
                    kernel(last)};
  }
};

/// What reads the first copy would depend on the second one.
TEST(KernelGraph, LeavesOutWhatAPlanMakesAgain) {
  WrittenAlong b;
  ASSERT_EQ(validate(b.problem, b.plan, /*slots=*/false).error, "");
  KernelGraph graph(b.problem, b.plan);
  EXPECT_EQ(graph.nodes.size(), 4u);
  EXPECT_EQ(graph.maker[b.v], 0);
  EXPECT_EQ(graph.maker[b.sum], 2);
  for (size_t node = 0; node < graph.nodes.size(); ++node)
    for (ValueId value : graph.nodes[node].reads)
      EXPECT_LT(graph.maker[value], static_cast<int32_t>(node));
}

TEST(GreedyRemat, FitsBudgetsBelowTheStart) {
  Problem problem = TrainingStep(6).problem;
  Solution start = solveUnlimited(problem, {});
  int64_t lastNs = start.verdict.timeNs;
  for (int percent : {100, 80, 60}) {
    int64_t budget = start.plan.arenaBytes * percent / 100;
    std::optional<Solution> solution =
        rematGreedily(problem, start.plan, budget, /*flopNs=*/0);
    ASSERT_TRUE(solution) << percent;
    EXPECT_EQ(validate(problem, solution->plan, true).error, "");
    EXPECT_LE(solution->plan.arenaBytes, budget);
    EXPECT_GE(solution->verdict.timeNs, lastNs);
    lastNs = solution->verdict.timeNs;
  }
  EXPECT_GT(lastNs, start.verdict.timeNs);
  EXPECT_FALSE(rematGreedily(problem, start.plan, 256, /*flopNs=*/0));
}

TEST(GreedyRemat, IsLegalOnRandomProblems) {
  RandomOptions options;
  options.ops = 14;
  options.keeps = false;
  for (uint64_t seed = 0; seed < 300; ++seed) {
    Problem problem = randomProblem(seed, options);
    Plan start = solveUnlimited(problem, {}).plan;
    std::optional<Solution> solution =
        rematGreedily(problem, start, start.arenaBytes * 3 / 4, /*flopNs=*/0);
    if (solution) {
      EXPECT_EQ(validate(problem, solution->plan, true).error, "") << seed;
    }
  }
}

TEST(KeepMove, LeavesOutWhatTheBudgetDoesNotAskFor) {
  Problem problem = productChain(4);
  Plan once = oneKernelPerOp(problem);
  Plan plan = once;
  // The second product again before its last reader.
  plan.kernels.insert(plan.kernels.begin() + 6, plan.kernels[1]);
  ASSERT_EQ(validate(problem, plan, false).error, "");
  int64_t peak = validate(problem, plan, false).livePeakBytes;
  Plan same = plan;
  keepValues(problem, same, peak, KeepEffort::Exact);
  EXPECT_LE(validate(problem, same, false).livePeakBytes, peak);
  keepValues(problem, plan, 1 << 20, KeepEffort::Exact);
  EXPECT_EQ(plan.kernels.size(), once.kernels.size());
}

TEST(KeepMove, LeavesOutWhatAKernelWritesAlong) {
  WrittenAlong b;
  EXPECT_TRUE(keepValues(b.problem, b.plan, 1 << 20, KeepEffort::Exact));
  EXPECT_EQ(validate(b.problem, b.plan, /*slots=*/false).error, "");
  ASSERT_EQ(b.plan.kernels.size(), 4u);
  EXPECT_THAT(b.plan.kernels[2].outputs, testing::ElementsAre(b.sum));
  EXPECT_FALSE(keepValues(b.problem, b.plan, 1 << 20, KeepEffort::Exact));
}

/// A kernel that writes nothing is there for its effects.
TEST(KeepMove, LeavesEffectsAlone) {
  WrittenAlong b;
  Op op;
  op.name = "print";
  op.kind = OpKind::Opaque;
  op.reads = {memory(b.v)};
  op.hasEffects = true;
  op.mayRepeat = false;
  b.problem.ops.push_back(op);
  Kernel effect;
  effect.ops = {static_cast<OpId>(b.problem.ops.size() - 1)};
  b.plan.kernels.push_back(effect);
  ASSERT_EQ(validate(b.problem, b.plan, /*slots=*/false).error, "");
  EXPECT_TRUE(keepValues(b.problem, b.plan, 1 << 20, KeepEffort::Exact));
  EXPECT_EQ(validate(b.problem, b.plan, /*slots=*/false).error, "");
  EXPECT_EQ(b.plan.kernels.back().ops, effect.ops);
}

struct Taken {
  int64_t bytes = 0, value = 0;
};

Taken sumOf(const std::vector<KnapsackItem> &items,
            const std::vector<char> &taken) {
  Taken sum;
  for (size_t i = 0; i < items.size(); ++i)
    if (taken[i]) {
      sum.bytes += items[i].bytes;
      sum.value += items[i].value;
    }
  return sum;
}

TEST(Knapsack, TakesTheBestSetOfRandomItems) {
  std::mt19937_64 random(1);
  for (int trial = 0; trial < 300; ++trial) {
    std::vector<KnapsackItem> items(1 + random() % 10);
    for (KnapsackItem &item : items)
      item = {static_cast<int64_t>(random() % 50),
              static_cast<int64_t>(random() % 50)};
    auto capacity = static_cast<int64_t>(random() % 200);
    int64_t best = 0;
    for (uint32_t set = 0; set < 1u << items.size(); ++set) {
      std::vector<char> taken;
      for (size_t i = 0; i < items.size(); ++i)
        taken.push_back(set >> i & 1);
      Taken sum = sumOf(items, taken);
      if (sum.bytes <= capacity)
        best = std::max(best, sum.value);
    }
    Taken exact = sumOf(items, exactKnapsack(items, capacity));
    Taken greedy = sumOf(items, greedyKnapsack(items, capacity));
    EXPECT_EQ(exact.value, best);
    EXPECT_LE(exact.bytes, capacity);
    EXPECT_LE(greedy.value, best);
    EXPECT_LE(greedy.bytes, capacity);
  }
}

/// pytorch#197871: sizes in steps must not exceed the capacity either.
TEST(Knapsack, NeverExceedsLargeCapacities) {
  std::mt19937_64 random(2);
  for (int trial = 0; trial < 20; ++trial) {
    std::vector<KnapsackItem> items(30);
    int64_t total = 0;
    for (KnapsackItem &item : items) {
      item = {static_cast<int64_t>(random() % 1'000'000'000),
              static_cast<int64_t>(random() % 1000)};
      total += item.bytes;
    }
    EXPECT_LE(sumOf(items, exactKnapsack(items, total / 3)).bytes, total / 3);
  }
}

//===----------------------------------------------------------------------===//
// Chains
//===----------------------------------------------------------------------===//

/// Forward steps that a schedule runs before the last one of each stage, which
/// belongs to its backward part; checks that it keeps at most \p slots inputs
/// and reverses all stages in order.
int64_t advancesOf(const std::vector<ChainStep> &steps, int32_t stages,
                   int32_t slots) {
  std::vector<int32_t> kept = {0};
  int64_t advances = 0;
  int32_t next = stages;
  for (const ChainStep &step : steps) {
    switch (step.kind) {
    case ChainStep::Kind::SaveInput:
      EXPECT_GT(step.stage, kept.back());
      advances += step.stage - kept.back();
      kept.push_back(step.stage);
      break;
    case ChainStep::Kind::DropInput:
      EXPECT_EQ(kept.back(), step.stage);
      kept.pop_back();
      break;
    case ChainStep::Kind::SaveTape:
    case ChainStep::Kind::BackwardFromInput:
      ADD_FAILURE() << "no tapes here";
      break;
    case ChainStep::Kind::Backward:
      EXPECT_EQ(step.stage, --next);
      advances += step.stage - kept.back();
      break;
    }
    EXPECT_LE(kept.size(), static_cast<size_t>(slots) + 1);
  }
  EXPECT_EQ(next, 0);
  return advances;
}

TEST(Revolve, EqualsTheBinomialOptimumForAllNumbersOfSlots) {
  for (int32_t stages = 1; stages <= 64; ++stages)
    for (int32_t slots = 0; slots < stages; ++slots)
      EXPECT_EQ(advancesOf(revolveSteps(stages, slots), stages, slots),
                binomialSteps(stages, slots + 1))
          << stages << " stages, " << slots << " slots";
}

/// Equal stages; an input takes two units.
std::vector<RotorStage> uniformChain(int32_t stages, int64_t tapeUnits) {
  RotorStage stage;
  stage.forwardNs = 1;
  stage.inputUnits.assign(stages, 2);
  stage.ownUnits = stage.tapeUnits = tapeUnits;
  return std::vector<RotorStage>(stages, stage);
}

TEST(Rotor, EqualsRevolveOnUniformChains) {
  for (int32_t stages : {1, 2, 5, 12, 24}) {
    // No second tape fits beside the one of the stage at work.
    int32_t tape = 2 * stages + 2;
    RotorTable table(uniformChain(stages, tape), 2 * tape);
    for (int32_t slots = 0; slots < stages; ++slots) {
      // What revolve has at hand besides its slots takes memory here too.
      std::optional<int64_t> timeNs = table.timeNs(tape + 2 * slots + 2);
      ASSERT_TRUE(timeNs);
      EXPECT_EQ(*timeNs - stages, binomialSteps(stages, slots + 1))
          << stages << " stages, " << slots << " slots";
    }
    EXPECT_FALSE(table.timeNs(tape - 1));
  }
}

TEST(Rotor, IsNeverWorseThanRevolveWhereTapesAreSmall) {
  for (int32_t stages : {2, 7, 16}) {
    constexpr int32_t tape = 3;
    RotorTable table(uniformChain(stages, tape), 4 * stages);
    for (int32_t slots = 1; slots < stages; ++slots) {
      std::optional<int64_t> timeNs = table.timeNs(tape + 2 * slots + 2);
      ASSERT_TRUE(timeNs);
      EXPECT_LE(*timeNs - stages, binomialSteps(stages, slots + 1));
    }
    EXPECT_EQ(table.timeNs(4 * stages), stages);
  }
}

TEST(Revolve, RepeatsAsManyKernelsAsTheFormulaSays) {
  constexpr int32_t stages = 10;
  BaselineCurve curve =
      baselineCurve(productChain(stages), "revolve", std::nullopt, {});
  // One slot per input and one less are the same schedule.
  ASSERT_EQ(curve.points.size(), static_cast<size_t>(stages - 2));
  for (int32_t slots = 1; slots < stages - 1; ++slots) {
    const Solution &solution = curve.points[slots - 1].solution;
    // The last stage runs once forward before its backward part; the others
    // run once anyway.
    EXPECT_EQ(solution.verdict.extraFlops,
              binomialSteps(stages, slots + 1) - (stages - 1));
    // The inputs, the gradient there and the next one.
    EXPECT_LE(solution.plan.arenaBytes, 4096 * (slots + 3));
  }
}

TEST(Rotor, IsNeverWorseThanRevolveOnProductChains) {
  Problem problem = productChain(10);
  BaselineCurve curve = baselineCurve(problem, "revolve", std::nullopt, {});
  for (const BaselinePoint &point : curve.points) {
    Solution rotor =
        solveBaseline(problem, "rotor", point.solution.plan.arenaBytes, {});
    ASSERT_EQ(rotor.verdict.error, "") << point.setting;
    EXPECT_LE(rotor.verdict.timeNs, point.solution.verdict.timeNs)
        << point.setting;
  }
}

/// The plan without a limit spares memory as well: where a budget has room for
/// more, the kernels of that plan, each run once, are not better.
void expectNoBetter(uint64_t seed, int32_t ops) {
  RandomOptions random;
  random.ops = ops;
  random.keeps = random.runOnce = false;
  Problem problem = randomProblem(seed, random);
  Solution unlimited = solveUnlimited(problem, {});
  if (!unlimited.verdict.error.empty())
    return;
  int64_t budget = 4 * unlimited.plan.arenaBytes;
  BudgetResult ours = solveBudget(problem, budget, oneRound());
  ASSERT_TRUE(ours.best) << "seed " << seed;
  for (const BaselinePoint &point :
       baselineCurve(problem, "xla-greedy", budget, {}).points) {
    if (point.solution.plan.arenaBytes <= budget) {
      EXPECT_LE(ours.best->verdict.timeNs, point.solution.verdict.timeNs)
          << "seed " << seed;
    }
  }
}

TEST(Published, AreNotBetterWhereNothingHasToGo) {
  for (uint64_t seed = 0; seed < 60; ++seed)
    expectNoBetter(seed, 20 + static_cast<int32_t>(seed % 40));
  // More kernels than are moved one by one.
  for (uint64_t seed : {2, 3, 5})
    expectNoBetter(seed, 900);
}

} // namespace
