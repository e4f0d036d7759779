//===- MinCutTest.cpp - Minimum cuts against all cuts ---------------------===//

#include "Plan/Model/MinCut.h"

#include <gtest/gtest.h>

#include <random>

using namespace ckpt::plan;

namespace {

struct TestArc {
  int32_t from, to;
  int64_t capacity;
};

/// The cheapest of all cuts between node 0 and node 1.
int64_t cheapestCut(int32_t nodes, const std::vector<TestArc> &arcs) {
  int64_t best = INT64_MAX;
  for (uint32_t side = 1; side < (1u << nodes); side += 4) {
    int64_t cost = 0;
    for (const TestArc &arc : arcs)
      if ((side >> arc.from & 1) && !(side >> arc.to & 1))
        cost += arc.capacity;
    best = std::min(best, cost);
  }
  return best;
}

std::vector<TestArc> randomArcs(std::mt19937 &random, int32_t nodes) {
  std::vector<TestArc> arcs;
  for (int32_t i = 0; i < 3 * nodes; ++i)
    arcs.push_back({static_cast<int32_t>(random() % nodes),
                    static_cast<int32_t>(random() % nodes),
                    static_cast<int64_t>(random() % 20)});
  return arcs;
}

TEST(MinCut, EqualsTheCheapestOfAllCuts) {
  std::mt19937 random(1);
  MinCut cut;
  for (int round = 0; round < 2000; ++round) {
    int32_t nodes = 2 + random() % 7;
    std::vector<TestArc> arcs = randomArcs(random, nodes);
    cut.reset(nodes);
    for (const TestArc &arc : arcs)
      cut.addArc(arc.from, arc.to, arc.capacity);
    int64_t flow = cut.run(0, 1);
    ASSERT_EQ(flow, cheapestCut(nodes, arcs));
    int64_t paid = 0;
    for (const TestArc &arc : arcs)
      if (cut.onSourceSide(arc.from) && !cut.onSourceSide(arc.to))
        paid += arc.capacity;
    ASSERT_EQ(paid, flow);
    ASSERT_TRUE(cut.onSourceSide(0));
    ASSERT_FALSE(cut.onSourceSide(1));
  }
}

TEST(MinCut, ContinuesAfterCapacitiesRose) {
  std::mt19937 random(2);
  MinCut cut;
  for (int round = 0; round < 500; ++round) {
    int32_t nodes = 2 + random() % 7;
    std::vector<TestArc> arcs = randomArcs(random, nodes);
    cut.reset(nodes);
    for (const TestArc &arc : arcs)
      cut.addArc(arc.from, arc.to, arc.capacity);
    cut.run(0, 1);
    for (size_t i = 0; i < arcs.size(); i += 2) {
      arcs[i].capacity += 7;
      cut.raise(static_cast<int32_t>(2 * i), 7);
    }
    ASSERT_EQ(cut.run(0, 1), cheapestCut(nodes, arcs));
  }
}

TEST(MinCut, SaysWhenEveryCutIsInfinite) {
  MinCut cut;
  cut.reset(3);
  cut.addArc(0, 2, MinCut::infinite);
  cut.addArc(2, 1, MinCut::infinite);
  EXPECT_GE(cut.run(0, 1), MinCut::infinite);
}

TEST(MinCut, BeginsAnewOnceFlowIsForgotten) {
  std::mt19937 random(3);
  MinCut cut;
  for (int round = 0; round < 1000; ++round) {
    int32_t nodes = 2 + random() % 7;
    std::vector<TestArc> arcs = randomArcs(random, nodes);
    cut.reset(nodes);
    std::vector<int32_t> numbers;
    for (const TestArc &arc : arcs)
      numbers.push_back(cut.addArc(arc.from, arc.to, arc.capacity));
    cut.run(0, 1);
    cut.raise(numbers[0], 7);
    cut.run(0, 1);
    cut.forgetFlow();
    arcs[0].capacity = static_cast<int64_t>(random() % 20);
    cut.setCapacity(numbers[0], arcs[0].capacity);
    ASSERT_EQ(cut.run(0, 1), cheapestCut(nodes, arcs));
  }
}

} // namespace
