//===- Bound.cpp - Lower bounds on extra work and on bytes ----------------===//
//
// With a price per byte, the choice between keeping and recomputing at the
// first run of an anchor (AnchorRelaxation.cpp) is a minimum cut, and
//
//   extra FLOPs >= cut(price) - price * (budget - needs of the kernel)
//
// for every price: a line in the budget. Lines at a few prices show the moments
// that matter for a budget; the best of them get a search over prices and
// decisions (BranchAndBound.cpp). All of it is exact integer arithmetic; prices
// are multiples of 1 / flopScale FLOPs per byte. The same with the time of
// anchors that run again, on top of the least time without a limit
// (TimeBound.cpp), bounds the time.
//
//===----------------------------------------------------------------------===//

#include "Plan/Bounds/AnchorSelection.h"
#include "Plan/Bounds/BranchAndBound.h"
#include "Plan/Bounds/OperandBound.h"
#include "Plan/Bounds/PebbleBound.h"
#include "Plan/Bounds/TimeBound.h"
#include "Plan/Model/Clock.h"
#include "Plan/Model/RunBoth.h"
#include "ckpt/Plan/Regions.h"
#include "ckpt/Plan/ResultScratch.h"

#include <algorithm>
#include <limits>
#include <map>
#include <mutex>
#include <numeric>
#include <optional>

using namespace ckpt::plan;

/// Sums of capacities stay below this, far from `MinCut::infinite`.
static constexpr int64_t capacityLimit = int64_t{1} << 58;

/// Nanoseconds enter the networks as multiples of 1 / timeScale; FLOPs of
/// 1 / flopScale.
static constexpr int64_t timeScale = 4096;

/// Costs of running ops again as multiples of 1 / \p scale; empty if they are
/// too large for exact arithmetic.
static std::vector<int64_t> scaleCosts(const std::vector<int64_t> &costs,
                                       int64_t scale) {
  std::vector<int64_t> scaled;
  int64_t total = 0;
  for (int64_t cost : costs) {
    if (cost > capacityLimit / scale - total)
      return {};
    total += cost;
    scaled.push_back(cost * scale);
  }
  return scaled;
}

/// FLOPs of one more run, per anchor.
static std::vector<int64_t> repeatFlops(const RematGraph &graph) {
  std::vector<int64_t> flops(graph.problem.ops.size(), 0);
  for (size_t op = 0; op < flops.size(); ++op)
    if (graph.live[op] && isAnchor(graph.problem.ops[op]))
      flops[op] = graph.problem.ops[op].flops;
  return flops;
}

namespace {

/// extra >= (value - price * (budget - room)) / scale.
struct Line {
  int64_t value;
  int64_t price;
  int64_t room;
};

/// One measure of the cost of remats.
struct Goal {
  int64_t scale = 1;
  /// Per op, scaled; empty if nothing is bounded.
  std::vector<int64_t> costs;
  /// Ascending.
  std::vector<int64_t> prices;
  /// As high as exact arithmetic allows.
  int64_t highestPrice = 0;
  /// Every plan obeys all lines of one case of each group.
  std::vector<std::vector<std::vector<Line>>> groups;
};

/// The proven bound for one budget.
struct Proof {
  /// Not scaled.
  int64_t value = 0;
  std::vector<BoundCase> cases;
  /// Some ops that plans probably have to run again.
  std::vector<OpId> repeated;
};

} // namespace

