//===- PackTest.cpp - The packer against brute force ----------------------===//

#include "Plan/Packing/PackBuffers.h"
#include "ProblemBuilder.h"
#include "RandomProblem.h"

#include "ckpt/Plan/Pack.h"
#include "ckpt/Plan/Validate.h"

#include <gtest/gtest.h>

#include <iostream>
#include <numeric>

using namespace ckpt::plan;

namespace {

struct Box {
  int32_t first, last;
  int64_t bytes;
};

/// A problem and its only plan in which value i lives as boxes[i] says: op t
/// makes what starts at t and reads what ends at t.
Problem problemOf(const std::vector<Box> &boxes, int32_t times) {
  Problem problem;
  for (int32_t time = 0; time < times; ++time) {
    Op op;
    op.name = "op";
    for (size_t i = 0; i < boxes.size(); ++i)
      if (boxes[i].last == time && boxes[i].first < time)
        op.reads.push_back(any(i));
    problem.ops.push_back(op);
  }
  for (size_t i = 0; i < boxes.size(); ++i) {
    problem.ops[boxes[i].first].results.push_back(i);
    Value value;
    value.op = boxes[i].first;
    value.bytes = boxes[i].bytes;
    value.elements = 1;
    problem.values.push_back(value);
  }
  for (Op &op : problem.ops)
    if (op.results.empty()) {
      op.hasEffects = true;
      op.mayRepeat = false;
    }
  return problem;
}

std::vector<Box> randomBoxes(uint64_t seed, int32_t count, int32_t times) {
  std::mt19937_64 random(seed);
  std::vector<Box> boxes;
  for (int32_t i = 0; i < count; ++i) {
    int32_t first = random() % times, last = random() % times;
    boxes.push_back({std::min(first, last), std::max(first, last),
                     static_cast<int64_t>(1 + random() % 9) * 256});
  }
  return boxes;
}

/// Lives as in a training step: what the forward pass makes at a time is read
/// once more at about the mirrored time, and much lives for a moment.
std::vector<Box> stepBoxes(uint64_t seed, int32_t times) {
  std::mt19937_64 random(seed);
  std::vector<Box> boxes;
  for (int32_t time = 0; time < times; ++time) {
    int32_t last = time + 1 + random() % 3;
    if (time < times / 2 && random() % 2)
      last = times - 1 - time + random() % 5;
    boxes.push_back({time, std::min(last, times - 1),
                     static_cast<int64_t>(1 + random() % 400) * 256});
  }
  return boxes;
}

/// In every order, each box on top of those before it that it meets: one of
/// these packings is a smallest one.
int64_t smallestArena(const std::vector<Box> &boxes) {
  std::vector<int32_t> order(boxes.size());
  std::iota(order.begin(), order.end(), 0);
  int64_t best = INT64_MAX;
  do {
    std::vector<int64_t> tops(boxes.size(), 0);
    int64_t arena = 0;
    for (size_t i = 0; i < order.size(); ++i) {
      const Box &box = boxes[order[i]];
      for (size_t j = 0; j < i; ++j)
        if (const Box &below = boxes[order[j]];
            below.first <= box.last && box.first <= below.last)
          tops[i] = std::max(tops[i], tops[j]);
      tops[i] += box.bytes;
      arena = std::max(arena, tops[i]);
    }
    best = std::min(best, arena);
  } while (std::next_permutation(order.begin(), order.end()));
  return best;
}

TEST(Pack, FindsTheSmallestArenaOfFewInstances) {
  for (uint64_t seed = 0; seed < 1500; ++seed) {
    std::vector<Box> boxes = randomBoxes(seed, 2 + seed % 6, 6);
    Problem problem = problemOf(boxes, 6);
    ASSERT_EQ(check(problem), "");
    Plan plan = oneKernelPerOp(problem);
    packSlots(problem, plan, 0);
    ASSERT_EQ(validate(problem, plan, true).error, "") << "seed " << seed;
    ASSERT_EQ(plan.arenaBytes, smallestArena(boxes)) << "seed " << seed;
  }
}

TEST(Pack, ReachesTheLivePeakOfTrainingSteps) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    Problem problem = problemOf(stepBoxes(seed, 300), 300);
    Plan plan = oneKernelPerOp(problem);
    int64_t live = validate(problem, plan, false).livePeakBytes;
    packSlots(problem, plan, 0);
    ASSERT_EQ(validate(problem, plan, true).error, "") << "seed " << seed;
    ASSERT_EQ(plan.arenaBytes, live) << "seed " << seed;
  }
}

