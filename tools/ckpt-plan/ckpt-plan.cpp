//===- ckpt-plan.cpp - Plans text problems, without any IR ----------------===//
//
// Compares solvers and tests the planner: reads a problem (docs/PlanFormat.md;
// `ckpt-opt --ckpt-print-problem` makes one of a function) and answers one
// question about it.
//
//===----------------------------------------------------------------------===//

#include "Tool.h"

#include <algorithm>
#include <csignal>
#include <iostream>
#include <iterator>

using namespace ckpt::plan::tool;

namespace {

/// An option that asks a question of its own.
struct Mode {
  const char *option;
  /// Placeholder of the option's value; empty for a flag.
  const char *value;
  bool (*run)(const Arguments &);
  const char *help;
  bool takesFile = true;
};

/// The first one runs without any option.
constexpr Mode modes[] = {
    {"", "", solveMode,
     "Plans the problem in FILE ('-': standard input) and prints a report."},
    {"check-plan", "FILE", checkPlanMode,
     "check the plan in FILE instead of making one"},
    {"diff", "OLD", diffMode,
     "FILE and OLD are plan files (ckpt-opt --ckpt-plan=save-plan=...): "
     "print the changes"},
    {"check", "FILE", checkCertificateMode,
     "verify every claim of the certificate in FILE, with nothing of the "
     "planner"},
    {"compare", "", compareMode,
     "compare the planner with published strategies, or with the one of "
     "--strategy, at equal arenas"},
    {"generate", "FAMILY:OPS", generateMode,
     "print a training step of a family (chain, gpt, resnet, unet, densenet, "
     "lstm, stencil, random) with about that many ops; takes no FILE",
     /*takesFile=*/false},
    {"frontier", "POINTS", frontierMode,
     "the curve of peak against time, for so many budgets"},
    {"pack", "", packMode,
     "place the buffers of FILE, a table such as MiniMalloc's (columns id, "
     "lower, upper, size), in one arena"},
    {"stages", "", stagesMode,
     "print the time of each stage up to the first plan within "
     "--budget, its quality and the memory that planning takes"},
};

/// An option of one or several modes.
struct Option {
  const char *name;
  const char *value;
  /// The modes in which it has an effect, by their functions.
  bool (*modes[3])(const Arguments &);
  const char *help;
};

constexpr Option options[] = {
    {"budget",
     "SIZE",
     {solveMode, stagesMode},
     "bytes of the arena: 4096 (MiB), 512KiB, 1.5GB, 300B, or a share of the "
     "baseline such as 50%"},
    {"strategy",
     "NAME",
     {solveMode, compareMode},
     "budget: little time within the budget and few extra FLOPs, which count "
     "several times (the default with --budget); none: no limit (the default "
     "without); reference: least extra FLOPs by exhaustive search; or a "
     "published strategy of docs/Evaluation/Comparison.md, such as sqrt: its "
     "fastest plan, within the budget if one is given"},
    {"max-growth",
     "SHARE",
     {diffMode},
     "with --diff: fail if the arena takes more than this share, such as 2%, "
     "beyond that of OLD"},
    {"time-limit",
     "MS",
     {solveMode, compareMode, frontierMode},
     "milliseconds after which the best plan so far is taken (default: 5000; "
     "0: one round)"},
    {"effort",
     "MS",
     {solveMode, compareMode, frontierMode},
     "instead of a time limit, milliseconds of counted work: the same plan on "
     "every machine"},
    {"without",
     "NAME,...",
     {solveMode, compareMode, frontierMode},
     "for developers: sub-solvers that shall not run, by the names that "
     "reports give them"},
    {"certificate",
     "FILE",
     {solveMode, checkPlanMode},
     "also write evidence for the plan and its bounds, for --check"},
    {"report",
     "FILE",
     {solveMode, checkPlanMode},
     "also write the plan with its figures: a page (.html), a picture (.svg), "
     "else JSON (docs/Report.md)"},
    {"json",
     "FILE",
     {frontierMode},
     "with --frontier: also write the curve as JSON"},
    {"svg",
     "FILE",
     {frontierMode},
     "with --frontier: also write the curve as a picture"},
    {"print-plan",
     "",
     {solveMode, checkPlanMode},
     "print the plan too; the report becomes comments"},
};

} // namespace

/// One line per option, wrapped at 80 columns.
static void printOption(const char *name, const char *value,
                        const std::string &help) {
  constexpr size_t column = 22, width = 79;
  std::string line = std::string("  --") + name;
  if (*value)
    line += std::string("=") + value;
  line.resize(std::max(column, line.size() + 1), ' ');
  for (size_t at = 0; at < help.size();) {
    size_t end = std::min(help.find(' ', at), help.size());
    if (line.size() + 1 + end - at > width) {
      std::cout << line << "\n";
      line.assign(column, ' ');
    }
    line += " " + help.substr(at, end - at);
    at = end + 1;
  }
  std::cout << line << "\n";
}