/// Prices in geometric steps that cover the cost per byte of any anchor. The
/// highest is far above them: there, one byte too many proves that a decision
/// leaves no plan.
static Goal makeGoal(const RematGraph &graph, const std::vector<int64_t> &costs,
                     int64_t scale) {
  constexpr double step = 4;
  constexpr size_t mostPrices = 14;
  const Problem &problem = graph.problem;
  Goal goal;
  goal.scale = scale;
  goal.costs = scaleCosts(costs, scale);
  if (goal.costs.empty())
    return goal;
  int64_t totalBytes = 1;
  for (size_t value = 0; value < problem.values.size(); ++value)
    totalBytes += arenaBytes(problem, static_cast<ValueId>(value));
  int64_t highest = 1;
  for (size_t op = 0; op < problem.ops.size(); ++op) {
    int64_t bytes = 0;
    for (ValueId value : problem.ops[op].results)
      bytes += arenaBytes(problem, value);
    if (bytes)
      highest = std::max(highest, goal.costs[op] / bytes);
  }
  goal.highestPrice = capacityLimit / totalBytes;
  highest = std::min(highest * 4, goal.highestPrice);
  for (double price = static_cast<double>(highest); price >= 1; price /= step)
    goal.prices.push_back(static_cast<int64_t>(price));
  goal.prices.resize(std::min(goal.prices.size(), mostPrices));
  std::sort(goal.prices.begin(), goal.prices.end());
  goal.prices.erase(std::unique(goal.prices.begin(), goal.prices.end()),
                    goal.prices.end());
  return goal;
}

/// Everything that does not depend on the budget.
class ckpt::plan::BoundSearch {
public:
  BoundSearch(const Problem &problem, const SolverOptions &options,
              BoundScope scope);
  ExtraFlopsProof proveExtraFlops(int64_t budgetBytes) const;
  int64_t timeNs(int64_t budgetBytes) const;
  /// No plan has a smaller arena. Takes far longer than all other bounds;
  /// computed at the first call.
  int64_t minimum() const;
  MinimumCause minimumCause() const { return (void)minimum(), cause; }

  Goal flops, time;
  std::optional<BoundCase> tightest;
  /// No plan is faster, whatever its arena.
  int64_t unlimitedNs = 0;

private:
  RematCosts costsAt(const Goal &goal, int64_t unit,
                     const AnchorRelaxation &moment) const;
  int64_t unitOf(const std::vector<OpId> &repeated) const;
  void findMoments();
  void look(Goal &goal);
  void raiseMinimum(int64_t bytes, MinimumCause from);
  void searchMinimum() const;
  Proof prove(const Goal &goal, int64_t unit, int64_t budgetBytes) const;
  ExtraFlopsProof searchExtraFlops(int64_t budgetBytes) const;
  /// The end of a question that begins now. The last ones end a little after
  /// the limit.
  Deadline question() const {
    constexpr double most = 0.1, end = 1.02;
    return clock.in(std::clamp(end - clock.share(), 0.0, most));
  }

  const Problem &problem;
  const Clock clock;
  const RematGraph graph;
  AnchorRelaxation moment;
  std::optional<AnchorRelaxation> timeMoment;
  std::optional<TimeBound> timeBound;
  /// Of each case of each group, at no price.
  std::vector<std::vector<BoundCase>> moments;
  /// Whether the step is small enough for more than single kernels.
  bool isSearched = false;
  /// Bytes that single kernels and moments need, until the search raises them.
  mutable int64_t minimumBytes = 0;
  mutable MinimumCause cause;
  mutable std::once_flag onceMinimum;
  /// Answers by budget.
  mutable std::mutex answers;
  mutable std::map<int64_t, ExtraFlopsProof> flopsProofs;
  mutable std::map<int64_t, int64_t> timeProofs;
};

BoundSearch::BoundSearch(const Problem &problem, const SolverOptions &options,
                         BoundScope scope)
    : problem(problem), clock(options.withoutEffort()), graph(problem, true),
      moment(graph) {
  // Each moment is a cut of the whole step at many prices, and each root may
  // have to look at all of it: for very large steps, only the needs of single
  // kernels are bounded.
  constexpr size_t mostOps = 20000, mostWork = 50'000'000;
  auto [largest, bytes] = moment.largestAlone();
  raiseMinimum(bytes, {MinimumCause::Kind::Kernel, largest});
  if (problem.ops.size() > mostOps ||
      graph.roots.size() * problem.ops.size() > mostWork)
    return;
  isSearched = true;
  findMoments();
  auto lookAtFlops = [&] {
    if (scope == BoundScope::MinimumBytes)
      return false;
    flops = makeGoal(graph, repeatFlops(graph), ExtraFlopsProof::flopScale);
    look(flops);
    return true;
  };
  auto lookAtTime = [&] {
    if (scope != BoundScope::Everything)
      return false;
    timeBound.emplace(graph);
    timeMoment.emplace(graph, /*statisticsAreFree=*/true,
                       timeBound->insideValues());
    unlimitedNs = timeBound->totalNs();
    time = makeGoal(graph, timeBound->kernelNs(), timeScale);
    look(time);
    return true;
  };
  runBoth(problem.ops.size(), lookAtFlops, lookAtTime);
}

