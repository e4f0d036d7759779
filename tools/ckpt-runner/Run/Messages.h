//===- Messages.h - Errors that have no place in a program ------*- C++ -*-===//
//
// All rooms of the runner report the end of a failed run by these.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_TOOLS_CKPTRUNNER_RUN_MESSAGES_H
#define CKPT_TOOLS_CKPTRUNNER_RUN_MESSAGES_H

#include "ckpt/Runtime/DiagnosedError.h"
#include "ckpt/Support/LLVM.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/WithColor.h"

namespace ckpt {

/// Prints \p error, if there is one that no diagnostic has said.
inline LogicalResult report(llvm::Error error) {
  if (!error)
    return success();
  if (error.isA<DiagnosedError>()) {
    llvm::consumeError(std::move(error));
    return failure();
  }
  llvm::WithColor::error(llvm::errs())
      << llvm::toString(std::move(error)) << "\n";
  return failure();
}

inline LogicalResult reportText(const Twine &text) {
  return report(llvm::createStringError(text.str()));
}

} // namespace ckpt

#endif // CKPT_TOOLS_CKPTRUNNER_RUN_MESSAGES_H
