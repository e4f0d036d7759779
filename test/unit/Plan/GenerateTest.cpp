//===- GenerateTest.cpp - Training steps of any size ----------------------===//

#include "TextOf.h"

#include "ckpt/Plan/Generate.h"

#include "gtest/gtest.h"

#include <cstdlib>

using namespace ckpt::plan;

namespace {

class Families : public testing::TestWithParam<std::string_view> {
protected:
  Problem make(int64_t ops) {
    Problem problem;
    EXPECT_EQ(generateProblem(GetParam(), ops, problem), "");
    return problem;
  }
};

TEST_P(Families, AreValid) {
  for (int64_t ops : {1, 1000, 5000})
    EXPECT_EQ(check(make(ops)), "") << ops;
}

TEST_P(Families, HaveAboutAsManyOpsAsAskedFor) {
  int64_t made = static_cast<int64_t>(make(5000).ops.size());
  EXPECT_LT(std::abs(made - 5000), 500) << made;
}

TEST_P(Families, AreAlikeEveryTime) {
  EXPECT_EQ(textOf(make(1000)), textOf(make(1000)));
}

TEST_P(Families, SurviveTheirText) {
  std::string text = textOf(make(1000)), error;
  Problem read;
  ASSERT_TRUE(parseProblem(text, read, error)) << error;
  EXPECT_EQ(textOf(read), text);
}

/// Forward pass, loss, backward pass and updates; nothing that nobody needs.
TEST_P(Families, AreTrainingSteps) {
  Problem problem = make(1000);
  std::vector<char> isRead(problem.values.size(), false);
  bool backward = false;
  size_t results = 0;
  for (const Op &op : problem.ops) {
    EXPECT_TRUE(op.backward || !backward) << "a forward op after backward ones";
    backward |= op.backward;
    for (const Read &read : op.reads)
      isRead[read.value] = true;
  }
  for (const Value &value : problem.values)
    results += value.home == Home::Result;
  EXPECT_TRUE(backward);
  EXPECT_GT(results, 2u) << "the loss and updated parameters";
  for (size_t value = 0; value < isRead.size(); ++value)
    EXPECT_TRUE(isRead[value] || problem.values[value].home == Home::Result)
        << problem.values[value].name;
}

INSTANTIATE_TEST_SUITE_P(All, Families, testing::ValuesIn(generatedFamilies()),
                         [](auto &info) { return std::string(info.param); });

TEST(Generate, RefusesWhatItDoesNotKnow) {
  Problem problem;
  EXPECT_EQ(generateProblem("transformer", 1000, problem),
            "expected one of chain, gpt, resnet, unet, densenet, lstm, "
            "stencil, random, but got 'transformer'");
  EXPECT_EQ(generateProblem("gpt", 0, problem),
            "expected between 1 and 10000000 ops, but got 0");
}

} // namespace
