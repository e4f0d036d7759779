//===- Rotor.cpp - Optimal persistent schedules of chains -----------------===//
//
// After Beaumont, Eyraud-Dubois, Herrmann, Joly and Shilova, "Optimal
// checkpointing for heterogeneous chains" (arXiv 1911.13214), section 4: a
// piece of the chain either keeps the input of a later stage and forgets all
// values between, or runs its first stage and keeps all reads of its backward
// part. Gradients that wait count with the backward part of each stage, as the
// unlimited plan has them.
//
//===----------------------------------------------------------------------===//

#include "Plan/Published/Rotor.h"
#include "Plan/Published/Baseline.h"
#include "Plan/Published/Stages.h"

#include <algorithm>
#include <limits>
#include <set>

using namespace ckpt::plan;

static constexpr int64_t impossible = std::numeric_limits<int64_t>::max() / 4;

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

RotorTable::RotorTable(std::vector<RotorStage> stagesOfChain, int32_t units)
    : stages(std::move(stagesOfChain)),
      count(static_cast<int32_t>(stages.size())), most(units),
      entries(stages.size() * stages.size() * (units + 1), {impossible, none}) {
  for (int32_t length = 1; length <= count; ++length)
    for (int32_t first = 0; first + length <= count; ++first)
      for (int32_t m = 0; m <= most; ++m)
        fill(first, first + length - 1, m);
}

void RotorTable::fill(int32_t first, int32_t last, int32_t units) {
  const RotorStage &stage = stages[first];
  if (first == last) {
    if (std::max(stage.forwardUnits, stage.backwardUnits) + stage.ownUnits <=
        units)
      at(first, last, units) = {stage.forwardNs + stage.backwardNs, first};
    return;
  }
  tryTape(first, last, units);
  for (int32_t split = first + 1; split <= last; ++split)
    trySplit(first, split, last, units);
}

void RotorTable::tryTape(int32_t first, int32_t last, int32_t units) {
  const RotorStage &stage = stages[first];
  int64_t left = units - stage.tapeUnits;
  if (left < stage.forwardUnits ||
      units - stage.ownUnits < stage.backwardUnits || left < 0)
    return;
  int64_t timeNs = stage.forwardNs + stage.backwardNs +
                   at(first + 1, last, static_cast<int32_t>(left)).timeNs;
  Entry &entry = at(first, last, units);
  if (timeNs < entry.timeNs)
    entry = {timeNs, first};
}

void RotorTable::trySplit(int32_t first, int32_t split, int32_t last,
                          int32_t units) {
  int64_t timeNs = 0;
  for (int32_t stage = first; stage < split; ++stage) {
    int64_t passing = stages[stage].forwardUnits +
                      stages[stage + 1].inputUnits[stage] +
                      (stage > first ? stages[stage].inputUnits[first] : 0);
    if (passing > units)
      return;
    timeNs += stages[stage].forwardNs;
  }
  int64_t left = units - stages[split].inputUnits[first];
  if (left < 0)
    return;
  timeNs += at(split, last, static_cast<int32_t>(left)).timeNs +
            at(first, split - 1, units).timeNs;
  Entry &entry = at(first, last, units);
  if (timeNs < entry.timeNs)
    entry = {timeNs, split};
}

std::optional<int64_t> RotorTable::timeNs(int32_t units) const {
  int64_t timeNs = at(0, count - 1, std::min(units, most)).timeNs;
  return timeNs < impossible ? std::optional<int64_t>(timeNs) : std::nullopt;
}

std::vector<ChainStep> RotorTable::steps(int32_t units) const {
  std::vector<ChainStep> result;
  collect(0, count - 1, std::min(units, most), result);
  return result;
}

void RotorTable::collect(int32_t first, int32_t last, int32_t units,
                         std::vector<ChainStep> &steps) const {
  using Kind = ChainStep::Kind;
  int32_t choice = at(first, last, units).choice;
  if (first == last) {
    steps.push_back({Kind::Backward, first});
    return;
  }
  if (choice == first) {
    steps.push_back({Kind::SaveTape, first});
    auto left = static_cast<int32_t>(units - stages[first].tapeUnits);
    collect(first + 1, last, left, steps);
    steps.push_back({Kind::Backward, first});
    return;
  }
  steps.push_back({Kind::SaveInput, choice});
  auto left = static_cast<int32_t>(units - stages[choice].inputUnits[first]);
  collect(choice, last, left, steps);
  steps.push_back({Kind::DropInput, choice});
  collect(first, choice - 1, units, steps);
}

//===----------------------------------------------------------------------===//
// Figures of the stages
//===----------------------------------------------------------------------===//

namespace {
/// Measures the bytes beside inputs and tapes while the unlimited plan runs.
class StageFigures {
public:
  StageFigures(const KernelChain &chain, int64_t unitBytes)
      : chain(chain), graph(chain.graph), unit(unitBytes), stages(chain.count) {
  }