int64_t BoundSearch::minimum() const {
  if (isSearched)
    std::call_once(onceMinimum, [&] { searchMinimum(); });
  return minimumBytes;
}

/// The bytes while operands are made, then the search from the end.
void BoundSearch::searchMinimum() const {
  const Deadline until = question();
  auto raise = [&](int64_t bytes, MinimumCause from) {
    if (bytes > minimumBytes)
      cause = from;
    minimumBytes = std::max(minimumBytes, bytes);
  };
  OperandBound making(graph, moment);
  for (OpId op = 0; op < static_cast<OpId>(problem.ops.size()); ++op)
    if (graph.isRoot[op] && !until.isOver())
      raise(making.raise(op, minimumBytes), {MinimumCause::Kind::Operands, op});
  Searched searched = searchBackward(graph, minimumBytes, until);
  raise(searched.bytes, {MinimumCause::Kind::Search, searched.anchor});
}

/// Chooses the moments, and sets the needs of run-once ops.
void BoundSearch::findMoments() {
  constexpr size_t mostAnchors = 2000;
  std::vector<OpId> anchors;
  bool anyOnce = false;
  for (size_t op = 0; op < problem.ops.size(); ++op) {
    anyOnce |= graph.live[op] && graph.once[op];
    if (graph.live[op] && isAnchor(problem.ops[op]))
      anchors.push_back(static_cast<OpId>(op));
  }
  std::vector<std::pair<int64_t, OpId>> demanded;
  size_t step = (anchors.size() + mostAnchors - 1) / mostAnchors;
  for (size_t i = 0; i < anchors.size(); i += step) {
    moment.enter(anchors[i]);
    demanded.emplace_back(moment.demandedBytes(), anchors[i]);
  }
  for (OpId anchor : chooseAnchors(std::move(demanded))) {
    moments.push_back({{anchor}});
    if (anyOnce) {
      moment.enter(anchor);
      moment.build({});
      raiseMinimum(moment.solve(1) + moment.kernelBytes(),
                   {MinimumCause::Kind::Moment, anchor});
    }
  }
  for (const Triple &triple : chooseTriples(graph, moment))
    moments.push_back({{triple.other, triple.held, none},
                       {triple.held, triple.other, triple.later},
                       {triple.later, none, triple.held}});
}

void BoundSearch::raiseMinimum(int64_t bytes, MinimumCause from) {
  if (bytes > minimumBytes) {
    tightest = {from.op, none, none, 1};
    cause = from;
  }
  minimumBytes = std::max(minimumBytes, bytes);
}

/// The costs of remats at a moment, in whole multiples of \p unit: some of the
/// time of an anchor may have been charged to values written by no kernel
/// before.
RematCosts BoundSearch::costsAt(const Goal &goal, int64_t unit,
                                const AnchorRelaxation &at) const {
  if (&goal == &flops || goal.costs.empty()) {
    RematCosts whole{goal.costs, {}};
    for (int64_t &cost : whole.ops)
      cost -= cost % (unit * goal.scale);
    return whole;
  }
  RematCosts costs = timeBound->repeatNs(at);
  costs.ops = scaleCosts(costs.ops, goal.scale);
  int64_t left = capacityLimit / goal.scale;
  for (Rewrite &rewrite : costs.values) {
    rewrite.cost = std::min(rewrite.cost, left);
    left -= rewrite.cost;
    rewrite.cost *= goal.scale;
  }
  return costs;
}