static void printHelp() {
  std::cout << "usage: ckpt-plan [options] FILE\n\n" << modes[0].help << "\n\n";
  for (const Option &option : options)
    printOption(option.name, option.value, option.help);
  std::cout << "\nInstead of that:\n\n";
  for (const Mode &mode : modes)
    if (*mode.option)
      printOption(mode.option, mode.value, mode.help);
}

/// Whether there is an option \p name, and in \p takesValue its kind.
static bool findOption(const std::string &name, bool &takesValue) {
  for (const Option &option : options)
    if (name == option.name) {
      takesValue = *option.value;
      return true;
    }
  for (const Mode &mode : modes)
    if (*mode.option && name == mode.option) {
      takesValue = *mode.value;
      return true;
    }
  return false;
}

static bool parseOption(const std::string &argument, Arguments &arguments) {
  size_t equals = argument.find('=');
  std::string name = argument.substr(0, equals);
  bool takesValue = false;
  if (name.size() < 3 || name.compare(0, 2, "--") != 0 ||
      !findOption(name.substr(2), takesValue))
    return fail("ckpt-plan", "unknown option '" + argument + "'; see --help");
  bool hasValue = equals != std::string::npos && equals + 1 < argument.size();
  if (hasValue != takesValue)
    return fail("ckpt-plan", "option '" + name + "' takes " +
                                 (takesValue ? "a value" : "no value"));
  arguments.options[name.substr(2)] =
      takesValue ? argument.substr(equals + 1) : "";
  return true;
}

static bool parseArguments(int argc, char **argv, Arguments &arguments) {
  for (int i = 1; i < argc; ++i) {
    std::string argument = argv[i];
    if (argument.size() > 1 && argument[0] == '-') {
      if (!parseOption(argument, arguments))
        return false;
    } else if (arguments.file.empty()) {
      arguments.file = argument;
    } else {
      return fail("ckpt-plan", "expected one file, but got '" + arguments.file +
                                   "' and '" + argument + "'");
    }
  }
  return true;
}

/// "'--frontier'", or "planning" for the mode without such an option.
static std::string nameOf(const Mode &mode) {
  return *mode.option ? std::string("'--") + mode.option + "'" : "planning";
}

/// Refuses an option without effect in this mode: it was meant for another one.
static bool checkOptions(const Arguments &arguments, const Mode &chosen) {
  for (const Option &option : options) {
    auto takes = [&](const Mode &mode) {
      return std::count(std::begin(option.modes), std::end(option.modes),
                        mode.run) > 0;
    };
    if (!arguments.has(option.name) || takes(chosen))
      continue;
    std::string takers;
    for (const Mode &mode : modes)
      if (takes(mode))
        takers += (takers.empty() ? "" : " or ") + nameOf(mode);
    return fail("ckpt-plan", std::string("option '--") + option.name +
                                 "' is for " + takers + ", not for " +
                                 nameOf(chosen));
  }
  return true;
}

static bool run(const Arguments &arguments) {
  const Mode *chosen = &modes[0];
  for (const Mode &mode : modes) {
    if (!*mode.option || !arguments.has(mode.option))
      continue;
    if (chosen != &modes[0])
      return fail("ckpt-plan", std::string("'--") + chosen->option +
                                   "' and '--" + mode.option +
                                   "' cannot be combined");
    chosen = &mode;
  }
  if (!checkOptions(arguments, *chosen))
    return false;
  if (chosen->takesFile && arguments.file.empty())
    return fail("ckpt-plan", "expected a file; see --help");
  if (!chosen->takesFile && !arguments.file.empty())
    return fail("ckpt-plan",
                "expected no file, but got '" + arguments.file + "'");
  return chosen->run(arguments);
}

/// Whether all of the output arrived: a full disk or a closed pipe loses it.
static bool finishOutput() {
  return std::cout.flush() ||
         fail("ckpt-plan", "the standard output cannot be written");
}

int main(int argc, char **argv) {
  // A closed pipe is an error of the stream, not the end.
  std::signal(SIGPIPE, SIG_IGN);
  for (int i = 1; i < argc; ++i)
    if (std::string(argv[i]) == "--help") {
      printHelp();
      return finishOutput() ? 0 : 1;
    }
  Arguments arguments;
  bool succeeded = parseArguments(argc, argv, arguments) && run(arguments);
  return finishOutput() && succeeded ? 0 : 1;
}
