//===- ChainTest.cpp - Chains against their closed optimum ----------------===//
//
// Uniform chains are the one family whose optimum is known for every amount of
// memory (Griewank and Walther, Algorithm 799). What the formula says in our
// memory model is checked by exhaustive search first.
//
//===----------------------------------------------------------------------===//

#include "ProductChain.h"
#include "RandomProblem.h"
#include "SolverEffort.h"
#include "TrainingStep.h"

#include "Plan/Construct/Chain/ChainDP.h"

#include <gtest/gtest.h>

#include <map>
#include <queue>

using namespace ckpt::plan;

namespace {

constexpr int64_t slot = 4096;

/// Each product takes a microsecond.
Problem uniformChain(int32_t length) {
  Problem problem = productChain(length);
  for (Op &op : problem.ops)
    op.computePs = 1000000;
  return problem;
}

/// Forward products that run again within so many slots, of which three hold
/// what a product there or back needs. The input of the chain takes none. The
/// formula leaves out one step per stage, but runs all stages once; here the
/// last one runs forward once as well.
int64_t leastRepeats(int32_t length, int32_t slots) {
  return binomialSteps(length, slots - 2) - (length - 1);
}

/// The same by search over all sets of standing values. Independent of the
/// planner and of the formula.
class ChainSearch {
public:
  ChainSearch(int32_t length, int32_t slots) : length(length), slots(slots) {}

  /// Forward products, or -1.
  int64_t run() {
    push({0, length}, 0);
    while (!queue.empty()) {
      auto [cost, state] = queue.top();
      queue.pop();
      if (cost > costs[state])
        continue;
      if (state.second == 0)
        return cost;
      expand(state, cost);
    }
    return -1;
  }

private:
  /// Standing values (bit i: what product i made) and how many stages still
  /// have to run backward.
  using State = std::pair<uint32_t, int32_t>;

  bool stands(const State &state, int32_t i) const {
    return i == 0 || (state.first >> i & 1);
  }

  void push(const State &state, int64_t cost) {
    auto [entry, isNew] = costs.try_emplace(state, cost);
    if (!isNew && entry->second <= cost)
      return;
    entry->second = cost;
    queue.push({cost, state});
  }

  void expand(const State &state, int64_t cost) {
    int32_t stage = state.second;
    bool atEnd = stage == length;
    // Behind the last stage its output is the gradient.
    int32_t standing = __builtin_popcount(state.first) + (atEnd ? 0 : 1);
    for (int32_t i = 1; i <= length; ++i) {
      if (stands(state, i))
        push({state.first & ~(1u << i), stage}, cost);
      else if (stands(state, i - 1) && standing < slots)
        push({state.first | 1u << i, stage}, cost + 1);
    }
    // The gradient of the chain's input is a result and takes no slot.
    bool fits = standing + (stage > 1) <= slots;
    if (stands(state, stage - 1) && (!atEnd || stands(state, length)) && fits)
      push({atEnd ? state.first & ~(1u << length) : state.first, stage - 1},
           cost);
  }

