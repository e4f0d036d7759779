//===- PebbleSearch.cpp - Making one value in little memory ---------------===//
//
// Best-first search from the end. Each value in memory after a kernel is an
// output of it or stood before. The search replaces the output by the reads of
// the kernel, until nothing stands in memory. A state is near its end if few
// ops have to run for it. The same op may have to run for several values, and
// then more than once, so states with many values are tried late, too, to
// several degrees. Each set once made within some bytes is remembered.
// PebblePlan calls it once per result and limit.
//
//===----------------------------------------------------------------------===//

#include "Plan/Construct/Pebble/PebbleSearch.h"

#include "Plan/Model/Work.h"

#include <algorithm>
#include <array>
#include <queue>
#include <tuple>
#include <unordered_set>

using namespace ckpt::plan;

PebbleSearch::PebbleSearch(const RematGraph &graph)
    : graph(graph), choices(graph) {
  findAncestors();
}

void PebbleSearch::findAncestors() {
  constexpr size_t bits = 64;
  const Problem &problem = graph.problem;
  std::vector<int32_t> number(problem.ops.size(), none);
  int32_t count = 0;
  for (size_t op = 0; op < problem.ops.size(); ++op)
    for (ValueId value : problem.ops[op].results)
      if (graph.node[value] && number[op] == none)
        number[op] = count++;
  words = (count + bits - 1) / bits;
  ancestors.assign(words * problem.ops.size(), 0);
  united.resize(words);
  for (size_t op = 0; op < problem.ops.size(); ++op) {
    uint64_t *mine = &ancestors[op * words];
    if (number[op] != none)
      mine[number[op] / bits] |= uint64_t(1) << number[op] % bits;
    for (const Read &read : problem.ops[op].reads)
      if (OpId producer = problem.values[read.value].op; producer != none)
        for (size_t word = 0; word < words; ++word)
          mine[word] |= ancestors[producer * words + word];
  }
}

/// The number of ops that have to run, at least once.
int32_t PebbleSearch::countAncestors(const Standing &standing) {
  std::fill(united.begin(), united.end(), 0);
  for (ValueId value : standing)
    for (size_t word = 0; word < words; ++word)
      united[word] |= ancestors[graph.problem.values[value].op * words + word];
  int32_t count = 0;
  for (uint64_t word : united)
    count += __builtin_popcountll(word);
  return count;
}

int64_t PebbleSearch::bytesOf(const Standing &standing) const {
  int64_t bytes = 0;
  for (ValueId value : standing)
    bytes += arenaBytes(graph.problem, value);
  return bytes;
}

PebbleSearch::Step PebbleSearch::stepTo(const Standing &after,
                                        const KernelChoice &choice) const {
  const std::vector<ValueId> &made = choice.kernel.outputs;
  Standing rest;
  for (ValueId value : after)
    if (std::find(made.begin(), made.end(), value) == made.end())
      rest.push_back(value);
  Step step;
  step.choice = &choice;
  std::set_union(rest.begin(), rest.end(), choice.reads.begin(),
                 choice.reads.end(), std::back_inserter(step.before));
  bool overwrites = false;
  for (ValueId value : choice.overwrites)
    overwrites |= arenaBytes(graph.problem, value) > 0 &&
                  !std::binary_search(rest.begin(), rest.end(), value);
  step.bytes = bytesOf(step.before) + choice.workspaceBytes +
               (overwrites ? 0 : bytesOf(made));
  return step;
}

/// Steps within the limit; one is enough if all that it reads stands in memory
/// anyway.
std::vector<PebbleSearch::Step>
PebbleSearch::findSteps(const Standing &after, int64_t limitBytes) const {
  std::vector<Step> steps;
  for (ValueId value : after)
    for (const KernelChoice &choice : choices.of(value)) {
      Step step = stepTo(after, choice);
      if (step.bytes > limitBytes)
        continue;
      if (std::includes(after.begin(), after.end(), step.before.begin(),
                        step.before.end()))
        return {std::move(step)};
      steps.push_back(std::move(step));
    }
  return steps;
}

const PebbleSearch::Step *PebbleSearch::findKnown(const Standing &standing,
                                                  int64_t limitBytes) const {
  auto found = known.find(standing);
  return found != known.end() && found->second.bytes <= limitBytes
             ? &found->second
             : nullptr;
}

/// FNV-1a over the values.
size_t
PebbleSearch::HashOfStanding::operator()(const Standing &standing) const {
  uint64_t hash = 14695981039346656037u;
  for (ValueId value : standing)
    hash = (hash ^ static_cast<uint32_t>(value)) * 1099511628211u;
  return hash;
}

/// Enters the way from \p first to the goal.
void PebbleSearch::remember(const std::vector<State> &states, int32_t first) {
  auto found = known.find(states[first].standing);
  int64_t bytes = found == known.end() ? 0 : found->second.bytes;
  for (int32_t at = first; states[at].next != none; at = states[at].next) {
    const State &state = states[at];
    bytes = std::max(bytes, state.bytes);
    known[states[state.next].standing] = {state.choice, state.standing, bytes};
  }
}

bool PebbleSearch::search(ValueId goal, int64_t limitBytes, int32_t weight,
                          Deadline deadline) {
  constexpr int mostStates = 2000;
  std::vector<State> states;
  std::unordered_set<Standing, HashOfStanding> seen;
  // The most promising state: rating, bytes, number.
  using Entry = std::tuple<int32_t, int64_t, int32_t>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<Entry>> queue;
  auto enter = [&](int32_t next, Step step) {
    if (!seen.insert(step.before).second)
      return;
    queue.emplace(countAncestors(step.before) +
                      weight * static_cast<int32_t>(step.before.size()),
                  bytesOf(step.before), static_cast<int32_t>(states.size()));
    states.push_back({std::move(step.before), next, step.choice, step.bytes});
  };
  enter(none, {nullptr, {goal}, 0});
  for (int i = 0; i < mostStates && !queue.empty() && !deadline.isOver(); ++i) {
    Work::spend(5000);
    int32_t at = std::get<2>(queue.top());
    queue.pop();
    Standing standing = states[at].standing;
    if (standing.empty() || findKnown(standing, limitBytes)) {
      remember(states, at);
      return true;
    }
    for (Step &step : findSteps(standing, limitBytes))
      enter(at, std::move(step));
  }
  return false;
}

bool PebbleSearch::make(ValueId goal, int64_t limitBytes, Deadline deadline,
                        std::vector<Kernel> &kernels) {
  constexpr std::array<int32_t, 4> weights = {4, 20, 0, 100};
  bool isMade = findKnown({goal}, limitBytes);
  for (size_t i = 0; i < weights.size() && !isMade; ++i)
    isMade = search(goal, limitBytes, weights[i], deadline);
  if (!isMade)
    return false;
  std::vector<Kernel> reversed;
  for (Standing standing = {goal}; !standing.empty();) {
    const Step &step = known.at(standing);
    reversed.push_back(step.choice->kernel);
    standing = step.before;
  }
  kernels.insert(kernels.end(), std::make_move_iterator(reversed.rbegin()),
                 std::make_move_iterator(reversed.rend()));
  return true;
}