/// Lines of each case of each moment, at a few prices.
void BoundSearch::look(Goal &goal) {
  constexpr double share = 0.15;
  const Deadline until = clock.at(share);
  AnchorRelaxation &at = &goal == &flops ? moment : *timeMoment;
  for (const std::vector<BoundCase> &cases : moments) {
    if (until.isOver())
      return;
    goal.groups.emplace_back();
    for (const BoundCase &it : cases) {
      at.enter(it.anchor, it.before, it.after);
      at.build(costsAt(goal, 1, at));
      std::vector<Line> lines;
      for (int64_t price : goal.prices)
        lines.push_back({at.solve(price), price, at.kernelBytes()});
      goal.groups.back().push_back(std::move(lines));
    }
  }
}

/// The line with the highest bound for a budget, and that bound, scaled.
static std::pair<const Line *, Wide> bestLine(const std::vector<Line> &lines,
                                              int64_t budgetBytes) {
  std::pair<const Line *, Wide> best = {nullptr, 0};
  for (const Line &line : lines) {
    Wide value = Wide(line.value) -
                 Wide(line.price) * (Wide(budgetBytes) - Wide(line.room));
    if (value > best.second)
      best = {&line, value};
  }
  return best;
}

/// Refines the groups with the highest lines: first their prices, then, for the
/// best of them, the remats op by op.
Proof BoundSearch::prove(const Goal &goal, int64_t unit,
                         int64_t budgetBytes) const {
  constexpr size_t mostGroups = 6;
  constexpr int64_t mostCuts = 3000, fewestCuts = 100, cutsPerTurn = 50;
  constexpr int64_t mostCutOps = 6'000'000;
  std::vector<std::pair<Wide, size_t>> promising;
  for (size_t i = 0; i < goal.groups.size(); ++i) {
    Wide least = std::numeric_limits<int64_t>::max();
    for (const std::vector<Line> &lines : goal.groups[i])
      least = std::min(least, bestLine(lines, budgetBytes).second);
    if (least > 0)
      promising.emplace_back(-least, i);
  }
  std::sort(promising.begin(), promising.end());
  promising.resize(std::min(promising.size(), mostGroups));

  const Deadline until = question();
  std::vector<BranchAndBound> best;
  auto weakest = [](std::vector<BranchAndBound> &trees) {
    return std::min_element(
        trees.begin(), trees.end(),
        [](const BranchAndBound &left, const BranchAndBound &right) {
          return left.value() < right.value();
        });
  };
  for (auto [least, group] : promising) {
    if (!best.empty() && until.isOver())
      break;
    std::vector<BranchAndBound> trees;
    for (size_t i = 0; i < moments[group].size(); ++i) {
      BoundCase at = moments[group][i];
      AnchorRelaxation prototype = &goal == &flops ? moment : *timeMoment;
      prototype.enter(at.anchor, at.before, at.after);
      at.price = bestLine(goal.groups[group][i], budgetBytes).first->price;
      trees.emplace_back(prototype, at, costsAt(goal, unit, prototype),
                         unit * goal.scale, budgetBytes, goal.highestPrice,
                         until);
    }
    if (best.empty() || weakest(trees)->value() > weakest(best)->value())
      best = std::move(trees);
  }
  Proof proof;
  if (best.empty())
    return proof;
  int64_t allCuts =
      std::clamp(mostCutOps / static_cast<int64_t>(problem.ops.size()),
                 fewestCuts, mostCuts);
  for (int64_t cuts = 0; cuts < allCuts && !until.isOver(); cuts += cutsPerTurn)
    weakest(best)->grow(cutsPerTurn);
  proof.value = static_cast<int64_t>(
      std::min(weakest(best)->value() / goal.scale,
               Wide(std::numeric_limits<int64_t>::max() / 2)));
  proof.repeated = weakest(best)->repeated();
  for (const BranchAndBound &tree : best)
    for (BoundCase &it : tree.cases())
      proof.cases.push_back(std::move(it));
  return proof;
}

