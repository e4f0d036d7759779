//===- Generate.h - Training steps of any size ------------------*- C++ -*-===//
//
// Published networks with as many blocks as wanted, as a front end would write
// their training steps: for benchmarks and tests that need problems larger than
// any model at hand.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_PLAN_GENERATE_H
#define CKPT_PLAN_GENERATE_H

#include "ckpt/Plan/Problem.h"

#include <string_view>

namespace ckpt::plan {

/// Names of the families that `generateProblem` knows.
std::vector<std::string_view> generatedFamilies();

/// Makes a step of \p family with the number of blocks that brings the number
/// of its ops closest to \p ops. Returns an error or an empty string.
std::string generateProblem(std::string_view family, int64_t ops,
                            Problem &problem);

} // namespace ckpt::plan

#endif // CKPT_PLAN_GENERATE_H
