//===- StepReport.cpp - From a plan to the tables of its report -----------===//

#include "ckpt/Report/StepReport.h"
#include "Schedule.h"
#include "Writers.h"

#include <algorithm>
#include <cmath>

using namespace ckpt;
using namespace ckpt::plan::report;

std::optional<int64_t> ckpt::plan::report::integerOf(const FigureMap &figures,
                                                     const std::string &key) {
  auto found = figures.find(key);
  if (found == figures.end())
    return std::nullopt;
  auto *integer = std::get_if<int64_t>(&found->second);
  return integer ? std::optional(*integer) : std::nullopt;
}

double ckpt::plan::report::numberOf(const FigureMap &figures,
                                    const std::string &key) {
  auto found = figures.find(key);
  if (found == figures.end())
    return 0;
  if (auto *number = std::get_if<double>(&found->second))
    return *number;
  auto *integer = std::get_if<int64_t>(&found->second);
  return integer ? static_cast<double>(*integer) : 0;
}

void ckpt::plan::report::addFigures(const plan::Figures &figures,
                                    FigureMap &map) {
  for (const auto &[key, number] : figures.integers())
    map[key] = number;
  map["feasible"] = figures.feasible;
  map["gap"] = figures.gap();
}

void ckpt::plan::report::addFrontier(const plan::Frontier &frontier,
                                     StepReport &report) {
  for (const plan::FrontierPoint &point : frontier.points) {
    const plan::Solution &solution = point.solution;
    report.frontier.push_back({point.budgetBytes, solution.plan.arenaBytes,
                               solution.verdict.timeNs, point.timeBoundNs,
                               solution.verdict.extraFlops,
                               point.extraFlopsBound});
  }
}

/// The layer of an op by its number, or by the name of its result, which begins
/// with the path of the layer ("h/0/attn · dot_general").
static std::string layerName(const plan::Problem &problem, plan::ValueId id) {
  const plan::Value &value = problem.values[id];
  if (value.op != plan::none && problem.ops[value.op].layer != plan::none)
    return problem.layers[problem.ops[value.op].layer];
  size_t dot = value.name.find(" \xC2\xB7 ");
  return dot == std::string::npos ? "outside of layers"
                                  : value.name.substr(0, dot);
}

int32_t ValueTable::at(plan::ValueId id) {
  if (id == plan::none)
    return -1;
  auto [entry, isNew] = numbers.try_emplace(id, report.values.size());
  if (!isNew)
    return entry->second;
  ReportValue value;
  value.id = id;
  value.name = input.problem.values[id].name;
  value.bytes = input.problem.values[id].bytes;
  std::string layer = layerName(input.problem, id);
  auto [layerEntry, isNewLayer] =
      layers.try_emplace(layer, report.layers.size());
  if (isNewLayer)
    report.layers.push_back({layer, -1});
  value.layer = layerEntry->second;
  if (!input.sources.empty() && !input.sources[id].empty()) {
    auto [source, isNewSource] =
        sources.try_emplace(input.sources[id], report.sources.size());
    if (isNewSource)
      report.sources.push_back(input.sources[id]);
    value.source = source->second;
  }
  report.values.push_back(std::move(value));
  return entry->second;
}

static plan::ValueId mainValue(const plan::Problem &problem,
                               const plan::Kernel &kernel, plan::OpId anchor) {
  if (anchor == plan::none)
    return kernel.outputs.empty() ? plan::none : kernel.outputs.back();
  const std::vector<plan::ValueId> &results = problem.ops[anchor].results;
  return results.empty() ? plan::none : results.front();
}

/// Live ranges of \p solution, one per instance in the arena; `value` is still
/// a number of the problem.
static std::vector<LiveRange> liveRanges(const plan::Problem &problem,
                                         const plan::Solution &solution) {
  const std::vector<plan::Instance> &instances = solution.verdict.instances;
  std::vector<bool> isTakenOver(instances.size(), false);
  for (const plan::Instance &instance : instances)
    if (instance.takesOver != plan::none)
      isTakenOver[instance.takesOver] = true;
  std::vector<LiveRange> ranges;
  for (size_t i = 0; i < instances.size(); ++i) {
    const plan::Instance &instance = instances[i];
    const plan::Value &value = problem.values[instance.value];
    if (!plan::isInArena(problem, instance))
      continue;
    LiveRange range;
    range.value = instance.value;
    range.first = instance.kernel;
    range.last = instance.lastRead - (isTakenOver[i] ? 1 : 0);
    range.bytes = plan::slotBytes(value.bytes);
    const auto &offsets = solution.plan.kernels[instance.kernel].offsets;
    if (!offsets.empty())
      range.offset = offsets[instance.output];
    range.recomputed = instance.recomputed;
    ranges.push_back(range);
  }
  return ranges;
}

/// Kernels with their time and live bytes; `value` is a number of the problem.
static std::vector<ReportKernel>
kernelRows(const plan::Problem &problem, const plan::Solution &solution,
           const std::vector<LiveRange> &ranges) {
  std::vector<ReportKernel> rows;
  for (const plan::Kernel &kernel : solution.plan.kernels) {
    plan::KernelInfo info = plan::analyze(problem, kernel);
    ReportKernel row;
    row.value = mainValue(problem, kernel, info.anchor);
    row.timeNs = info.timeNs;
    row.workspaceBytes = plan::slotBytes(info.workspaceBytes);
    rows.push_back(row);
  }
  std::vector<int64_t> change(rows.size() + 1, 0);
  for (const LiveRange &range : ranges) {
    change[range.first] += range.bytes;
    change[range.last + 1] -= range.bytes;
  }
  int64_t live = 0;
  for (size_t i = 0; i < rows.size(); ++i) {
    live += change[i];
    rows[i].liveBytes = live + rows[i].workspaceBytes;
  }
  return rows;
}

void ckpt::plan::report::addSchedule(const ReportInput &input,
                                     StepReport &report) {
  report.hasSchedule = true;
  report.subSolver = input.solution.subSolver;
  ValueTable values(input, report);
  report.ranges = liveRanges(input.problem, input.solution);
  report.kernels = kernelRows(input.problem, input.solution, report.ranges);
  report.recomputations =
      findRecomputations(input.problem, input.solution, report.kernels);
  report.baselineKernels = kernelRows(
      input.problem, input.baseline, liveRanges(input.problem, input.baseline));
  for (LiveRange &range : report.ranges)
    range.value = values.at(range.value);
  for (ReportKernel &kernel : report.kernels)
    kernel.value = values.at(kernel.value);
  for (Recomputation &again : report.recomputations)
    again.value = values.at(again.value);
  chooseBands(report);
}

Format ckpt::plan::report::formatOf(std::string_view path) {
  auto endsWith = [&](std::string_view end) {
    return path.size() > end.size() &&
           path.substr(path.size() - end.size()) == end;
  };
  return endsWith(".html") || endsWith(".htm") ? Format::Html
         : endsWith(".svg")                    ? Format::Svg
                                               : Format::Json;
}

std::string ckpt::plan::report::refuse(const StepReport &report,
                                       Format format) {
  if (format == Format::Json || report.hasSchedule)
    return "";
  return "expected a report in JSON, since there is no schedule to draw";
}

void ckpt::plan::report::write(const StepReport &report, Format format,
                               std::ostream &os) {
  if (format == Format::Html)
    writeHtml(report, os);
  else if (format == Format::Svg)
    writeSvg(report, os);
  else
    writeJson(report, os);
}
