//===- ChainFigures.cpp - What the stages of a chain cost -----------------===//
//
// Memory is measured as the simulator does: a value stands from its kernel to
// its last reader, and may be written over an input that dies there.
//
//===----------------------------------------------------------------------===//

#include "ChainFigures.h"
#include "ckpt/Plan/Kernel.h"

#include <algorithm>
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

/// Joins stages until there are at most \p most; the new number of each.
static std::vector<int32_t> joinStages(const std::vector<int64_t> &inputBytes,
                                       int32_t most) {
  // Stages that begin where they did; the first one always does.
  std::vector<int32_t> starts(inputBytes.size());
  for (size_t stage = 0; stage < starts.size(); ++stage)
    starts[stage] = static_cast<int32_t>(stage);
  auto excess = [&](size_t i) {
    int64_t around = inputBytes[starts[i - 1]];
    if (i + 1 < starts.size())
      around = i > 1 ? std::min(around, inputBytes[starts[i + 1]])
                     : inputBytes[starts[i + 1]];
    return static_cast<double>(inputBytes[starts[i]]) /
           static_cast<double>(std::max<int64_t>(around, 1));
  };
  auto length = [&](size_t i) {
    int32_t end = i + 1 < starts.size()
                      ? starts[i + 1]
                      : static_cast<int32_t>(inputBytes.size());
    return end - starts[i - 1];
  };
  while (starts.size() > static_cast<size_t>(most)) {
    size_t worst = 1;
    for (size_t i = 2; i < starts.size(); ++i)
      if (std::make_pair(excess(i), -length(i)) >
          std::make_pair(excess(worst), -length(worst)))
        worst = i;
    starts.erase(starts.begin() + static_cast<int64_t>(worst));
  }
  std::vector<int32_t> joined(inputBytes.size(), 0);
  for (int32_t start : starts)
    for (size_t stage = start; start > 0 && stage < joined.size(); ++stage)
      ++joined[stage];
  return joined;
}

KernelStages::KernelStages(const KernelGraph &graph, int32_t most)
    : ofOp(graph.problem.ops.size(), none) {
  for (const KernelNode &node : graph.nodes) {
    if (node.backward)
      continue;
    for (OpId op : node.kernel.ops)
      if (ofOp[op] == none)
        ofOp[op] = count;
    ++count;
  }
  if (count <= most)
    return;
  std::vector<int32_t> joined =
      joinStages(inputBytesOf(KernelChain(graph, ofOp, count)), most);
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

  void measureRates();
  void measureStage(int32_t stage);
  void measureAdvances(int32_t first);
  Values nodesFor(int32_t first, const Values &wanted) const;
  Values backwardNodes(int32_t stage) const;
  int64_t peakOf(const Values &nodes, const Values &kept, int32_t backwardStage);
  int64_t costOf(const Values &nodes) const;
  int64_t bytesBesides(int32_t first, const Values &values) const;
  bool waitsBeyond(ValueId value, int32_t stage) const;
  bool isForward(ValueId value) const {
    return !graph.nodes[graph.maker[value]].backward;
  }

  const KernelChain &chain;
  const KernelGraph &graph;
  ChainCosts costs;
  std::vector<int64_t> nodeCost;                // per node
  std::vector<std::vector<InPlacePair>> inPlace; // per node
  /// By value that backward nodes read: the first stage with one.
  std::vector<int32_t> firstBackwardReader;
  std::vector<int64_t> waiting; // per stage
  // Of `peakOf`.
  std::vector<int32_t> lastReader;
  std::vector<char> isKept, isLive;
};
} // namespace

