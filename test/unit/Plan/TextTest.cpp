//===- TextTest.cpp - The text forms, round trips and malformed input -----===//

#include "ProblemBuilder.h"
#include "RandomProblem.h"
#include "TextOf.h"

#include "ckpt/Plan/Pack.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace ckpt::plan;
using testing::HasSubstr;

namespace {

std::string problemError(const std::string &text) {
  Problem problem;
  std::string error;
  bool read = parseProblem(text, problem, error);
  EXPECT_EQ(read, error.empty());
  return error;
}

constexpr const char *step = R"(// A comment.
bandwidth=1000 // bytes per microsecond
launch=5
layer="h/0 \"attn\""
value 0 bytes=64 elements=16 shape=0 home=argument name="x"
value 1 bytes=64 elements=16 shape=0 keep=save
value 2 bytes=4 elements=1 shape=1 home=result name="a\\b\nc"

op 0 contraction reads=0:any:memory results=1 flops=8 compute=9 workspace=7 layer=0
op 1 opaque reads=1:any,0:pointwise:destination results=2 once effects backward name="scf.for"
)";

TEST(Text, ReadsEveryProperty) {
  Problem problem;
  std::string error;
  ASSERT_TRUE(parseProblem(step, problem, error)) << error;
  EXPECT_EQ(problem.bytesPerMicrosecond, 1000);
  EXPECT_EQ(problem.launchNs, 5);
  EXPECT_EQ(problem.layers, std::vector<std::string>{"h/0 \"attn\""});
  EXPECT_EQ(problem.values[0].home, Home::Argument);
  EXPECT_EQ(problem.values[1].keep, Keep::Save);
  EXPECT_EQ(problem.values[1].op, 0);
  EXPECT_EQ(problem.values[2].name, "a\\b\nc");
  EXPECT_EQ(problem.ops[0].kind, OpKind::Contraction);
  EXPECT_EQ(problem.ops[0].reads[0].need, Need::Memory);
  EXPECT_EQ(problem.ops[0].workspaceBytes, 7);
  EXPECT_EQ(problem.ops[0].layer, 0);
  EXPECT_TRUE(problem.ops[1].reads[1].destination);
  EXPECT_EQ(problem.ops[1].reads[1].access, Access::Pointwise);
  EXPECT_TRUE(problem.ops[1].hasEffects && problem.ops[1].backward);
  EXPECT_FALSE(problem.ops[1].mayRepeat);
}

TEST(Text, NamesTheLineOfAnError) {
  EXPECT_EQ(problemError("launch=5\n\nvalue 1\n"), "line 3: expected number 0");
  EXPECT_THAT(problemError("foo"), HasSubstr("line 1: expected 'bandwidth='"));
  EXPECT_THAT(problemError("launch=5x"), HasSubstr("line 1: expected"));
  EXPECT_THAT(problemError("layer=\"a"), HasSubstr("a closing quote"));
  EXPECT_THAT(problemError("value 0 bytes=9999999999999999999"),
              HasSubstr("but got 'bytes=9999999999999999999'"));
  EXPECT_THAT(problemError("op 0 matmul"), HasSubstr("the kind of the op"));
  EXPECT_THAT(problemError("op 0 fusible results=0"),
              HasSubstr("a value declared before, but got 0"));
  EXPECT_THAT(problemError("value 0 home=arena home=moon"),
              HasSubstr("but got 'home=moon'"));
  EXPECT_THAT(problemError("value 0 name=\"a\"b"), HasSubstr("a space"));
  EXPECT_THAT(problemError("op 0 fusible reads=0,"),
              HasSubstr("but got 'reads=0,'"));
}

/// What only the whole problem shows is wrong has a line all the same.
TEST(Text, NamesTheLineOfAFault) {
  EXPECT_EQ(problemError("launch=5\nvalue 0 home=arena"),
            "line 2: value 0 is no argument, but no op makes it");
  EXPECT_EQ(problemError("bandwidth=5\n\nbandwidth=0"),
            "line 3: the bandwidth is not positive");
  EXPECT_EQ(problemError("\nlaunch=-1"),
            "line 2: the launch time is out of range");
  EXPECT_EQ(problemError("value 0\nvalue 1 bytes=-1\n"),
            "line 1: value 0 is no argument, but no op makes it");
  const std::string head = "value 0 home=argument\nvalue 1\nvalue 2\n";
  EXPECT_EQ(problemError("value 0 bytes=-1 home=argument"),
            "line 1: value 0 has a negative size or exceeds the sum");
  EXPECT_EQ(problemError(head + "\nop 0 opaque reads=0 results=0,1,2"),
            "line 1: value 0 is an argument, but op 0 makes it");
  EXPECT_EQ(problemError(head + "\nop 0 opaque reads=2 results=1\n"
                                "op 1 opaque reads=1 results=2"),
            "line 5: op 0 reads value 2 before it is made");
  EXPECT_EQ(problemError(head + "op 0 opaque results=1\n"
                                "op 1 opaque results=1,2\n"),
            "line 4: op 0 makes value 1, which has another producer");
  EXPECT_EQ(problemError(head + "op 0 opaque results=1\n// …\n"
                                "op 1 opaque results=2 flops=-1"),
            "line 6: op 1 has a negative cost or exceeds the sum");
}

