//===- ReduceTimeTest.cpp - Values shared or joined after the fact ------===//

#include "Plan/Improve/ReduceTime.h"
#include "ProblemBuilder.h"
#include "RandomProblem.h"

#include "ckpt/Plan/Pack.h"
#include "ckpt/Plan/Solvers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace ckpt::plan;

namespace {

/// Rows gathered from a table: each reader would read the whole table.
TEST(ReduceTime, WritesOnceWhatSeveralKernelsCompute) {
  ProblemBuilder b;
  ValueId table = b.argument(matrix);
  ValueId rows = b.fusible({any(table)}, row);
  Plan plan;
  b.problem.launchNs = 10;
  for (int reader = 0; reader < 3; ++reader) {
    ValueId sum = b.reduction({any(rows)}, row);
    b.result(sum);
    plan.kernels.push_back(b.kernel({rows, sum}, {sum}));
  }
  Verdict before = validate(b.problem, plan, false);
  ASSERT_EQ(before.error, "");
  // The rows need memory, which nothing did before.
  Plan tight = plan;
  EXPECT_FALSE(reduceTime(b.problem, tight, 0));
  ASSERT_TRUE(reduceTime(b.problem, plan, 1 << 20));
  ASSERT_EQ(plan.kernels.size(), 4u);
  EXPECT_EQ(plan.kernels[0].outputs, std::vector<ValueId>{rows});
  Verdict after = validate(b.problem, plan, false);
  EXPECT_EQ(after.error, "");
  EXPECT_LT(after.timeNs, before.timeNs);
}

/// Of a chain that several kernels compute, the end is written.
TEST(ReduceTime, WritesTheEndOfAChain) {
  ProblemBuilder b;
  ValueId table = b.argument(matrix);
  std::vector<ValueId> chain = {b.fusible({any(table)}, row)};
  for (int link = 0; link < 5; ++link)
    chain.push_back(b.fusible({point(chain.back())}, row));
  Plan plan;
  b.problem.launchNs = 10;
  for (int reader = 0; reader < 3; ++reader) {
    ValueId sum = b.reduction({any(chain.back())}, row);
    b.result(sum);
    std::vector<ValueId> inside = chain;
    inside.push_back(sum);
    plan.kernels.push_back(b.kernel(inside, {sum}));
  }
  ASSERT_EQ(validate(b.problem, plan, false).error, "");
  ASSERT_TRUE(reduceTime(b.problem, plan, 1 << 20));
  ASSERT_EQ(plan.kernels.size(), 4u);
  EXPECT_EQ(plan.kernels[0].outputs, std::vector<ValueId>{chain.back()});
  // No time is left for any change.
  EXPECT_FALSE(reduceTime(b.problem, plan, 1 << 20, {}));
}

/// A recurrence of two terms, as of a leapfrog integrator: each state needs the
/// last two, and each kernel computes all of them from the start. One state in
/// memory saves nothing as long as the other is made again.
TEST(ReduceTime, WritesTwoStatesThatKernelsGrowAlong) {
  constexpr int steps = 48, links = 10;
  ProblemBuilder b;
  Plan plan;
  b.problem.launchNs = 10;
  std::vector<ValueId> states = {
      b.fusible({point(b.argument(matrix))}, matrix),
      b.fusible({point(b.argument(matrix))}, matrix)};
  std::vector<ValueId> inside = states;
  for (int step = 0; step < steps; ++step) {
    ValueId next = b.argument(matrix);
    for (int link = 0; link < links; ++link)
      inside.push_back(next = b.fusible({point(next)}, matrix));
    states.push_back(b.fusible(
        {point(states[step]), point(states[step + 1]), point(next)}, matrix));
    inside.push_back(states.back());
    ValueId seen = b.fusible({point(states.back())}, matrix);
    b.result(seen);
    std::vector<ValueId> made = inside;
    made.push_back(seen);
    plan.kernels.push_back(b.kernel(made, {seen}));
  }
  for (Op &op : b.problem.ops)
    if (op.kind == OpKind::Fusible)
      op.computePs = 20 * b.problem.values[op.results.front()].bytes;
  Verdict before = validate(b.problem, plan, false);
  ASSERT_EQ(before.error, "");
  ASSERT_TRUE(reduceTime(b.problem, plan, 1 << 20));
  Verdict after = validate(b.problem, plan, false);
  EXPECT_EQ(after.error, "");
  EXPECT_LT(3 * after.timeNs, before.timeNs);
  size_t ops = 0;
  for (const Kernel &kernel : plan.kernels)
    ops += kernel.ops.size();
  EXPECT_LT(ops, size_t{8} * steps * links);
}

/// Writing a sum and reading it takes longer than making it inside.
TEST(ReduceTime, ComputesInsideWhatIsReadLittle) {
  ProblemBuilder b;
  ValueId x = b.contraction({memory(b.argument(matrix))}, matrix);
  ValueId scaled = b.fusible({point(x)}, matrix);
  Plan plan;
  ValueId other = b.contraction({memory(x)}, matrix);
  b.result(other);
  plan.kernels = {b.kernel(x), b.kernel(scaled), b.kernel(other)};
  for (int reader = 0; reader < 2; ++reader) {
    ValueId sum = b.reduction({any(scaled)}, row);
    b.result(sum);
    plan.kernels.push_back(b.kernel(sum));
  }
  ASSERT_EQ(validate(b.problem, plan, false).error, "");
  ASSERT_TRUE(reduceTime(b.problem, plan, 0));
  ASSERT_EQ(plan.kernels.size(), 4u);
  EXPECT_EQ(plan.kernels.back().ops.size(), 2u);
  EXPECT_EQ(validate(b.problem, plan, false).error, "");
}

/// A gradient that only an update at the end reads.
TEST(ReduceTime, MovesAnAnchorToTheKernelThatReadsIt) {
  ProblemBuilder b;
  ValueId x = b.argument(matrix);
  ValueId gradient = b.contraction({memory(x)}, matrix);
  ValueId other = b.contraction({memory(x)}, matrix);
  ValueId last = b.contraction({memory(other)}, matrix);
  ValueId sum = b.fusible({point(gradient), point(last)}, matrix);
  b.result(sum);
  Plan plan;
  for (ValueId value : {gradient, other, last, sum})
    plan.kernels.push_back(b.kernel(value));
  ASSERT_EQ(validate(b.problem, plan, false).error, "");
  ASSERT_TRUE(reduceTime(b.problem, plan, 0));
  ASSERT_EQ(plan.kernels.size(), 3u);
  EXPECT_EQ(plan.kernels.back().outputs, std::vector<ValueId>{sum});
  EXPECT_EQ(plan.kernels.back().ops.size(), 2u);
  EXPECT_EQ(validate(b.problem, plan, false).error, "");
}

/// The slope of an activation is multiplied behind a product that has no time
/// to spare, while the kernel that writes the activation again waits for its
/// bytes, before it or after it.
TEST(ReduceTime, TakesArithmeticToAKernelThatWaitsForItsBytes) {
  for (bool isBefore : {false, true}) {
    ProblemBuilder b;
    ValueId x = b.argument(matrix), y = b.argument(matrix);
    ValueId argument = b.contraction({memory(x)}, matrix);
    ValueId activated = b.fusible({point(argument)}, matrix);
    ValueId next = b.contraction({memory(activated)}, part);
    ValueId weights = b.contraction({memory(activated), memory(y)}, part);
    ValueId product = b.contraction({memory(next), memory(y)}, matrix);
    ValueId change = b.fusible({point(product), point(argument)}, matrix);
    ValueId last = b.contraction({memory(change)}, matrix);
    b.result(weights);
    b.result(last);
    b.opOf(product).computePs = 5'000'000;
    b.opOf(change).computePs = 1'000'000;
    std::vector<Kernel> again = {b.kernel(activated), b.kernel(weights)};
    Kernel changed = b.kernel({product, change}, {change});
    Plan plan;
    plan.kernels = {b.kernel({argument, activated}, {argument, activated}),
                    b.kernel(next)};
    if (!isBefore)
      plan.kernels.push_back(changed);
    plan.kernels.insert(plan.kernels.end(), again.begin(), again.end());
    if (isBefore)
      plan.kernels.push_back(changed);
    plan.kernels.push_back(b.kernel(last));
    Verdict before = validate(b.problem, plan, false);
    ASSERT_EQ(before.error, "");
    ASSERT_TRUE(reduceTime(b.problem, plan, before.livePeakBytes + 4096));
    Verdict after = validate(b.problem, plan, false);
    EXPECT_EQ(after.error, "");
    EXPECT_LT(after.timeNs, before.timeNs);
    // The product by itself, then both, and only then their readers.
    ASSERT_EQ(plan.kernels.size(), 6u);
    EXPECT_EQ(plan.kernels[2].outputs, std::vector<ValueId>{product});
    EXPECT_THAT(plan.kernels[3].outputs,
                testing::UnorderedElementsAre(activated, change));
  }
}

/// Attention in small: probabilities are computed from scores once more for a
/// product, and so are the scores' gradients. Both read the scores; as one
/// kernel they read them once, and the product waits.
TEST(ReduceTime, WritesTogetherWhatReadsTheSame) {
  for (bool isReadBetween : {false, true}) {
    ProblemBuilder b;
    ValueId x = b.argument(matrix);
    ValueId scores = b.contraction({memory(x)}, matrix);
    ValueId probabilities = b.fusible({any(scores)}, matrix);
    ValueId product = b.contraction({memory(probabilities)}, matrix);
    ValueId between =
        b.contraction({memory(isReadBetween ? product : x)}, matrix);
    ValueId gradients = b.fusible({any(scores), any(between)}, matrix);
    ValueId last = b.contraction({memory(gradients)}, matrix);
    b.result(product);
    b.result(last);
    Plan plan;
    for (ValueId value :
         {scores, probabilities, product, between, gradients, last})
      plan.kernels.push_back(b.kernel(value));
    ASSERT_EQ(validate(b.problem, plan, false).error, "");
    // Now or never: what is read in between cannot wait.
    EXPECT_EQ(reduceTime(b.problem, plan, INT64_MAX), !isReadBetween);
    ASSERT_EQ(validate(b.problem, plan, false).error, "");
    if (isReadBetween)
      continue;
    ASSERT_EQ(plan.kernels.size(), 5u);
    EXPECT_EQ(plan.kernels[2].outputs,
              (std::vector<ValueId>{gradients, probabilities}));
    EXPECT_EQ(plan.kernels[3].outputs, std::vector<ValueId>{product});
  }
}

/// The gradient of a normalisation in small: a sum of products with what a
/// matrix product makes. Behind that, which takes longer than all it moves, the
/// products cost nothing.
TEST(ReduceTime, WritesAlongWithWhatItIsMadeOf) {
  ProblemBuilder b;
  ValueId x = b.argument(matrix);
  ValueId gradient = b.contraction({memory(x)}, matrix);
  b.opOf(gradient).computePs = 10 * 1000 * 1000;
  ValueId last = b.contraction({memory(gradient)}, matrix);
  ValueId products = b.fusible({point(x), point(gradient)}, matrix);
  ValueId sum = b.reduction({any(products)}, row);
  b.result(last);
  b.result(sum);
  Plan plan;
  plan.kernels = {b.kernel(gradient), b.kernel(last),
                  b.kernel({products, sum}, {sum})};
  Verdict before = validate(b.problem, plan, false);
  ASSERT_EQ(before.error, "");
  ASSERT_TRUE(reduceTime(b.problem, plan, 1 << 20));
  ASSERT_EQ(plan.kernels.size(), 3u);
  EXPECT_EQ(plan.kernels[0].outputs,
            (std::vector<ValueId>{gradient, products}));
  EXPECT_EQ(plan.kernels[2].ops.size(), 1u);
  EXPECT_EQ(validate(b.problem, plan, false).error, "");
}

/// Two values that one kernel reads are products of what it would have to read
/// instead: only without both of them less is moved.
TEST(ReduceTime, ComputesInsideWhatOneKernelReadsTogether) {
  ProblemBuilder b;
  ValueId y = b.argument(matrix), z = b.argument(matrix);
  ValueId x = b.contraction({memory(y)}, matrix);
  ValueId first = b.fusible({point(x), point(y)}, matrix);
  ValueId second = b.fusible({point(x), point(z)}, matrix);
  ValueId both = b.fusible({point(first), point(z)}, matrix);
  ValueId next = b.contraction({memory(x)}, matrix);
  ValueId last = b.contraction({memory(both)}, matrix);
  ValueId sum = b.fusible({any(first), any(second)}, matrix);
  for (ValueId value : {next, last, sum})
    b.result(value);
  Plan plan;
  plan.kernels = {b.kernel({x, first, second, both}, {x, first, second, both}),
                  b.kernel(next), b.kernel(last), b.kernel(sum)};
  Verdict before = validate(b.problem, plan, false);
  ASSERT_EQ(before.error, "");
  ASSERT_TRUE(reduceTime(b.problem, plan, 1 << 20));
  EXPECT_EQ(plan.kernels[0].outputs, (std::vector<ValueId>{x, both}));
  EXPECT_EQ(plan.kernels[3].ops.size(), 3u);
  Verdict after = validate(b.problem, plan, false);
  EXPECT_EQ(after.error, "");
  EXPECT_LT(after.timeNs, before.timeNs);
}

TEST(ReduceTime, KeepsPlansLegalAndWithinTheLimit) {
  int changed = 0;
  for (uint64_t seed = 0; seed < 2000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomOptions random;
    random.ops = 6 + seed % 20;
    Problem problem = randomProblem(seed, random);
    problem.launchNs = 5;
    Plan plan = solveAsWritten(problem).plan;
    if (seed % 2)
      plan = solveUnlimited(problem, {}).plan;
    plan = withoutSlots(std::move(plan));
    Verdict before = validate(problem, plan, false);
    if (!before.error.empty() || plan.kernels.empty())
      continue;
    int64_t allowed = seed % 3 ? INT64_MAX : 0;
    bool any = reduceTime(problem, plan, allowed);
    Verdict after = validate(problem, plan, false);
    EXPECT_EQ(after.error, "");
    EXPECT_LE(after.livePeakBytes, std::max(allowed, before.livePeakBytes));
    EXPECT_EQ(after.timeNs < before.timeNs, any);
    changed += any;
  }
  EXPECT_GT(changed, 100);
}

/// Halves that are put together need the same work, which their reader would do
/// for each of them: both words of a random generator's state.
TEST(ReduceTime, WritesPartsBeforeTheyArePutTogether) {
  ProblemBuilder b;
  ValueId left = b.fusible({point(b.argument(part))}, part);
  ValueId right = b.fusible({point(b.argument(part))}, part);
  std::vector<ValueId> inside = {left, right};
  for (int round = 0; round < 3; ++round) {
    ValueId next = b.fusible({point(left), point(right)}, part);
    right = b.fusible({point(left), point(right)}, part);
    left = next;
    inside.insert(inside.end(), {left, right});
    for (ValueId value : {left, right})
      b.opOf(value).computePs = 1000 * 1000;
  }
  ValueId half = b.fusible({aligned(left)}, matrix);
  Read rest = point(half);
  rest.destination = true;
  ValueId both = b.fusible({any(right), rest}, matrix);
  ValueId sum = b.reduction({any(both)}, row);
  b.result(sum);
  inside.insert(inside.end(), {half, both, sum});
  Plan plan;
  plan.kernels = {b.kernel(inside, {sum})};
  Verdict before = validate(b.problem, plan, false);
  ASSERT_EQ(before.error, "");
  ASSERT_TRUE(reduceTime(b.problem, plan, 1 << 20));
  ASSERT_EQ(plan.kernels.size(), 2u);
  EXPECT_THAT(plan.kernels[0].outputs,
              testing::UnorderedElementsAre(left, right));
  Verdict after = validate(b.problem, plan, false);
  EXPECT_EQ(after.error, "");
  EXPECT_LT(after.timeNs, before.timeNs);
}

/// The gradient of a maximum in windows: what lands in each of them is made at
/// fewer places than their sum, in which it would be made for every place.
TEST(ReduceTime, WritesPartsBeforeTheyAreAddedUp) {
  ProblemBuilder b;
  std::vector<ValueId> parts, placed, inside;
  for (int window = 0; window < 2; ++window) {
    parts.push_back(b.fusible({point(b.argument(part))}, part));
    b.opOf(parts.back()).computePs = 1000 * 1000;
    ValueId zeros = b.fusible({}, matrix);
    placed.push_back(
        b.fusible({any(parts.back()), destination(zeros)}, matrix));
    inside.insert(inside.end(), {parts.back(), zeros, placed.back()});
  }
  ValueId sum = b.fusible({point(placed[0]), point(placed[1])}, matrix);
  b.result(sum);
  inside.push_back(sum);
  Plan plan;
  plan.kernels = {b.kernel(inside, {sum})};
  ASSERT_EQ(validate(b.problem, plan, false).error, "");
  ASSERT_TRUE(reduceTime(b.problem, plan, 1 << 20));
  ASSERT_EQ(plan.kernels.size(), 2u);
  EXPECT_THAT(plan.kernels[0].outputs,
              testing::UnorderedElementsAreArray(parts));
  EXPECT_EQ(validate(b.problem, plan, false).error, "");
}

/// More memory than walks take is used where it saves much time.
TEST(ReduceTime, LeavesLittleToSaveWithoutALimit) {
  for (uint64_t seed : {195, 1087}) {
    RandomOptions options;
    options.ops = 20 + static_cast<int32_t>(seed % 40);
    options.keeps = options.runOnce = false;
    Problem problem = randomProblem(seed, options);
    Solution unlimited = solveUnlimited(problem, {});
    Plan plan = withoutSlots(unlimited.plan);
    reduceTime(problem, plan, INT64_MAX / 4);
    Verdict refitted = validate(problem, plan, false);
    ASSERT_EQ(refitted.error, "");
    EXPECT_GT(refitted.timeNs * 100, unlimited.verdict.timeNs * 97)
        << "seed " << seed;
  }
}

} // namespace
