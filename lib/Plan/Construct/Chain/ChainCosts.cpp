//===- ChainCosts.cpp - Costs of the stages of a chain --------------------===//
//
// Measures memory as the simulator does: a value stands from its kernel to its
// last reader, and may be written over an input that dies there. ChainDP runs
// it once per chain.
//
//===----------------------------------------------------------------------===//

#include "Plan/Construct/Chain/ChainCosts.h"
#include "ckpt/Plan/Kernel.h"

#include <algorithm>
#include <numeric>
#include <set>

using namespace ckpt::plan;

//===----------------------------------------------------------------------===//
// Stages
//===----------------------------------------------------------------------===//

/// By stage: bytes of its input.
static std::vector<int64_t> inputBytesOf(const KernelChain &chain) {
  std::vector<int64_t> bytes;
  for (int32_t stage = 0; stage < chain.count; ++stage) {
    bytes.push_back(0);
    for (ValueId value : chain.inputs[stage])
      bytes.back() += chain.graph.slot(value);
  }
  return bytes;
}

/// The smallest of each of \p most groups of neighbours; all if there are
/// fewer.
static std::vector<int32_t> smallestOfGroups(const std::vector<int64_t> &bytes,
                                             size_t most) {
  size_t groups = std::min(bytes.size(), most);
  std::vector<int32_t> chosen;
  for (size_t group = 0; group < groups; ++group) {
    auto begin = static_cast<int64_t>(bytes.size() * group / groups);
    auto end = static_cast<int64_t>(bytes.size() * (group + 1) / groups);
    chosen.push_back(static_cast<int32_t>(
        std::min_element(bytes.begin() + begin, bytes.begin() + end) -
        bytes.begin()));
  }
  return chosen;
}

KernelStages::KernelStages(const KernelGraph &graph, Places places,
                           int32_t most)
    : ofOp(graph.problem.ops.size(), none) {
  for (const KernelNode &node : graph.nodes) {
    if (node.backward)
      continue;
    for (OpId op : node.kernel.ops)
      if (ofOp[op] == none)
        ofOp[op] = count;
    ++count;
  }
  std::vector<int64_t> bytes = inputBytesOf(KernelChain(graph, ofOp, count));
  std::vector<int32_t> starts;
  std::vector<int64_t> startBytes;
  for (int32_t stage = 1; stage < count; ++stage)
    if (places == Places::All ||
        ((stage == 1 || bytes[stage] <= bytes[stage - 1]) &&
         (stage + 1 == count || bytes[stage] <= bytes[stage + 1]))) {
      starts.push_back(stage);
      startBytes.push_back(bytes[stage]);
    }
  std::vector<int32_t> joined(std::max(count, 1), 0);
  for (int32_t index : smallestOfGroups(startBytes, most - 1))
    joined[starts[index]] = 1;
  std::partial_sum(joined.begin(), joined.end(), joined.begin());
  for (int32_t &stage : ofOp)
    if (stage != none)
      stage = joined[stage];
  count = joined.back() + 1;
}

//===----------------------------------------------------------------------===//
// Figures
//===----------------------------------------------------------------------===//

namespace {
class Figures {
public:
  explicit Figures(const KernelChain &chain);
  ChainCosts run();

private:
  using Values = std::vector<ValueId>;
  using Origin = ChainCosts::Origin;

  void measureRates();
  Values stillNeeded(int32_t stage, const Values &nodes, Origin origin) const;
  void measureStage(int32_t stage);
  void measureAdvances(int32_t first);
  Values nodesFor(int32_t first, const Values &wanted);
  Values backwardNodes(int32_t stage) const;
  int64_t peakOf(const Values &nodes, const Values &standing,
                 const Values &kept, int32_t backwardStage, Origin origin);
  template <typename Function>
  int64_t overwritten(int32_t node, Function dies) const;
  int64_t costOf(const Values &nodes) const;
  int64_t bytesBesides(int32_t first, const Values &values) const;
  bool waitsBeyond(ValueId value, int32_t stage, Origin origin) const;

  const KernelChain &chain;
  const KernelGraph &graph;
  ChainCosts costs;
  std::vector<int64_t> nodeCost;                 // per node
  std::vector<std::vector<InPlacePair>> inPlace; // per node
  /// By value that backward nodes read: the first stage with one.
  std::vector<int32_t> firstBackwardReader;
  std::vector<int64_t> waiting; // per stage
  int32_t stamp = 0;
  std::vector<int32_t> nodeStamp;
  std::vector<char> isSource; // per value
  // Scratch of `peakOf`.
  std::vector<int32_t> lastReader;
  std::vector<char> isKept, isLive;
};
} // namespace

