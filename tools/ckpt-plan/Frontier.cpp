//===- Frontier.cpp - The mode of ckpt-plan that plans a whole curve ------===//

#include "ckpt/Plan/Frontier.h"
#include "Tool.h"

#include <cstdlib>
#include <iostream>
#include <sstream>

using namespace ckpt::plan;
using namespace ckpt::plan::tool;

static bool readPoints(const Arguments &arguments, int32_t &points) {
  std::string text = arguments.value("frontier");
  char *end = nullptr;
  long number = std::strtol(text.c_str(), &end, 10);
  constexpr long most = 10000;
  if (*end != '\0' || number < 2 || number > most)
    return fail("ckpt-plan", "expected a number of budgets from 2 to " +
                                 std::to_string(most) + ", but got '" + text +
                                 "'");
  points = static_cast<int32_t>(number);
  return true;
}

bool tool::frontierMode(const Arguments &arguments) {
  int32_t points = 0;
  SolverOptions options;
  Problem problem;
  if (!readPoints(arguments, points) || !readEffort(arguments, options) ||
      !tool::readProblem(arguments.file, problem))
    return false;
  Frontier frontier = solveFrontier(problem, points, options);
  if (options.progress)
    options.progress("");
  if (!frontier.error.empty())
    return fail(arguments.file, frontier.error);
  std::ostringstream json, svg;
  printFrontierJson(frontier, json);
  printFrontierSvg(frontier, arguments.file, svg);
  printFrontier(frontier, arguments.file, std::cout);
  return (!arguments.has("json") ||
          writeFile(arguments.value("json"), json.str())) &&
         (!arguments.has("svg") ||
          writeFile(arguments.value("svg"), svg.str()));
}
