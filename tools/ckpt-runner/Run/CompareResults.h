//===- CompareResults.h - Results bit by bit, or by tolerance ---*- C++ -*-===//
//
// `--verify` compares two ways to run a step bit by bit, `--expected` compares
// with a file by tolerance.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_TOOLS_CKPTRUNNER_RUN_COMPARERESULTS_H
#define CKPT_TOOLS_CKPTRUNNER_RUN_COMPARERESULTS_H

#include "Run/Inputs.h"

#include <optional>

namespace ckpt {

/// The first element in which results differ in any bit; none if they are
/// equal. Any NaN equals any other.
std::optional<std::string> compareBits(const Signature &signature,
                                       const Buffers &results,
                                       ArrayRef<std::vector<char>> reference);

/// The distance of results from the expected ones.
struct Closeness {
  /// Over all elements of all results.
  double maxAbsoluteError = 0;
  /// The worst element out of tolerance, as a sentence; none if all are within.
  std::optional<std::string> outside;
};

/// Compares with the archive at \p path (out000, …). An element is within
/// tolerance if it is off by at most \p absolute, or by at most \p relative
/// times the largest magnitude of its result: sums in float32 have errors of
/// that size at any value of their own. NaN matches NaN only.
llvm::Expected<Closeness> compareExpected(StringRef path,
                                          const Signature &signature,
                                          const Buffers &results,
                                          double relative, double absolute);

} // namespace ckpt

#endif // CKPT_TOOLS_CKPTRUNNER_RUN_COMPARERESULTS_H
