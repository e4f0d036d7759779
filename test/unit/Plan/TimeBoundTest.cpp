//===- TimeBoundTest.cpp - Bounds on time, one rule each ------------------===//

#include "ProblemBuilder.h"

#include "ckpt/Plan/Generate.h"
#include "ckpt/Plan/Solvers.h"

#include <gtest/gtest.h>

#include <iostream>
#include <random>

using namespace ckpt::plan;

namespace {

/// More than any plan takes.
constexpr int64_t unlimited = INT64_MAX / 4;

/// The least time of any plan within \p bytes, by exhaustive search.
int64_t leastNs(const Problem &problem, int64_t bytes = unlimited) {
  std::optional<Plan> plan = solveReference(problem, bytes, Objective::Time);
  return plan ? validate(problem, *plan, false).timeNs : -1;
}

/// A product with its epilogue, and a copy of it that no anchor can write: time
/// of two kernels that read and write what they must.
TEST(TimeBound, AddsUpTheTimeOfKernelsThatEveryPlanHas) {
  ProblemBuilder b;
  ValueId x = b.argument(matrix);
  ValueId product = b.contraction({memory(x)}, matrix);
  ValueId turned = b.fusible({any(product)}, matrix);
  b.result(b.contraction({memory(turned)}, matrix));
  EXPECT_EQ(Bound(b.problem).timeNs(unlimited), leastNs(b.problem));
}

/// Three sums of one value: it is computed in each of them or written once, and
/// both take more than to read it three times.
TEST(TimeBound, ChargesReadersForWhatNobodyHasToWrite) {
  for (int64_t launchNs : {0, 2000, 20000}) {
    ProblemBuilder b;
    b.problem.launchNs = launchNs;
    ValueId x = b.argument(matrix), y = b.argument(matrix),
            z = b.argument(matrix);
    ValueId sum = b.fusible({point(x), point(y), point(z)}, matrix);
    for (int32_t shape : {row, scalar, part})
      b.result(b.reduction({any(sum)}, shape));
    // Every share is rounded.
    EXPECT_LE(Bound(b.problem).timeNs(unlimited), leastNs(b.problem));
    EXPECT_GE(Bound(b.problem).timeNs(unlimited) + 3, leastNs(b.problem));
  }
}

/// The product is written and read with its factor, or both are multiplied
/// behind it, which reads the factor there.
TEST(TimeBound, ChargesReadersForWhatAnEpilogueWrites) {
  for (int64_t computePs : {0, 1'500'000}) {
    ProblemBuilder b;
    ValueId x = b.argument(matrix), y = b.argument(matrix);
    ValueId product = b.contraction({memory(x)}, matrix);
    b.opOf(product).computePs = computePs;
    ValueId scaled = b.fusible({point(product), point(y)}, matrix);
    b.result(b.reduction({any(scaled)}, row));
    EXPECT_LE(Bound(b.problem).timeNs(unlimited), leastNs(b.problem));
    EXPECT_GE(Bound(b.problem).timeNs(unlimited) + 1, leastNs(b.problem));
  }
}

/// A view of the mask is a result, written next to what it is computed from:
/// reading it is no reason to pay again.
TEST(TimeBound, KnowsThatAResultMayShowAValue) {
  ProblemBuilder b;
  ValueId x = b.argument(matrix), y = b.argument(matrix);
  ValueId sum = b.fusible({point(x), any(y)}, matrix);
  ValueId mask = b.fusible({any(sum)}, flat);
  ValueId shown = b.view(mask, Access::Reshape, matrix);
  ValueId counted = b.fusible({any(shown)}, flat);
  for (ValueId value : {mask, shown, counted})
    b.problem.values[value].bytes = 1024;
  for (ValueId value : {sum, shown, counted})
    b.result(value);
  EXPECT_LE(Bound(b.problem).timeNs(unlimited), leastNs(b.problem));
}

/// The only kernel of the product writes both that is read, and reads the
/// factor once.
TEST(TimeBound, GivesBackWhatAFirstKernelWrites) {
  ProblemBuilder b;
  ValueId x = b.argument(matrix), y = b.argument(matrix);
  ValueId product = b.contraction({memory(x)}, matrix);
  b.opOf(product).mayRepeat = false;
  ValueId scaled = b.fusible({point(product), point(y)}, matrix);
  ValueId shown = b.view(product, Access::Reshape, flat);
  ValueId factor = b.view(y, Access::Reshape, flat);
  ValueId other = b.fusible({point(shown), point(factor)}, flat);
  for (ValueId value : {product, y, shown, factor})
    b.problem.values[value].bytes *= 2;
  for (ValueId value : {scaled, other})
    for (int32_t shape : {row, scalar})
      b.result(b.reduction({any(value)}, shape));
  EXPECT_LE(Bound(b.problem).timeNs(unlimited), leastNs(b.problem));
}

/// Rows of a table are looked up in memory.
TEST(TimeBound, ChargesTablesThatAreLookedUp) {
  ProblemBuilder b;
  ValueId table = b.argument(matrix);
  b.result(b.fusible({gather(table)}, row));
  EXPECT_EQ(Bound(b.problem).timeNs(unlimited), leastNs(b.problem));
}

/// What a value is computed from is written by the same kernel.
TEST(TimeBound, KnowsThatOneKernelWritesSeveralValues) {
  ProblemBuilder b;
  ValueId x = b.argument(matrix), y = b.argument(matrix);
  ValueId first = b.fusible({point(x), point(y)}, matrix);
  ValueId second = b.fusible({point(first), point(x)}, matrix);
  for (ValueId value : {first, second})
    for (int32_t shape : {row, scalar})
      b.result(b.reduction({any(value)}, shape));
  EXPECT_LE(Bound(b.problem).timeNs(unlimited), leastNs(b.problem));
}

/// What follows a product is computed behind it, where it adds to its
/// arithmetic, or by a kernel of its own.
TEST(TimeBound, AddsTheArithmeticOfEpilogues) {
  ProblemBuilder b;
  ValueId x = b.argument(matrix);
  ValueId product = b.contraction({memory(x)}, matrix);
  ValueId activated = b.fusible({point(product)}, matrix);
  b.result(activated);
  b.opOf(product).computePs = 5'000'000;
  b.opOf(activated).computePs = 500'000;
  EXPECT_EQ(leastNs(b.problem), 5500);
  EXPECT_EQ(Bound(b.problem).timeNs(unlimited), 5500);
}

/// A value that does not fit has to be written again for the last product. If
/// it is computed behind a product, that may run again and write it at once.
TEST(TimeBound, ChargesTheTimeOfWritingAgain) {
  for (bool isBehindProduct : {false, true}) {
    ProblemBuilder b;
    b.problem.launchNs = 100;
    ValueId x = b.argument(matrix), y = b.argument(matrix);
    ValueId first = isBehindProduct ? b.contraction({memory(x)}, matrix) : x;
    ValueId sum = b.fusible({point(first), point(y)}, matrix);
    ValueId second = b.contraction({memory(sum)}, matrix);
    ValueId third = b.contraction({memory(second)}, matrix);
    ValueId fourth = b.contraction({memory(third)}, matrix);
    b.result(b.contraction({memory(fourth), memory(sum)}, matrix));
    int64_t bytes = 2 * 4096;
    int64_t ns = Bound(b.problem).timeNs(bytes);
    EXPECT_GE(ns, Bound(b.problem).timeNs(unlimited) + 409);
    EXPECT_LE(ns, leastNs(b.problem, bytes));
  }
}

/// A product and what follows it do not fit; one kernel makes both again.
TEST(TimeBound, KnowsThatAProductAndItsEpilogueAreWrittenAtOnce) {
  ProblemBuilder b;
  ValueId x = b.argument(matrix), y = b.argument(matrix);
  ValueId first = b.contraction({memory(x)}, matrix);
  b.opOf(first).computePs = 5'000'000;
  ValueId sum = b.fusible({point(first), point(y)}, matrix);
  ValueId second = b.contraction({memory(sum), memory(first)}, matrix);
  ValueId third = b.contraction({memory(second)}, matrix);
  b.opOf(third).workspaceBytes = 4096;
  ValueId fourth = b.contraction({memory(third)}, part);
  b.result(b.contraction({memory(fourth), memory(sum), memory(first)}, matrix));
  int64_t bytes = 3 * 4096;
  int64_t ns = Bound(b.problem).timeNs(bytes);
  EXPECT_GE(ns, Bound(b.problem).timeNs(unlimited) + 5000);
  EXPECT_LE(ns, leastNs(b.problem, bytes));
}

/// The first product does not fit and runs again, but then it writes at once
/// what had to be written anyway: \p count values.
Problem writtenBehindARepetition(int count) {
  ProblemBuilder b;
  ValueId x = b.argument(matrix);
  ValueId first = b.contraction({memory(x)}, matrix);
  ValueId second = b.contraction({memory(first)}, matrix);
  ValueId third = b.contraction({memory(second)}, matrix);
  b.opOf(first).computePs = 5'000'000;
  b.opOf(third).workspaceBytes = 4096;
  std::vector<Read> operands;
  for (int i = 0; i < count; ++i)
    operands.push_back(memory(b.fusible({point(first), any(third)}, matrix)));
  b.result(b.contraction(operands, matrix));
  return b.problem;
}

TEST(TimeBound, KnowsThatARepetitionMayWriteWhatIsNew) {
  for (int count : {1, 2}) {
    Problem problem = writtenBehindARepetition(count);
    int64_t bytes = 3 * 4096;
    int64_t ns = Bound(problem).timeNs(bytes);
    EXPECT_LE(ns, leastNs(problem, bytes));
    EXPECT_GT(ns, Bound(problem).timeNs(unlimited));
  }
}

/// The repetition that a tight budget needs takes a kernel's time.
TEST(TimeBound, ChargesTheTimeOfRepetitions) {
  ProblemBuilder b;
  ValueId x = b.argument(matrix);
  ValueId first = b.contraction({memory(x)}, matrix);
  ValueId second = b.contraction({memory(first)}, matrix);
  ValueId third = b.contraction({memory(second)}, matrix);
  b.result(b.contraction({memory(third), memory(first)}, matrix));
  EXPECT_EQ(Bound(b.problem).timeNs(2 * 4096), leastNs(b.problem, 2 * 4096));
  EXPECT_GT(Bound(b.problem).timeNs(2 * 4096),
            Bound(b.problem).timeNs(unlimited));
}

/// What a sum to come reads was dropped: the product runs again before it, and
/// so is not the first to write what needs the sum.
TEST(TimeBound, KnowsThatARepetitionBeforeAReaderIsNotTheFirstToWriteBehindIt) {
  ProblemBuilder b;
  b.problem.bytesPerMicrosecond = 2000;
  ValueId x = b.argument(matrix);
  ValueId scores = b.contraction({memory(x)}, matrix);
  b.opOf(scores).computePs = 5'000'000;
  ValueId second = b.contraction({memory(scores)}, matrix);
  ValueId third = b.contraction({memory(second)}, matrix);
  b.opOf(third).workspaceBytes = 4096;
  ValueId sum = b.reduction({any(scores), any(third)}, row);
  ValueId change = b.fusible({point(scores), any(sum)}, matrix);
  b.result(b.contraction({memory(change), memory(third)}, matrix));
  int64_t bytes = 3 * 4096;
  int64_t ns = Bound(b.problem).timeNs(bytes);
  EXPECT_LE(ns, leastNs(b.problem, bytes));
  EXPECT_GE(ns, Bound(b.problem).timeNs(unlimited) + 4000);
}

/// The slope of an activation is read behind the last product, whose kernel has
/// no time to spare: it is kept, which needs room, or computed inside again.
TEST(TimeBound, ChargesTheArithmeticOfWhatIsNotKept) {
  ProblemBuilder b;
  ValueId first = b.contraction({memory(b.argument(matrix))}, matrix);
  ValueId square = b.fusible({point(first)}, matrix);
  ValueId slope = b.fusible({point(square)}, matrix);
  ValueId activated = b.fusible({point(slope)}, matrix);
  ValueId second = b.contraction({memory(activated)}, matrix);
  ValueId third = b.contraction({memory(second)}, matrix);
  b.result(b.fusible({point(third), point(slope), point(first)}, matrix));
  for (ValueId product : {first, third})
    b.opOf(product).computePs = 5'000'000;
  for (ValueId value : {square, slope})
    b.opOf(value).computePs = 150'000;
  Bound bound(b.problem);
  int64_t all = 4 * 4096, few = 3 * 4096;
  EXPECT_EQ(bound.timeNs(all), leastNs(b.problem, all));
  EXPECT_EQ(bound.timeNs(few), leastNs(b.problem, few));
  EXPECT_EQ(bound.timeNs(few), bound.timeNs(all) + 300);
}

/// A product to come does not pay for what is computed behind it if it need not
/// be: another kernel does that as it has to wait for its bytes anyway.
TEST(TimeBound, KnowsThatOthersMayComputeWhatIsNotKept) {
  ProblemBuilder b;
  ValueId x = b.argument(matrix);
  ValueId first = b.contraction({memory(x)}, matrix);
  ValueId slope = b.fusible({point(first)}, matrix);
  ValueId second = b.contraction({memory(first)}, matrix);
  ValueId third = b.contraction({memory(second)}, matrix);
  b.result(b.fusible({point(third), point(slope)}, matrix));
  b.opOf(third).computePs = 1'000'000;
  b.opOf(slope).computePs = 5'000'000;
  for (int64_t bytes : {2 * 4096, 3 * 4096})
    EXPECT_LE(Bound(b.problem).timeNs(bytes), leastNs(b.problem, bytes));
}

/// A training step in small: products, sums and what depends on both, where
/// earlier values are read again at the end.
Problem randomReaders(uint64_t seed) {
  std::mt19937_64 random(seed);
  auto pick = [&](int64_t count) {
    return static_cast<int64_t>(random() % static_cast<uint64_t>(count));
  };
  ProblemBuilder b;
  b.problem.launchNs = pick(3) == 0 ? 1 : pick(2000);
  b.problem.bytesPerMicrosecond = 200 + pick(5) * 1000;
  ValueId x = b.argument(matrix), y = b.argument(matrix);
  std::vector<ValueId> forms = {b.contraction({memory(x)}, matrix)};
  b.opOf(forms[0]).computePs = pick(12) * 1'000'000;
  auto form = [&] { return forms[pick(static_cast<int64_t>(forms.size()))]; };
  if (pick(2))
    forms.push_back(b.fusible({point(forms[0]), point(y)}, matrix));
  if (pick(2)) {
    ValueId mean = b.reduction({any(forms[0])}, pick(2) ? row : scalar);
    forms.push_back(b.fusible({point(forms[0]), any(mean)}, matrix));
  }
  ValueId loss = b.contraction({memory(form())}, matrix);
  b.opOf(loss).workspaceBytes = pick(3) * 2048;
  b.opOf(loss).computePs = pick(8) * 1'000'000;
  ValueId reader;
  if (pick(2)) {
    Shape shape = pick(2) ? row : scalar;
    reader = b.reduction({any(form()), any(loss)}, shape);
  } else {
    reader = b.contraction({memory(form()), memory(loss)}, matrix);
    b.opOf(reader).computePs = pick(6) * 1'000'000;
  }
  std::vector<Read> operands = {memory(reader)};
  for (int64_t i = pick(2); i >= 0; --i) {
    forms.push_back(
        b.fusible({point(form()), any(pick(2) ? reader : loss)}, matrix));
    operands.push_back(memory(forms.back()));
  }
  b.result(b.contraction(std::move(operands), matrix));
  // Large enough that sums are statistics.
  if (pick(2))
    for (Value &value : b.problem.values)
      if (value.shape == matrix) {
        value.bytes *= 64;
        value.elements *= 64;
      }
  return b.problem;
}

/// A training step in small: products in whose epilogues slopes of activations
/// are read, with arithmetic that takes time.
Problem randomSlopes(uint64_t seed) {
  std::mt19937_64 random(seed);
  auto pick = [&](int64_t count) {
    return static_cast<int64_t>(random() % static_cast<uint64_t>(count));
  };
  ProblemBuilder b;
  bool isFull = pick(2);
  b.problem.launchNs = pick(2) * pick(500);
  b.problem.bytesPerMicrosecond = 4000 << pick(4);
  auto product = [&](std::vector<Read> reads) {
    ValueId value = b.contraction(std::move(reads), matrix);
    b.opOf(value).computePs = isFull || pick(2) ? 5'000'000 : 0;
    b.opOf(value).workspaceBytes = isFull || pick(4) ? 0 : 4096;
    return value;
  };
  auto compute = [&](std::vector<Read> reads) {
    ValueId value = b.fusible(std::move(reads), matrix);
    b.opOf(value).computePs = pick(8) * (100'000 << pick(2));
    return value;
  };
  ValueId x = b.argument(matrix);
  std::vector<ValueId> forms = {product({memory(x)})};
  auto form = [&] { return forms[pick(static_cast<int64_t>(forms.size()))]; };
  if (pick(4) == 0)
    forms.push_back(product({memory(x)}));
  for (int64_t i = 1 + pick(2); i >= 0; --i)
    forms.push_back(pick(4) ? compute({point(forms.back())})
                            : compute({point(forms.back()), point(form())}));
  ValueId loss = product({memory(forms.back())});
  ValueId change = product({memory(loss)});
  change = compute({point(change), point(form()), point(form())});
  b.result(pick(3) ? change : product({memory(change), memory(form())}));
  return b.problem;
}

/// Nanoseconds of repetitions that bounds prove of problems of one family, from
/// the fastest plan down, each time in less memory than the last took.
int64_t provenOf(Problem (*make)(uint64_t)) {
  int64_t provenNs = 0;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    Problem problem = make(seed);
    Bound bound(problem);
    int64_t bytes = unlimited;
    int64_t leastNs = bound.timeNs(bytes);
    while (auto plan = solveReference(problem, bytes, Objective::Time)) {
      Verdict verdict = validate(problem, *plan, false);
      int64_t ns = bound.timeNs(bytes);
      EXPECT_LE(ns, verdict.timeNs) << "seed " << seed << ", " << bytes;
      provenNs += ns - leastNs;
      bytes = verdict.livePeakBytes - 1;
    }
  }
  std::cout << provenNs << " ns of repetitions proven\n";
  return provenNs;
}

/// Without any of the rules it is less.
TEST(TimeBound, ExceedsNoPlanThatReadsAgain) {
  EXPECT_GE(provenOf(randomReaders), 3'830'232);
}

TEST(TimeBound, ExceedsNoPlanThatComputesInside) {
  EXPECT_GE(provenOf(randomSlopes), 650'950);
}

/// Attention in full. A value less its mean is as good as the value, and what
/// is made again runs before its readers: without either, nothing is proven.
TEST(TimeBound, ProvesRepetitionsInTransformers) {
  Problem step;
  ASSERT_EQ(generateProblem("gpt", 800, step), "");
  int64_t bytes = solveUnlimited(step, {}).plan.arenaBytes / 10 * 7;
  std::optional<Solution> plan = solveFirst(step, bytes, {});
  ASSERT_TRUE(plan);
  Bound bound(step);
  EXPECT_LE(bound.timeNs(bytes), plan->verdict.timeNs);
  EXPECT_GT(bound.timeNs(bytes), bound.timeNs(unlimited));
}

} // namespace
