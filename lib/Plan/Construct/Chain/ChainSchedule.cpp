//===- ChainSchedule.cpp - Schedules of a chain as lists of kernels -------===//
//
// Finds the inputs and tapes of stages, and follows the steps of a schedule.
// ChainDP and the published chain strategies call it.
//
//===----------------------------------------------------------------------===//

#include "Plan/Construct/Chain/ChainSchedule.h"

#include <algorithm>
#include <map>
#include <set>

using namespace ckpt::plan;

//===----------------------------------------------------------------------===//
// Stages of kernels
//===----------------------------------------------------------------------===//

KernelChain::KernelChain(const KernelGraph &graph,
                         const std::vector<int32_t> &stageOfOp, int32_t count,
                         Backward backward)
    : graph(graph), count(count), stageOf(graph.nodes.size(), 0),
      alwaysHeld(graph.problem.values.size(), 0) {
  for (const KernelNode &node : graph.nodes)
    for (ValueId value : node.kernel.outputs)
      largestSlot = std::max(largestSlot, graph.slot(value));
  assignForward(stageOfOp);
  assignBackward(backward);
  collectInputs();
  collectTapes();
}

void KernelChain::assignForward(const std::vector<int32_t> &stageOfOp) {
  for (size_t id = 0; id < graph.nodes.size(); ++id) {
    const KernelNode &node = graph.nodes[id];
    if (node.backward)
      continue;
    for (OpId op : node.kernel.ops)
      stageOf[id] = std::max(stageOf[id], stageOfOp[op]);
    for (ValueId value : node.reads)
      stageOf[id] = std::max(stageOf[id], stageOf[graph.maker[value]]);
  }
}

bool KernelChain::isSource(ValueId value) const {
  const KernelNode &node = graph.nodes[graph.maker[value]];
  if (node.backward || !node.reads.empty() || !graph.mayDrop(value))
    return false;
  return std::none_of(node.kernel.ops.begin(), node.kernel.ops.end(),
                      [&](OpId op) { return isAnchor(graph.problem.ops[op]); });
}

/// The last stage that has the value as an input; its own if none has.
int32_t KernelChain::lastForwardStage(ValueId value) const {
  int32_t last = stageOf[graph.maker[value]];
  for (int32_t reader : graph.readers[value])
    if (!graph.nodes[reader].backward)
      last = std::max(last, stageOf[reader]);
  return last;
}

/// The same, where the value also passes to the backward parts of later stages.
int32_t KernelChain::lastStage(ValueId value) const {
  int32_t last = stageOf[graph.maker[value]];
  for (int32_t reader : graph.readers[value])
    last = std::max(last, stageOf[reader]);
  return last;
}

bool KernelChain::isSmall(ValueId value) const {
  constexpr int64_t share = 256;
  return graph.slot(value) <= largestSlot / share;
}

/// By backward node: the stage for which it has to run at the latest, since it
/// or a dependent reads the values of that stage.
std::vector<int32_t> KernelChain::latestStages() const {
  std::vector<int32_t> latest(graph.nodes.size(), 0);
  for (size_t id = graph.nodes.size(); id-- > 0;) {
    const KernelNode &node = graph.nodes[id];
    if (!node.backward)
      continue;
    for (ValueId value : node.reads)
      if (!isBackward(value) && !isSource(value) && !isSmall(value))
        latest[id] = std::max(latest[id], stageOf[graph.maker[value]]);
    for (ValueId value : node.kernel.outputs)
      for (int32_t reader : graph.readers[value])
        latest[id] = std::max(latest[id], latest[reader]);
  }
  return latest;
}