  std::vector<RotorStage> run();

private:
  int64_t toUnits(int64_t bytes) const { return (bytes + unit - 1) / unit; }
  int64_t unitsOf(const std::set<ValueId> &values) const {
    int64_t bytes = 0;
    for (ValueId value : values)
      bytes += graph.slot(value);
    return toUnits(bytes);
  }
  void measureKept();
  void measureRunning();
  bool isTransient(ValueId value, bool backward) const;

  const KernelChain &chain;
  const KernelGraph &graph;
  const int64_t unit;
  std::vector<RotorStage> stages;
};
} // namespace

void StageFigures::measureKept() {
  for (int32_t stage = 0; stage < chain.count; ++stage) {
    std::vector<int64_t> madeFrom(stage + 1, 0);
    for (ValueId value : chain.inputs[stage])
      for (int32_t first = 0; first <= chain.stageOf[graph.maker[value]];
           ++first)
        madeFrom[first] += graph.slot(value);
    for (int64_t bytes : madeFrom)
      stages[stage].inputUnits.push_back(toUnits(bytes));
    std::set<ValueId> tape(chain.tapes[stage].begin(),
                           chain.tapes[stage].end());
    stages[stage].ownUnits = unitsOf(tape);
    for (ValueId value : chain.inputs[stage + 1])
      if (chain.stageOf[graph.maker[value]] == stage)
        tape.insert(value);
    stages[stage].tapeUnits = unitsOf(tape);
  }
}

/// Neither an input nor part of a tape, while that pass runs.
bool StageFigures::isTransient(ValueId value, bool backward) const {
  int32_t maker = graph.maker[value];
  if (graph.nodes[maker].backward || backward)
    return graph.nodes[maker].backward;
  for (int32_t reader : graph.readers[value])
    if (graph.nodes[reader].backward ||
        chain.stageOf[reader] > chain.stageOf[maker])
      return false;
  return true;
}

void StageFigures::measureRunning() {
  std::vector<int64_t> running[2];
  for (std::vector<int64_t> &bytes : running)
    bytes.assign(graph.nodes.size() + 1, 0);
  for (size_t value = 0; value < graph.maker.size(); ++value) {
    int32_t maker = graph.maker[value];
    auto id = static_cast<ValueId>(value);
    if (maker == none || graph.slot(id) == 0)
      continue;
    const std::vector<int32_t> &readers = graph.readers[value];
    int32_t last = readers.empty() ? maker : readers.back();
    bool backward = graph.nodes[maker].backward;
    if (!isTransient(id, backward))
      continue;
    running[backward][maker] += graph.slot(id);
    running[backward][last + 1] -= graph.slot(id);
  }
  int64_t live[2] = {0, 0};
  for (size_t id = 0; id < graph.nodes.size(); ++id) {
    for (int pass : {0, 1})
      live[pass] += running[pass][id];
    const KernelNode &node = graph.nodes[id];
    RotorStage &stage = stages[chain.stageOf[id]];
    int64_t &units = node.backward ? stage.backwardUnits : stage.forwardUnits;
    units = std::max(units, toUnits(live[node.backward] + node.workspaceBytes));
    (node.backward ? stage.backwardNs : stage.forwardNs) += node.timeNs;
  }
}

std::vector<RotorStage> StageFigures::run() {
  measureKept();
  measureRunning();
  return std::move(stages);
}

/// The memory in which every stage can keep its tape.
static int64_t tapesAndWork(const std::vector<RotorStage> &stages) {
  int64_t tapes = 0, work = 0;
  for (const RotorStage &stage : stages) {
    tapes += stage.tapeUnits;
    work = std::max({work, stage.forwardUnits, stage.backwardUnits});
  }
  return tapes + work;
}

void ckpt::plan::addRotor(BaselineRun &run) {
  constexpr int32_t units = 500, mostStages = 100, settings = 25;
  KernelGraph graph(run.problem, run.unlimited.plan);
  Stages stages(run.problem);
  if (stages.count > mostStages) {
    run.curve.error = "strategy 'rotor' takes at most " +
                      std::to_string(mostStages) + " stages, but got " +
                      std::to_string(stages.count);
    return;
  }
  KernelChain chain(graph, stages.ofOp, stages.count);
  int64_t bytes = tapesAndWork(StageFigures(chain, /*unitBytes=*/1).run());
  // Each stage rounds up once, and so do the bytes of running kernels.
  int64_t unitBytes = 1 + bytes / (units - stages.count - 2);
  RotorTable table(StageFigures(chain, unitBytes).run(), units);
  for (int32_t setting = settings; setting > 0; --setting) {
    int32_t memory = units * setting / settings;
    if (table.timeNs(memory))
      run.addPlan("memory " + formatBytes(memory * unitBytes),
                  graph.emit(followSteps(chain, table.steps(memory))));
  }
}