TEST(Pack, StopsWithinTheBudget) {
  Problem problem = problemOf(randomBoxes(1, 60, 40), 40);
  Plan plan = oneKernelPerOp(problem);
  int64_t live = validate(problem, plan, false).livePeakBytes;
  for (int64_t budget : {live, live + live / 10, 2 * live, INT64_MAX}) {
    packSlots(problem, plan, budget);
    EXPECT_LE(plan.arenaBytes, budget);
    EXPECT_EQ(validate(problem, plan, true).error, "");
  }
}

TEST(Pack, IsDeterministic) {
  Problem problem = problemOf(randomBoxes(2, 80, 40), 40);
  Plan plan = oneKernelPerOp(problem), again = plan;
  packSlots(problem, plan, 0);
  packSlots(problem, again, 0);
  for (size_t k = 0; k < plan.kernels.size(); ++k)
    EXPECT_EQ(plan.kernels[k].offsets, again.kernels[k].offsets);
}

TEST(Pack, GivesResultsAndEmptyWorkspacesNoPlace) {
  ProblemBuilder b;
  ValueId x = b.argument(matrix);
  ValueId a = b.fusible({point(x)}, matrix);
  b.result(a);
  Plan plan = oneKernelPerOp(b.problem);
  packSlots(b.problem, plan, 0);
  EXPECT_EQ(plan.kernels[0].offsets, std::vector<int64_t>{-1});
  EXPECT_EQ(plan.kernels[0].workspaceOffset, -1);
  EXPECT_EQ(plan.arenaBytes, 0);
}

TEST(Pack, PlacesValuesWithoutBytes) {
  ProblemBuilder b;
  ValueId x = b.argument(matrix);
  ValueId a = b.fusible({any(x)}, matrix);
  ValueId empty = b.fusible({any(x)}, scalar);
  b.problem.values[empty].bytes = b.problem.values[empty].elements = 0;
  ValueId c = b.fusible({any(a), any(empty)}, matrix);
  b.result(c);
  Plan plan = oneKernelPerOp(b.problem);
  packSlots(b.problem, plan, 0);
  EXPECT_EQ(validate(b.problem, plan, true).error, "");
  EXPECT_EQ(plan.arenaBytes, 4096);
}

TEST(Pack, ChainsOfTakeoversShareAPlace) {
  ProblemBuilder b;
  ValueId value = b.argument(matrix);
  for (int32_t i = 0; i < 20; ++i)
    value = b.fusible({point(value)}, matrix);
  b.result(b.fusible({any(value)}, matrix));
  Plan plan = oneKernelPerOp(b.problem);
  packSlots(b.problem, plan, 0);
  EXPECT_EQ(plan.arenaBytes, 4096);
  EXPECT_EQ(validate(b.problem, plan, true).error, "");
}

/// Cuts a rectangle of moments and bytes into buffers, so that the arena of
/// the live peak has no byte to spare anywhere.
void cutRectangle(std::mt19937_64 &random, Buffer whole,
                  std::vector<Buffer> &buffers) {
  int64_t moments = whole.duration();
  if (whole.bytes < 512 || moments < 2 || random() % 16 == 0) {
    buffers.push_back(whole);
    return;
  }
  Buffer other = whole;
  if (random() % 2 == 0) {
    int32_t at = whole.first + random() % (moments - 1);
    whole.last = at;
    other.first = at + 1;
  } else {
    whole.bytes = 1 + random() % (whole.bytes - 1);
    other.bytes -= whole.bytes;
  }
  cutRectangle(random, whole, buffers);
  cutRectangle(random, other, buffers);
}

TEST(PackProperty, SearchReachesThePeakWhereNothingIsSpare) {
  int cases = 0, fromFloor = 0, byOrders = 0, byReordering = 0, bySearch = 0;
  for (uint64_t seed = 0; seed < 60; ++seed) {
    std::mt19937_64 random(seed);
    std::vector<Buffer> buffers;
    cutRectangle(random, {0, 15, 4096}, buffers);
    ASSERT_EQ(loadBytes(buffers), 4096);
    for (size_t i = buffers.size(); i > 1; --i)
      std::swap(buffers[i - 1], buffers[random() % i]);
    ++cases;
    fromFloor += packLowestFirst(buffers, 4096, 8).arenaBytes == 4096;
    byOrders += packByOrders(buffers, 4096).arenaBytes == 4096;
    byReordering += packByReordering(buffers, 4096).arenaBytes == 4096;
    Packing packing = packBuffers(buffers, 0, PackEffort::Search);
    bySearch += packing.arenaBytes == 4096;
    for (size_t i = 0; i < buffers.size(); ++i)
      for (size_t j = 0; j < i; ++j) {
        bool together = buffers[i].first <= buffers[j].last &&
                        buffers[j].first <= buffers[i].last;
        bool apart =
            packing.offsets[i] + buffers[i].bytes <= packing.offsets[j] ||
            packing.offsets[j] + buffers[j].bytes <= packing.offsets[i];
        EXPECT_TRUE(!together || apart) << seed;
      }
  }
  std::cout << cases << " cut rectangles: " << fromFloor
            << " from the floor up, " << byOrders << " by orders, "
            << byReordering << " by reordering, " << bySearch << " by search\n";
  EXPECT_GT(byReordering, byOrders + 5);
  EXPECT_EQ(bySearch, cases);
}