/// The largest unit that all \p repeated contractions are multiples of.
int64_t BoundSearch::unitOf(const std::vector<OpId> &repeated) const {
  int64_t unit = 0;
  for (OpId op : repeated)
    if (problem.ops[op].kind == OpKind::Contraction)
      unit = std::gcd(unit, problem.ops[op].flops);
  return std::max<int64_t>(1, unit);
}

/// Blocks of equal layers repeat products whose FLOPs are multiples of one
/// unit, and so is the sum in every plan (Chvatal, "Edmonds polytopes and a
/// hierarchy of combinatorial problems", Discrete Mathematics 4, 1973). Only
/// smaller costs and other multiples lose by it.
ExtraFlopsProof BoundSearch::searchExtraFlops(int64_t budgetBytes) const {
  // Fine units gain nothing.
  constexpr int64_t mostUnits = 10000;
  Proof exact = prove(flops, 1, budgetBytes);
  int64_t unit = unitOf(exact.repeated);
  if (exact.value % unit != 0 && exact.value / unit < mostUnits) {
    Proof whole = prove(flops, unit, budgetBytes);
    if (whole.value > exact.value)
      return {whole.value, unit, std::move(whole.cases)};
  }
  return {exact.value, 1, std::move(exact.cases)};
}

/// The answer to a question for \p budgetBytes, from \p known or else from
/// \p search, which runs without the lock: others may ask meanwhile.
template <typename Answer, typename Search>
static Answer answer(std::mutex &mutex, std::map<int64_t, Answer> &known,
                     int64_t budgetBytes, Search search) {
  {
    std::lock_guard<std::mutex> lock(mutex);
    if (auto found = known.find(budgetBytes); found != known.end())
      return found->second;
  }
  Answer found = search();
  std::lock_guard<std::mutex> lock(mutex);
  return known.try_emplace(budgetBytes, std::move(found)).first->second;
}

ExtraFlopsProof BoundSearch::proveExtraFlops(int64_t budgetBytes) const {
  return answer(answers, flopsProofs, budgetBytes,
                [&] { return searchExtraFlops(budgetBytes); });
}

int64_t BoundSearch::timeNs(int64_t budgetBytes) const {
  return answer(answers, timeProofs, budgetBytes, [&] {
    return unlimitedNs + prove(time, 1, budgetBytes).value;
  });
}

static SolverOptions withoutLimit() {
  SolverOptions options;
  options.timeLimitMs = 0;
  return options;
}

Bound::Bound(const Problem &problem) : Bound(problem, withoutLimit()) {}

Bound::Bound(const Problem &problem, const SolverOptions &options,
             BoundScope scope)
    : search(std::make_shared<const BoundSearch>(problem, options, scope)) {
  for (const Region &region : problem.regions) {
    auto view = std::make_shared<const Problem>(regionView(problem, region));
    auto known = std::make_shared<const BoundSearch>(*view, options, scope);
    regions.push_back({region.budgetBytes + mostScratchBytes(problem),
                       std::move(view), std::move(known)});
  }
}

/// A plan of the problem is one of every view, with as many extra FLOPs.
int64_t Bound::extraFlops(int64_t budgetBytes) const {
  int64_t most = search->proveExtraFlops(budgetBytes).value;
  for (const RegionBound &region : regions)
    most = std::max(most,
                    region.search->proveExtraFlops(region.budgetBytes).value);
  return most;
}

int64_t Bound::minimumRegionBytes(int32_t region) const {
  return regions[region].search->minimum();
}

ExtraFlopsProof Bound::proveExtraFlops(int64_t budgetBytes) const {
  return search->proveExtraFlops(budgetBytes);
}

int64_t Bound::timeNs(int64_t budgetBytes) const {
  return search->timeNs(budgetBytes);
}

int64_t Bound::minimumBytes() const { return search->minimum(); }

MinimumCause Bound::minimumCause() const { return search->minimumCause(); }

std::optional<BoundCase> Bound::minimumCase() const { return search->tightest; }