TEST(Text, QuotesLittleThatPrints) {
  EXPECT_EQ(quote("op"), "'op'");
  EXPECT_EQ(quote("a\x01z\xff"), "'a?z?'");
  EXPECT_EQ(quote(std::string(60, 'x')), "'" + std::string(60, 'x') + "'");
  EXPECT_EQ(quote(std::string(61, 'x')), "'" + std::string(60, 'x') + "…'");
}

TEST(Text, ReadsPlans) {
  Problem problem;
  Plan plan;
  std::string error;
  ASSERT_TRUE(parseProblem(step, problem, error));
  ASSERT_TRUE(parsePlan("arena=512\nkernel ops=0 outputs=1@0 workspace=256\n"
                        "kernel ops=1 outputs=2@-1\n",
                        problem, plan, error))
      << error;
  EXPECT_EQ(plan.arenaBytes, 512);
  EXPECT_EQ(plan.kernels[0].workspaceOffset, 256);
  EXPECT_EQ(plan.kernels[1].offsets, std::vector<int64_t>{-1});
  EXPECT_FALSE(parsePlan("kernel ops=2", problem, plan, error));
  EXPECT_EQ(error, "line 1: op 2 does not exist");
  EXPECT_FALSE(parsePlan("kernel ops=0 outputs=9", problem, plan, error));
  EXPECT_EQ(error, "line 1: value 9 does not exist");
  EXPECT_FALSE(parsePlan("kernel ops=0 outputs=1@0,2", problem, plan, error));
  EXPECT_FALSE(parsePlan("kernels", problem, plan, error));
}

TEST(TextProperty, RoundTrips) {
  for (uint64_t seed = 0; seed < 500; ++seed) {
    Problem problem = randomProblem(seed), again;
    problem.layers = {"a \"quoted\" \\ name\nof two lines", ""};
    problem.ops[0].layer = 1;
    std::string error, text = textOf(problem);
    ASSERT_TRUE(parseProblem(text, again, error)) << error;
    ASSERT_EQ(textOf(again), text);
    Plan plan = oneKernelPerOp(problem), planAgain;
    for (int32_t placed : {0, 1}) {
      if (placed)
        packSlots(problem, plan, 0);
      ASSERT_TRUE(parsePlan(textOf(plan), problem, planAgain, error)) << error;
      ASSERT_EQ(textOf(planAgain), textOf(plan));
      ASSERT_EQ(planAgain.kernels.size(), plan.kernels.size());
    }
  }
}

/// Damaged text is read or refused with a line; it never crashes, and what is
/// read passes `check`.
TEST(TextProperty, SurvivesDamage) {
  std::mt19937_64 random(1);
  const std::string alphabet = "0123456789,:@=\"\\/ \n-abcdeflnoprstuvwx\xff";
  int32_t refused = 0;
  for (int32_t round = 0; round < 20000; ++round) {
    std::string text = step;
    for (uint64_t i = 0, edits = 1 + random() % 3; i < edits; ++i) {
      size_t at = random() % text.size();
      if (random() % 3 == 0)
        text.erase(at, 1 + random() % 8);
      else if (random() % 2)
        text[at] = alphabet[random() % alphabet.size()];
      else
        text.insert(at, 1, alphabet[random() % alphabet.size()]);
    }
    Problem problem;
    Plan plan;
    std::string error;
    bool read = parseProblem(text, problem, error);
    ASSERT_EQ(read, error.empty());
    refused += !read;
    if (read) {
      ASSERT_EQ(check(problem), "");
      Problem again;
      ASSERT_TRUE(parseProblem(textOf(problem), again, error)) << error;
    }
    read = parsePlan(text, problem, plan, error);
    ASSERT_EQ(read, error.empty());
  }
  EXPECT_GT(refused, 5000);
}

} // namespace
