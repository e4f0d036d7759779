//===- RetentionSearch.cpp - Local search with fixed kernels --------------===//

#include "RetentionSearch.h"
#include "Retention.h"
#include "StageCut.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <future>
#include <random>

using namespace ckpt::plan;

namespace {

class Annealer {
public:
  Annealer(const KernelGraph &graph, int64_t budgetBytes, uint64_t seed)
      : graph(graph), state(graph, budgetBytes), random(seed), budget(budgetBytes) {
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
  std::chrono::steady_clock::time_point deadline;
  void forget() { bestNs = INT64_MAX; }

  int32_t worstStage() const;

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
  bool keepNode(int32_t node, int32_t stage);
  void fill(int tries);
  void relieve(int rounds, int tries);
  bool dropForParents();
  bool exchange();
  size_t exchangeEvery = getenv("EX") ? atoi(getenv("EX")) : 100;
  int64_t budget;

  const KernelGraph &graph;
  Retention state;
  std::mt19937_64 random;
  std::vector<ValueId> movable;
  std::vector<std::pair<int32_t,int32_t>> again;
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

int32_t Annealer::worstStage() const {
  int32_t worst = 0;
  for (int32_t t = 0; t < state.stages(); ++t)
    if (state.peakBytes(t) > state.peakBytes(worst))
      worst = t;
  return worst;
}

bool Annealer::keepNode(int32_t node, int32_t t) {
  for (ValueId v : graph.nodes[node].kernel.outputs)
    if (!state.isKept(v, t) && !graph.readers[v].empty()) {
      state.keep(v, t);
      return true;
    }
  return false;
}

/// Keeps in random order what pays off.
void Annealer::fill(int tries) {
  again.clear();
  for (int32_t t = 0; t < state.stages(); ++t)
    for (size_t i = 0; i + 1 < state.runs(t).size(); ++i)
      again.push_back({t, state.runs(t)[i]});
  double now = energy();
  for (int i = 0; i < tries && !again.empty(); ++i) {
    size_t k = pick(again.size());
    auto [t, node] = again[k];
    again[k] = again.back();
    again.pop_back();
    if (!std::binary_search(state.runs(t).begin(), state.runs(t).end() - 1,
                            node))
      continue;
    size_t mark = state.mark();
    if (!keepNode(node, t))
      continue;
    double next = energy();
    if (next < now)
      now = next;
    else
      state.rollBack(mark);
  }
}

/// Drops at the worst stage the best of a few.
void Annealer::relieve(int rounds, int tries) {
  for (int i = 0; i < rounds && state.overflowBytes() > 0; ++i) {
    int32_t worst = worstStage();
    ValueId best = none;
    double bestEnergy = 0;
    for (int k = 0; k < tries; ++k) {
      ValueId v = movable[pick(movable.size())];
      for (int m = 0; m < 40 && !state.isKept(v, worst); ++m)
        v = movable[pick(movable.size())];
      if (!state.isKept(v, worst))
        break;
      size_t mark = state.mark();
      state.drop(v, worst);
      double e = energy();
      if (best == none || e < bestEnergy) {
        best = v;
        bestEnergy = e;
      }
      state.rollBack(mark);
    }
    if (best == none)
      return;
    state.drop(best, worst);
  }
}

/// At one tight stage: the best exchange of what is kept, if what single drops
/// and keeps cost and free would add up.
bool Annealer::exchange() {
  constexpr int32_t units = 1200;
  struct Item {
    ValueId value;
    int32_t stage, node;
    int64_t timeNs, bytes;
  };
  int32_t n = state.stages(), at = none;
  int32_t start = static_cast<int32_t>(pick(n));
  int64_t tight = budget - budget / 50;
  for (int32_t i = 0; i < n && at == none; ++i)
    if (state.peakBytes((start + i) % n) > tight)
      at = (start + i) % n;
  if (at == none || pick(4) == 0)
    at = worstStage();
  std::vector<Item> items;
  uint64_t share = 2 + pick(7);
  int64_t timeBefore = state.timeNs(), peakBefore = state.peakBytes(at);
  auto measure = [&](ValueId value, int32_t stage, int32_t node) {
    size_t mark = state.mark();
    if (value != none)
      state.drop(value, stage);
    else if (!keepNode(node, stage))
      return;
    int64_t ns = state.timeNs() - timeBefore;
    int64_t bytes = state.peakBytes(at) - peakBefore;
    state.rollBack(mark);
    if (value != none ? bytes < 0 && ns >= 0 : bytes > 0 && ns <= 0)
      items.push_back({value, stage, node, std::abs(ns), std::abs(bytes)});
  };
  for (ValueId v : movable)
    if (state.isKept(v, at) && pick(10) < share)
      measure(v, at, none);
  size_t kept = items.size();
  again.clear();
  for (int32_t t = at; t < n; ++t)
    for (size_t i = 0; i + 1 < state.runs(t).size(); ++i)
      if (state.runs(t)[i] < at && pick(10) < share)
        again.push_back({t, state.runs(t)[i]});
  for (auto [t, node] : again)
    measure(none, t, node);
  if (kept == items.size() && items.empty())
    return false;
  int64_t room = budget - peakBefore;
  for (size_t i = 0; i < kept; ++i)
    room += items[i].bytes;
  if (room <= 0)
    return false;
  int64_t unit = std::max<int64_t>(1, room / units);
  // Take what saves most time.
  std::vector<int64_t> value(units + 1, 0);
  std::vector<char> taken(items.size() * (units + 1), 0);
  for (size_t i = 0; i < items.size(); ++i) {
    int64_t weight = (items[i].bytes + unit / 2) / unit;
    char *take = &taken[i * (units + 1)];
    for (int64_t u = units; u >= weight; --u)
      if (value[u - weight] + items[i].timeNs > value[u]) {
        value[u] = value[u - weight] + items[i].timeNs;
        take[u] = 1;
      }
  }
  int64_t left = units;
  std::vector<char> chosen(items.size(), 0);
  for (size_t i = items.size(); i-- > 0;)
    if (taken[i * (units + 1) + left]) {
      chosen[i] = 1;
      left -= (items[i].bytes + unit / 2) / unit;
    }
  bool changed = false;
  for (size_t i = 0; i < kept; ++i)
    if (!chosen[i] && state.isKept(items[i].value, at)) {
      state.drop(items[i].value, at);
      changed = true;
    }
  for (size_t i = kept; i < items.size(); ++i) {
    const auto &runs = state.runs(items[i].stage);
    if (chosen[i] &&
        std::binary_search(runs.begin(), runs.end() - 1, items[i].node))
      changed |= keepNode(items[i].node, items[i].stage);
  }
  if (changed) {
    relieve(3, 4);
    fill(20);
  }
  return changed;
}

bool Annealer::dropForParents() {
  int32_t stage = static_cast<int32_t>(pick(state.stages()));
  for (int tries = 0; tries < 60; ++tries) {
    ValueId v = movable[pick(movable.size())];
    if (!state.isKept(v, stage))
      continue;
    state.drop(v, stage);
    // Where it is made again now: the first stage that runs its kernel.
    int32_t node = graph.maker[v], at = stage;
    while (at < state.stages() &&
           (state.runs(at).size() < 2 ||
            !std::count(state.runs(at).begin(), state.runs(at).end(), node)))
      ++at;
    if (at >= state.stages())
      return true;
    for (int more = 1 + static_cast<int>(pick(2)); more > 0; --more) {
      if (state.runs(at).size() < 2)
        return true;
      int32_t other = state.runs(at)[pick(state.runs(at).size() - 1)];
      if (other != node)
        keepNode(other, at);
    }
    return true;
  }
  return false;
}

bool Annealer::propose() {
  if (pick(exchangeEvery) == 0)
    return exchange();
  switch (pick(16)) {
  case 0:
  case 1:
  case 2:
    return dropSomething();
  case 3:
  case 4:
  case 5:
    return keepSomething();
  case 6:
  case 7:
  case 8:
    return dropForParents();
  case 9:
  case 10:
  case 11: {
    // Keep something, and drop something else at the worst stage.
    if (!keepSomething())
      return false;
    for (int i = 0; i < 3 && state.overflowBytes() > 0; ++i)
      dropAt(worstStage());
    return true;
  }
  case 12:
    if (!keepSomething())
      return false;
    relieve(4, 4);
    return true;
  case 13:
    if (!keepSomething())
      return false;
    relieve(3, 3);
    fill(6);
    return true;
  case 14:
    if (!dropForParents())
      return false;
    fill(10);
    return true;
  default:
    if (!dropSomething())
      return false;
    fill(40);
    return true;
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
      if (std::chrono::steady_clock::now() > deadline)
        return;
    }
  }
}

void ckpt::plan::searchRetention(
    const Problem &problem, const Plan &start, int64_t budgetBytes,
    const std::vector<Plan> &, std::chrono::steady_clock::time_point deadline,
    const std::function<void(Plan)> &enter) {
  KernelGraph graph(problem, start);
  Annealer lanes[2] = {{graph, budgetBytes, 1}, {graph, budgetBytes, 2}};
  std::vector<char> initial = lanes[0].at().save();
  double hot = getenv("HOT") ? atof(getenv("HOT")) : 3e-3;
  double cold = getenv("COLD") ? atof(getenv("COLD")) : 1e-5;
  int64_t steps = getenv("STEPS") ? atoll(getenv("STEPS")) : 60000;
  int64_t bestNs = INT64_MAX;
  std::vector<char> best;
  double seedHot = getenv("SHOT") ? atof(getenv("SHOT")) : 3e-4;
  std::vector<char> seeds[2];
  StageCut cut(graph);
  for (int lane : {0, 1}) {
    Retention &state = lanes[lane].at();
    for (int i = 0; i < 12 && state.overflowBytes() > 0; ++i) {
      int32_t worst = lanes[lane].worstStage();
      cut.apply(state, worst, budgetBytes - lane * budgetBytes / 50);
      fprintf(stderr, "seed %d cut at %d: %.1f over %.3f\n", lane, worst,
              state.timeNs() / 1e4, (double)state.overflowBytes() / budgetBytes);
    }
    state.commit();
    seeds[lane] = state.save();
  }
  auto begin = std::chrono::steady_clock::now();
  for (int round = 0; round < 40; ++round) {
    if (std::chrono::steady_clock::now() > deadline)
      break;
    auto walk = [&](int lane) {
      lanes[lane].deadline = deadline;
      if (round > 0 && (round + lane) % 2 == 0 && !best.empty()) {
        lanes[lane].from(best);
        lanes[lane].anneal(steps, hot / 3, cold);
      } else if (round > 0 && round % 4 < 2) {
        lanes[lane].from(initial);
        lanes[lane].weight = 0;
        lanes[lane].anneal(steps, hot, cold);
      } else {
        if (round > 0)
          lanes[lane].from(seeds[lane]);
        lanes[lane].weight = 0;
        lanes[lane].anneal(steps, seedHot, cold);
      }
    };
    std::future<void> other = std::async(std::launch::async, walk, 1);
    walk(0);
    other.get();
    bool better = false;
    for (Annealer &lane : lanes)
      if (lane.hasBest() && lane.bestTime() < bestNs) {
        bestNs = lane.bestTime();
        best = lane.bestDecisions();
        better = true;
      }
    fprintf(stderr, "round %d: %.0f ms best %.1f  lanes %.1f %.1f weight %g\n",
            round,
            std::chrono::duration<double, std::milli>(
                std::chrono::steady_clock::now() - begin)
                .count(),
            bestNs / 1e4, lanes[0].bestTime() / 1e4, lanes[1].bestTime() / 1e4,
            lanes[0].weight);
    if (better) {
      lanes[0].from(best);
      enter(graph.emit(lanes[0].at().list()));
    }
    for (Annealer &lane : lanes)
      lane.forget();
    if (round % 4 == 3)
      steps *= 2;
  }
}
