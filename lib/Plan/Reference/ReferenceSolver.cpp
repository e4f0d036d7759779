//===- ReferenceSolver.cpp - Exhaustive search for small problems ---------===//
//
// Dijkstra's algorithm over the values in memory and the ops that have run. It
// tries every legal kernel at every state, so there is nothing clever to get
// wrong: the oracle for solvers and bounds, for tests of up to 7 ops.
//
// It leaves out two moves that never help. Only a kernel that reads an instance
// drops it (before that it could have been dropped, or not written, earlier).
// And no value is written that stands in memory already, unless a kernel may no
// longer read the old instance, or its op makes more: unwritten results take
// workspace.
//
//===----------------------------------------------------------------------===//

#include "ckpt/Plan/Solvers.h"

#include <algorithm>
#include <map>
#include <queue>
#include <tuple>

using namespace ckpt::plan;

namespace {

/// Sets of values or ops, bit i for number i.
using Set = uint64_t;

bool contains(Set set, int32_t id) { return set >> id & 1; }

/// A legal kernel with the parts that the search asks for.
struct Choice {
  Kernel kernel;
  KernelInfo info;
  Set ops = 0, reads = 0, outputs = 0;
  bool backward = false;
};

/// The facts that decide which states may follow.
struct State {
  /// Values in memory, arguments left out.
  Set standing = 0;
  /// Ops that have run, as far as it matters.
  Set ran = 0;
  /// Standing values to be recomputed that were made before the backward pass.
  Set old = 0;
  bool backward = false;

  bool operator<(const State &other) const {
    return std::tie(standing, ran, old, backward) <
           std::tie(other.standing, other.ran, other.old, other.backward);
  }
};

/// Extra FLOPs and time, in the order in which they are to be small.
struct Cost {
  int64_t first = 0, second = 0;

  bool operator<(const Cost &other) const {
    return std::tie(first, second) < std::tie(other.first, other.second);
  }
};

/// The best way found to a state.
struct Arrival {
  Cost cost;
  State from;
  int32_t choice = none;
};

class Reference {
public:
  Reference(const Problem &problem, int64_t liveBytes, Objective objective)
      : problem(problem), liveBytes(liveBytes), objective(objective) {
    describe();
    enumerateKernels();
  }

  std::optional<Plan> run();

private:
  void describe();
  void enumerateKernels();
  void addChoice(Set ops, Set outputs);

  bool isGoal(const State &state) const {
    return (results & ~state.standing) == 0 && (once & ~state.ran) == 0;
  }
  bool mayRun(const State &state, const Choice &choice) const;
  bool respectsHosts(const State &state, const Choice &choice,
                     Set dropped) const;
  bool fitsMemory(const State &state, const Choice &choice, Set dropped) const;
  int64_t bytesTakenOver(const Choice &choice, Set dropped,
                         size_t output) const;
  void expand(const State &state, Cost cost);
  void step(const State &state, Cost cost, int32_t choice, Set dropped);
  Plan planTo(State state) const;

  const Problem &problem;
  const int64_t liveBytes;
  const Objective objective;
  std::vector<Choice> choices;
  /// Values in the arena, in results' buffers, results, and with each kind of
  /// keep.
  Set arena = 0, hosted = 0, results = 0, save = 0, recompute = 0;
  /// Results that ops make beside others.
  Set oneOfSeveral = 0;
  /// Run-once ops, ops with effects, and ops whose runs are counted.
  Set once = 0, effects = 0, counted = 0;