void KernelChain::assignBackward(Backward backward) {
  std::vector<int32_t> latest = latestStages();
  auto readsNothing = [&](int32_t id) { return graph.nodes[id].reads.empty(); };
  int32_t lastEffect = count - 1;
  for (size_t id = 0; id < graph.nodes.size(); ++id) {
    const KernelNode &node = graph.nodes[id];
    if (!node.backward)
      continue;
    int32_t stage = count - 1, made = none;
    for (ValueId value : node.reads) {
      int32_t maker = graph.maker[value];
      if (isBackward(value)) {
        if (!readsNothing(maker))
          stage = std::min(stage, stageOf[maker]);
      } else if (!isSource(value)) {
        made = std::max(made, stageOf[maker]);
        if (backward == Backward::Early)
          stage = std::min(stage, lastForwardStage(value));
      }
    }
    if (backward == Backward::Late && made != none)
      stage = std::min(stage, made);
    stageOf[id] = std::max(stage, latest[id]);
    for (OpId op : node.kernel.ops)
      if (graph.problem.ops[op].hasEffects)
        stageOf[id] = lastEffect = std::min(stageOf[id], lastEffect);
  }
  // A node without reads waits for its first reader.
  for (size_t id = graph.nodes.size(); id-- > 0;) {
    const KernelNode &node = graph.nodes[id];
    int32_t first = none;
    for (ValueId value : node.kernel.outputs)
      for (int32_t reader : graph.readers[value])
        first = std::max(first, stageOf[reader]);
    if (node.backward && node.reads.empty() && first != none)
      stageOf[id] = first;
    for (ValueId value : node.reads)
      alwaysHeld[value] |= node.backward && !isBackward(value) &&
                           !isSource(value) &&
                           stageOf[graph.maker[value]] > stageOf[id];
  }
}

void KernelChain::collectInputs() {
  inputs.resize(count + 1);
  for (size_t id = 0; id < graph.nodes.size(); ++id) {
    if (graph.nodes[id].backward)
      continue;
    for (ValueId value : graph.nodes[id].kernel.outputs)
      for (int32_t stage = stageOf[id] + 1;
           stage <= lastStage(value) && !isSource(value); ++stage)
        inputs[stage].push_back(value);
  }
}

