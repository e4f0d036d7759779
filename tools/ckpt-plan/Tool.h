//===- Tool.h - Shared parts of the modes of ckpt-plan ----------*- C++ -*-===//
//
// ckpt-plan has one mode per question (plan, check a plan, ...). A mode is an
// option, a line of help and a function; the table in ckpt-plan.cpp lists all.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_TOOLS_PLAN_TOOL_H
#define CKPT_TOOLS_PLAN_TOOL_H

#include "ckpt/Plan/Budget.h"
#include "ckpt/Plan/Solvers.h"
#include "ckpt/Plan/Text.h"

#include <map>
#include <optional>
#include <string>

namespace ckpt::plan::tool {

/// The command line: the input file (empty if the mode takes none), and the
/// options that were given, without their dashes. A flag has an empty value.
struct Arguments {
  std::string file;
  std::map<std::string, std::string> options;

  bool has(const std::string &option) const { return options.count(option); }
  /// The value of \p option, or an empty string.
  std::string value(const std::string &option) const {
    auto found = options.find(option);
    return found == options.end() ? "" : found->second;
  }
};

/// Prints "where: error: what" to stderr; returns false.
bool fail(const std::string &where, const std::string &what);

/// Reads all of \p text as one number; false if it is none or out of range.
bool parseInteger(const std::string &text, int64_t &number);

/// The option \p name as an integer from \p least to \p most. Prints an error
/// and returns false if it is none.
bool readInteger(const Arguments &arguments, const std::string &name,
                 int64_t least, int64_t most, int64_t &number);

/// Reads a file, or standard input for "-". Prints an error and returns false
/// if it cannot be read.
bool readFile(const std::string &path, std::string &text);
/// The same for a problem, which has at least one op.
bool readProblem(const std::string &path, Problem &problem);
/// The same where budgets of regions would be ignored: they are an error.
bool readBareProblem(const std::string &path, Problem &problem);

/// Writes a file through a temporary beside it, so that an error leaves the
/// target as it was; "-" is standard output.
bool writeFile(const std::string &path, const std::string &text);

/// The option `budget` if given. Prints an error and returns false if it is
/// no budget.
bool readBudget(const Arguments &arguments, std::optional<Budget> &budget);

/// The options of the solver, with progress where stderr is a terminal. Prints
/// an error and returns false if one is wrong.
bool readSolverOptions(const Arguments &arguments, SolverOptions &options);

/// The modes. Each prints to stdout, or an error to stderr and returns false.
bool solveMode(const Arguments &arguments);
bool checkPlanMode(const Arguments &arguments);
bool compareMode(const Arguments &arguments);
bool frontierMode(const Arguments &arguments);
bool checkCertificateMode(const Arguments &arguments);
bool diffMode(const Arguments &arguments);
bool packMode(const Arguments &arguments);
bool generateMode(const Arguments &arguments);
bool stagesMode(const Arguments &arguments);

} // namespace ckpt::plan::tool

#endif // CKPT_TOOLS_PLAN_TOOL_H
