//===- KeepCutTest.cpp - Cuts against all choices of kept values ----------===//

#include "Plan/Model/KeepCut.h"

#include <gtest/gtest.h>

#include <optional>
#include <random>

using namespace ckpt::plan;

namespace {

/// A random network: each maker reads values of earlier makers.
struct Network {
  std::vector<KeepCut::Value> values;
  struct Maker {
    int64_t againPs;
    bool mayRepeat;
    std::vector<int32_t> operands;
  };
  std::vector<Maker> makers;

  explicit Network(std::mt19937 &random) {
    auto numMakers = static_cast<int32_t>(2 + random() % 6);
    for (int32_t maker = 0; maker < numMakers; ++maker) {
      auto firstResult = static_cast<int32_t>(values.size());
      makers.push_back({static_cast<int64_t>(random() % 50), true, {}});
      for (int32_t value = 0; value < firstResult; ++value)
        if (random() % 2)
          makers.back().operands.push_back(value);
      for (uint32_t results = 1 + (random() % 4 == 0); results-- > 0;)
        values.push_back(makeValue(random, maker));
    }
  }

  void build(KeepCut &cut) const {
    cut.reset(values.size(), makers.size());
    for (const KeepCut::Value &value : values)
      cut.addValue(value);
    for (const Maker &maker : makers) {
      cut.addMaker(maker.againPs, maker.mayRepeat);
      for (int32_t operand : maker.operands)
        cut.addOperand(operand);
    }
  }

  struct Cost {
    int64_t bytes = 0;
    double pricedBytes = 0, ps = 0;
  };
  /// The cost of keeping the values in the set \p kept, nothing if a demanded
  /// value cannot be made then.
  std::optional<Cost> costOf(uint32_t kept) const {
    Cost cost;
    std::vector<char> isNeeded(values.size(), 0), runs(makers.size(), 0);
    for (size_t value = values.size(); value-- > 0;) {
      const KeepCut::Value &v = values[value];
      if (kept >> value & 1) {
        if (!v.mayKeep)
          return std::nullopt;
        cost.bytes += v.bytes;
        cost.pricedBytes += v.pricedBytes;
        cost.ps += v.keepPs;
        continue;
      }
      if ((!v.isDemanded && !isNeeded[value]) || runs[v.maker])
        continue;
      runs[v.maker] = 1;
      cost.ps += static_cast<double>(makers[v.maker].againPs);
      for (int32_t operand : makers[v.maker].operands)
        isNeeded[operand] = 1;
    }
    return cost;
  }

private:
  static KeepCut::Value makeValue(std::mt19937 &random, int32_t maker) {
    KeepCut::Value value;
    value.maker = maker;
    value.bytes = static_cast<int64_t>(random() % 20);
    value.pricedBytes = static_cast<double>(value.bytes) * (1.0 + random() % 2);
    value.keepPs = static_cast<double>(random() % 10);
    value.isDemanded = random() % 2;
    value.mayKeep = random() % 4;
    return value;
  }
};

uint32_t keptBy(const KeepCut &cut, const KeepCut::Answer &answer) {
  uint32_t kept = 0;
  for (size_t value = 0; value < answer.available.size(); ++value)
    kept |= static_cast<uint32_t>(cut.isKept(answer, value)) << value;
  return kept;
}

/// Checks that the figures of \p answer are those of the values that it keeps.
void expectConsistent(const Network &network, const KeepCut &cut,
                      const KeepCut::Answer &answer) {
  ASSERT_TRUE(answer.isFeasible);
  std::optional<Network::Cost> cost = network.costOf(keptBy(cut, answer));
  ASSERT_TRUE(cost);
  EXPECT_EQ(answer.bytes, cost->bytes);
  EXPECT_EQ(answer.pricedBytes, cost->pricedBytes);
  EXPECT_GE(answer.costPs, cost->ps);
}

TEST(KeepCut, IsTheCheapestChoiceAtEachPrice) {
  std::mt19937 random(1);
  KeepCut cut;
  for (int round = 0; round < 1000; ++round) {
    Network network(random);
    network.build(cut);
    for (double price : {0.0, 1.0, 3.0, 20.0}) {
      KeepCut::Answer answer = cut.solveAt(price);
      expectConsistent(network, cut, answer);
      double least = std::numeric_limits<double>::max();
      for (uint32_t kept = 0; kept < 1u << network.values.size(); ++kept)
        if (std::optional<Network::Cost> cost = network.costOf(kept))
          least = std::min(least, cost->ps + price * cost->pricedBytes);
      ASSERT_EQ(answer.costPs + price * answer.pricedBytes, least);
    }
  }
}

/// The best of all choices that fit bounds the rounded one from below, the
/// corner that it starts from bounds it from above.
TEST(KeepCut, RoundsToAChoiceThatFits) {
  std::mt19937 random(2);
  KeepCut cut;
  int better = 0;
  for (int round = 0; round < 2000; ++round) {
    Network network(random);
    network.build(cut);
    KeepCut::Answer atFloor = cut.solveAt(0);
    int64_t room = atFloor.bytes * static_cast<int64_t>(random() % 100) / 100;
    if (atFloor.bytes <= room)
      continue;
    KeepCut::Corner corner = cut.climb(atFloor, room, 0.25, 1e6);
    ASSERT_LE(corner.fitting.bytes, room);
    double ofFirst = corner.fitting.costPs;
    cut.narrow(corner, room);
    EXPECT_LE(corner.fitting.bytes, room);
    EXPECT_GT(corner.cheaper.bytes, room);
    EXPECT_LE(corner.fitting.costPs, ofFirst);
    KeepCut::Answer rounded = cut.round(corner, room, 0.25, 1e4);
    expectConsistent(network, cut, rounded);
    EXPECT_LE(rounded.bytes, room);
    EXPECT_LE(rounded.costPs, corner.fitting.costPs);
    better += rounded.costPs < corner.fitting.costPs;
  }
  EXPECT_GT(better, 0);
}

TEST(KeepCut, SaysThatAValueCanBeNeitherKeptNorMade) {
  KeepCut cut;
  cut.reset(1, 1);
  KeepCut::Value value;
  value.isDemanded = true;
  cut.addValue(value);
  cut.addMaker(1, /*mayRepeat=*/false);
  EXPECT_FALSE(cut.solveAt(1).isFeasible);
}

} // namespace
