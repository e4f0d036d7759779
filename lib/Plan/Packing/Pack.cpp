//===- Pack.cpp - Places for instances in one arena -----------------------===//
//
// Turns a plan into buffers with a life, packs them, and writes the offsets
// back. Lives are found here once more instead of taken from the simulator,
// which then judges the result.
//
//===----------------------------------------------------------------------===//

#include "ckpt/Plan/Pack.h"

#include "Plan/Model/Clock.h"
#include "Plan/Packing/PackBuffers.h"
#include "Plan/Packing/PlaceInResults.h"

#include <algorithm>
#include <numeric>

using namespace ckpt::plan;

namespace {

class Packer {
public:
  Packer(const Problem &problem, Plan &plan, PackEffort effort,
         KernelCache &kernels, const Deadline *deadline)
      : problem(problem), plan(plan), effort(effort), kernels(kernels),
        deadline(deadline) {}

  void run(int64_t budgetBytes) {
    findBuffers();
    place(packBuffers(buffers, budgetBytes, effort, deadline));
  }
  void runInResults(int64_t budgetBytes);

private:
  /// One output of one kernel that stands in the arena.
  struct Life {
    ValueId value;
    int32_t kernel, output, last;
    /// The input whose place it takes over, and the output that takes over its
    /// own, or `none`.
    int32_t from = none, to = none;
    int32_t buffer = none;
  };

  int64_t slotOf(int32_t life) const {
    return slotBytes(problem.values[lives[life].value].bytes);
  }

  void findBuffers() {
    findLives();
    findTakeovers();
    makeBuffers();
  }
  void findLives();
  void findTakeovers();
  bool findInput(int32_t output, std::vector<char> &tried);
  void makeBuffers();
  void place(const Packing &packing);
  std::vector<Guest> guests() const;
  void host(const std::vector<ScratchPlace> &places);

