//===- RunReport.cpp - What a run says of itself --------------------------===//

#include "RunReport.h"
#include "ckpt/Plan/Budget.h"
#include "ckpt/Support/OutputFile.h"
#include "llvm/Support/FormatVariadic.h"

#include <cmath>

using namespace ckpt;

llvm::Error ckpt::writeRunReport(StringRef path, const RunReport &report) {
  llvm::json::Object object = report.planFigures;
  if (report.planned) {
    object["peak_bytes"] = report.planned->arenaBytes;
    object["measured_peak_bytes"] = report.planned->touchedBytes;
    if (report.planned->otherBytes >= 0)
      object["measured_other_bytes"] = report.planned->otherBytes;
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
    object["written_measured_peak_bytes"] = report.written->touchedBytes;
  }
  if (report.bitEqual)
    object["bit_equal"] = *report.bitEqual;
  if (report.closeness) {
    // JSON has no number for an infinite error.
    double error = report.closeness->maxAbsoluteError;
    object["max_abs_error"] =
        std::isfinite(error) ? llvm::json::Value(error) : nullptr;
  }
  llvm::json::Value value(std::move(object));
  return writeOutputFile(path, [&](llvm::raw_ostream &os) {
    os << llvm::formatv("{0:2}", value) << "\n";
  });
}

namespace {
/// A row of the table: what, and its text for each way to run.
class Table {
public:
  explicit Table(llvm::raw_ostream &os) : os(os) {}

  void add(StringRef title, const Measurement &measurement) {
    titles.push_back(title);
    columns.push_back(&measurement);
  }

  void printTitles() {
    os << llvm::formatv("{0,-18}", "");
    for (StringRef title : titles)
      os << llvm::formatv("{0,16}", title);
    os << "\n";
  }

  void printRow(StringRef what,
                llvm::function_ref<std::string(const Measurement &)> cell) {
    os << llvm::formatv("{0,-18}", what);
    for (const Measurement *measurement : columns)
      os << llvm::formatv("{0,16}", cell(*measurement));
    os << "\n";
  }

private:
  llvm::raw_ostream &os;
  SmallVector<StringRef> titles;
  SmallVector<const Measurement *> columns;
};
} // namespace

void ckpt::printRunReport(const RunReport &report, llvm::raw_ostream &os) {
  os << report.title << "\n";
  Table table(os);
  if (report.written)
    table.add("as written", *report.written);
  if (report.baseline)
    table.add("baseline", *report.baseline);
  table.add("planned", *report.planned);
  table.printTitles();
  table.printRow("arena", [](const Measurement &m) {
    return plan::formatBytes(m.arenaBytes);
  });
  table.printRow("  touched", [](const Measurement &m) {
    return plan::formatBytes(m.touchedBytes);
  });
  table.printRow("other memory", [](const Measurement &m) -> std::string {
    return m.otherBytes < 0 ? "unknown" : plan::formatBytes(m.otherBytes);
  });
  table.printRow("step", [](const Measurement &m) {
    return llvm::formatv("{0:f3} ms", m.stepNs / 1e6).str();
  });
  table.printRow("compilation", [](const Measurement &m) {
    return llvm::formatv("{0:f1} s", m.compileMs / 1e3).str();
  });

  if (report.bitEqual)
    os << "results: "
       << (*report.bitEqual ? std::string("bit-equal to the program as written")
                            : "NOT those of the program as written; first in " +
                                  report.difference)
       << "\n";
  if (report.closeness)
    os << "expected: "
       << (report.closeness->outside
               ? "NOT met; worst in " + *report.closeness->outside
               : llvm::formatv("met, largest absolute error {0:e2}",
                               report.closeness->maxAbsoluteError)
                     .str())
       << "\n";
}
