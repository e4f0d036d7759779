//===- Tool.cpp - Files and errors of ckpt-plan ---------------------------===//

#include "Tool.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <sstream>
#include <unistd.h>

using namespace ckpt::plan;
using namespace ckpt::plan::tool;

bool tool::fail(const std::string &where, const std::string &what) {
  std::cerr << where << ": error: " << what << "\n";
  return false;
}

bool tool::readFile(const std::string &path, std::string &text) {
  if (path == "-") {
    text.assign(std::istreambuf_iterator<char>(std::cin), {});
    return true;
  }
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored))
    return fail(path, "is a directory");
  std::ifstream stream(path, std::ios::binary);
  std::ostringstream content;
  content << stream.rdbuf();
  if (!stream || content.bad())
    return fail(path, "cannot be read");
  text = content.str();
  return true;
}

bool tool::readProblem(const std::string &path, Problem &problem) {
  std::string text, error;
  if (!readFile(path, text))
    return false;
  if (!parseProblem(text, problem, error))
    return fail(path, error);
  // Every figure of such a problem is zero: rather the wrong file.
  return !problem.ops.empty() || fail(path, "expected at least one op");
}

bool tool::readBareProblem(const std::string &path, Problem &problem) {
  return readProblem(path, problem) &&
         (problem.regions.empty() ||
          fail(path, "expected a problem without regions, but got region '" +
                         problem.regions.front().name +
                         "': only a plan of one budget is held to them"));
}

bool tool::writeFile(const std::string &path, const std::string &text) {
  if (path == "-")
    return static_cast<bool>(std::cout << text << std::flush);
  std::error_code ignored;
  // A device or a pipe is written as it is.
  bool inPlace = std::filesystem::exists(path, ignored) &&
                 !std::filesystem::is_regular_file(path, ignored);
  if (inPlace) {
    std::ofstream stream(path, std::ios::binary);
    stream << text;
    stream.close();
    return !stream.fail() || fail(path, "cannot be written");
  }
  std::string temporary = path + ".tmp";
  std::ofstream stream(temporary, std::ios::binary);
  stream << text;
  stream.close();
  if (!stream || std::rename(temporary.c_str(), path.c_str()) != 0) {
    std::remove(temporary.c_str());
    return fail(path, "cannot be written");
  }
  return true;
}

bool tool::parseInteger(const std::string &text, int64_t &number) {
  const char *end = text.data() + text.size();
  auto [stop, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && stop == end;
}

bool tool::readInteger(const Arguments &arguments, const std::string &name,
                       int64_t least, int64_t most, int64_t &number) {
  std::string text = arguments.value(name);
  return (parseInteger(text, number) && number >= least && number <= most) ||
         fail("ckpt-plan", "expected '--" + name + "' to be an integer from " +
                               std::to_string(least) + " to " +
                               std::to_string(most) + ", but got '" + text +
                               "'");
}

bool tool::readBudget(const Arguments &arguments,
                      std::optional<Budget> &budget) {
  std::string error;
  if (!arguments.has("budget"))
    return true;
  return parseBudget(arguments.value("budget"), budget.emplace(), error) ||
         fail("ckpt-plan", error);
}

/// The names of '--without', all of which have to be known.
static bool readWithout(const Arguments &arguments, SolverOptions &options) {
  const std::vector<std::string> known = subSolverNames();
  std::istringstream list(arguments.value("without"));
  for (std::string name; std::getline(list, name, ',');) {
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      std::string names;
      for (const std::string &each : known)
        names += (names.empty() ? "" : ", ") + each;
      return fail("ckpt-plan", "unknown sub-solver '" + name +
                                   "' of '--without'; there are: " + names);
    }
    options.without.push_back(name);
  }
  return true;
}

bool tool::readSolverOptions(const Arguments &arguments,
                             SolverOptions &options) {
  if (isatty(STDERR_FILENO))
    options.progress = [](const std::string &line) {
      std::cerr << "\r\033[K" << line << std::flush;
    };
  constexpr int64_t most = 1'000'000'000;
  if (!readWithout(arguments, options))
    return false;
  if (arguments.has("time-limit") && arguments.has("effort"))
    return fail("ckpt-plan",
                "expected one of '--time-limit' and '--effort', but got both");
  if (arguments.has("effort"))
    return readInteger(arguments, "effort", 1, most, options.effortMs);
  return !arguments.has("time-limit") ||
         readInteger(arguments, "time-limit", 0, most, options.timeLimitMs);
}
