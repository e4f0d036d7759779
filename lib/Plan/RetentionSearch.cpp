//===- RetentionSearch.cpp - Local search with fixed kernels --------------===//

#include "RetentionSearch.h"
#include "Retention.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>

using namespace ckpt::plan;

namespace {

class Annealer {
public:
  Annealer(const KernelGraph &graph, int64_t budgetBytes, uint64_t seed)
      : graph(graph), state(graph, budgetBytes), random(seed) {
    for (ValueId v = 0; v < static_cast<ValueId>(graph.maker.size()); ++v)
      if (graph.maker[v] != none && !graph.readers[v].empty() &&
          graph.mayDrop(v))
        movable.push_back(v);
  }

  /// \p steps moves from `hot` to `cold` (fractions of the time of the step).
  void anneal(int64_t steps, double hot, double cold);
  bool hasBest() const { return bestNs < INT64_MAX; }
  int64_t bestTime() const { return bestNs; }
  std::vector<KernelRun> bestList() {
    state.restore(best);
    return state.list();
  }
  const std::vector<char> &bestDecisions() const { return best; }
  void restart() { state.restore(best); }
  void from(const std::vector<char> &d) { state.restore(d); }
  Retention &at() { return state; }
  double weight = 0;

private:
  double energy() const {
    return static_cast<double>(state.timeNs()) +
           weight * static_cast<double>(state.overflowBytes());
  }
  size_t pick(size_t n) { return static_cast<size_t>(random() % n); }
  bool propose();
  bool dropSomething();
  bool dropAt(int32_t stage);
  bool keepSomething();
  int32_t pickRecomputing();

  const KernelGraph &graph;
  Retention state;
  std::mt19937_64 random;
  std::vector<ValueId> movable;
  std::vector<char> best;
  int64_t bestNs = INT64_MAX;
};

} // namespace

bool Annealer::dropAt(int32_t stage) {
  for (int tries = 0; tries < 60; ++tries) {
    ValueId v = movable[pick(movable.size())];
    if (!state.isKept(v, stage))
      continue;
    state.drop(v, stage);
    return true;
  }
  return false;
}

bool Annealer::dropSomething() {
  int32_t stage = static_cast<int32_t>(pick(state.stages()));
  if (state.overflowBytes() > 0 && pick(2)) {
    int32_t worst = 0;
    for (int32_t t = 0; t < state.stages(); ++t)
      if (state.peakBytes(t) > state.peakBytes(worst))
        worst = t;
    stage = worst;
  }
  return dropAt(stage);
}

int32_t Annealer::pickRecomputing() {
  int32_t n = state.stages(), start = static_cast<int32_t>(pick(n));
  for (int32_t i = 0; i < n; ++i) {
    int32_t t = (start + i) % n;
    if (state.runs(t).size() > 1)
      return t;
  }
  return none;
}

bool Annealer::keepSomething() {
  int32_t t = pickRecomputing();
  if (t == none)
    return false;
  int32_t node = state.runs(t)[pick(state.runs(t).size() - 1)];
  bool any = false;
  for (ValueId v : graph.nodes[node].kernel.outputs)
    if (!state.isKept(v, t) && !graph.readers[v].empty()) {
      state.keep(v, t);
      any = true;
      break;
    }
  return any;
}