Figures::Figures(const KernelChain &chain)
    : chain(chain), graph(chain.graph), inPlace(graph.nodes.size()),
      firstBackwardReader(graph.maker.size(), chain.count),
      waiting(chain.count, 0), nodeStamp(graph.nodes.size(), 0),
      isSource(graph.maker.size(), 0), lastReader(graph.maker.size(), none),
      isKept(graph.maker.size(), 0), isLive(graph.maker.size(), 0) {
  for (size_t id = 0; id < graph.nodes.size(); ++id) {
    const KernelNode &node = graph.nodes[id];
    inPlace[id] = analyze(graph.problem, node.kernel).inPlace;
    for (ValueId value : node.kernel.outputs)
      isSource[value] = chain.isSource(value);
    if (node.backward)
      for (ValueId value : node.reads)
        firstBackwardReader[value] =
            std::min(firstBackwardReader[value], chain.stageOf[id]);
  }
  measureRates();
  // A value that a backward part makes for earlier stages waits from then on.
  for (size_t value = 0; value < graph.maker.size(); ++value) {
    int32_t maker = graph.maker[value];
    auto id = static_cast<ValueId>(value);
    if (maker == none || (!chain.isBackward(id) && !chain.alwaysHeld[value]))
      continue;
    for (int32_t stage = firstBackwardReader[value];
         stage < chain.stageOf[maker]; ++stage)
      waiting[stage] += graph.slot(id);
  }
}

/// Repeated FLOPs count on top of their time, as in the search for a budget.
void Figures::measureRates() {
  constexpr double flopWeight = 5;
  double timeNs = 0, flops = 1;
  std::vector<double> flopsOf;
  for (const KernelNode &node : graph.nodes) {
    double own = 0;
    for (OpId op : node.kernel.ops)
      if (isAnchor(graph.problem.ops[op]))
        own += static_cast<double>(graph.problem.ops[op].flops);
    flopsOf.push_back(own);
    flops += own;
    timeNs += static_cast<double>(node.timeNs);
  }
  for (size_t id = 0; id < graph.nodes.size(); ++id)
    nodeCost.push_back(
        graph.nodes[id].timeNs +
        static_cast<int64_t>(flopWeight * timeNs / flops * flopsOf[id]));
}

int64_t Figures::costOf(const Values &nodes) const {
  int64_t cost = 0;
  for (int32_t node : nodes)
    cost += nodeCost[node];
  return cost;
}

/// The forward nodes that make \p wanted from the input of stage \p first, and
/// from nothing.
Figures::Values Figures::nodesFor(int32_t first, const Values &wanted) {
  ++stamp;
  Values nodes;
  auto want = [&](ValueId value) {
    int32_t node = graph.maker[value];
    if (nodeStamp[node] == stamp || chain.isBackward(value) ||
        (chain.stageOf[node] < first && !isSource[value]))
      return;
    nodeStamp[node] = stamp;
    nodes.push_back(node);
  };
  for (ValueId value : wanted)
    want(value);
  for (size_t i = 0; i < nodes.size(); ++i)
    for (ValueId value : graph.nodes[nodes[i]].reads)
      want(value);
  std::sort(nodes.begin(), nodes.end());
  return nodes;
}

Figures::Values Figures::backwardNodes(int32_t stage) const {
  Values nodes;
  for (size_t id = 0; id < graph.nodes.size(); ++id)
    if (graph.nodes[id].backward && chain.stageOf[id] == stage)
      nodes.push_back(static_cast<int32_t>(id));
  return nodes;
}

/// Bytes of the \p values that stage \p first or a later one makes.
int64_t Figures::bytesBesides(int32_t first, const Values &values) const {
  int64_t bytes = 0;
  for (ValueId value : std::set<ValueId>(values.begin(), values.end()))
    if (chain.stageOf[graph.maker[value]] >= first)
      bytes += graph.slot(value);
  return bytes;
}

/// Whether the backward part of an earlier stage still reads \p value.
bool Figures::waitsBeyond(ValueId value, int32_t stage, Origin origin) const {
  bool isOwn = origin == ChainCosts::Kept && !chain.isBackward(value) &&
               chain.stageOf[graph.maker[value]] + 1 >= stage;
  return firstBackwardReader[value] < stage && !isOwn;
}

/// Bytes of the outputs that \p node may write over inputs that die.
template <typename Function>
int64_t Figures::overwritten(int32_t node, Function dies) const {
  const std::vector<ValueId> &outputs = graph.nodes[node].kernel.outputs;
  const std::vector<InPlacePair> &pairs = inPlace[node];
  int64_t bytes = 0;
  for (size_t i = 0; i < pairs.size(); ++i) {
    auto isTaken = [&](const InPlacePair &earlier) {
      return (earlier.input == pairs[i].input ||
              earlier.output == pairs[i].output) &&
             dies(earlier.input, node);
    };
    if (dies(pairs[i].input, node) &&
        std::none_of(pairs.begin(), pairs.begin() + static_cast<int64_t>(i),
                     isTaken))
      bytes += graph.slot(outputs[pairs[i].output]);
  }
  return bytes;
}