  const Problem &problem;
  Plan &plan;
  const PackEffort effort;
  KernelCache &kernels;
  const Deadline *deadline;
  std::vector<const KernelInfo *> infos;
  std::vector<Life> lives;
  /// Per kernel: its outputs in the arena as `lives`, and its reads there.
  std::vector<std::vector<int32_t>> made, read;
  std::vector<Buffer> buffers;
  /// Per kernel, the buffer of its workspace or `none`.
  std::vector<int32_t> workspaces;
};

void Packer::findLives() {
  std::vector<int32_t> latest(problem.values.size(), none);
  for (size_t k = 0; k < plan.kernels.size(); ++k) {
    infos.push_back(&kernels.get(plan.kernels[k]));
    made.emplace_back();
    read.emplace_back();
    for (ValueId value : infos.back()->memoryReads)
      if (problem.values[value].home == Home::Arena) {
        lives[latest[value]].last = k;
        read.back().push_back(latest[value]);
      }
    const std::vector<ValueId> &outputs = plan.kernels[k].outputs;
    for (size_t i = 0; i < outputs.size(); ++i)
      if (problem.values[outputs[i]].home == Home::Arena) {
        latest[outputs[i]] = lives.size();
        made.back().push_back(lives.size());
        int32_t kernel = k, output = i;
        lives.push_back({outputs[i], kernel, output, kernel});
      }
  }
}

/// Finds a dying input for an output; another output may have to change its.
bool Packer::findInput(int32_t output, std::vector<char> &tried) {
  Life &life = lives[output];
  const std::vector<int32_t> &inputs = read[life.kernel];
  for (const InPlacePair &pair : infos[life.kernel]->inPlace) {
    if (pair.output != life.output)
      continue;
    for (size_t i = 0; i < inputs.size(); ++i) {
      Life &input = lives[inputs[i]];
      if (input.value != pair.input || input.last != life.kernel || tried[i])
        continue;
      tried[i] = true;
      if (input.to != none && !findInput(input.to, tried))
        continue;
      input.to = output;
      life.from = inputs[i];
      return true;
    }
  }
  return false;
}

void Packer::findTakeovers() {
  for (size_t k = 0; k < plan.kernels.size(); ++k) {
    std::vector<int32_t> bySize = made[k];
    std::stable_sort(bySize.begin(), bySize.end(), [&](int32_t a, int32_t b) {
      return slotOf(a) > slotOf(b);
    });
    for (int32_t output : bySize) {
      std::vector<char> tried(read[k].size(), false);
      findInput(output, tried);
    }
  }
}

/// One buffer for each chain of takeovers and each workspace. Empty ones get
/// none and lie at the start.
void Packer::makeBuffers() {
  for (size_t i = 0; i < lives.size(); ++i) {
    Life &life = lives[i];
    if (life.from != none)
      life.buffer = lives[life.from].buffer;
    if (slotOf(i) == 0)
      continue;
    if (life.buffer == none) {
      life.buffer = buffers.size();
      buffers.push_back({life.kernel, life.last, slotOf(i)});
    }
    buffers[life.buffer].last = life.last;
  }
  workspaces.assign(plan.kernels.size(), none);
  for (size_t k = 0; k < plan.kernels.size(); ++k)
    if (int64_t bytes = slotBytes(infos[k]->workspaceBytes)) {
      workspaces[k] = buffers.size();
      int32_t kernel = k;
      buffers.push_back({kernel, kernel, bytes});
    }
}

void Packer::place(const Packing &packing) {
  plan.arenaBytes = packing.arenaBytes;
  for (size_t k = 0; k < plan.kernels.size(); ++k) {
    Kernel &kernel = plan.kernels[k];
    kernel.offsets.assign(kernel.outputs.size(), -1);
    kernel.hosts.clear();
    kernel.workspaceOffset =
        workspaces[k] == none ? -1 : packing.offsets[workspaces[k]];
    for (int32_t life : made[k])
      kernel.offsets[lives[life].output] =
          lives[life].buffer == none ? 0 : packing.offsets[lives[life].buffer];
  }
}

/// All buffers but workspaces, each as large as the largest value that lies
/// there.
std::vector<Guest> Packer::guests() const {
  std::vector<int64_t> exact(buffers.size(), 0);
  for (const Life &life : lives)
    if (life.buffer != none)
      exact[life.buffer] =
          std::max(exact[life.buffer], problem.values[life.value].bytes);
  std::vector<Guest> guests;
  for (size_t buffer = 0; buffer < buffers.size(); ++buffer)
    if (exact[buffer] > 0)
      guests.push_back({static_cast<int32_t>(buffer), exact[buffer]});
  return guests;
}

/// Slots leave gaps: if the arena does not fit, more values lie in results.
void Packer::runInResults(int64_t budgetBytes) {
  constexpr int mostTries = 5;
  constexpr double lessEachTime = 0.97;
  findBuffers();
  const std::vector<Guest> mayBeHosted = guests();
  const std::vector<ResultBuffer> results =
      findResultBuffers(problem, plan, kernels);
  Packing best;
  std::vector<ScratchPlace> bestPlaces;
  auto goal = static_cast<double>(budgetBytes);
  int tries = results.empty() ? 1 : mostTries;
  for (int i = 0; i < tries; ++i, goal *= lessEachTime) {
    std::vector<ScratchPlace> places = placeInResults(
        buffers, mayBeHosted, results, static_cast<int64_t>(goal));
    std::vector<Buffer> inArena;
    for (size_t buffer = 0; buffer < buffers.size(); ++buffer)
      if (places[buffer].result == none)
        inArena.push_back(buffers[buffer]);
    Packing packing = packBuffers(inArena, budgetBytes, effort, deadline);
    if (!bestPlaces.empty() && packing.arenaBytes >= best.arenaBytes)
      continue;
    best.arenaBytes = packing.arenaBytes;
    best.offsets.clear();
    size_t next = 0;
    for (const ScratchPlace &place : places)
      best.offsets.push_back(place.result == none ? packing.offsets[next++]
                                                  : place.offset);
    bestPlaces = std::move(places);
    if (best.arenaBytes <= budgetBytes)
      break;
  }
  place(best);
  host(bestPlaces);
}

/// Notes the results in whose buffers \p places lie.
void Packer::host(const std::vector<ScratchPlace> &places) {
  for (const Life &life : lives) {
    if (life.buffer == none || places[life.buffer].result == none)
      continue;
    Kernel &kernel = plan.kernels[life.kernel];
    kernel.hosts.resize(kernel.outputs.size(), none);
    kernel.hosts[life.output] = places[life.buffer].result;
  }
}

} // namespace