void KernelChain::collectTapes() {
  tapes.resize(count);
  for (size_t id = 0; id < graph.nodes.size(); ++id) {
    if (graph.nodes[id].backward)
      continue;
    for (ValueId value : graph.nodes[id].kernel.outputs) {
      const std::vector<int32_t> &readers = graph.readers[value];
      if (!isSource(value) &&
          std::any_of(readers.begin(), readers.end(), [&](int32_t reader) {
            return graph.nodes[reader].backward &&
                   stageOf[reader] <= stageOf[id];
          }))
        tapes[stageOf[id]].push_back(value);
    }
  }
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

namespace {
class Follower {
public:
  explicit Follower(const KernelChain &chain)
      : chain(chain), graph(chain.graph), hasRun(graph.nodes.size(), 0),
        available(graph.problem.values.size(), 0),
        holds(graph.problem.values.size(), 0),
        pending(graph.problem.values.size(), 0), hasTape(chain.count, 0) {
    for (const KernelNode &node : graph.nodes)
      for (ValueId value : node.reads)
        pending[value] += node.backward;
  }

  void follow(const ChainStep &step);
  std::vector<KernelRun> finish();

private:
  void hold(const std::vector<ValueId> &values);
  void release(const std::vector<ValueId> &values);
  void runBackward(int32_t stage);
  void expire(const std::vector<ValueId> &values);
  void dropExpired(const std::vector<ValueId> &values);
  std::vector<int32_t> forwardUpTo(int32_t stage) const;
  void make(const std::vector<int32_t> &firstTimes,
            const std::vector<ValueId> &wanted);
  bool isKept(ValueId value) const;
  void dropUnless(ValueId value) {
    if (!isKept(value))
      available[value] = 0;
  }

  const KernelChain &chain;
  const KernelGraph &graph;
  std::vector<char> hasRun;    // per node
  std::vector<char> available; // per value: it stands in memory
  std::vector<int32_t> holds;  // per value: steps that keep it
  /// Per value: backward nodes that have not run yet and read it.
  std::vector<int32_t> pending;
  std::vector<char> hasTape; // per stage
  std::vector<KernelRun> runs;
};
} // namespace

/// A value of the backward pass waits for its readers.
bool Follower::isKept(ValueId value) const {
  bool waits = chain.isBackward(value) || chain.alwaysHeld[value];
  return holds[value] > 0 || !graph.mayDrop(value) ||
         (waits && pending[value] > 0);
}

void Follower::hold(const std::vector<ValueId> &values) {
  for (ValueId value : values)
    ++holds[value];
}

void Follower::release(const std::vector<ValueId> &values) {
  for (ValueId value : values) {
    --holds[value];
    dropUnless(value);
  }
}

std::vector<int32_t> Follower::forwardUpTo(int32_t stage) const {
  std::vector<int32_t> nodes;
  for (size_t id = 0; id < graph.nodes.size(); ++id)
    if (!graph.nodes[id].backward && !hasRun[id] && chain.stageOf[id] <= stage)
      nodes.push_back(static_cast<int32_t>(id));
  return nodes;
}

/// Runs \p firstTimes and the makers of \p wanted, in the plan's order, with
/// all that they need and that is not at hand.
void Follower::make(const std::vector<int32_t> &firstTimes,
                    const std::vector<ValueId> &wanted) {
  std::map<int32_t, std::set<ValueId>> batch;
  std::vector<int32_t> work;
  auto want = [&](ValueId value) {
    if (available[value])
      return;
    int32_t node = graph.maker[value];
    auto [entry, isNew] = batch.try_emplace(node);
    entry->second.insert(value);
    if (isNew)
      work.push_back(node);
  };
  for (int32_t node : firstTimes)
    if (batch.try_emplace(node).second)
      work.push_back(node);
  for (ValueId value : wanted)
    want(value);
  while (!work.empty()) {
    int32_t node = work.back();
    work.pop_back();
    for (ValueId value : graph.nodes[node].reads)
      want(value);
  }
  std::map<ValueId, int32_t> lastReader;
  for (const auto &[node, outputs] : batch)
    for (ValueId value : graph.nodes[node].reads)
      lastReader[value] = node;
  for (const auto &[node, outputs] : batch) {
    KernelRun run = graph.firstRun(node);
    if (hasRun[node])
      run.outputs.assign(outputs.begin(), outputs.end());
    else if (graph.nodes[node].backward)
      for (ValueId value : graph.nodes[node].reads)
        --pending[value];
    hasRun[node] = 1;
    for (ValueId value : run.outputs)
      available[value] = 1;
    for (ValueId value : run.outputs)
      if (!lastReader.count(value))
        dropUnless(value);
    for (ValueId value : graph.nodes[node].reads)
      if (lastReader[value] == node)
        dropUnless(value);
    runs.push_back(std::move(run));
  }
}

void Follower::runBackward(int32_t stage) {
  std::vector<int32_t> nodes = forwardUpTo(stage);
  for (size_t id = 0; id < graph.nodes.size(); ++id)
    if (graph.nodes[id].backward && chain.stageOf[id] == stage)
      nodes.push_back(static_cast<int32_t>(id));
  make(nodes, {});
}

/// From here on, the last reader of each of \p values drops it.
void Follower::expire(const std::vector<ValueId> &values) {
  for (ValueId value : values)
    --holds[value];
}

void Follower::dropExpired(const std::vector<ValueId> &values) {
  for (ValueId value : values)
    dropUnless(value);
}

void Follower::follow(const ChainStep &step) {
  switch (step.kind) {
  case ChainStep::Kind::SaveInput:
    hold(chain.inputs[step.stage]);
    make(forwardUpTo(step.stage - 1), chain.inputs[step.stage]);
    break;
  case ChainStep::Kind::DropInput:
    release(chain.inputs[step.stage]);
    break;
  case ChainStep::Kind::SaveTape: {
    std::vector<ValueId> wanted = chain.tapes[step.stage];
    const std::vector<ValueId> &next = chain.inputs[step.stage + 1];
    wanted.insert(wanted.end(), next.begin(), next.end());
    hold(wanted);
    hasTape[step.stage] = 1;
    make(forwardUpTo(step.stage), wanted);
    break;
  }
  case ChainStep::Kind::Backward:
    runBackward(step.stage);
    if (hasTape[step.stage]) {
      release(chain.tapes[step.stage]);
      release(chain.inputs[step.stage + 1]);
    }
    hasTape[step.stage] = 0;
    break;
  case ChainStep::Kind::BackwardFromInput: {
    std::vector<ValueId> expired = chain.inputs[step.stage];
    if (hasTape[step.stage])
      expired.insert(expired.end(), chain.tapes[step.stage].begin(),
                     chain.tapes[step.stage].end());
    hasTape[step.stage] = 0;
    expire(expired);
    runBackward(step.stage);
    dropExpired(expired);
    break;
  }
  }
}

std::vector<KernelRun> Follower::finish() { return std::move(runs); }

std::vector<KernelRun>
ckpt::plan::followSteps(const KernelChain &chain,
                        const std::vector<ChainStep> &steps) {
  Follower follower(chain);
  for (const ChainStep &step : steps)
    follower.follow(step);
  return follower.finish();
}
