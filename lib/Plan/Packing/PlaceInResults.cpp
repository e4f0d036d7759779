//===- PlaceInResults.cpp - Values in the buffers of later results --------===//
//
// A result's buffer belongs to the step from its start, but is written near the
// end. Until then any values that fit may lie there. At the tightest moment,
// most often where the forward pass ends, no gradient is written yet.
//
//===----------------------------------------------------------------------===//

#include "Plan/Packing/PlaceInResults.h"
#include "Plan/Model/Work.h"
#include "ckpt/Plan/Kernel.h"
#include "ckpt/Plan/ResultScratch.h"

#include <algorithm>
#include <utility>

using namespace ckpt::plan;

std::vector<ResultBuffer> ckpt::plan::findResultBuffers(const Problem &problem,
                                                        const Plan &plan,
                                                        KernelCache &kernels) {
  std::vector<ResultBuffer> buffers;
  // Per result the index of its buffer, per value its latest place.
  std::vector<int32_t> bufferOf(problem.values.size(), none);
  std::vector<int32_t> latest(problem.values.size(), none);
  for (ValueId result : scratchResults(problem)) {
    bufferOf[result] = static_cast<int32_t>(buffers.size());
    buffers.push_back({result, problem.values[result].bytes, {}});
  }
  auto end = static_cast<int32_t>(plan.kernels.size());
  for (int32_t k = 0; k < end; ++k) {
    for (ValueId read : kernels.get(plan.kernels[k]).memoryReads)
      if (const Value &value = problem.values[read];
          value.home == Home::Hosted && bufferOf[value.host] != none)
        buffers[bufferOf[value.host]].taken[latest[read]].last = k;
    for (ValueId output : plan.kernels[k].outputs) {
      const Value &value = problem.values[output];
      bool isResult = value.home == Home::Result;
      ValueId host = isResult ? output : value.host;
      if (host == none || bufferOf[host] == none)
        continue;
      std::vector<TakenPlace> &taken = buffers[bufferOf[host]].taken;
      latest[output] = static_cast<int32_t>(taken.size());
      taken.push_back({0, value.bytes, k, isResult ? end : k});
    }
  }
  std::stable_sort(buffers.begin(), buffers.end(),
                   [](const ResultBuffer &a, const ResultBuffer &b) {
                     return a.bytes < b.bytes;
                   });
  return buffers;
}

/// The lowest offset in \p result at which \p bytes are free as long as
/// \p buffer lives, or -1.
static int64_t lowestPlace(const ResultBuffer &result, const Buffer &buffer,
                           int64_t bytes) {
  std::vector<std::pair<int64_t, int64_t>> meanwhile;
  for (const TakenPlace &place : result.taken)
    if (place.first <= buffer.last && buffer.first <= place.last)
      meanwhile.emplace_back(place.begin, place.end);
  std::sort(meanwhile.begin(), meanwhile.end());
  int64_t offset = 0;
  for (auto [begin, end] : meanwhile) {
    if (offset + bytes <= begin)
      break;
    offset = std::max(offset, slotBytes(end));
  }
  return offset + bytes <= result.bytes ? offset : -1;
}

namespace {
/// Moves buffers out of the arena.
class Placement {
public:
  Placement(const std::vector<Buffer> &buffers,
            std::vector<ResultBuffer> results)
      : buffers(buffers), results(std::move(results)), places(buffers.size()) {
    for (const Buffer &buffer : buffers)
      moments = std::max(moments, buffer.last + 1);
    load.assign(moments, 0);
    for (const Buffer &buffer : buffers)
      addLoad(buffer, buffer.bytes);
  }

  std::vector<ScratchPlace> run(const std::vector<Guest> &guests, int64_t goal);

private:
  void addLoad(const Buffer &buffer, int64_t bytes) {
    for (int32_t at = buffer.first; at <= buffer.last; ++at)
      load[at] += bytes;
    spend(buffer.duration());
  }
  void place(const Guest &guest);
  void spend(int64_t some) {
    steps += some;
    Work::spend(some);
  }

  const std::vector<Buffer> &buffers;
  std::vector<ResultBuffer> results;
  std::vector<ScratchPlace> places;
  int32_t moments = 0;
  int64_t steps = 0;
  /// Live bytes of the arena at each moment.
  std::vector<int64_t> load;
};
} // namespace

void Placement::place(const Guest &guest) {
  const Buffer &buffer = buffers[guest.buffer];
  for (ResultBuffer &result : results) {
    if (result.bytes < guest.bytes)
      continue;
    spend(1 + static_cast<int64_t>(result.taken.size()));
    int64_t offset = lowestPlace(result, buffer, guest.bytes);
    if (offset < 0)
      continue;
    places[guest.buffer] = {result.result, offset};
    result.taken.push_back(
        {offset, offset + guest.bytes, buffer.first, buffer.last});
    addLoad(buffer, -buffer.bytes);
    return;
  }
}

std::vector<ScratchPlace> Placement::run(const std::vector<Guest> &guests,
                                         int64_t goal) {
  // Steps of about a nanosecond: a second for the largest problems.
  constexpr int64_t mostSteps = 1 << 30;
  std::vector<Guest> largestFirst = guests;
  std::stable_sort(
      largestFirst.begin(), largestFirst.end(),
      [](const Guest &a, const Guest &b) { return a.bytes > b.bytes; });
  while (moments > 0 && steps < mostSteps) {
    auto tightest = std::max_element(load.begin(), load.end());
    auto moment = static_cast<int32_t>(tightest - load.begin());
    spend(moments + static_cast<int64_t>(guests.size()));
    if (*tightest <= goal)
      break;
    for (const Guest &guest : largestFirst) {
      const Buffer &buffer = buffers[guest.buffer];
      if (load[moment] <= goal)
        break;
      if (places[guest.buffer].result == none && buffer.first <= moment &&
          moment <= buffer.last)
        place(guest);
    }
    // Nothing more makes this moment less tight.
    goal = std::max(goal, load[moment]);
  }
  return std::move(places);
}

std::vector<ScratchPlace> ckpt::plan::placeInResults(
    const std::vector<Buffer> &buffers, const std::vector<Guest> &guests,
    std::vector<ResultBuffer> results, int64_t goalBytes) {
  return Placement(buffers, std::move(results)).run(guests, goalBytes);
}
