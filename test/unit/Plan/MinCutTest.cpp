//===- MinCutTest.cpp - Minimum cuts against all cuts ---------------------===//

#include "Plan/Model/MinCut.h"

#include "Plan/Model/Work.h"

#include <gtest/gtest.h>

#include <random>

using namespace ckpt::plan;

namespace {

struct TestArc {
  int32_t from, to;
  int64_t capacity;
};

struct TestCut {
  int64_t cost = INT64_MAX;
  /// Nodes on the source side, as bits.
  uint32_t side = 0;
};

/// The cheapest of all cuts between node 0 and node 1, with all nodes that no
/// such cut leaves out of its source side.
TestCut findCheapestCut(int32_t nodes, const std::vector<TestArc> &arcs) {
  TestCut best;
  for (uint32_t side = 1; side < (1u << nodes); side += 4) {
    int64_t cost = 0;
    for (const TestArc &arc : arcs)
      if ((side >> arc.from & 1) && !(side >> arc.to & 1))
        cost += arc.capacity;
    if (cost < best.cost)
      best = {cost, side};
    else if (cost == best.cost)
      best.side &= side;
  }
  return best;
}

int64_t cheapestCut(int32_t nodes, const std::vector<TestArc> &arcs) {
  return findCheapestCut(nodes, arcs).cost;
}

std::vector<TestArc> randomArcs(std::mt19937 &random, int32_t nodes) {
  std::vector<TestArc> arcs;
  for (int32_t i = 0; i < 3 * nodes; ++i)
    arcs.push_back({static_cast<int32_t>(random() % nodes),
                    static_cast<int32_t>(random() % nodes),
                    static_cast<int64_t>(random() % 20)});
  return arcs;
}

/// Arc i of \p arcs is arc 2 i of \p cut.
void enter(MinCut &cut, int32_t nodes, const std::vector<TestArc> &arcs) {
  cut.reset(nodes);
  for (const TestArc &arc : arcs)
    cut.addArc(arc.from, arc.to, arc.capacity);
}

TEST(MinCut, EqualsTheCheapestOfAllCuts) {
  std::mt19937 random(1);
  MinCut cut;
  for (int round = 0; round < 2000; ++round) {
    int32_t nodes = 2 + random() % 7;
    std::vector<TestArc> arcs = randomArcs(random, nodes);
    enter(cut, nodes, arcs);
    TestCut cheapest = findCheapestCut(nodes, arcs);
    ASSERT_EQ(cut.run(0, 1), cheapest.cost);
    for (int32_t node = 0; node < nodes; ++node)
      ASSERT_EQ(cut.onSourceSide(node), (cheapest.side >> node & 1) != 0);
  }
}

TEST(MinCut, ReturnsDeficitsUntilAFlowIsLeft) {
  std::mt19937 random(4);
  MinCut cut;
  for (int round = 0; round < 1000; ++round) {
    int32_t nodes = 2 + random() % 9;
    std::vector<TestArc> arcs = randomArcs(random, nodes);
    enter(cut, nodes, arcs);
    int64_t value = cut.run(0, 1);
    cut.returnDeficits(0, 1);
    std::vector<int64_t> balance(nodes, 0);
    for (size_t i = 0; i < arcs.size(); ++i) {
      int64_t flow = cut.flowOn(static_cast<int32_t>(2 * i));
      ASSERT_GE(flow, 0);
      ASSERT_LE(flow, arcs[i].capacity);
      balance[arcs[i].from] -= flow;
      balance[arcs[i].to] += flow;
    }
    ASSERT_EQ(balance[0], -value);
    ASSERT_EQ(balance[1], value);
    for (int32_t node = 2; node < nodes; ++node)
      ASSERT_EQ(balance[node], 0);
  }
}

/// The flow of the first node drains along the way: every path to the sink is
/// longer than the one before.
TEST(MinCut, WorkOnALongChainIsNearLinear) {
  constexpr int32_t length = 100000;
  MinCut cut;
  cut.reset(length + 2);
  cut.addArc(0, 2, length / 2);
  for (int32_t node = 2; node < length + 2; ++node) {
    cut.addArc(node, 1, 1);
    if (node > 2)
      cut.addArc(node - 1, node, MinCut::infinite);
  }
  int64_t before = Work::ns();
  EXPECT_EQ(cut.run(0, 1), length / 2);
  EXPECT_LT(Work::ns() - before, 100 * length);
}

TEST(MinCut, ContinuesAfterCapacitiesRose) {
  std::mt19937 random(2);
  MinCut cut;
  for (int round = 0; round < 500; ++round) {
    int32_t nodes = 2 + random() % 7;
    std::vector<TestArc> arcs = randomArcs(random, nodes);
    enter(cut, nodes, arcs);
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

TEST(MinCut, AddsUpManyInfiniteArcs) {
  constexpr int32_t width = 12;
  MinCut cut;
  cut.reset(width + 3);
  cut.addArc(0, 2, 7);
  for (int32_t node = 3; node < width + 3; ++node) {
    cut.addArc(2, node, MinCut::infinite);
    cut.addArc(node, 1, MinCut::infinite);
  }
  EXPECT_EQ(cut.run(0, 1), 7);
}

TEST(MinCut, BeginsAnewOnceFlowIsForgotten) {
  std::mt19937 random(3);
  MinCut cut;
  for (int round = 0; round < 1000; ++round) {
    int32_t nodes = 2 + random() % 7;
    std::vector<TestArc> arcs = randomArcs(random, nodes);
    enter(cut, nodes, arcs);
    cut.run(0, 1);
    cut.raise(0, 7);
    cut.run(0, 1);
    cut.forgetFlow();
    arcs[0].capacity = static_cast<int64_t>(random() % 20);
    cut.setCapacity(0, arcs[0].capacity);
    ASSERT_EQ(cut.run(0, 1), cheapestCut(nodes, arcs));
  }
}

} // namespace
