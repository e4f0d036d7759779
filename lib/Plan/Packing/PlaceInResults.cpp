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
#include <map>
#include <queue>
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

namespace {
/// The buffer of a result while guests move in.
class Host {
public:
  explicit Host(const ResultBuffer &buffer)
      : result(buffer.result), bytes(buffer.bytes) {
    for (const TakenPlace &place : buffer.taken)
      take(place);
  }

  void take(const TakenPlace &place) {
    taken.emplace(place.first, place);
    longest = std::max(longest, place.last - place.first);
  }
  /// The lowest offset at which \p size bytes are free as long as \p buffer
  /// lives, or -1.
  int64_t lowestPlace(const Buffer &buffer, int64_t size);

  ValueId result;
  int64_t bytes;
  /// The places that the last search looked at.
  int64_t seen = 0;

private:
  /// By their first kernels, and the longest stay of all.
  std::multimap<int32_t, TakenPlace> taken;
  int32_t longest = 0;
};

/// The guests that wait for a place, by the kernels that they live through: a
/// segment tree, in whose nodes the largest stands last.
class WaitingGuests {
public:
  WaitingGuests(const std::vector<Buffer> &buffers, std::vector<Guest> guests,
                int32_t moments);

  /// Takes the largest guest that lives at \p moment and was not taken yet.
  const Guest *takeLargest(int32_t moment);

private:
  int32_t moments;
  /// The largest last; of equal ones the first.
  std::vector<Guest> guests;
  std::vector<bool> isTaken;
  /// Per node the indices of guests that live through all of its kernels.
  std::vector<std::vector<int32_t>> nodes;
};

/// Moves buffers out of the arena.
class Placement {
public:
  Placement(const std::vector<Buffer> &buffers,
            const std::vector<ResultBuffer> &results)
      : buffers(buffers), hosts(results.begin(), results.end()),
        places(buffers.size()) {
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
  std::vector<Host> hosts;
  std::vector<ScratchPlace> places;
  int32_t moments = 0;
  int64_t steps = 0;
  /// Live bytes of the arena at each moment.
  std::vector<int64_t> load;
};
} // namespace

int64_t Host::lowestPlace(const Buffer &buffer, int64_t size) {
  std::vector<std::pair<int64_t, int64_t>> meanwhile;
  auto begin = taken.lower_bound(buffer.first - longest);
  auto end = taken.upper_bound(buffer.last);
  seen = 0;
  for (auto it = begin; it != end; ++it, ++seen)
    if (buffer.first <= it->second.last)
      meanwhile.emplace_back(it->second.begin, it->second.end);
  std::sort(meanwhile.begin(), meanwhile.end());
  int64_t offset = 0;
  for (auto [from, to] : meanwhile) {
    if (offset + size <= from)
      break;
    offset = std::max(offset, slotBytes(to));
  }
  return offset + size <= bytes ? offset : -1;
}

WaitingGuests::WaitingGuests(const std::vector<Buffer> &buffers,
                             std::vector<Guest> some, int32_t moments)
    : moments(moments), guests(std::move(some)), isTaken(guests.size()),
      nodes(2 * static_cast<size_t>(moments)) {
  std::reverse(guests.begin(), guests.end());
  std::stable_sort(
      guests.begin(), guests.end(),
      [](const Guest &a, const Guest &b) { return a.bytes < b.bytes; });
  for (size_t i = 0; i < guests.size(); ++i) {
    const Buffer &buffer = buffers[guests[i].buffer];
    int32_t begin = buffer.first + moments, end = buffer.last + 1 + moments;
    for (; begin < end; begin /= 2, end /= 2) {
      if (begin % 2 == 1)
        nodes[begin++].push_back(static_cast<int32_t>(i));
      if (end % 2 == 1)
        nodes[--end].push_back(static_cast<int32_t>(i));
    }
  }
}

const Guest *WaitingGuests::takeLargest(int32_t moment) {
  int32_t largest = none;
  for (int32_t node = moment + moments; node > 0; node /= 2) {
    std::vector<int32_t> &waiting = nodes[node];
    while (!waiting.empty() && isTaken[waiting.back()])
      waiting.pop_back();
    if (!waiting.empty())
      largest = std::max(largest, waiting.back());
  }
  if (largest == none)
    return nullptr;
  isTaken[largest] = true;
  return &guests[largest];
}

void Placement::place(const Guest &guest) {
  const Buffer &buffer = buffers[guest.buffer];
  for (Host &host : hosts) {
    if (host.bytes < guest.bytes)
      continue;
    int64_t offset = host.lowestPlace(buffer, guest.bytes);
    spend(1 + host.seen);
    if (offset < 0)
      continue;
    places[guest.buffer] = {host.result, offset};
    host.take({offset, offset + guest.bytes, buffer.first, buffer.last});
    addLoad(buffer, -buffer.bytes);
    return;
  }
}

std::vector<ScratchPlace> Placement::run(const std::vector<Guest> &guests,
                                         int64_t goal) {
  // Steps of about a nanosecond: a second for the largest problems.
  constexpr int64_t mostSteps = 1 << 30;
  // A guest without a place never has one later: hosts only fill.
  WaitingGuests waiting(buffers, guests, moments);
  // The tightest moment first, and of equal ones the first; loads only fall.
  std::priority_queue<std::pair<int64_t, int32_t>> tightest;
  for (int32_t at = 0; at < moments; ++at)
    tightest.emplace(load[at], -at);
  while (!tightest.empty() && steps < mostSteps) {
    auto [bytes, negated] = tightest.top();
    int32_t moment = -negated;
    spend(1);
    if (bytes != load[moment]) {
      tightest.pop();
      tightest.emplace(load[moment], negated);
      continue;
    }
    if (bytes <= goal)
      break;
    while (load[moment] > goal) {
      const Guest *guest = waiting.takeLargest(moment);
      if (!guest)
        break;
      place(*guest);
    }
    // Nothing more makes this moment less tight.
    goal = std::max(goal, load[moment]);
  }
  return std::move(places);
}

std::vector<ScratchPlace> ckpt::plan::placeInResults(
    const std::vector<Buffer> &buffers, const std::vector<Guest> &guests,
    const std::vector<ResultBuffer> &results, int64_t goalBytes) {
  return Placement(buffers, results).run(guests, goalBytes);
}
