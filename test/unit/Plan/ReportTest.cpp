//===- ReportTest.cpp - What a plan says of itself ------------------------===//

#include "ProblemBuilder.h"

#include "ckpt/Plan/Report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

using namespace ckpt::plan;
using ::testing::HasSubstr;
using ::testing::Not;

namespace {

/// A product whose input, another product, is made again for the second read.
struct Recomputation : ProblemBuilder {
  ValueId x, left, right, out;
  Plan plan;

  Recomputation() {
    x = argument(matrix);
    left = named(contraction({memory(x)}, matrix), "h/0/attn \xC2\xB7 dot");
    right = named(contraction({memory(left)}, matrix), "h/0/mlp \xC2\xB7 dot");
    out = named(contraction({memory(left), memory(right)}, matrix), "loss");
    result(out);
    for (Op &op : problem.ops)
      op.flops = 1000;
    plan.kernels = {kernel(left), kernel(right), kernel(left), kernel(out)};
    place(0, 0), place(1, matrixBytes), place(2, 0), place(3, -1);
    plan.arenaBytes = 2 * matrixBytes;
  }

  Solution solution() const {
    Solution result{plan, validate(problem, plan, /*slots=*/true)};
    EXPECT_EQ(result.verdict.error, "");
    return result;
  }

  static constexpr int64_t matrixBytes = 4096;

private:
  ValueId named(ValueId value, std::string name) {
    problem.values[value].name = std::move(name);
    return value;
  }
  void place(size_t kernel, int64_t offset) {
    plan.kernels[kernel].offsets = {offset};
  }
};

Figures someFigures() {
  Figures figures;
  figures.writtenPeakBytes = 30 << 20;
  figures.writtenBytesMoved = 40 << 20;
  figures.baselinePeakBytes = 20 << 20;
  figures.baselineBytesMoved = 25 << 20;
  figures.baselineCostNs = 2000000;
  figures.budgetBytes = 16 << 20;
  figures.peakBytes = 15 << 20;
  figures.livePeakBytes = 14 << 20;
  figures.bytesMoved = 26 << 20;
  figures.costNs = 2500000;
  figures.costBoundNs = 2200000;
  figures.argumentBytes = 512;
  figures.resultBytes = 2048;
  figures.flops = 3000;
  figures.extraFlops = 1000;
  figures.extraFlopsBound = 300;
  figures.nextBytes = 1 << 20;
  figures.nextSavedNs = 20000;
  figures.nextSavedFlopsAtMost = 60;
  figures.planningMs = 12;
  return figures;
}

std::string report(const Recomputation &problem, const Figures &figures,
                   const ReportText &text = {"@f", "none", {}}) {
  std::ostringstream os;
  printReport(problem.problem, problem.solution(), figures, text, os);
  return os.str();
}

TEST(Report, SaysEverythingOnce) {
  Figures figures = someFigures();
  figures.firstPlanMs = 4;
  figures.stoppedByClock = true;
  EXPECT_EQ(
      report(Recomputation(), figures,
             {"@f", "budget, 16.0 MiB", {"layers recomputed: 0"}}),
      "ckpt: @f, 3 ops in 4 kernels; strategy: budget, 16.0 MiB\n"
      "\n"
      "                       peak     bytes moved    planned time\n"
      "  as written       30.0 MiB        40.0 MiB                \n"
      "  baseline         20.0 MiB        25.0 MiB        2.000 ms\n"
      "  plan             15.0 MiB        26.0 MiB        2.500 ms\n"
      "\n"
      "  budget 16.0 MiB, arena 15.0 MiB (largest live sum 14.0 MiB)\n"
      "  the caller's: arguments 512 B, results 2.0 KiB; with the arena "
      "15.0 MiB\n"
      "  extra work 33.33 % of the step's FLOPs; no plan within the budget "
      "does with less than 10.00 %: gap 23.33 %\n"
      "  extra time 25.00 % of the baseline's, by the cost model; no plan, "
      "fused or ordered in any way, does with less than 10.00 %: gap 15.00 %\n"
      "  the next 1,024.0 KiB would save 1.00 % of the time, by plans that "
      "were found, and at most 2.00 % of the FLOPs, by the bound\n"
      "  layers recomputed: 0\n"
      "\n"
      "  live at the peak (kernel 1 of 4)\n"
      "         4.0 KiB  h/0/attn \xC2\xB7 dot\n"
      "         4.0 KiB  h/0/mlp \xC2\xB7 dot\n"
      "\n"
      "  recomputed, by layer\n"
      "         33.33 %  h/*/attn: 1 anchors, 1 values in memory\n"
      "\n"
      "  planned in 12 ms (first plan after 4 ms); the time limit ended the "
      "search\n");
}

TEST(Report, WithoutABudgetSpeaksOfTheArena) {
  Figures figures = someFigures();
  figures.budgetBytes = -1;
  figures.nextBytes = 0;
  std::string text = report(Recomputation(), figures);
  EXPECT_THAT(text, Not(HasSubstr("budget")));
  EXPECT_THAT(text, HasSubstr("no plan in this arena does with less than"));
  EXPECT_THAT(text, HasSubstr("planned in 12 ms\n"));
}

TEST(Report, NamesTheSubSolver) {
  Recomputation problem;
  Solution solution = problem.solution();
  solution.subSolver = "descent";
  std::ostringstream os;
  printReport(problem.problem, solution, someFigures(), {"@f", "none", {}}, os);
  EXPECT_THAT(os.str(),
              HasSubstr("planned in 12 ms by sub-solver 'descent'\n"));
}

TEST(Report, WarnsOfABudgetThatCostsFarTooMuch) {
  Figures figures = someFigures();
  EXPECT_THAT(report(Recomputation(), figures), Not(HasSubstr("warning")));
  figures.reliefBytes = 18 << 20;
  figures.reliefCostNs = 1200000;
  figures.reliefExtraFlops = 30;
  EXPECT_THAT(report(Recomputation(), figures),
              HasSubstr("  warning: within this budget a step takes 2.500 ms "
                        "with 33.33 % extra work; 18.0 MiB are enough for "
                        "1.200 ms with 1.00 %, by plans that were found\n"));
  EXPECT_EQ(figures.integers()["relief_bytes"], 18 << 20);
}

/// The baseline is fast, but not proved to be the fastest.
TEST(Report, ABoundBelowTheBaselineSaysHowMuchFasterAPlanCouldBe) {
  Figures figures = someFigures();
  figures.costBoundNs = 1900000;
  EXPECT_THAT(report(Recomputation(), figures),
              HasSubstr("in any way, is more than 5.00 % faster than the "
                        "baseline: gap 30.00 %\n"));
}

TEST(Report, SaysThatNothingIsRecomputed) {
  Recomputation once;
  once.plan.kernels.erase(once.plan.kernels.begin() + 2);
  std::string text = report(once, someFigures());
  EXPECT_THAT(text, HasSubstr("nothing that stands in memory is recomputed"));
  EXPECT_THAT(text, Not(HasSubstr("by layer")));
}

TEST(Report, TheNamedLayerCountsMoreThanTheNameOfTheValue) {
  Recomputation layered;
  layered.problem.layers = {"encoder/12"};
  layered.opOf(layered.left).layer = 0;
  EXPECT_THAT(report(layered, someFigures()), HasSubstr("  encoder/*: 1 anch"));
}

TEST(Report, AStepWithoutWorkHasNoGap) {
  Figures figures;
  EXPECT_EQ(figures.gap(), 0);
  std::string text = report(Recomputation(), figures);
  EXPECT_THAT(text, HasSubstr("gap 0.00 %"));
  EXPECT_THAT(text, Not(HasSubstr("nan")));
}

TEST(Figures, TheGapIsNeverNegative) {
  Figures figures;
  figures.flops = 1000;
  figures.extraFlops = 50;
  figures.extraFlopsBound = 20;
  EXPECT_DOUBLE_EQ(figures.gap(), 0.03);
  figures.extraFlopsBound = 60;
  EXPECT_EQ(figures.gap(), 0);
}

/// Values made one after the other, all read at the end.
struct ManyLive : ProblemBuilder {
  explicit ManyLive(const std::vector<std::string> &names) {
    ValueId x = argument(matrix);
    std::vector<Read> reads;
    for (const std::string &name : names) {
      ValueId value = contraction({memory(x)}, matrix);
      problem.values[value].name = name;
      reads.push_back(memory(value));
    }
    result(contraction(reads, matrix));
  }

