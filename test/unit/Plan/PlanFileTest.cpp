//===- PlanFileTest.cpp - Plans of functions as files ---------------------===//

#include "ckpt/Plan/PlanFile.h"
#include "gtest/gtest.h"

#include <algorithm>
#include <sstream>

using namespace ckpt::plan;

namespace {

PlanFile someFile() {
  PlanFile file;
  file.function = "the \"step\"";
  file.budgetBytes = 4096;
  file.timeNs = 17;
  file.flops = 300;
  file.extraFlops = 20;
  file.valueCount = 4;
  file.ops = {{0xABCDEF, PlannedAs::Save, "h/0 · dot_general"},
              {0, PlannedAs::Inline, ""},
              {0x123, PlannedAs::Recompute, "two\nlines \\"}};
  file.returnHash = 0xFFFFFF;
  file.plan.arenaBytes = 768;
  file.plan.kernels = {{{0}, {1}, {0}, 256}, {{1, 2}, {2, 3}, {512, -1}, -1}};
  return file;
}

std::string print(const PlanFile &file) {
  std::ostringstream os;
  printPlanFile(file, os);
  return os.str();
}

TEST(PlanFile, RoundTrip) {
  PlanFile file = someFile(), read;
  std::string error;
  ASSERT_TRUE(parsePlanFile(print(file), read, error)) << error;
  EXPECT_EQ(print(read), print(file));
  EXPECT_EQ(read.function, file.function);
  EXPECT_EQ(read.budgetBytes, 4096);
  EXPECT_EQ(read.ops[2].as, PlannedAs::Recompute);
  EXPECT_EQ(read.ops[0].hash, 0xABCDEF);
  EXPECT_EQ(read.plan.kernels[1].offsets, (std::vector<int64_t>{512, -1}));
}

/// A line for each op and kernel, so that `diff` shows what changed.
TEST(PlanFile, OneLineEach) {
  std::string text = print(someFile());
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 14);
  EXPECT_NE(text.find("\nop 1 inline hash=000000\n"), std::string::npos);
  EXPECT_NE(text.find("\nkernel ops=0 outputs=1@0 workspace=256 // h/0"),
            std::string::npos);
}

/// However much of a file is missing, that is an error with its line.
TEST(PlanFile, RefusesEveryPrefix) {
  std::string text = print(someFile());
  for (size_t size = 0; size < text.size(); ++size) {
    PlanFile read;
    std::string error;
    EXPECT_FALSE(parsePlanFile(text.substr(0, size), read, error)) << size;
    EXPECT_EQ(error.compare(0, 5, "line "), 0) << error;
  }
}

std::string errorOf(std::string text, const std::string &from,
                    const std::string &to) {
  text.replace(text.find(from), from.size(), to);
  PlanFile read;
  std::string error;
  EXPECT_FALSE(parsePlanFile(text, read, error)) << text;
  return error;
}

/// Each figure stands there once, and is none that cannot be.
TEST(PlanFile, RefusesFiguresThatCannotBe) {
  std::string text = print(someFile());
  EXPECT_EQ(errorOf(text, "time=17\n", ""),
            "line 7: expected 'time=' before, but got 'op'");
  EXPECT_EQ(errorOf(text, "time=17\n", "time=17\ntime=18\n"),
            "line 4: 'time' is given twice");
  EXPECT_EQ(errorOf(text, "extra-flops=20", "extra-flops=-20"),
            "line 5: expected a known property with a value in range, but got "
            "'extra-flops=-20'");
  EXPECT_EQ(errorOf(text, "budget=4096", "budget=767"),
            "line 12: expected an arena within the budget of 767 bytes, but "
            "got 768");
}

TEST(PlanFile, MissingLinesAreOfTheFirst) {
  PlanFile read;
  std::string error;
  EXPECT_FALSE(parsePlanFile("", read, error));
  EXPECT_EQ(error, "line 1: expected 'plan=', but got the end of the file");
}

/// Nothing is believed: a changed character is an error or another value, never
/// a number out of range.
TEST(PlanFile, SurvivesEveryChangedCharacter) {
  std::string text = print(someFile());
  for (size_t i = 0; i < text.size(); ++i)
    for (char c : {'9', '-', '"', '=', '\n', '\0', '\xFF'}) {
      std::string changed = text;
      changed[i] = c;
      PlanFile read;
      std::string error;
      if (!parsePlanFile(changed, read, error)) {
        EXPECT_FALSE(error.empty());
        continue;
      }
      for (const Kernel &kernel : read.plan.kernels) {
        for (OpId op : kernel.ops)
          EXPECT_TRUE(op >= 0 && op < static_cast<OpId>(read.ops.size()));
        for (ValueId value : kernel.outputs)
          EXPECT_TRUE(value >= 0 && value < read.valueCount);
      }
    }
}

} // namespace