/// The most bytes while \p nodes run, and their outputs in \p kept and the
/// values that wait for stages before \p backwardStage (`none`: no backward
/// part runs) stay. Counts these and \p standing, which need not stay, and
/// nothing else from before.
int64_t Figures::peakOf(const Values &nodes, const Values &standing,
                        const Values &kept, int32_t backwardStage,
                        Origin origin) {
  int64_t live = backwardStage == none ? 0 : waiting[backwardStage];
  std::vector<ValueId> touched = kept;
  for (ValueId value : standing) {
    live += isLive[value] ? 0 : graph.slot(value);
    isLive[value] = 1;
    touched.push_back(value);
  }
  int64_t peak = live;
  for (ValueId value : kept)
    isKept[value] = 1;
  for (int32_t node : nodes)
    for (ValueId value : graph.nodes[node].reads) {
      lastReader[value] = node;
      touched.push_back(value);
      isLive[value] |= chain.isBackward(value);
    }
  auto dies = [&](ValueId value, int32_t node) {
    return graph.slot(value) > 0 && isLive[value] &&
           lastReader[value] <= node && !isKept[value] &&
           !(backwardStage != none &&
             waitsBeyond(value, backwardStage, origin));
  };
  for (int32_t node : nodes)
    for (ValueId value : graph.nodes[node].kernel.outputs)
      isLive[value] = 0;
  for (int32_t node : nodes) {
    const std::vector<ValueId> &outputs = graph.nodes[node].kernel.outputs;
    int64_t made = 0;
    for (ValueId value : outputs)
      made += graph.slot(value);
    int64_t over = overwritten(node, dies);
    peak =
        std::max(peak, live + made - over + graph.nodes[node].workspaceBytes);
    live += made;
    for (ValueId value : outputs)
      isLive[value] = 1;
    touched.insert(touched.end(), outputs.begin(), outputs.end());
    auto end = [&](ValueId value) {
      if (!dies(value, node))
        return;
      live -= graph.slot(value);
      isLive[value] = 0;
    };
    for (ValueId value : outputs)
      end(value);
    for (ValueId value : graph.nodes[node].reads)
      end(value);
  }
  for (ValueId value : touched) {
    lastReader[value] = none;
    isKept[value] = isLive[value] = 0;
  }
  return peak;
}

/// The part of the input of \p stage that some of \p nodes read, or backward
/// parts of earlier stages that do not make it again.
Figures::Values Figures::stillNeeded(int32_t stage, const Values &nodes,
                                     Origin origin) const {
  std::set<ValueId> reads;
  for (int32_t node : nodes)
    reads.insert(graph.nodes[node].reads.begin(),
                 graph.nodes[node].reads.end());
  Values needed;
  for (ValueId value : chain.inputs[stage])
    if (reads.count(value) || waitsBeyond(value, stage, origin))
      needed.push_back(value);
  return needed;
}

void Figures::measureStage(int32_t stage) {
  ChainCosts::Stage &figures = costs.stages[stage];
  const Values &tape = chain.tapes[stage];
  Values backward = backwardNodes(stage), reads;
  for (int32_t node : backward)
    reads.insert(reads.end(), graph.nodes[node].reads.begin(),
                 graph.nodes[node].reads.end());
  auto withForward = [&](int32_t first) {
    Values nodes = nodesFor(first, reads);
    nodes.insert(nodes.end(), backward.begin(), backward.end());
    return nodes;
  };
  Values all = withForward(stage), fromTape = withForward(stage + 1);
  Values kept = tape;
  const Values &next = chain.inputs[stage + 1];
  kept.insert(kept.end(), next.begin(), next.end());
  Values forward = nodesFor(stage, kept);
  figures.tapePeakBytes = peakOf(forward, {}, kept, none, ChainCosts::Kept);
  figures.reverseCost = costOf(all);
  figures.tapeCost = costOf(forward) + costOf(fromTape);
  int64_t inputBytes = bytesBesides(0, chain.inputs[stage]);
  for (Origin origin : {ChainCosts::Kept, ChainCosts::AfterTape}) {
    ChainCosts::Stage::Bytes &bytes = figures.bytes[origin];
    bytes.reverse =
        peakOf(all, stillNeeded(stage, all, origin), {}, stage, origin) -
        inputBytes;
    Values standing = stillNeeded(stage, fromTape, origin);
    standing.insert(standing.end(), tape.begin(), tape.end());
    bytes.tapeReverse =
        peakOf(fromTape, standing, {}, stage, origin) - inputBytes;
    standing.insert(standing.end(), next.begin(), next.end());
    bytes.tape = bytesBesides(0, standing) - inputBytes;
  }
  figures.waitingBytes = waiting[stage];
}

void Figures::measureAdvances(int32_t first) {
  costs.advances.emplace_back(1);
  for (int32_t split = first + 1; split < chain.count; ++split) {
    const Values &kept = chain.inputs[split];
    Values nodes = nodesFor(first, kept);
    costs.advances.back().push_back(
        {peakOf(nodes, {}, kept, none, ChainCosts::Kept), costOf(nodes),
         bytesBesides(first, kept)});
  }
}

ChainCosts Figures::run() {
  costs.stages.resize(chain.count);
  for (int32_t stage = 0; stage < chain.count; ++stage) {
    measureStage(stage);
    measureAdvances(stage);
  }
  return std::move(costs);
}

ChainCosts ckpt::plan::measureChain(const KernelChain &chain) {
  return Figures(chain).run();
}
