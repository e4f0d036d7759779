//===- RetentionAnnealing.cpp - Rounds of simulated annealing -------------===//
//
// Two lanes anneal with different seeds in rounds of counted steps.
//
//===----------------------------------------------------------------------===//

#include "Plan/Improve/Anneal/RetentionAnnealing.h"

#include "Plan/Improve/Anneal/RetentionMoves.h"
#include "Plan/Improve/Anneal/StageKeepCut.h"
#include "Plan/Model/RunBoth.h"

#include <algorithm>
#include <cmath>
#include <deque>

using namespace ckpt::plan;

/// The kept values of a `Retention`.
using Decisions = std::vector<char>;

namespace {

/// Temperatures in times of an average kernel. In large steps with loose
/// budgets plans differ by little in the end.
constexpr double hotFromScratch = 1.5, hotFromCut = 0.05, cold = 5e-4;

/// One walk at a time through the states.
class Annealer {
public:
  Annealer(const KernelGraph &graph, int64_t budgetBytes, uint64_t seed);

  void anneal(const Decisions &start, int64_t steps, double hot,
              Deadline deadline);

  Retention state;
  /// The fastest of the last walk that fits.
  Decisions best;
  int64_t bestNs = INT64_MAX;

private:
  void adaptPrice(int64_t fitting, int64_t steps);

  RetentionMoves moves;
  double totalNs = 0;
};

class RetentionRounds {
public:
  RetentionRounds(const Problem &problem, const Plan &start,
                  const RetentionOptions &options);
  bool run();

private:
  static constexpr size_t laneCount = 2;
  bool isOver() const { return options.deadline.isOver(); }
  void findStarts();
  void runLane(size_t lane, int round);
  void enter(const Decisions &decisions, int64_t timeNs);

  const KernelGraph graph;
  const RetentionOptions &options;
  std::deque<Annealer> lanes;
  Decisions scratch, cuts[laneCount], best;
  int64_t bestNs = INT64_MAX, takenNs = INT64_MAX;
  int64_t steps;
  bool improved = false;
};

} // namespace

Annealer::Annealer(const KernelGraph &graph, int64_t budgetBytes, uint64_t seed)
    : state(graph, budgetBytes), moves(state, seed) {
  for (const KernelNode &node : graph.nodes)
    totalNs += static_cast<double>(node.timeNs);
}

/// About half of the states shall fit: optima lie at the border.
void Annealer::adaptPrice(int64_t fitting, int64_t steps) {
  constexpr double up = 1.15, down = 1.1;
  moves.bytePrice =
      2 * fitting < steps ? moves.bytePrice * up : moves.bytePrice / down;
}

void Annealer::anneal(const Decisions &start, int64_t steps, double hot,
                      Deadline deadline) {
  constexpr int64_t adaptations = 128;
  constexpr double firstPrice = 0.1;
  int64_t window = std::max<int64_t>(1, steps / adaptations);
  state.restore(start);
  bestNs = INT64_MAX;
  moves.bytePrice =
      firstPrice * totalNs /
      static_cast<double>(std::max<int64_t>(1, state.budgetBytes()));
  double averageNs = totalNs / static_cast<double>(state.stages());
  double now = moves.energy();
  int64_t fitting = 0;
  for (int64_t step = 1; step <= steps; ++step) {
    double share = static_cast<double>(step) / static_cast<double>(steps);
    double temperature = averageNs * hot * std::pow(cold / hot, share);
    double next = moves.propose() ? moves.energy() : INFINITY;
    if (next <= now || moves.chance() < std::exp((now - next) / temperature)) {
      state.commit();
      now = next;
      if (state.overflowBytes() == 0 && state.isLegal() &&
          state.timeNs() < bestNs) {
        bestNs = state.timeNs();
        best = state.save();
      }
    } else {
      state.rollBack();
    }
    fitting += state.overflowBytes() == 0;
    if (step % window > 0)
      continue;
    Work::spend(200 * window);
    adaptPrice(fitting, window);
    fitting = 0;
    now = moves.energy();
    if (deadline.isOver())
      return;
  }
}

