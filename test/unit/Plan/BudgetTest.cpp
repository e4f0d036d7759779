//===- BudgetTest.cpp - Budgets as people write them ----------------------===//

#include "ckpt/Plan/Budget.h"

#include <gtest/gtest.h>

#include <limits>

using namespace ckpt::plan;

namespace {

constexpr int64_t largest = std::numeric_limits<int64_t>::max();

/// Bytes of \p text for a baseline of a million bytes; -1 for an error.
int64_t bytesOf(std::string_view text) {
  Budget budget;
  std::string error;
  if (!parseBudget(text, budget, error)) {
    EXPECT_NE(error, "") << text;
    return -1;
  }
  return budget.resolve(1000000);
}

std::string errorOf(std::string_view text) {
  Budget budget;
  std::string error;
  EXPECT_FALSE(parseBudget(text, budget, error)) << text;
  return error;
}

TEST(Budget, KnowsEveryUnit) {
  EXPECT_EQ(bytesOf("1"), 1 << 20);
  EXPECT_EQ(bytesOf("7B"), 7);
  EXPECT_EQ(bytesOf("7KB"), 7000);
  EXPECT_EQ(bytesOf("7MB"), 7000000);
  EXPECT_EQ(bytesOf("7GB"), 7000000000);
  EXPECT_EQ(bytesOf("7TB"), 7000000000000);
  EXPECT_EQ(bytesOf("7KiB"), int64_t(7) << 10);
  EXPECT_EQ(bytesOf("7MiB"), int64_t(7) << 20);
  EXPECT_EQ(bytesOf("7GiB"), int64_t(7) << 30);
  EXPECT_EQ(bytesOf("7TiB"), int64_t(7) << 40);
}

TEST(Budget, RoundsFractionsDown) {
  EXPECT_EQ(bytesOf("1.5KiB"), 1536);
  EXPECT_EQ(bytesOf("0.5"), 1 << 19);
  EXPECT_EQ(bytesOf(".5KiB"), 512);
  EXPECT_EQ(bytesOf("1.9B"), 1);
}

TEST(Budget, SharesReferToTheBaseline) {
  EXPECT_EQ(bytesOf("50%"), 500000);
  EXPECT_EQ(bytesOf("101%"), 1010000);
  EXPECT_EQ(bytesOf("12.5%"), 125000);
  EXPECT_EQ(bytesOf("0.0001%"), 1);
  EXPECT_EQ(bytesOf("1000000%"), 10000000000);
  Budget half;
  std::string error;
  ASSERT_TRUE(parseBudget("50%", half, error));
  EXPECT_EQ(half.resolve(7), 3);
  // The product with the parts per million has more than 63 bits.
  EXPECT_EQ(half.resolve(largest), largest / 2);
}

TEST(Budget, WholeBytesAreExactUpToTheLast) {
  EXPECT_EQ(bytesOf("9007199254740993B"), 9007199254740993);
  EXPECT_EQ(bytesOf("9223372036854775807B"), largest);
  EXPECT_EQ(bytesOf("0000000000000000000000001B"), 1);
}

TEST(Budget, RefusesWhatIsNoBudget) {
  EXPECT_EQ(errorOf(""), "expected a budget such as 4096 (MiB), 512KiB, 1.5GB "
                         "or 50%, but got ''");
  for (const char *text :
       {"%", "B", "MiB", ".", "1.2.3", "nan", "inf", "abc", "+5", " 5", "-%"})
    EXPECT_NE(errorOf(text).find(text), std::string::npos) << text;
}

TEST(Budget, SaysWhatIsWrong) {
  auto why = [](std::string_view text) {
    std::string error = errorOf(text);
    return error.substr(error.find("got '") + 5);
  };
  EXPECT_EQ(why("-5"), "-5', which is negative");
  EXPECT_EQ(why("0"), "0': a budget is at least one byte");
  EXPECT_EQ(why("0.9B"), "0.9B': a budget is at least one byte");
  EXPECT_EQ(why("5XB"), "5XB': unknown unit 'XB'");
  EXPECT_EQ(why("5kb"), "5kb': unknown unit 'kb'");
  EXPECT_EQ(why("5 "), "5 ': unknown unit ' '");
  EXPECT_EQ(why("1e3"), "1e3': unknown unit 'e3'");
  for (std::string_view text : {"0%", "0.00001%", "1000001%"})
    EXPECT_EQ(why(text),
              std::string(text) +
                  "': a share of the baseline is above 0 % and at most "
                  "1000000 %");
}

TEST(Budget, RefusesWhatTakesMoreThan63Bits) {
  for (std::string text : {std::string("9223372036854775808B"),
                           std::string("9223373TB"), std::string("8388608TiB"),
                           std::string("8796093022208"), std::string(400, '9')})
    EXPECT_NE(errorOf(text).find("': a budget is below 2^63 bytes"),
              std::string::npos)
        << text;
}

TEST(Format, BytesHaveAtMostFourDigitsBeforeThePoint) {
  EXPECT_EQ(formatBytes(0), "0 B");
  EXPECT_EQ(formatBytes(1023), "1023 B");
  EXPECT_EQ(formatBytes(1024), "1.0 KiB");
  EXPECT_EQ(formatBytes(1536), "1.5 KiB");
  EXPECT_EQ(formatBytes(int64_t(1276) << 20), "1,276.0 MiB");
  EXPECT_EQ(formatBytes(10000 << 10), "9.8 MiB");
  // The tenth carries into the whole number.
  EXPECT_EQ(formatBytes(2047), "2.0 KiB");
  EXPECT_EQ(formatBytes(int64_t(9999) * 1024 + 1000), "10,000.0 KiB");
  EXPECT_EQ(formatBytes(largest), "8,589,934,592.0 GiB");
}

TEST(Format, CountsAreGroupedByThousands) {
  EXPECT_EQ(formatCount(0), "0");
  EXPECT_EQ(formatCount(999), "999");
  EXPECT_EQ(formatCount(1000), "1,000");
  EXPECT_EQ(formatCount(-123), "-123");
  EXPECT_EQ(formatCount(-123456), "-123,456");
  EXPECT_EQ(formatCount(largest), "9,223,372,036,854,775,807");
  EXPECT_EQ(formatCount(std::numeric_limits<int64_t>::min()),
            "-9,223,372,036,854,775,808");
}

/// What the report prints, written back as a budget, is the same report.
TEST(Format, ReadsBackToTheSameText) {
  for (int64_t bytes = 1024; bytes < largest / 3; bytes = bytes * 3 + 17) {
    std::string text = formatBytes(bytes), plain;
    for (char c : text)
      if (c != ',' && c != ' ')
        plain += c;
    int64_t back = bytesOf(plain);
    EXPECT_EQ(formatBytes(back), text) << bytes;
    EXPECT_LE(std::abs(back - bytes), bytes / 20 + 1) << bytes;
  }
}

} // namespace
