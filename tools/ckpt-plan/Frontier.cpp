//===- Frontier.cpp - The mode of ckpt-plan that plans a whole curve ------===//

#include "ckpt/Plan/Frontier.h"
#include "Tool.h"

#include <iostream>
#include <sstream>

using namespace ckpt::plan;
using namespace ckpt::plan::tool;

bool tool::frontierMode(const Arguments &arguments) {
  constexpr int64_t mostPoints = 10000;
  int64_t points = 0;
  SolverOptions options;
  Problem problem;
  if (!readInteger(arguments, "frontier", 2, mostPoints, points) ||
      !readSolverOptions(arguments, options) ||
      !tool::readBareProblem(arguments.file, problem))
    return false;
  Frontier frontier =
      solveFrontier(problem, static_cast<int32_t>(points), options);
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
