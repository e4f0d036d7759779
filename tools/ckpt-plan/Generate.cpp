//===- Generate.cpp - Problems of any size --------------------------------===//

#include "Tool.h"

#include "ckpt/Plan/Generate.h"

#include <iostream>

using namespace ckpt::plan;
using namespace ckpt::plan::tool;

bool tool::generateMode(const Arguments &arguments) {
  std::string wanted = arguments.value("generate");
  size_t colon = wanted.find(':');
  int64_t ops = 0;
  if (colon == std::string::npos ||
      !parseInteger(wanted.substr(colon + 1), ops))
    return fail("ckpt-plan",
                "expected a family and a number of ops such as 'gpt:1000', "
                "but got '" +
                    wanted + "'");
  Problem problem;
  std::string error = generateProblem(wanted.substr(0, colon), ops, problem);
  if (!error.empty())
    return fail("ckpt-plan", error);
  printProblem(problem, std::cout);
  return static_cast<bool>(std::cout.flush()) ||
         fail("standard output", "cannot be written");
}
