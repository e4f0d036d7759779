//===- RunReport.cpp - The report of a run --------------------------------===//

#include "Report/RunReport.h"
#include "ckpt/Cuda/Device.h"
#include "ckpt/Plan/Budget.h"
#include "ckpt/Support/OutputFile.h"
#include "llvm/Support/FormatVariadic.h"

#include <sstream>

using namespace ckpt;

/// Adds the runners of matmuls on a GPU, in all runs of this process.
static void addMatmuls(plan::report::FigureMap &object) {
  int64_t shapes = 0, byLibrary = 0;
  for (auto *choice = cuda::matmulChoices(); choice; choice = choice->next) {
    ++shapes;
    byLibrary += choice->byLibrary;
  }
  object["matmul_shapes"] = shapes;
  object["library_matmul_shapes"] = byLibrary;
}

static void addMemory(const Measurement &planned,
                      plan::report::FigureMap &object) {
  if (planned.device) {
    object["device_buffer_bytes"] = planned.device->bufferBytes;
    object["device_used_before_bytes"] = planned.device->usedBefore;
    object["device_used_after_bytes"] = planned.device->usedAfter;
    addMatmuls(object);
    return;
  }
  object["measured_peak_bytes"] = planned.touchedBytes;
  if (planned.otherBytes >= 0)
    object["measured_other_bytes"] = planned.otherBytes;
}

llvm::Error ckpt::writeRunReport(StringRef path, const RunReport &report) {
  plan::report::StepReport all = report.plan;
  plan::report::FigureMap &object = all.figures;
  if (all.text.title.empty())
    all.text.title = report.title;
  if (report.planned) {
    object["peak_bytes"] = report.planned->arenaBytes;
    addMemory(*report.planned, object);
    object["step_ns"] = report.planned->stepNs;
    object["compile_ms"] = report.planned->compileMs;
  }
  // A plan without budget or strategy is the baseline.
  if (report.baseline)
    object["baseline_step_ns"] = report.baseline->stepNs;
  else if (report.planned && report.written)
    object["baseline_step_ns"] = report.planned->stepNs;
  if (report.written) {
    object["written_step_ns"] = report.written->stepNs;
    if (!report.written->device)
      object["written_measured_peak_bytes"] = report.written->touchedBytes;
  }
  if (report.bitEqual)
    object["bit_equal"] = *report.bitEqual;
  if (report.closeness) {
    object["max_abs_error"] = report.closeness->maxAbsoluteError;
  } else if (report.bitEqual.value_or(false)) {
    object["max_abs_error"] = 0.0;
  }
  plan::report::Format format = plan::report::formatOf(path.str());
  if (std::string reason = plan::report::refuse(all, format); !reason.empty())
    return llvm::createStringError(reason);
  std::ostringstream text;
  plan::report::write(all, format, text);
  return writeOutputFile(path,
                         [&](llvm::raw_ostream &os) { os << text.str(); });
}

namespace {
/// Rows of figures, a column for each way to run the step.
class Table {
public:
  explicit Table(llvm::raw_ostream &os) : os(os) {}

  /// \p peakKey is the plan's figure for the peak of this way.
  void addColumn(StringRef title, StringRef peakKey,
                 const std::optional<Measurement> &measurement) {
    if (measurement)
      columns.push_back({title, peakKey, &*measurement});
  }
  void print(const plan::report::FigureMap &figures);

private:
  struct Column {
    StringRef title, peakKey;
    const Measurement *measurement;
  };
  void printHostMemory();
  /// The driver's bytes in use count all processes.
  void printDeviceMemory();
  void printRow(StringRef what,
                llvm::function_ref<std::string(const Column &)> cell) {
    os << llvm::formatv("  {0,-18}", what);
    for (const Column &column : columns)
      os << llvm::formatv("{0,16}", cell(column));
    os << "\n";
  }

  llvm::raw_ostream &os;
  SmallVector<Column> columns;
};
} // namespace

static std::string bytesOrUnknown(std::optional<int64_t> bytes) {
  return bytes && *bytes >= 0 ? plan::formatBytes(*bytes) : "unknown";
}

void Table::printHostMemory() {
  printRow("arena, touched", [](const Column &column) {
    return plan::formatBytes(column.measurement->touchedBytes);
  });
  printRow("other memory", [](const Column &column) {
    return bytesOrUnknown(column.measurement->otherBytes);
  });
}

void Table::printDeviceMemory() {
  printRow("arguments, results", [](const Column &column) {
    return plan::formatBytes(column.measurement->device->bufferBytes);
  });
  printRow("in use, before", [](const Column &column) {
    return plan::formatBytes(column.measurement->device->usedBefore);
  });
  printRow("in use, after", [](const Column &column) {
    return plan::formatBytes(column.measurement->device->usedAfter);
  });
}

void Table::print(const plan::report::FigureMap &figures) {
  printRow("", [](const Column &column) { return column.title.str(); });
  printRow("peak, planned", [&](const Column &column) {
    return bytesOrUnknown(
        plan::report::integerOf(figures, column.peakKey.str()));
  });
  printRow("arena, allocated", [](const Column &column) {
    return plan::formatBytes(column.measurement->arenaBytes);
  });
  if (columns.front().measurement->device)
    printDeviceMemory();
  else
    printHostMemory();
  printRow("time of a step", [](const Column &column) {
    return llvm::formatv("{0:f3} ms", column.measurement->stepNs / 1e6).str();
  });
  printRow("compilation", [](const Column &column) {
    return llvm::formatv("{0:f1} s", column.measurement->compileMs / 1e3).str();
  });
}

/// The costs of the plan, and the least costs of any plan.
static void printPlan(const RunReport &report, llvm::raw_ostream &os) {
  const plan::report::FigureMap &figures = report.plan.figures;
  auto number = [&](const char *key) {
    return plan::report::numberOf(figures, key);
  };
  if (int64_t budget =
          plan::report::integerOf(figures, "budget_bytes").value_or(-1);
      budget >= 0)
    os << "  budget: " << plan::formatBytes(budget) << "\n";
  double flops = number("flops");
  if (flops > 0)
    os << llvm::formatv(
        "  extra work, planned: {0:P} of the step's FLOPs; proven lower bound "
        "{1:P}, gap {2:P}\n",
        number("extra_flops") / flops, number("extra_flops_bound") / flops,
        number("gap"));
  if (!report.plan.warning.empty())
    os << "  " << report.plan.warning << "\n";
  if (report.baseline)
    os << llvm::formatv(
        "  extra time, measured: {0:P} of the baseline's\n",
        double(report.planned->stepNs) / report.baseline->stepNs - 1);
}

void ckpt::printRunReport(const RunReport &report, llvm::raw_ostream &os) {
  os << report.title << "\n\n";
  Table table(os);
  table.addColumn("as written", "written_peak_bytes", report.written);
  table.addColumn("baseline", "baseline_peak_bytes", report.baseline);
  table.addColumn("planned", "peak_bytes", report.planned);
  table.print(report.plan.figures);
  os << "\n";
  if (!report.preparation.empty())
    os << "  " << report.preparation << "\n";
  printPlan(report, os);
  if (report.bitEqual)
    os << "  results: "
       << (*report.bitEqual ? std::string("bit-equal to the program as written")
                            : "NOT those of the program as written; first in " +
                                  report.difference)
       << "\n";
  if (report.closeness)
    os << "  expected: "
       << (report.closeness->outside
               ? "NOT met; worst in " + *report.closeness->outside
               : llvm::formatv("met, largest absolute error {0:e2}",
                               report.closeness->maxAbsoluteError)
                     .str())
       << "\n";
}
