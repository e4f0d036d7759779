//===- Generate.cpp - Problems of any size --------------------------------===//

#include "Tool.h"

#include "ckpt/Plan/Generate.h"

#include <charconv>
#include <iostream>

using namespace ckpt::plan;
using namespace ckpt::plan::tool;

bool tool::generateMode(const Arguments &arguments) {
  std::string wanted = arguments.value("generate");
  size_t colon = wanted.find(':');
  int64_t ops = 0;
  const char *end = wanted.data() + wanted.size();
  if (colon == std::string::npos ||
      std::from_chars(wanted.data() + colon + 1, end, ops).ptr != end)
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