  Verdict verdict() const {
    Verdict result = validate(problem, oneKernelPerOp(problem), false);
    EXPECT_EQ(result.error, "");
    return result;
  }
};

std::vector<std::string> groupsOf(const ManyLive &problem) {
  std::vector<std::string> lines;
  for (const LiveAtPeak &group : liveAtPeak(problem.problem, problem.verdict()))
    lines.push_back(group.name + " " + std::to_string(group.count) + " " +
                    std::to_string(group.bytes));
  return lines;
}

TEST(LiveAtPeak, NumbersStandTogetherWordsDoNot) {
  EXPECT_EQ(groupsOf(ManyLive({"h/0/attn", "h/11/attn", "h/0/mlp", "layer_2/x",
                               "layer_13/x"})),
            (std::vector<std::string>{"h/*/attn 2 8192", "layer_*/x 2 8192",
                                      "h/0/mlp 1 4096"}));
}

TEST(LiveAtPeak, ANumberWithinAWordIsPartOfIt) {
  EXPECT_EQ(groupsOf(ManyLive({"conv1/x", "conv2/x"})),
            (std::vector<std::string>{"conv1/x 1 4096", "conv2/x 1 4096"}));
}

TEST(LiveAtPeak, CountsSlotsOfTheArenaOnly) {
  ManyLive three({"a", "b", "c"});
  three.problem.values[1].bytes = 4000; // A slot of 4096.
  three.result(2);
  EXPECT_EQ(groupsOf(three),
            (std::vector<std::string>{"a 1 4096", "c 1 4096"}));
}

TEST(LiveAtPeak, APlaceThatIsTakenOverCountsOnce) {
  ProblemBuilder b;
  ValueId x = b.argument(matrix);
  ValueId made = b.contraction({memory(x)}, matrix);
  ValueId mapped = b.fusible({point(made)}, matrix);
  b.problem.values[mapped].name = "mapped";
  b.result(b.contraction({memory(mapped)}, matrix));
  Plan plan = oneKernelPerOp(b.problem);
  plan.kernels[0].offsets = plan.kernels[1].offsets = {0};
  plan.kernels[2].offsets = {-1};
  plan.arenaBytes = 4096;
  Verdict verdict = validate(b.problem, plan, /*slots=*/true);
  ASSERT_EQ(verdict.error, "");
  verdict.peakKernel = 1;
  std::vector<LiveAtPeak> live = liveAtPeak(b.problem, verdict);
  ASSERT_EQ(live.size(), 1u);
  EXPECT_EQ(live[0].name, "mapped");
}

TEST(Report, TheSmallestGroupsAtThePeakAreSummedUp) {
  std::vector<std::string> names;
  for (char c = 'a'; c < 'a' + 14; ++c)
    names.push_back(std::string(1, c));
  ManyLive problem(names);
  Solution solution{oneKernelPerOp(problem.problem), problem.verdict()};
  std::ostringstream os;
  printReport(problem.problem, solution, {}, {}, os);
  EXPECT_THAT(os.str(), HasSubstr("         4.0 KiB  l\n"
                                  "         8.0 KiB  in 2 more groups\n"));
}

} // namespace