TEST(PackProperty, SearchFindsOrRefutesCapacities) {
  for (uint64_t seed = 0; seed < 500; ++seed) {
    std::vector<Box> boxes = randomBoxes(seed, 2 + seed % 6, 6);
    std::vector<Buffer> buffers;
    for (const Box &box : boxes)
      buffers.push_back({3 * box.first, 3 * box.last + 2, box.bytes});
    int64_t smallest = smallestArena(boxes), steps = 1000000;
    Packing packing;
    PackSearch search(buffers);
    EXPECT_FALSE(search.find(smallest - 1, steps, packing)) << "seed " << seed;
    EXPECT_GT(steps, 0) << "seed " << seed;
    EXPECT_TRUE(search.find(smallest, steps, packing)) << "seed " << seed;
    EXPECT_EQ(packing.arenaBytes, smallest) << "seed " << seed;
  }
}

/// Offsets where what can lie lowest is placed next: of those the one that
/// lives when most bytes do, then the one that lives longest, then the largest.
std::vector<int64_t> lowestFirstOffsets(const std::vector<Buffer> &buffers,
                                        int32_t moments) {
  std::vector<int64_t> offsets(buffers.size(), -1), top(moments), sum(moments);
  auto mostAt = [&](const std::vector<int64_t> &figures, const Buffer &buffer) {
    return *std::max_element(figures.begin() + buffer.first,
                             figures.begin() + buffer.last + 1);
  };
  for (const Buffer &buffer : buffers)
    for (int32_t t = buffer.first; t <= buffer.last; ++t)
      sum[t] += buffer.bytes;
  for (size_t i = 0; i < buffers.size(); ++i) {
    std::tuple<int64_t, int64_t, int64_t, int64_t, size_t> next{INT64_MAX, 0, 0,
                                                                0, 0};
    for (size_t id = 0; id < buffers.size(); ++id)
      if (const Buffer &buffer = buffers[id]; offsets[id] < 0)
        next = std::min(next, {mostAt(top, buffer), -mostAt(sum, buffer),
                               -buffer.duration(), -buffer.bytes, id});
    size_t id = std::get<4>(next);
    offsets[id] = std::get<0>(next);
    std::fill(top.begin() + buffers[id].first,
              top.begin() + buffers[id].last + 1,
              offsets[id] + buffers[id].bytes);
  }
  return offsets;
}

TEST(PackProperty, WhatCanLieLowestIsPlacedFirst) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    std::mt19937_64 random(seed);
    std::vector<Buffer> buffers(1 + seed * 30);
    for (Buffer &buffer : buffers) {
      buffer.first = static_cast<int32_t>(random() % 300);
      buffer.last = buffer.first +
                    static_cast<int32_t>(random() % (random() % 4 ? 20 : 200));
      buffer.bytes = 64 * static_cast<int64_t>(1 + random() % 50);
    }
    Packing packing = packLowestFirst(buffers, 0, /*mostTries=*/1);
    std::vector<int64_t> offsets = lowestFirstOffsets(buffers, 500);
    EXPECT_EQ(packing.offsets, offsets) << "seed " << seed;
    int64_t arena = 0;
    for (size_t i = 0; i < buffers.size(); ++i)
      arena = std::max(arena, offsets[i] + buffers[i].bytes);
    EXPECT_EQ(packing.arenaBytes, arena) << "seed " << seed;
  }
}

TEST(PackProperty, IsNeverBelowTheLivePeak) {
  for (uint64_t seed = 0; seed < 3000; ++seed) {
    RandomOptions options;
    options.hosts = false;
    options.keeps = false;
    options.ops = 20;
    Problem problem = randomProblem(seed, options);
    Plan plan = oneKernelPerOp(problem);
    int64_t live = validate(problem, plan, false).livePeakBytes;
    packSlots(problem, plan, 0);
    Verdict verdict = validate(problem, plan, true);
    ASSERT_EQ(verdict.error, "") << "seed " << seed;
    ASSERT_EQ(verdict.livePeakBytes, live) << "seed " << seed;
    ASSERT_GE(plan.arenaBytes, live) << "seed " << seed;
  }
}

} // namespace
