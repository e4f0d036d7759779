//===- Checkmate.cpp - Checkmate's linear programme, rounded --------------===//
//
// After Jain et al., "Checkmate: breaking the memory wall with optimal tensor
// rematerialization" (MLSys 2020), sections 4 and 5: R[t, i] runs kernel i in
// stage t, S[t, i] keeps its result from stage t - 1 to t, FREE drops it within
// a stage and U is the memory in use. The relaxation is solved for 0.9 of the
// budget, S is rounded at a threshold, and R follows from it. The ops are the
// kernels of the unlimited plan.
//
//===----------------------------------------------------------------------===//

#include "Plan/Model/KernelGraph.h"
#include "Plan/Published/Baseline.h"
#include "Plan/Published/Cbc.h"

#include <algorithm>
#include <cmath>

using namespace ckpt::plan;

namespace {
class CheckmateModel {
public:
  CheckmateModel(const KernelGraph &graph, int64_t budgetBytes);

  /// S of the relaxation; nothing if it has no answer.
  bool solve();
  std::vector<KernelRun> round(double threshold) const;

private:
  void findEdges();
  void addVariables();
  void addStage(int32_t stage);
  void addFree(int32_t stage, int32_t node, size_t user);
  void addMemory(int32_t stage);
  bool staysKept(int32_t stage, int32_t node) const {
    return !graph.nodes[node].mayRepeat && stage > node;
  }

  const KernelGraph &graph;
  const double budget;
  const int32_t count;
  LinearProgram program;
  /// By node: nodes whose results it reads, nodes that read its results; bytes.
  std::vector<std::vector<int32_t>> inputs, users;
  std::vector<double> bytes;
  /// By stage and node: variables; by stage, node and user: that of FREE.
  std::vector<std::vector<int32_t>> runs, keeps;
  std::vector<std::vector<std::vector<int32_t>>> frees;
  std::vector<double> values;
};
} // namespace

CheckmateModel::CheckmateModel(const KernelGraph &graph, int64_t budgetBytes)
    : graph(graph), budget(0.9 * static_cast<double>(budgetBytes)),
      count(static_cast<int32_t>(graph.nodes.size())) {
  findEdges();
  addVariables();
  for (int32_t stage = 0; stage < count; ++stage) {
    addStage(stage);
    addMemory(stage);
  }
}

void CheckmateModel::findEdges() {
  inputs.resize(count);
  users.resize(count);
  bytes.assign(count, 0);
  for (int32_t node = 0; node < count; ++node) {
    for (ValueId value : graph.nodes[node].kernel.outputs)
      bytes[node] += static_cast<double>(graph.slot(value));
    for (ValueId value : graph.nodes[node].reads)
      if (graph.slot(value) > 0)
        inputs[node].push_back(graph.maker[value]);
    std::sort(inputs[node].begin(), inputs[node].end());
    inputs[node].erase(std::unique(inputs[node].begin(), inputs[node].end()),
                       inputs[node].end());
    for (int32_t input : inputs[node])
      users[input].push_back(node);
  }
}

void CheckmateModel::addVariables() {
  runs.resize(count);
  keeps.resize(count + 1);
  frees.resize(count);
  for (int32_t stage = 0; stage <= count; ++stage)
    for (int32_t node = 0; node < count; ++node) {
      bool last = stage == count;
      bool kept = !last && staysKept(stage, node);
      bool mayKeep = !last && node < stage;
      keeps[stage].push_back(program.addVariable(kept, mayKeep, 0));
      if (last || node > stage)
        continue;
      bool mayRun = node == stage || !staysKept(stage, node);
      runs[stage].push_back(program.addVariable(
          node == stage, mayRun,
          static_cast<double>(graph.nodes[node].timeNs) / 1000));
    }
}

/// A run or a kept value needs its sources.
void CheckmateModel::addStage(int32_t stage) {
  for (int32_t node = 0; node <= stage; ++node) {
    if (stage + 1 < count)
      program.addRow({{keeps[stage + 1][node], 1},
                      {keeps[stage][node], -1},
                      {runs[stage][node], -1}},
                     0);
    for (int32_t input : inputs[node])
      program.addRow({{runs[stage][node], 1},
                      {runs[stage][input], -1},
                      {keeps[stage][input], -1}},
                     0);
  }
}

