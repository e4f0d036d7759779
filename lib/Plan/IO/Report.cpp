//===- Report.cpp - The report of a plan, for people ----------------------===//
//
// Prints the report of a plan as text and fills its figures. Passes and tools
// call it once per plan.
//
//===----------------------------------------------------------------------===//

#include "ckpt/Plan/Report.h"
#include "ckpt/Plan/Budget.h"

#include <algorithm>
#include <cstdio>
#include <ostream>

using namespace ckpt::plan;

double Figures::gap() const {
  int64_t above = std::max<int64_t>(0, extraFlops - extraFlopsBound);
  return flops == 0 ? 0 : static_cast<double>(above) / flops;
}

std::map<std::string, int64_t> Figures::integers() const {
  return {{"written_peak_bytes", writtenPeakBytes},
          {"baseline_peak_bytes", baselinePeakBytes},
          {"budget_bytes", budgetBytes},
          {"peak_bytes", peakBytes},
          {"live_peak_bytes", livePeakBytes},
          {"argument_bytes", argumentBytes},
          {"result_bytes", resultBytes},
          {"donated_bytes", donatedBytes},
          {"scratch_bytes", scratchBytes},
          {"total_bytes", totalBytes()},
          {"baseline_cost_ns", baselineCostNs},
          {"cost_ns", costNs},
          {"flops", flops},
          {"extra_flops", extraFlops},
          {"extra_flops_bound", extraFlopsBound},
          {"cost_bound_ns", costBoundNs},
          {"next_bytes", nextBytes},
          {"next_saved_ns", nextSavedNs},
          {"next_saved_flops_at_most", nextSavedFlopsAtMost},
          {"relief_bytes", reliefBytes},
          {"relief_cost_ns", reliefCostNs},
          {"relief_extra_flops", reliefExtraFlops},
          {"bytes_moved", bytesMoved},
          {"baseline_bytes_moved", baselineBytesMoved},
          {"written_bytes_moved", writtenBytesMoved},
          {"planning_ms", planningMs},
          {"first_plan_ms", firstPlanMs},
          {"kernels", kernels},
          {"minimum_budget_bytes", minimumBudgetBytes},
          {"minimum_budget_bound_bytes", minimumBudgetBoundBytes}};
}

int64_t ckpt::plan::smallStep(int64_t bytes) {
  constexpr int64_t share = 50, largestUnit = int64_t{1} << 40;
  int64_t step = 1;
  for (int64_t unit = 1; unit <= largestUnit; unit *= 1024)
    for (int64_t count : {1, 10, 100})
      if (count * unit <= bytes / share)
        step = count * unit;
  return step;
}

/// Numbers become `*`, so that equal values of equal layers stand together.
static std::string family(const std::string &name) {
  std::string result;
  for (size_t i = 0; i < name.size(); ++i) {
    bool digit = name[i] >= '0' && name[i] <= '9';
    bool starts = i == 0 || name[i - 1] == '/' || name[i - 1] == '_' ||
                  (!result.empty() && result.back() == '*');
    if (digit && starts) {
      if (result.empty() || result.back() != '*')
        result += '*';
      continue;
    }
    result += name[i];
  }
  return result;
}

std::vector<LiveAtPeak> ckpt::plan::liveAtPeak(const Problem &problem,
                                               const Verdict &verdict) {
  std::vector<bool> takenOver(verdict.instances.size(), false);
  for (const Instance &instance : verdict.instances)
    if (instance.takesOver != none && instance.kernel == verdict.peakKernel)
      takenOver[instance.takesOver] = true;
  std::map<std::string, LiveAtPeak> groups;
  for (size_t i = 0; i < verdict.instances.size(); ++i) {
    const Instance &instance = verdict.instances[i];
    const Value &value = problem.values[instance.value];
    if (!isInArena(problem, instance) || takenOver[i] ||
        instance.kernel > verdict.peakKernel ||
        instance.lastRead < verdict.peakKernel)
      continue;
    LiveAtPeak &group = groups[family(value.name)];
    group.name = group.count == 0 ? value.name : family(value.name);
    group.count += 1;
    group.bytes += slotBytes(value.bytes);
  }
  std::vector<LiveAtPeak> result;
  for (auto &[name, group] : groups)
    result.push_back(group);
  std::stable_sort(result.begin(), result.end(),
                   [](const LiveAtPeak &a, const LiveAtPeak &b) {
                     return a.bytes > b.bytes;
                   });
  return result;
}