/// Searches between the goal, where it failed, and the best packing, until the
/// two are close.
static void searchBetween(const PackSearch &search, int64_t goalBytes,
                          int64_t stepLimit, Packing &best) {
  int64_t failed = goalBytes;
  while (best.arenaBytes - failed > goalBytes / 500) {
    int64_t middle = failed + (best.arenaBytes - failed) / 2, steps = stepLimit;
    if (!search.find(middle, steps, best))
      failed = middle;
  }
}

/// Searches with much work. How long it takes is a matter of luck more than of
/// the capacity, so half the distance to the goal is taken each time.
static void searchLong(const PackSearch &search, int64_t goalBytes,
                       bool hasBudget, Packing &best) {
  int64_t few = 60000000, many = 1500000000;
  if (search.find(goalBytes, hasBudget ? many : few, best) || hasBudget)
    return;
  while (best.arenaBytes > goalBytes && many > 0) {
    int64_t middle = goalBytes + (best.arenaBytes - goalBytes) / 2;
    search.find(middle, many, best);
  }
}

static void keepSmaller(Packing packing, Packing &best) {
  if (packing.arenaBytes < best.arenaBytes)
    best = std::move(packing);
}

/// Steps of a search that gives up after some hundred placements of all
/// buffers; of many, after a few.
static int64_t searchSteps(size_t buffers) {
  constexpr size_t many = 1000;
  int64_t count = static_cast<int64_t>(buffers);
  return buffers > many ? 2 * PackSearch::onceSteps(buffers)
                        : 4000000 + 40 * count * count;
}

/// Fills from the floor up and in fixed orders; often that is enough. Otherwise
/// searches below the best packing. If the search fails, tries other orders,
/// then searches below their best packing.
static Packing packTogether(const std::vector<Buffer> &buffers, int64_t goal,
                            bool hasBudget, PackEffort effort,
                            const Deadline *deadline) {
  // Beyond these, comparing buffers with each other takes too long.
  constexpr size_t mostCompared = 6000, mostComparedOnce = 1000;
  constexpr int fewTries = 2, someTries = 8;
  bool looksAround = effort == PackEffort::Orders;
  bool isLast = buffers.size() >
                (effort == PackEffort::Once ? mostComparedOnce : mostCompared);
  bool isBrief = looksAround || (effort == PackEffort::Once && !isLast);
  Packing best = packLowestFirst(buffers, goal, isBrief ? fewTries : someTries);
  if (best.arenaBytes <= goal || isLast)
    return best;
  keepSmaller(packByOrders(buffers, goal), best);
  auto isOver = [&] { return deadline && deadline->isOver(); };
  if (best.arenaBytes <= goal || looksAround || isOver())
    return best;
  PackSearch search(buffers, deadline);
  int64_t steps = searchSteps(buffers.size());
  if (effort == PackEffort::Once)
    steps = std::min(steps, PackSearch::onceSteps(buffers.size()));
  if (search.find(goal, steps, best) || effort == PackEffort::Once || isOver())
    return best;
  keepSmaller(packByReordering(buffers, goal), best);
  if (best.arenaBytes > goal && !hasBudget)
    searchBetween(search, goal, searchSteps(buffers.size()), best);
  if (best.arenaBytes > goal && effort == PackEffort::Thorough)
    searchLong(search, goal, hasBudget, best);
  return best;
}

