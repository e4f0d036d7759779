//===- PlaceInResultsTest.cpp - Which values lie in results ---------------===//

#include "Plan/Packing/PlaceInResults.h"
#include "Plan/Model/Work.h"

#include "ckpt/Plan/Kernel.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

using namespace ckpt::plan;

namespace {

bool meet(int32_t first, int32_t last, const Buffer &buffer) {
  return first <= buffer.last && buffer.first <= last;
}

/// The placement as the header says it, moment by moment and place by place.
class ByTheHeader {
public:
  ByTheHeader(const std::vector<Buffer> &buffers,
              std::vector<ResultBuffer> results)
      : buffers(buffers), results(std::move(results)), places(buffers.size()) {}

  std::vector<ScratchPlace> run(std::vector<Guest> guests, int64_t goal) {
    std::stable_sort(
        guests.begin(), guests.end(),
        [](const Guest &a, const Guest &b) { return a.bytes > b.bytes; });
    for (;;) {
      int32_t tightest = 0;
      for (int32_t at = 1; at < 64; ++at)
        if (load(at) > load(tightest))
          tightest = at;
      if (load(tightest) <= goal)
        return places;
      for (const Guest &guest : guests)
        if (load(tightest) > goal && isInArena(guest.buffer) &&
            meet(tightest, tightest, buffers[guest.buffer]))
          place(guest);
      goal = std::max(goal, load(tightest));
    }
  }

private:
  bool isInArena(size_t buffer) const { return places[buffer].result == none; }
  int64_t load(int32_t at) const {
    int64_t bytes = 0;
    for (size_t i = 0; i < buffers.size(); ++i)
      if (isInArena(i) && meet(at, at, buffers[i]))
        bytes += buffers[i].bytes;
    return bytes;
  }
  void place(const Guest &guest) {
    const Buffer &buffer = buffers[guest.buffer];
    for (ResultBuffer &result : results)
      for (int64_t at = 0; at + guest.bytes <= result.bytes; at += slotBytes(1))
        if (std::none_of(result.taken.begin(), result.taken.end(),
                         [&](const TakenPlace &taken) {
                           return meet(taken.first, taken.last, buffer) &&
                                  at < slotBytes(taken.end) &&
                                  taken.begin < at + guest.bytes;
                         })) {
          places[guest.buffer] = {result.result, at};
          result.taken.push_back(
              {at, at + guest.bytes, buffer.first, buffer.last});
          return;
        }
  }

  const std::vector<Buffer> &buffers;
  std::vector<ResultBuffer> results;
  std::vector<ScratchPlace> places;
};

TEST(PlaceInResults, PlacesAsTheHeaderSays) {
  std::mt19937 random(0);
  auto below = [&](int32_t end) {
    return static_cast<int32_t>(random() % end);
  };
  for (int round = 0; round < 300; ++round) {
    std::vector<Buffer> buffers(40);
    std::vector<Guest> guests;
    for (int32_t i = 0; i < 40; ++i) {
      int64_t bytes = 1 + below(300);
      buffers[i].bytes = slotBytes(bytes);
      buffers[i].first = below(60);
      buffers[i].last =
          std::min(63, buffers[i].first + below(round % 2 ? 4 : 60));
      if (below(4) > 0)
        guests.push_back({i, bytes});
    }
    std::vector<ResultBuffer> results(5);
    for (int32_t i = 0; i < 5; ++i)
      results[i] = {1000 + i, 100 * (i + 1), {{0, 50, 40 + below(20), 63}}};
    int64_t goal = below(4000);
    std::vector<ScratchPlace>
        found = placeInResults(buffers, guests, results, goal),
        expected = ByTheHeader(buffers, results).run(guests, goal);
    for (size_t i = 0; i < buffers.size(); ++i) {
      ASSERT_EQ(found[i].result, expected[i].result) << round << " " << i;
      ASSERT_EQ(found[i].offset, expected[i].offset) << round << " " << i;
    }
  }
}

/// Each product of a chain waits for the next one, and all may lie in the
/// result, one after the other.
int64_t workOfChain(int32_t length) {
  std::vector<Buffer> buffers(length);
  std::vector<Guest> guests;
  for (int32_t i = 0; i < length; ++i) {
    buffers[i].bytes = 256;
    buffers[i].first = i;
    buffers[i].last = i + 1;
    guests.push_back({i, 256});
  }
  int64_t before = Work::ns();
  std::vector<ScratchPlace> places =
      placeInResults(buffers, guests, {{0, 512, {}}}, 0);
  EXPECT_TRUE(
      std::all_of(places.begin(), places.end(),
                  [](const ScratchPlace &place) { return place.result == 0; }));
  return Work::ns() - before;
}

TEST(PlaceInResults, WorksInProportionToTheChain) {
  EXPECT_LT(workOfChain(100000), 15 * workOfChain(10000));
}

} // namespace
