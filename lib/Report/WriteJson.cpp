//===- WriteJson.cpp - The report as JSON (docs/Report.md) ----------------===//

#include "Json.h"
#include "Writers.h"

using namespace ckpt::plan::report;

static const char *wordFor(Repeats repeats) {
  switch (repeats) {
  case Repeats::None:
    return "\"none\"";
  case Repeats::Some:
    return "\"some\"";
  case Repeats::All:
    break;
  }
  return "\"all\"";
}

static void writeNames(const StepReport &report, JsonObject &object,
                       std::ostream &os) {
  object.member("bands", report.bands);
  object.member("sources", report.sources);
  object.table("layer_table", {"name", "band"}, report.layers,
               [&](const ReportLayer &layer) {
                 os << jsonString(layer.name) << "," << layer.band;
               });
  object.table("value_table", {"id", "name", "layer", "bytes", "source"},
               report.values, [&](const ReportValue &value) {
                 os << value.id << "," << jsonString(value.name) << ","
                    << value.layer << "," << value.bytes << "," << value.source;
               });
}

static void writeKernels(const StepReport &report, JsonObject &object,
                         std::ostream &os) {
  object.table(
      "kernel_table",
      {"value", "time_ns", "live_bytes", "workspace_bytes", "repeats"},
      report.kernels, [&](const ReportKernel &kernel) {
        os << kernel.value << "," << kernel.timeNs << "," << kernel.liveBytes
           << "," << kernel.workspaceBytes << "," << wordFor(kernel.repeats);
      });
  object.table("baseline_table", {"time_ns", "live_bytes"},
               report.baselineKernels, [&](const ReportKernel &kernel) {
                 os << kernel.timeNs << "," << kernel.liveBytes;
               });
  object.table("live_range_table",
               {"value", "first", "last", "bytes", "offset", "recomputed"},
               report.ranges, [&](const LiveRange &range) {
                 os << range.value << "," << range.first << "," << range.last
                    << "," << range.bytes << "," << range.offset << ","
                    << (range.recomputed ? "true" : "false");
               });
  object.table(
      "recomputation_table",
      {"value", "kernel", "flops", "bytes", "freed_first", "freed_last"},
      report.recomputations, [&](const Recomputation &again) {
        os << again.value << "," << again.kernel << "," << again.flops << ","
           << again.bytes << "," << again.freedFirst << "," << again.freedLast;
      });
  object.table("frontier_table",
               {"budget_bytes", "arena_bytes", "time_ns", "time_bound_ns",
                "extra_flops", "extra_flops_bound"},
               report.frontier, [&](const FrontierRow &row) {
                 os << row.budgetBytes << "," << row.arenaBytes << ","
                    << row.timeNs << "," << row.timeBoundNs << ","
                    << row.extraFlops << "," << row.extraFlopsBound;
               });
}

void ckpt::plan::report::writeJson(const StepReport &report, std::ostream &os) {
  JsonObject object(os);
  for (const auto &[key, figure] : report.figures)
    object.member(key, figure);
  object.member("format", "ckpt-report 1");
  object.member("title", report.text.title);
  object.member("strategy", report.text.strategy);
  object.member("sub_solver", report.subSolver);
  object.member("notes", report.text.notes);
  object.member("warning", report.warning);
  if (report.hasSchedule) {
    object.member("bound_scope", "any-plan");
    writeNames(report, object, os);
    writeKernels(report, object, os);
  }
  object.end();
}