Figures::Figures(const KernelChain &chain)
    : chain(chain), graph(chain.graph), inPlace(graph.nodes.size()),
      firstBackwardReader(graph.maker.size(), chain.count),
      waiting(chain.count, 0), lastReader(graph.maker.size(), none),
      isKept(graph.maker.size(), 0), isLive(graph.maker.size(), 0) {
  for (size_t id = 0; id < graph.nodes.size(); ++id) {
    const KernelNode &node = graph.nodes[id];
    inPlace[id] = analyze(graph.problem, node.kernel).inPlace;
    if (node.backward)
      for (ValueId value : node.reads)
        firstBackwardReader[value] =
            std::min(firstBackwardReader[value], chain.stageOf[id]);
  }
  measureRates();
  // What a backward part makes for earlier stages waits from then on.
  for (size_t value = 0; value < graph.maker.size(); ++value) {
    int32_t maker = graph.maker[value];
    auto id = static_cast<ValueId>(value);
    if (maker == none || isForward(id))
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

/// The forward nodes that make \p wanted from the input of stage \p first.
Figures::Values Figures::nodesFor(int32_t first, const Values &wanted) const {
  std::set<int32_t> nodes;
  std::vector<int32_t> work;
  auto want = [&](ValueId value) {
    int32_t node = graph.maker[value];
    if (isForward(value) && chain.stageOf[node] >= first &&
        nodes.insert(node).second)
      work.push_back(node);
  };
  for (ValueId value : wanted)
    want(value);
  while (!work.empty()) {
    int32_t node = work.back();
    work.pop_back();
    for (ValueId value : graph.nodes[node].reads)
      want(value);
  }
  return {nodes.begin(), nodes.end()};
}

Figures::Values Figures::backwardNodes(int32_t stage) const {
  Values nodes;
  for (size_t id = 0; id < graph.nodes.size(); ++id)
    if (graph.nodes[id].backward && chain.stageOf[id] == stage)
      nodes.push_back(static_cast<int32_t>(id));
  return nodes;
}

/// What of \p values is made by stage \p first or a later one.
int64_t Figures::bytesBesides(int32_t first, const Values &values) const {
  int64_t bytes = 0;
  for (ValueId value : std::set<ValueId>(values.begin(), values.end()))
    if (chain.stageOf[graph.maker[value]] >= first)
      bytes += graph.slot(value);
  return bytes;
}

/// Whether the backward part of an earlier stage still reads \p value.
bool Figures::waitsBeyond(ValueId value, int32_t stage) const {
  return !isForward(value) && firstBackwardReader[value] < stage;
}

/// The most bytes while \p nodes run and what they make of \p kept stays, as
/// does what waits for stages before \p backwardStage (`none`: no backward
/// part runs). Counts what waits in that case, and nothing else from before.
int64_t Figures::peakOf(const Values &nodes, const Values &kept,
                        int32_t backwardStage) {
  int64_t live = backwardStage == none ? 0 : waiting[backwardStage];
  int64_t peak = live;
  std::vector<ValueId> touched = kept;
  for (ValueId value : kept)
    isKept[value] = 1;
  for (int32_t node : nodes)
    for (ValueId value : graph.nodes[node].reads) {
      lastReader[value] = node;
      touched.push_back(value);
      isLive[value] |= !isForward(value);
    }
  auto dies = [&](ValueId value, int32_t node) {
    return isLive[value] && lastReader[value] <= node && !isKept[value] &&
           !(backwardStage != none && waitsBeyond(value, backwardStage));
  };
  for (int32_t node : nodes)
    for (ValueId value : graph.nodes[node].kernel.outputs)
      isLive[value] = 0;
  for (int32_t node : nodes) {
    const Kernel &kernel = graph.nodes[node].kernel;
    int64_t made = 0, over = 0;
    for (ValueId value : kernel.outputs) {
      touched.push_back(value);
      isLive[value] = 1;
      made += graph.slot(value);
    }
    std::set<ValueId> taken;
    std::set<int32_t> written;
    for (const InPlacePair &pair : inPlace[node])
      if (graph.slot(pair.input) > 0 && dies(pair.input, node) &&
          !taken.count(pair.input) && written.insert(pair.output).second) {
        taken.insert(pair.input);
        over += graph.slot(kernel.outputs[pair.output]);
      }
    peak = std::max(peak, live + made - over + graph.nodes[node].workspaceBytes);
    live += made;
    std::set<ValueId> ended(kernel.outputs.begin(), kernel.outputs.end());
    ended.insert(graph.nodes[node].reads.begin(),
                 graph.nodes[node].reads.end());
    for (ValueId value : ended)
      if (dies(value, node)) {
        live -= graph.slot(value);
        isLive[value] = 0;
      }
  }
  for (ValueId value : touched) {
    lastReader[value] = none;
    isKept[value] = isLive[value] = 0;
  }
  return peak;
}

void Figures::measureStage(int32_t stage) {
  ChainCosts::Stage &figures = costs.stages[stage];
  const Values &tape = chain.tapes[stage];
  Values backward = backwardNodes(stage), forward = nodesFor(stage, tape);
  Values all = forward;
  all.insert(all.end(), backward.begin(), backward.end());
  figures.reverseBytes = peakOf(all, {}, stage);
  figures.reverseCost = costOf(all);
  figures.backwardBytes = peakOf(backward, {}, stage);
  Values kept = tape;
  kept.insert(kept.end(), chain.inputs[stage + 1].begin(),
              chain.inputs[stage + 1].end());
  figures.tapePeakBytes = peakOf(nodesFor(stage, kept), kept, none);
  figures.tapeBytes = bytesBesides(stage, kept);
  figures.ownBytes = bytesBesides(stage, tape);
  figures.waitingBytes = waiting[stage];
}

void Figures::measureAdvances(int32_t first) {
  costs.advances.emplace_back(1);
  for (int32_t split = first + 1; split < chain.count; ++split) {
    const Values &kept = chain.inputs[split];
    Values nodes = nodesFor(first, kept);
    costs.advances.back().push_back({peakOf(nodes, kept, none), costOf(nodes),
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