  std::map<State, Arrival> arrivals;
  using Entry = std::pair<Cost, State>;
  struct Later {
    bool operator()(const Entry &a, const Entry &b) const { return b < a; }
  };
  std::priority_queue<Entry, std::vector<Entry>, Later> queue;
};

void Reference::describe() {
  for (size_t i = 0; i < problem.values.size(); ++i) {
    const Value &value = problem.values[i];
    Set bit = Set(1) << i;
    arena |= value.home == Home::Arena ? bit : 0;
    hosted |= value.home == Home::Hosted ? bit : 0;
    results |= value.home == Home::Result ? bit : 0;
    if (value.home == Home::Argument)
      continue;
    save |= value.keep == Keep::Save ? bit : 0;
    recompute |= value.keep == Keep::Recompute ? bit : 0;
  }
  for (size_t i = 0; i < problem.ops.size(); ++i) {
    const Op &op = problem.ops[i];
    Set bit = Set(1) << i;
    once |= op.mayRepeat ? 0 : bit;
    effects |= op.hasEffects ? bit : 0;
    counted |= isAnchor(op) || !op.mayRepeat ? bit : 0;
    for (ValueId result : op.results) {
      counted |= contains(save, result) ? bit : 0;
      if (op.results.size() > 1)
        oneOfSeveral |= results & Set(1) << result;
    }
  }
}

void Reference::enumerateKernels() {
  Set allOps = (Set(1) << problem.ops.size()) - 1;
  for (Set ops = 1; ops <= allOps; ++ops) {
    Set made = 0;
    for (size_t i = 0; i < problem.ops.size(); ++i)
      if (contains(ops, i))
        for (ValueId result : problem.ops[i].results)
          made |= Set(1) << result;
    // All subsets of `made`, the empty one last.
    for (Set outputs = made;; outputs = (outputs - 1) & made) {
      addChoice(ops, outputs);
      if (outputs == 0)
        break;
    }
  }
}

void Reference::addChoice(Set ops, Set outputs) {
  Choice choice;
  choice.ops = ops;
  choice.outputs = outputs;
  for (size_t i = 0; i < problem.ops.size(); ++i)
    if (contains(ops, i)) {
      choice.kernel.ops.push_back(i);
      choice.backward |= problem.ops[i].backward;
      for (ValueId result : problem.ops[i].results)
        if (contains(save, result) && !contains(outputs, result))
          return;
    }
  for (size_t i = 0; i < problem.values.size(); ++i)
    if (contains(outputs, i)) {
      if (isInlined(problem, i))
        return;
      choice.kernel.outputs.push_back(i);
    }
  choice.info = analyze(problem, choice.kernel);
  if (!choice.info.error.empty())
    return;
  for (ValueId value : choice.info.memoryReads)
    if (problem.values[value].home != Home::Argument)
      choice.reads |= Set(1) << value;
  choices.push_back(std::move(choice));
}

bool Reference::mayRun(const State &state, const Choice &choice) const {
  if (choice.reads & ~state.standing)
    return false;
  if (choice.backward && state.backward && (choice.reads & state.old))
    return false;
  // Values in the arena are dropped before they are made again; results may be
  // written over old ones.
  if (choice.outputs & state.standing & ~(results & state.old) & ~oneOfSeveral)
    return false;
  for (size_t i = 0; i < problem.ops.size(); ++i) {
    if (!contains(choice.ops, i))
      continue;
    bool again = contains(state.ran, i);
    if (again && contains(once, i))
      return false;
    for (ValueId result : problem.ops[i].results)
      if (again && contains(save, result))
        return false;
    Set before = effects & ((Set(1) << i) - 1);
    if (contains(effects, i) && (before & ~state.ran))
      return false;
  }
  return true;
}

/// The most bytes that outputs from \p output on take over from dropped inputs.
int64_t Reference::bytesTakenOver(const Choice &choice, Set dropped,
                                  size_t output) const {
  if (output == choice.kernel.outputs.size())
    return 0;
  int64_t best = bytesTakenOver(choice, dropped, output + 1);
  ValueId value = choice.kernel.outputs[output];
  if (!contains(arena, value))
    return best;
  for (const InPlacePair &pair : choice.info.inPlace)
    if (pair.output == static_cast<int32_t>(output) &&
        contains(dropped, pair.input))
      best = std::max(
          best, slotBytes(problem.values[value].bytes) +
                    bytesTakenOver(choice, dropped & ~(Set(1) << pair.input),
                                   output + 1));
  return best;
}

/// One value at a time stands in the buffer of a result; a value written over
/// another one replaces it element by element.
bool Reference::respectsHosts(const State &state, const Choice &choice,
                              Set dropped) const {
  Set after = (state.standing | choice.outputs) & ~dropped;
  for (size_t i = 0; i < problem.values.size(); ++i) {
    ValueId host = problem.values[i].host;
    bool isGuest = problem.values[i].home == Home::Hosted;
    if (!isGuest || !contains(state.standing | choice.outputs, i))
      continue;
    for (size_t other = 0; other < problem.values.size(); ++other) {
      bool isThere = static_cast<ValueId>(other) == host ||
                     problem.values[other].host == host;
      if (!isThere || other == i ||
          !contains(state.standing | choice.outputs, other))
        continue;
      // `i` was there and `other` is written; the other way round, it is
      // looked at when it is their turn.
      bool isHost = static_cast<ValueId>(other) == host;
      bool wasFirst =
          contains(state.standing, i) && !contains(state.standing, other);
      if (!wasFirst && (isHost || !contains(state.standing, other) ||
                        contains(state.standing, i)))
        return false;
      if (!wasFirst)
        continue;
      if (contains(after, i))
        return false;
      if (!contains(choice.reads, i))
        continue;
      bool overwritten = false;
      for (const InPlacePair &pair : choice.info.inPlace)
        overwritten |=
            pair.input == static_cast<ValueId>(i) &&
            choice.kernel.outputs[pair.output] == static_cast<ValueId>(other);
      if (!overwritten)
        return false;
    }
  }
  return true;
}

bool Reference::fitsMemory(const State &state, const Choice &choice,
                           Set dropped) const {
  int64_t live = slotBytes(choice.info.workspaceBytes);
  for (size_t i = 0; i < problem.values.size(); ++i)
    if (contains((state.standing | choice.outputs) & arena, i))
      live += slotBytes(problem.values[i].bytes);
  return live - bytesTakenOver(choice, dropped, 0) <= liveBytes;
}

void Reference::step(const State &state, Cost cost, int32_t index,
                     Set dropped) {
  const Choice &choice = choices[index];
  if (!fitsMemory(state, choice, dropped) ||
      !respectsHosts(state, choice, dropped))
    return;
  State next = state;
  next.backward |= choice.backward && recompute;
  next.standing = (state.standing | choice.outputs) & ~dropped;
  next.ran |= choice.ops & counted;
  next.old &= next.standing & ~choice.outputs;
  if (!next.backward)
    next.old |= choice.outputs & next.standing & recompute;
  bool timeFirst = objective == Objective::Time;
  (timeFirst ? cost.first : cost.second) += choice.info.timeNs;
  for (size_t i = 0; i < problem.ops.size(); ++i)
    if (contains(choice.ops & state.ran, i) && isAnchor(problem.ops[i]))
      (timeFirst ? cost.second : cost.first) += problem.ops[i].flops;
  auto [known, added] = arrivals.emplace(next, Arrival{cost, state, index});
  if (!added && !(cost < known->second.cost))
    return;
  known->second = {cost, state, index};
  queue.push({cost, next});
}

void Reference::expand(const State &state, Cost cost) {
  for (size_t i = 0; i < choices.size(); ++i) {
    const Choice &choice = choices[i];
    if (!mayRun(state, choice))
      continue;
    // A saved value without a reader dies where it is made.
    Set droppable = (choice.reads | (choice.outputs & save)) & (arena | hosted);
    for (Set dropped = droppable;; dropped = (dropped - 1) & droppable) {
      step(state, cost, i, dropped);
      if (dropped == 0)
        break;
    }
  }
}

Plan Reference::planTo(State state) const {
  Plan plan;
  for (Arrival arrival = arrivals.at(state); arrival.choice != none;
       arrival = arrivals.at(arrival.from))
    plan.kernels.push_back(choices[arrival.choice].kernel);
  std::reverse(plan.kernels.begin(), plan.kernels.end());
  return plan;
}

std::optional<Plan> Reference::run() {
  arrivals.emplace(State(), Arrival());
  queue.push({Cost(), State()});
  while (!queue.empty()) {
    auto [cost, state] = queue.top();
    queue.pop();
    if (arrivals.at(state).cost < cost)
      continue;
    if (isGoal(state))
      return planTo(state);
    expand(state, cost);
  }
  return std::nullopt;
}

} // namespace

std::optional<Plan> ckpt::plan::solveReference(const Problem &problem,
                                               int64_t liveBytes,
                                               Objective objective) {
  return Reference(problem, liveBytes, objective).run();
}