namespace {
/// Remats of one family of layers.
struct Recomputed {
  int64_t anchors = 0;
  int64_t values = 0;
  int64_t flops = 0;
};

std::string percent(double share) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f %%", 100 * share);
  return text;
}

std::string milliseconds(int64_t ns) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3f ms", ns / 1e6);
  return text;
}

std::string pad(std::string text, size_t width) {
  // Multi-byte signs such as the middle dot take one column.
  size_t columns = std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  });
  return columns < width ? std::string(width - columns, ' ') + text : text;
}
} // namespace

/// The layer part of a name such as "h/0/attn · dot_general".
static std::string layerOf(const Problem &problem, OpId op) {
  if (problem.ops[op].layer != none)
    return family(problem.layers[problem.ops[op].layer]);
  const std::vector<ValueId> &results = problem.ops[op].results;
  if (results.empty())
    return "other";
  std::string name = family(problem.values[results.front()].name);
  size_t dot = name.find(" \xC2\xB7 ");
  return dot == std::string::npos ? "other" : name.substr(0, dot);
}

static std::map<std::string, Recomputed>
recomputedByLayer(const Problem &problem, const Solution &solution) {
  std::map<std::string, Recomputed> layers;
  std::vector<bool> ran(problem.ops.size(), false);
  for (const Kernel &kernel : solution.plan.kernels)
    for (OpId op : kernel.ops) {
      if (isAnchor(problem.ops[op]) && ran[op]) {
        Recomputed &layer = layers[layerOf(problem, op)];
        layer.anchors += 1;
        layer.flops += problem.ops[op].flops;
      }
      ran[op] = true;
    }
  for (const Instance &instance : solution.verdict.instances)
    if (instance.recomputed)
      layers[layerOf(problem, problem.values[instance.value].op)].values += 1;
  return layers;
}

static void printTable(const Figures &figures, std::ostream &os) {
  auto row = [&](const char *name, int64_t bytes, int64_t moved, int64_t ns) {
    os << "  " << name << pad(formatBytes(bytes), 14)
       << pad(formatBytes(moved), 16) << pad(ns < 0 ? "" : milliseconds(ns), 16)
       << "\n";
  };
  os << "  " << pad("", 11) << pad("peak", 14) << pad("bytes moved", 16)
     << pad("planned time", 16) << "\n";
  row("as written ", figures.writtenPeakBytes, figures.writtenBytesMoved, -1);
  row("baseline   ", figures.baselinePeakBytes, figures.baselineBytesMoved,
      figures.baselineCostNs);
  row("plan       ", figures.peakBytes, figures.bytesMoved, figures.costNs);
}

std::string ckpt::plan::describeRelief(const Figures &figures) {
  if (figures.reliefBytes <= 0)
    return "";
  double flops = std::max<int64_t>(1, figures.flops);
  return "warning: within this budget a step takes " +
         milliseconds(figures.costNs) + " with " +
         percent(figures.extraFlops / flops) + " extra work; " +
         formatBytes(figures.reliefBytes) + " are enough for " +
         milliseconds(figures.reliefCostNs) + " with " +
         percent(figures.reliefExtraFlops / flops) +
         ", by plans that were found";
}