bool Annealer::propose() {
  switch (pick(8)) {
  case 0:
  case 1:
    return dropSomething();
  case 2:
  case 3:
    return keepSomething();
  case 4:
  case 5: {
    // Drop a value, and keep what it is made from instead.
    int32_t stage = static_cast<int32_t>(pick(state.stages()));
    for (int tries = 0; tries < 60; ++tries) {
      ValueId v = movable[pick(movable.size())];
      if (!state.isKept(v, stage))
        continue;
      int32_t touch = stage;
      while (state.isKept(v, touch + 1) && touch + 1 < state.stages())
        ++touch;
      state.drop(v, stage);
      // Where it is made again now: the first stage that runs its kernel.
      int32_t node = graph.maker[v], at = stage;
      while (at < state.stages() && (state.runs(at).size() < 2 ||
             !std::count(state.runs(at).begin(), state.runs(at).end(), node)))
        ++at;
      if (at >= state.stages())
        return true;
      for (int more = 1 + static_cast<int>(pick(2)); more > 0; --more) {
        if (state.runs(at).size() < 2)
          return true;
        int32_t other = state.runs(at)[pick(state.runs(at).size() - 1)];
        if (other == node)
          continue;
        for (ValueId u : graph.nodes[other].kernel.outputs)
          if (!state.isKept(u, at) && !graph.readers[u].empty()) {
            state.keep(u, at);
            break;
          }
      }
      return true;
    }
    return false;
  }
  default: {
    // Keep something, and drop something else at the worst stage.
    if (!keepSomething())
      return false;
    for (int i = 0; i < 3 && state.overflowBytes() > 0; ++i) {
      int32_t worst = 0;
      for (int32_t t = 0; t < state.stages(); ++t)
        if (state.peakBytes(t) > state.peakBytes(worst))
          worst = t;
      dropAt(worst);
    }
    return true;
  }
  }
}

void Annealer::anneal(int64_t steps, double hot, double cold) {
  double now = energy();
  int64_t total = 0;
  for (const KernelNode &node : graph.nodes)
    total += node.timeNs;
  double scale = static_cast<double>(total);
  if (weight == 0) {
    int64_t peak = 1;
    for (int32_t t = 0; t < state.stages(); ++t)
      peak = std::max(peak, state.peakBytes(t));
    weight = scale / static_cast<double>(peak) / 10;
  }
  int64_t feasible = 0, window = 0;
  for (int64_t step = 0; step < steps; ++step) {
    double share = static_cast<double>(step) / static_cast<double>(steps);
    double temperature = scale * hot * std::pow(cold / hot, share);
    if (!propose()) {
      state.rollBack();
      continue;
    }
    double next = energy();
    double uniform = static_cast<double>(random() >> 11) * 0x1p-53;
    if (next <= now || uniform < std::exp((now - next) / temperature)) {
      state.commit();
      now = next;
      if (state.overflowBytes() == 0 && state.timeNs() < bestNs) {
        bestNs = state.timeNs();
        best = state.save();
      }
    } else {
      state.rollBack();
    }
    ++window;
    feasible += state.overflowBytes() == 0;
    if (window == 500) {
      if (feasible * 2 < window)
        weight *= 1.15;
      else
        weight /= 1.1;
      window = feasible = 0;
      now = energy();
    }
  }
}

void ckpt::plan::searchRetention(
    const Problem &problem, const Plan &start, int64_t budgetBytes,
    const std::vector<Plan> &,
    std::chrono::steady_clock::time_point deadline,
    const std::function<void(Plan)> &enter) {
  KernelGraph graph(problem, start);
  Annealer annealer(graph, budgetBytes, 1);
  double hot = getenv("HOT") ? atof(getenv("HOT")) : 1e-2;
  double cold = getenv("COLD") ? atof(getenv("COLD")) : 1e-5;
  int64_t steps = getenv("STEPS") ? atoll(getenv("STEPS")) : 500000;
  int64_t last = INT64_MAX;
  int round = 0;
  while (std::chrono::steady_clock::now() < deadline && round < 40) {
    auto t0 = std::chrono::steady_clock::now();
    annealer.anneal(steps, hot, cold);
    double ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - t0).count();
    fprintf(stderr, "round %d: %.1f ms best %.1f evals %lld weight %g\n", round, ms,
            annealer.hasBest() ? annealer.bestTime() / 1e4 : -1.0,
            (long long)annealer.at().workDone(), annealer.weight);
    ++round;
    if (annealer.hasBest() && annealer.bestTime() < last) {
      last = annealer.bestTime();
      enter(graph.emit(annealer.bestList()));
    }
    if (annealer.hasBest()) annealer.restart();
    hot /= 1; 
  }
}
