//===- StepReport.h - A plan as data, page and picture ----------*- C++ -*-===//
//
// The three tools write one report (docs/Report.md): figures, live ranges,
// recomputations and the curve of a plan, as JSON, as a page that shows that
// JSON, or as an SVG picture. The library knows neither MLIR nor LLVM, so that
// ckpt-plan and the Python package can link it.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_REPORT_STEPREPORT_H
#define CKPT_REPORT_STEPREPORT_H

#include "ckpt/Plan/Frontier.h"
#include "ckpt/Plan/Report.h"

#include <iosfwd>
#include <string_view>
#include <variant>

namespace ckpt::plan::report {

/// A figure of the report file; null where it is not a finite number.
using Figure = std::variant<std::nullptr_t, bool, int64_t, double>;
using FigureMap = std::map<std::string, Figure>;

/// The integer \p key, or nothing where it is missing or no integer.
std::optional<int64_t> integerOf(const FigureMap &figures,
                                 const std::string &key);
/// The number \p key as a floating-point number, or 0.
double numberOf(const FigureMap &figures, const std::string &key);

/// Indices into the tables below; -1 is "none" everywhere.

struct ReportLayer {
  std::string name;
  int32_t band = -1;
};

struct ReportValue {
  /// Its number in the problem and in plan files.
  plan::ValueId id = plan::none;
  std::string name;
  int32_t layer = -1;
  int64_t bytes = 0;
  int32_t source = -1;
};

/// How much of a kernel has run before.
enum class Repeats : uint8_t { None, Some, All };

struct ReportKernel {
  /// The result of its anchor, or of its last op.
  int32_t value = -1;
  int64_t timeNs = 0;
  /// Slots of live ranges plus workspace, as the simulator counts.
  int64_t liveBytes = 0;
  int64_t workspaceBytes = 0;
  Repeats repeats = Repeats::None;
};

/// A value stands in the arena from kernel `first` to `last`, both inclusive.
/// The range of a value whose place is taken over ends before that kernel, so
/// that ranges and workspace add up to the live bytes of each kernel.
struct LiveRange {
  int32_t value = -1;
  int32_t first = 0;
  int32_t last = 0;
  /// Bytes of its slot, and the slot's offset; -1 without places.
  int64_t bytes = 0;
  int64_t offset = -1;
  bool recomputed = false;
};

/// Kernel `kernel` computes `value` again, which did not stand in memory from
/// kernel `freedFirst` to `freedLast` (an empty range: it gains nothing).
struct Recomputation {
  int32_t value = -1;
  int32_t kernel = 0;
  int64_t flops = 0;
  int64_t bytes = 0;
  int32_t freedFirst = 0;
  int32_t freedLast = -1;
};

struct FrontierRow {
  int64_t budgetBytes = 0, arenaBytes = 0, timeNs = 0, timeBoundNs = 0;
  int64_t extraFlops = 0, extraFlopsBound = 0;
};

struct StepReport {
  FigureMap figures;
  plan::ReportText text;
  /// The sub-solver that made the plan; empty for strategies of others.
  std::string subSolver;
  /// A steep price (`describeRelief`); may be empty.
  std::string warning;
  /// No tables without: a forward chain of layers has no schedule, nor has a
  /// program that was rewritten before.
  bool hasSchedule = false;
  /// Bands are layers, or groups of layers with one beginning, few enough for a
  /// picture; from the first in time to the last.
  std::vector<std::string> bands;
  std::vector<ReportLayer> layers;
  std::vector<std::string> sources;
  std::vector<ReportValue> values;
  std::vector<ReportKernel> kernels, baselineKernels;
  std::vector<LiveRange> ranges;
  std::vector<Recomputation> recomputations;
  std::vector<FrontierRow> frontier;
};

/// Everything that a schedule's report is made of.
struct ReportInput {
  const plan::Problem &problem;
  const plan::Solution &solution;
  /// The plan without a limit, to compare with.
  const plan::Solution &baseline;
  /// "file:line" per value of the problem; empty if unknown.
  std::vector<std::string> sources;
};

/// Adds the tables of a schedule to \p report.
void addSchedule(const ReportInput &input, StepReport &report);
void addFrontier(const plan::Frontier &frontier, StepReport &report);
/// Adds the figures of the plan.
void addFigures(const plan::Figures &figures, FigureMap &map);

/// The format follows the end of the file's name: `.html`, `.svg`, else JSON.
enum class Format : uint8_t { Json, Html, Svg };
Format formatOf(std::string_view path);

/// Says why \p report has no such format, or an empty string.
std::string refuse(const StepReport &report, Format format);
void write(const StepReport &report, Format format, std::ostream &os);

} // namespace ckpt::plan::report

#endif // CKPT_REPORT_STEPREPORT_H
