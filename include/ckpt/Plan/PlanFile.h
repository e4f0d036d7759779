//===- PlanFile.h - Plans of functions as files -----------------*- C++ -*-===//
//
// A plan kept beside the program: replayed without a search, compared by line,
// refused if the program is another (docs/PlanFormat.md).
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_PLAN_PLANFILE_H
#define CKPT_PLAN_PLANFILE_H

#include "ckpt/Plan/Validate.h"

#include <iosfwd>
#include <map>
#include <string_view>

namespace ckpt::plan {

/// How a plan treats the results of an op: they stand in memory until the last
/// reader, are rematerialised, or are only computed inside kernels.
enum class PlannedAs : uint8_t { Save, Recompute, Inline };

/// By op. An anchor that runs in several kernels is made again, though its
/// result may never stand in memory.
std::vector<PlannedAs> plannedAs(const Problem &problem, const Plan &plan,
                                 const Verdict &verdict);

struct PlannedOp {
  /// Hash of the op and its reads, 24 bits.
  int64_t hash = 0;
  PlannedAs as = PlannedAs::Inline;
  std::string name;
};

struct PlanFile {
  std::string function;
  /// -1 without a budget.
  int64_t budgetBytes = -1;
  int64_t timeNs = 0;
  int64_t flops = 0;
  int64_t extraFlops = 0;
  int64_t valueCount = 0;
  /// Budgets of regions in bytes, by patterns on names of layers.
  std::map<std::string, int64_t> regions;
  std::vector<PlannedOp> ops;
  /// Hash of the returned values.
  int64_t returnHash = 0;
  Plan plan;
};

/// Reads a whole plan file. On error returns false and sets \p error to "line
/// N: MESSAGE".
bool parsePlanFile(std::string_view text, PlanFile &file, std::string &error);

void printPlanFile(const PlanFile &file, std::ostream &os);

/// "saved", "recomputed" or "inlined".
std::string_view describe(PlannedAs as);

} // namespace ckpt::plan

#endif // CKPT_PLAN_PLANFILE_H