static void printWork(const Figures &figures, std::ostream &os) {
  double flops = std::max<int64_t>(1, figures.flops);
  double time = std::max<int64_t>(1, figures.baselineCostNs);
  if (figures.budgetBytes >= 0)
    os << "  budget " << formatBytes(figures.budgetBytes) << ", arena "
       << formatBytes(figures.peakBytes) << " (largest live sum "
       << formatBytes(figures.livePeakBytes) << ")\n";
  os << "  the caller's: arguments " << formatBytes(figures.argumentBytes)
     << ", results " << formatBytes(figures.resultBytes);
  if (figures.donatedBytes > 0)
    os << ", of these " << formatBytes(figures.donatedBytes)
       << " in donated arguments";
  if (figures.scratchBytes > 0)
    os << ", of which " << formatBytes(figures.scratchBytes)
       << " hold other values until they are written";
  os << "; with the arena " << formatBytes(figures.totalBytes()) << "\n";
  os << "  extra work " << percent(figures.extraFlops / flops)
     << " of the step's FLOPs; no plan "
     << (figures.budgetBytes >= 0 ? "within the budget" : "in this arena")
     << " does with less than " << percent(figures.extraFlopsBound / flops)
     << ": gap " << percent(figures.gap()) << "\n";
  os << "  extra time "
     << percent((figures.costNs - figures.baselineCostNs) / time)
     << " of the baseline's, by the cost model; no plan, fused or ordered in "
        "any way, ";
  double least = (figures.costBoundNs - figures.baselineCostNs) / time;
  if (least >= 0)
    os << "does with less than " << percent(least);
  else
    os << "is more than " << percent(-least) << " faster than the baseline";
  os << ": gap "
     << percent(std::max<int64_t>(0, figures.costNs - figures.costBoundNs) /
                time)
     << "\n";
  if (figures.nextBytes > 0)
    os << "  the next " << formatBytes(figures.nextBytes) << " would save "
       << percent(figures.nextSavedNs / time)
       << " of the time, by plans that were found, and at most "
       << percent(figures.nextSavedFlopsAtMost / flops)
       << " of the FLOPs, by the bound\n";
  if (std::string relief = describeRelief(figures); !relief.empty())
    os << "  " << relief << "\n";
}

static void printPeak(const Problem &problem, const Solution &solution,
                      std::ostream &os) {
  std::vector<LiveAtPeak> live = liveAtPeak(problem, solution.verdict);
  if (live.empty())
    return;
  constexpr size_t shown = 12;
  os << "\n  live at the peak (kernel " << solution.verdict.peakKernel << " of "
     << solution.plan.kernels.size() << ")\n";
  for (size_t i = 0; i < std::min(live.size(), shown); ++i)
    os << pad(formatBytes(live[i].bytes), 16) << "  " << live[i].name
       << (live[i].count > 1 ? " \xC3\x97" + std::to_string(live[i].count) : "")
       << "\n";
  if (live.size() > shown) {
    int64_t rest = 0;
    for (size_t i = shown; i < live.size(); ++i)
      rest += live[i].bytes;
    os << pad(formatBytes(rest), 16) << "  in " << live.size() - shown
       << " more groups\n";
  }
}

static void printRecomputed(const Problem &problem, const Solution &solution,
                            const Figures &figures, std::ostream &os) {
  auto layers = recomputedByLayer(problem, solution);
  if (layers.empty()) {
    os << "\n  nothing that stands in memory is recomputed\n";
    return;
  }
  std::vector<std::pair<std::string, Recomputed>> sorted(layers.begin(),
                                                         layers.end());
  std::stable_sort(sorted.begin(), sorted.end(), [](auto &a, auto &b) {
    return a.second.flops > b.second.flops;
  });
  constexpr size_t shown = 10;
  os << "\n  recomputed, by layer\n";
  for (size_t i = 0; i < std::min(sorted.size(), shown); ++i) {
    auto &[name, layer] = sorted[i];
    os << pad(percent(static_cast<double>(layer.flops) /
                      std::max<int64_t>(1, figures.flops)),
              16)
       << "  " << name << ": " << layer.anchors << " anchors, " << layer.values
       << " values in memory\n";
  }
  if (sorted.size() > shown)
    os << pad("", 16) << "  and " << sorted.size() - shown << " more layers\n";
}

void ckpt::plan::printReport(const Problem &problem, const Solution &solution,
                             const Figures &figures, const ReportText &text,
                             std::ostream &os) {
  os << "ckpt: " << text.title << ", " << formatCount(problem.ops.size())
     << " ops in " << formatCount(solution.plan.kernels.size())
     << " kernels; strategy: " << text.strategy << "\n\n";
  printTable(figures, os);
  os << "\n";
  printWork(figures, os);
  for (const std::string &note : text.notes)
    os << "  " << note << "\n";
  printPeak(problem, solution, os);
  printRecomputed(problem, solution, figures, os);
  os << "\n  planned in " << figures.planningMs << " ms"
     << (figures.firstPlanMs > 0
             ? " (first plan after " + std::to_string(figures.firstPlanMs) +
                   " ms)"
             : "")
     << (solution.subSolver.empty()
             ? ""
             : " by sub-solver '" + solution.subSolver + "'")
     << (figures.stoppedByClock ? "; the time limit ended the search" : "")
     << "\n";
}