/// FREE of \p node behind its user: allowed if that runs, no later user in the
/// stage does, and the next stage does not keep the value.
void CheckmateModel::addFree(int32_t stage, int32_t node, size_t user) {
  int32_t free = program.addVariable(0, 1, 0);
  frees[stage][node].push_back(free);
  LinearProgram::Terms others = {{keeps[stage + 1][node], 1}};
  for (size_t later = user + 1; later < users[node].size(); ++later)
    if (users[node][later] <= stage)
      others.push_back({runs[stage][users[node][later]], 1});
  auto most = static_cast<double>(others.size() + 1);
  int32_t runsHere = runs[stage][users[node][user]];
  // 1 - FREE <= h and h <= most * (1 - FREE), with h = 1 - R + others.
  LinearProgram::Terms atLeast = {{free, -1}, {runsHere, 1}};
  LinearProgram::Terms atMost = {{free, most}, {runsHere, -1}};
  for (auto [variable, factor] : others) {
    atLeast.push_back({variable, -factor});
    atMost.push_back({variable, factor});
  }
  program.addRow(std::move(atLeast), 0);
  program.addRow(std::move(atMost), most - 1);
}

void CheckmateModel::addMemory(int32_t stage) {
  frees[stage].resize(count);
  for (int32_t node = 0; node < stage; ++node)
    for (size_t user = 0; user < users[node].size(); ++user)
      if (users[node][user] <= stage)
        addFree(stage, node, user);
  LinearProgram::Terms used;
  for (int32_t node = 0; node < stage; ++node)
    if (bytes[node] > 0)
      used.push_back({keeps[stage][node], bytes[node] / budget});
  for (int32_t node = 0; node <= stage; ++node) {
    if (bytes[node] > 0)
      used.push_back({runs[stage][node], bytes[node] / budget});
    LinearProgram::Terms now = used;
    auto workspace = static_cast<double>(graph.nodes[node].workspaceBytes);
    if (workspace > 0)
      now.push_back({runs[stage][node], workspace / budget});
    program.addRow(std::move(now), 1);
    for (int32_t input : inputs[node]) {
      auto user = std::find(users[input].begin(), users[input].end(), node);
      used.push_back({frees[stage][input][user - users[input].begin()],
                      -bytes[input] / budget});
    }
  }
}

bool CheckmateModel::solve() {
  constexpr int seconds = 20;
  std::optional<std::vector<double>> answer = solveWithCbc(program, seconds);
  if (answer)
    values = std::move(*answer);
  return answer.has_value();
}

/// Keeps each value that S keeps by more than \p threshold, and runs the
/// kernels that are then missing.
std::vector<KernelRun> CheckmateModel::round(double threshold) const {
  std::vector<std::vector<char>> kept(count + 1, std::vector<char>(count, 0));
  for (int32_t stage = 0; stage < count; ++stage)
    for (int32_t node = 0; node < stage; ++node)
      kept[stage][node] =
          staysKept(stage, node) || values[keeps[stage][node]] > threshold;
  std::vector<KernelRun> schedule;
  for (int32_t stage = 0; stage < count; ++stage) {
    std::vector<char> needed(count, 0);
    for (int32_t node = stage; node >= 0; --node) {
      needed[node] |= node == stage;
      needed[node] |= kept[stage + 1][node] && !kept[stage][node];
      if (needed[node])
        for (int32_t input : inputs[node])
          needed[input] |= !kept[stage][input];
    }
    for (int32_t node = 0; node <= stage; ++node) {
      if (!needed[node])
        continue;
      KernelRun run = graph.firstRun(node);
      if (node < stage)
        run.outputs.erase(std::remove_if(run.outputs.begin(), run.outputs.end(),
                                         [&](ValueId value) {
                                           return graph.slot(value) == 0;
                                         }),
                          run.outputs.end());
      schedule.push_back(std::move(run));
    }
  }
  return schedule;
}

void ckpt::plan::addCheckmate(BaselineRun &run) {
  constexpr size_t mostKernels = 64;
  if (!isCbcInstalled()) {
    run.curve.error = "strategy 'checkmate' needs the program 'cbc', which is "
                      "not in PATH";
    return;
  }
  KernelGraph graph(run.problem, run.unlimited.plan);
  if (graph.nodes.size() > mostKernels) {
    run.curve.error = "strategy 'checkmate' takes at most " +
                      std::to_string(mostKernels) + " kernels, but got " +
                      std::to_string(graph.nodes.size());
    return;
  }
  for (int64_t target : run.targets) {
    std::string setting = "memory " + formatBytes(target);
    CheckmateModel model(graph, target);
    if (!model.solve()) {
      run.curve.refused.push_back(setting + ": cbc finds no answer");
      continue;
    }
    for (int tenths = 1; tenths < 10; ++tenths)
      run.addPlan(setting + ", " + std::to_string(tenths) + "/10",
                  graph.emit(model.round(tenths / 10.0)));
  }
}