  const int32_t length, slots;
  std::map<State, int64_t> costs;
  using Entry = std::pair<int64_t, State>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<Entry>> queue;
};

TEST(UniformChain, TheFormulaHoldsInOurMemoryModel) {
  for (int32_t length = 2; length <= 9; ++length) {
    EXPECT_EQ(ChainSearch(length, 2).run(), -1);
    for (int32_t slots = 3; slots <= length + 2; ++slots)
      EXPECT_EQ(ChainSearch(length, slots).run(),
                length + leastRepeats(length, slots))
          << length << " stages, " << slots << " slots";
  }
  for (int32_t length = 2; length <= 4; ++length)
    for (int32_t slots = 3; slots <= length + 2; ++slots) {
      Problem problem = uniformChain(length);
      std::optional<Plan> optimum = solveReference(problem, slots * slot);
      ASSERT_TRUE(optimum);
      EXPECT_EQ(validate(problem, *optimum, false).extraFlops,
                leastRepeats(length, slots));
    }
}

TEST(UniformChain, TheTableIsOptimalForEveryNumberOfSlots) {
  for (int32_t length = 1; length <= 64; length += 1 + length / 16) {
    Problem problem = uniformChain(length);
    Plan once = oneKernelPerOp(problem);
    ChainDP chain(problem, once, ChainOptions());
    for (int32_t slots = 3; slots <= length + 2; ++slots) {
      int32_t point = chain.within(slots * slot);
      ASSERT_NE(point, none) << length << " stages, " << slots << " slots";
      Verdict verdict = validate(problem, chain.plan(point), false);
      EXPECT_EQ(verdict.error, "");
      EXPECT_EQ(verdict.livePeakBytes, chain.points()[point].bytes);
      EXPECT_EQ(verdict.extraFlops, leastRepeats(length, slots))
          << length << " stages, " << slots << " slots";
    }
    if (length > 1) {
      EXPECT_EQ(chain.within(2 * slot), none);
    }
  }
}

void expectOptimal(int32_t length, int32_t slots) {
  Problem problem = uniformChain(length);
  BudgetResult result = solveBudget(problem, slots * slot, oneRound());
  ASSERT_TRUE(result.best) << length << " stages, " << slots << " slots";
  EXPECT_LE(result.best->plan.arenaBytes, slots * slot);
  EXPECT_EQ(result.best->verdict.extraFlops, leastRepeats(length, slots))
      << length << " stages, " << slots << " slots";
}

TEST(UniformChain, TheSolverIsOptimalForEveryNumberOfSlots) {
  for (int32_t length : {2, 3, 5, 8, 13, 18})
    for (int32_t slots = 3; slots <= length + 2; ++slots)
      expectOptimal(length, slots);
  for (int32_t slots : {3, 5, 10, 30})
    expectOptimal(60, slots);
}

/// No walk gets so low; the smallest plan is found where no budget is met too.
TEST(UniformChain, TheSmallestPlanIsKnown) {
  Problem problem = uniformChain(40);
  BudgetResult result = solveBudget(problem, 2 * slot, oneRound());
  EXPECT_FALSE(result.best);
  EXPECT_EQ(result.smallest.plan.arenaBytes, 3 * slot);
}

TEST(ChainDP, KnowsWhatItsPlansNeed) {
  Problem problem = TrainingStep(12).problem;
  Plan start = solveUnlimited(problem, SolverOptions()).plan;
  for (KernelStages::Places places :
       {KernelStages::Places::Narrow, KernelStages::Places::All}) {
    ChainOptions options;
    options.places = places;
    ChainDP chain(problem, start, options);
    ASSERT_GE(chain.points().size(), 5u);
    for (size_t i = 0; i < chain.points().size(); ++i) {
      Verdict verdict = validate(problem, chain.plan(i), false);
      EXPECT_EQ(verdict.error, "");
      EXPECT_LE(verdict.livePeakBytes, chain.points()[i].bytes);
    }
    EXPECT_EQ(validate(problem, chain.plan(chain.points().size() - 1), false)
                  .extraFlops,
              0);
  }
}

TEST(ChainDP, LeavesOutWhatIsTooLarge) {
  Problem problem = uniformChain(20);
  Plan once = oneKernelPerOp(problem);
  ChainOptions options;
  options.places = KernelStages::Places::All;
  ChainDP all(problem, once, options);
  options.mostBytes = 8 * slot;
  ChainDP some(problem, once, options);
  ASSERT_EQ(some.points().size(), 6u);
  for (size_t i = 0; i < some.points().size(); ++i) {
    EXPECT_EQ(some.points()[i].bytes, all.points()[i].bytes);
    EXPECT_EQ(some.points()[i].cost, all.points()[i].cost);
  }
}

TEST(ChainDP, IsLegalOnRandomProblems) {
  RandomOptions options;
  options.ops = 14;
  options.keeps = false;
  for (uint64_t seed = 0; seed < 500; ++seed) {
    Problem problem = randomProblem(seed, options);
    Plan start = solveUnlimited(problem, SolverOptions()).plan;
    for (KernelStages::Places places :
         {KernelStages::Places::Narrow, KernelStages::Places::All})
      for (KernelChain::Backward backward :
           {KernelChain::Backward::Early, KernelChain::Backward::Late}) {
        ChainOptions chainOptions;
        chainOptions.places = places;
        chainOptions.backward = backward;
        ChainDP chain(problem, start, chainOptions);
        for (size_t i = 0; i < chain.points().size(); ++i)
          EXPECT_EQ(validate(problem, chain.plan(i), false).error, "") << seed;
      }
  }
}

} // namespace