std::vector<Buffer>
ckpt::plan::withoutIdleMoments(const std::vector<Buffer> &buffers) {
  std::vector<int32_t> starts;
  for (const Buffer &buffer : buffers)
    starts.push_back(buffer.first);
  std::sort(starts.begin(), starts.end());
  starts.erase(std::unique(starts.begin(), starts.end()), starts.end());
  auto startsUntil = [&](int32_t moment) {
    return static_cast<int32_t>(
        std::upper_bound(starts.begin(), starts.end(), moment) -
        starts.begin());
  };
  std::vector<Buffer> spans;
  for (const Buffer &buffer : buffers)
    spans.push_back({startsUntil(buffer.first) - 1,
                     startsUntil(buffer.last) - 1, buffer.bytes});
  return spans;
}

/// Groups of buffers such that no two of different groups share a moment.
static std::vector<std::vector<int32_t>>
findGroups(const std::vector<Buffer> &buffers) {
  std::vector<int32_t> order(buffers.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int32_t a, int32_t b) {
    return buffers[a].first < buffers[b].first;
  });
  std::vector<std::vector<int32_t>> groups;
  int32_t last = -1;
  for (int32_t buffer : order) {
    if (buffers[buffer].first > last)
      groups.emplace_back();
    groups.back().push_back(buffer);
    last = std::max(last, buffers[buffer].last);
  }
  for (std::vector<int32_t> &group : groups)
    std::sort(group.begin(), group.end());
  return groups;
}

/// Starts anew at each moment at which no buffer lives. The bytes of one group
/// are there for all others.
Packing ckpt::plan::packBuffers(const std::vector<Buffer> &buffers,
                                int64_t budgetBytes, PackEffort effort,
                                const Deadline *deadline) {
  int64_t load = loadBytes(buffers);
  bool hasBudget = budgetBytes >= load;
  int64_t goal = std::max(load, budgetBytes);
  std::vector<std::vector<int32_t>> groups = findGroups(buffers);
  if (groups.size() <= 1)
    return packTogether(buffers, goal, hasBudget, effort, deadline);
  Packing all;
  all.offsets.assign(buffers.size(), 0);
  for (const std::vector<int32_t> &group : groups) {
    std::vector<Buffer> members;
    for (int32_t buffer : group)
      members.push_back(buffers[buffer]);
    Packing packing = packTogether(members, std::max(goal, all.arenaBytes),
                                   hasBudget, effort, deadline);
    all.arenaBytes = std::max(all.arenaBytes, packing.arenaBytes);
    for (size_t i = 0; i < group.size(); ++i)
      all.offsets[group[i]] = packing.offsets[i];
  }
  return all;
}

void ckpt::plan::packSlots(const Problem &problem, Plan &plan,
                           int64_t budgetBytes, PackEffort effort) {
  KernelCache kernels(problem);
  packSlots(problem, plan, budgetBytes, effort, kernels);
}

void ckpt::plan::packSlots(const Problem &problem, Plan &plan,
                           int64_t budgetBytes, PackEffort effort,
                           KernelCache &kernels, const Deadline *deadline) {
  Packer(problem, plan, effort, kernels, deadline).run(budgetBytes);
}

void ckpt::plan::packSlotsInResults(const Problem &problem, Plan &plan,
                                    int64_t budgetBytes, KernelCache &kernels,
                                    const Deadline *deadline) {
  Packer(problem, plan, PackEffort::Search, kernels, deadline)
      .runInResults(budgetBytes);
}

Plan ckpt::plan::withoutSlots(Plan plan) {
  for (Kernel &kernel : plan.kernels) {
    kernel.offsets.clear();
    kernel.hosts.clear();
    kernel.workspaceOffset = -1;
  }
  plan.arenaBytes = 0;
  return plan;
}