/// The kernels of \p start; their times are the costs of one more run.
static KernelGraph priceKernels(const Problem &problem, const Plan &start,
                                double flopNs) {
  KernelGraph graph(problem, start);
  for (KernelNode &node : graph.nodes) {
    double flops = 0;
    for (OpId op : node.kernel.ops)
      flops += static_cast<double>(problem.ops[op].flops);
    node.timeNs += std::llround(flopNs * flops);
  }
  return graph;
}

RetentionRounds::RetentionRounds(const Problem &problem, const Plan &start,
                                 const RetentionOptions &options)
    : graph(priceKernels(problem, start, options.flopNs)), options(options) {
  constexpr int64_t stepsPerKernel = 128, fewest = 2000;
  steps = fewest + stepsPerKernel * static_cast<int64_t>(graph.nodes.size());
  for (size_t lane = 0; lane < laneCount; ++lane)
    lanes.emplace_back(graph, options.budgetBytes, lane + 1);
}

/// Cuts at the worst stage, then at the next worst, until all fit; the second
/// lane leaves some room for remats.
void RetentionRounds::findStarts() {
  constexpr int mostCuts = 12;
  constexpr int64_t reserve = 50;
  StageKeepCut cut(graph);
  scratch = lanes[0].state.save();
  for (size_t lane = 0; lane < laneCount; ++lane) {
    Retention &state = lanes[lane].state;
    int64_t bytes = options.budgetBytes;
    bytes -= static_cast<int64_t>(lane) * bytes / reserve;
    for (int i = 0; i < mostCuts && state.overflowBytes() > 0; ++i)
      cut.apply(state, state.worstStage(), bytes);
    state.commit();
    cuts[lane] = state.save();
    if (state.overflowBytes() == 0 && state.isLegal())
      enter(cuts[lane], state.timeNs());
  }
}

/// From the cuts first; then the lanes take turns in starting from the best
/// and from elsewhere.
void RetentionRounds::runLane(size_t lane, int round) {
  bool fromBest = round > 0 && !best.empty() && (round + lane) % 2 == 1;
  bool fromScratch = !fromBest && round % 2 == 1;
  const Decisions &start = fromBest ? best : fromScratch ? scratch : cuts[lane];
  lanes[lane].anneal(start, steps, fromScratch ? hotFromScratch : hotFromCut,
                     options.deadline);
}

void RetentionRounds::enter(const Decisions &decisions, int64_t timeNs) {
  if (timeNs < bestNs) {
    bestNs = timeNs;
    best = decisions;
    improved = true;
  }
  if (timeNs >= takenNs)
    return;
  lanes[0].state.restore(decisions);
  if (options.enter(graph.emit(lanes[0].state.list())))
    takenNs = timeNs;
}

bool RetentionRounds::run() {
  constexpr int patience = 6, roundsPerLength = 4;
  findStarts();
  for (int round = 0, idle = 0; round < options.mostRounds && idle < patience;
       ++round) {
    if (isOver())
      return false;
    improved = false;
    runLanes([&](size_t lane) { runLane(lane, round); });
    for (Annealer &lane : lanes)
      if (lane.bestNs < INT64_MAX)
        enter(Decisions(lane.best), lane.bestNs);
    idle = improved ? 0 : idle + 1;
    if (round % roundsPerLength == roundsPerLength - 1)
      steps *= 2;
  }
  return true;
}

bool ckpt::plan::hasFixedKernels(const Problem &problem) {
  return std::none_of(
             problem.ops.begin(), problem.ops.end(),
             [](const Op &op) { return op.kind == OpKind::Fusible; }) &&
         std::none_of(
             problem.values.begin(), problem.values.end(),
             [](const Value &value) { return value.keep == Keep::Recompute; });
}

bool ckpt::plan::annealRetention(const Problem &problem, const Plan &start,
                                 const RetentionOptions &options) {
  return RetentionRounds(problem, start, options).run();
}
