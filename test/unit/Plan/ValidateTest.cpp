//===- ValidateTest.cpp - Plans that the simulator has to refuse ----------===//

#include "ProblemBuilder.h"
#include "RandomProblem.h"

#include "ckpt/Plan/Pack.h"
#include "ckpt/Plan/Validate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace ckpt::plan;
using testing::HasSubstr;

namespace {

/// A small step: two products forward, a loop with effects, two backward ops.
class ValidateTest : public testing::Test, protected ProblemBuilder {
protected:
  void SetUp() override {
    opOf(first).flops = 100;
    opOf(second).workspaceBytes = 300;
    opOf(log).mayRepeat = false;
    opOf(log).hasEffects = true;
    opOf(gradient).backward = opOf(update).backward = true;
    result(update);
    ASSERT_EQ(check(problem), "");
    plan.kernels = {kernel(first), kernel(second), kernel({log}, {}),
                    kernel(gradient), kernel(update)};
    packSlots(problem, plan, 0);
    ASSERT_EQ(error(true), "");
  }
  std::string error(bool slots) { return validate(problem, plan, slots).error; }

  ValueId x = argument(matrix);
  ValueId first = contraction({memory(x)}, matrix);
  ValueId second = contraction({memory(first)}, matrix);
  ValueId log = opaque({any(second)}, scalar);
  ValueId gradient = contraction({memory(second), memory(first)}, matrix);
  ValueId update = fusible({point(gradient), point(x)}, matrix);
  Plan plan;
};

TEST_F(ValidateTest, MeasuresAPlan) {
  Verdict verdict = validate(problem, plan, true);
  // The two products and the gradient live together.
  EXPECT_EQ(verdict.livePeakBytes, 3 * 4096);
  EXPECT_EQ(verdict.peakKernel, 3);
  EXPECT_EQ(plan.arenaBytes, 3 * 4096);
  EXPECT_EQ(verdict.extraFlops, 0);
  EXPECT_EQ(verdict.bytesMoved, (2 + 2 + 1 + 3 + 3) * 4096);
  ASSERT_EQ(verdict.instances.size(), 4u);
  EXPECT_EQ(verdict.instances[0].lastRead, 3);
}

TEST_F(ValidateTest, CountsRecomputedAnchors) {
  plan.kernels.insert(plan.kernels.begin() + 3, kernel(first));
  Verdict verdict = validate(problem, plan, false);
  EXPECT_EQ(verdict.error, "");
  EXPECT_EQ(verdict.extraFlops, 100);
  EXPECT_EQ(verdict.instances[0].lastRead, 1);
  EXPECT_TRUE(verdict.instances[2].recomputed);
  EXPECT_EQ(verdict.instances[2].lastRead, 4);
}

TEST_F(ValidateTest, CountsWorkspaceWhileTheKernelRuns) {
  opOf(second).workspaceBytes = 100000;
  EXPECT_EQ(validate(problem, plan, false).livePeakBytes, 2 * 4096 + 100096);
}

TEST_F(ValidateTest, RefusesIllegalKernels) {
  plan.kernels[0].ops.push_back(1);
  EXPECT_THAT(error(false),
              HasSubstr("kernel 0: op 1 (op) is a second anchor"));
}

TEST_F(ValidateTest, RefusesReadsOfWhatIsNotThere) {
  plan.kernels.erase(plan.kernels.begin());
  EXPECT_THAT(error(false), HasSubstr("read before any kernel wrote it"));
}

TEST_F(ValidateTest, RefusesUnwrittenResults) {
  plan.kernels.pop_back();
  EXPECT_THAT(error(false), HasSubstr("never written"));
}

TEST_F(ValidateTest, RefusesWhatRunsOnceToRunTwiceOrNever) {
  Plan valid = plan;
  plan.kernels.push_back(kernel({log}, {}));
  EXPECT_THAT(error(false), HasSubstr("may run only once"));
  plan = valid;
  plan.kernels.erase(plan.kernels.begin() + 2);
  EXPECT_THAT(error(false), HasSubstr("has to run once, but did not"));
}

TEST_F(ValidateTest, RefusesEffectsOutOfOrder) {
  ValueId later = opaque({any(x)}, scalar);
  opOf(later).mayRepeat = false;
  opOf(later).hasEffects = true;
  plan.kernels.insert(plan.kernels.begin(), kernel({later}, {}));
  EXPECT_THAT(error(false), HasSubstr("has effects and runs after op 5"));
}

TEST_F(ValidateTest, RefusesASavedValueMadeTwiceOrUnwritten) {
  problem.values[first].keep = Keep::Save;
  EXPECT_EQ(error(true), "");
  plan.kernels.insert(plan.kernels.begin() + 3, kernel(first));
  EXPECT_THAT(error(false), HasSubstr("is to be saved, but made again"));
  problem.values[first].keep = Keep::Free;
  problem.values[gradient].keep = Keep::Save;
  plan.kernels.pop_back();
  plan.kernels.back() = kernel({gradient, update}, {update});
  EXPECT_THAT(error(false), HasSubstr("is to be saved, but not written"));
}

TEST_F(ValidateTest, RefusesToReadWhatIsToBeRecomputed) {
  problem.values[first].keep = Keep::Recompute;
  // The first backward kernel may read it.
  EXPECT_EQ(error(false), "");
  ValueId start = fusible({point(x)}, matrix);
  opOf(start).backward = true;
  plan.kernels.insert(plan.kernels.begin() + 3, kernel(start));
  EXPECT_THAT(error(false), HasSubstr("kernel 4: value 1 (v1) is to be "));
  // Made again, but still before the backward pass.
  plan.kernels.insert(plan.kernels.begin() + 3, kernel(first));
  EXPECT_THAT(error(false), HasSubstr("is to be recomputed"));
  // Made again in it.
  std::swap(plan.kernels[3], plan.kernels[4]);
  EXPECT_EQ(error(false), "");
}

TEST_F(ValidateTest, RefusesBadOffsets) {
  Plan valid = plan;
  plan.kernels[0].offsets = {100};
  EXPECT_THAT(error(true), HasSubstr("unaligned or outside"));
  plan.kernels[0].offsets = {-256};
  EXPECT_THAT(error(true), HasSubstr("unaligned or outside"));
  plan.kernels[0].offsets = {plan.arenaBytes};
  EXPECT_THAT(error(true), HasSubstr("unaligned or outside"));
  plan.kernels[0].offsets = {INT64_MAX / 256 * 256};
  EXPECT_THAT(error(true), HasSubstr("unaligned or outside"));
  plan.kernels[0].offsets = {};
  EXPECT_THAT(error(true), HasSubstr("one offset per output"));
  plan = valid;
  plan.kernels[4].offsets = {0};
  EXPECT_THAT(error(true), HasSubstr("unaligned or outside"));
  plan = valid;
  plan.kernels[1].workspaceOffset = -1;
  EXPECT_THAT(error(true), HasSubstr("workspace offset"));
  plan = valid;
  plan.kernels[0].workspaceOffset = 0;
  EXPECT_THAT(error(true), HasSubstr("workspace offset"));
}

TEST_F(ValidateTest, RefusesOverlap) {
  Plan valid = plan;
  plan.kernels[1].offsets = plan.kernels[0].offsets;
  EXPECT_THAT(error(true), HasSubstr("overlaps value 1"));
  plan = valid;
  plan.kernels[1].workspaceOffset = plan.kernels[1].offsets[0];
  EXPECT_THAT(error(true), HasSubstr("the workspace overlaps value 2"));
}

TEST(ValidateTakeover, CountsThePlaceOnce) {
  ProblemBuilder b;
  ValueId x = b.argument(matrix);
  ValueId a = b.fusible({point(x)}, matrix);
  ValueId c = b.fusible({point(a)}, matrix);
  ValueId d = b.fusible({any(c)}, matrix);
  b.result(d);
  Plan plan = oneKernelPerOp(b.problem);
  Verdict verdict = validate(b.problem, plan, false);
  EXPECT_EQ(verdict.error, "");
  EXPECT_EQ(verdict.instances[1].takesOver, 0);
  EXPECT_EQ(verdict.livePeakBytes, 4096);
  packSlots(b.problem, plan, 0);
  EXPECT_EQ(plan.arenaBytes, 4096);
  EXPECT_EQ(validate(b.problem, plan, true).instances[1].takesOver, 0);
}

TEST(ValidateTakeover, NeedsAnInputThatDies) {
  ProblemBuilder b;
  ValueId x = b.argument(matrix);
  ValueId a = b.fusible({point(x)}, matrix);
  ValueId c = b.fusible({point(a)}, matrix);
  ValueId d = b.fusible({point(a), any(c)}, matrix);
  b.result(d);
  Plan plan = oneKernelPerOp(b.problem);
  EXPECT_EQ(validate(b.problem, plan, false).livePeakBytes, 2 * 4096);
  packSlots(b.problem, plan, 0);
  plan.kernels[1].offsets = plan.kernels[0].offsets;
  EXPECT_THAT(validate(b.problem, plan, true).error, HasSubstr("overlaps"));
}

TEST(ValidateKeep, RefusesToWriteWhatIsInlined) {
  ProblemBuilder b;
  ValueId x = b.argument(matrix);
  ValueId a = b.fusible({point(x)}, matrix);
  ValueId c = b.contraction({memory(x), memory(x)}, matrix);
  ValueId d = b.fusible({point(a), point(c)}, matrix);
  b.result(d);
  for (ValueId value : {a, c})
    b.problem.values[value].keep = Keep::Inline;
  Plan plan = oneKernelPerOp(b.problem);
  EXPECT_EQ(validate(b.problem, plan, false).error,
            "kernel 0: value 1 (v1) is to be computed inside its readers, but "
            "written");
  // It means nothing for the contraction.
  plan.kernels = {b.kernel(c), b.kernel({a, d}, {d})};
  EXPECT_EQ(validate(b.problem, plan, false).error, "");
}

TEST(ValidateTakeover, EachInputIsTakenOnce) {
  ProblemBuilder b;
  ValueId x = b.argument(matrix);
  ValueId a = b.fusible({point(x)}, matrix);
  ValueId c = b.fusible({point(a)}, matrix);
  ValueId d = b.addResult(matrix);
  ValueId e = b.fusible({any(c), any(d)}, matrix);
  b.result(e);
  Plan plan = oneKernelPerOp(b.problem);
  EXPECT_EQ(validate(b.problem, plan, false).livePeakBytes, 2 * 4096);
  packSlots(b.problem, plan, 0);
  EXPECT_EQ(plan.arenaBytes, 2 * 4096);
  plan.kernels[1].offsets = {0, 0};
  EXPECT_THAT(validate(b.problem, plan, true).error, HasSubstr("overlaps"));
}

TEST(ValidateTakeover, ChoosesInputsThatServeAllOutputs) {
  // The first output may take over either input, the second only the first.
  ProblemBuilder b;
  ValueId x = b.argument(matrix);
  ValueId a = b.fusible({any(x)}, matrix), c = b.fusible({any(x)}, matrix);
  ValueId e = b.fusible({point(a), point(c)}, matrix);
  ValueId f = b.fusible({point(a)}, matrix);
  ValueId g = b.fusible({any(e), any(f)}, matrix);
  b.result(g);
  Plan plan;
  plan.kernels = {b.kernel(a), b.kernel(c), b.kernel({e, f}, {e, f}),
                  b.kernel(g)};
  EXPECT_EQ(validate(b.problem, plan, false).livePeakBytes, 2 * 4096);
  packSlots(b.problem, plan, 0);
  EXPECT_EQ(plan.arenaBytes, 2 * 4096);
  EXPECT_EQ(validate(b.problem, plan, true).error, "");
}

/// Whether two instances share a byte while both live, found pair by pair.
bool overlaps(const Problem &problem, const Plan &plan,
              const Verdict &verdict) {
  auto placeOf = [&](const Instance &instance) {
    return plan.kernels[instance.kernel].offsets[instance.output];
  };
  for (const Instance &a : verdict.instances)
    for (const Instance &b : verdict.instances) {
      const Value &first = problem.values[a.value];
      const Value &second = problem.values[b.value];
      bool inArena = first.home == Home::Arena && second.home == Home::Arena;
      bool isPair = a.takesOver != none &&
                    &verdict.instances[a.takesOver] == &b &&
                    placeOf(a) == placeOf(b);
      if (&a != &b && inArena && !isPair && a.kernel >= b.kernel &&
          a.kernel <= b.lastRead && placeOf(a) < placeOf(b) + second.bytes &&
          placeOf(b) < placeOf(a) + first.bytes)
        return true;
    }
  return false;
}

TEST(ValidateProperty, AcceptsRandomPlacesIfNoPairOverlaps) {
  int32_t accepted = 0, refused = 0;
  RandomOptions options;
  options.keeps = options.hosts = false;
  for (uint64_t seed = 0; seed < 4000; ++seed) {
    Problem problem = randomProblem(seed, options);
    for (Op &op : problem.ops)
      op.workspaceBytes = 0;
    Plan plan = oneKernelPerOp(problem);
    Verdict unplaced = validate(problem, plan, false);
    ASSERT_EQ(unplaced.error, "") << "seed " << seed;
    std::mt19937_64 random(seed);
    plan.arenaBytes = 1 << 20;
    for (Kernel &kernel : plan.kernels)
      for (ValueId output : kernel.outputs)
        kernel.offsets.push_back(problem.values[output].home == Home::Arena
                                     ? random() % 40 * 256
                                     : -1);
    Verdict placed = validate(problem, plan, true);
    // With refused places, the pairs are those of the matching.
    Verdict &pairs = placed.error.empty() ? placed : unplaced;
    bool valid = !overlaps(problem, plan, pairs);
    ASSERT_EQ(placed.error.empty(), valid)
        << "seed " << seed << ": " << placed.error;
    (valid ? accepted : refused)++;
  }
  EXPECT_GT(accepted, 400);
  EXPECT_GT(refused, 400);
}

} // namespace
