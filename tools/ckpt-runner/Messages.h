//===- Messages.h - Errors that have no place in a program ------*- C++ -*-===//

#ifndef CKPT_TOOLS_CKPTRUNNER_MESSAGES_H
#define CKPT_TOOLS_CKPTRUNNER_MESSAGES_H

#include "ckpt/Support/LLVM.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/WithColor.h"

namespace ckpt {

/// Prints \p error, if there is one.
inline LogicalResult report(llvm::Error error) {
  if (!error)
    return success();
  llvm::WithColor::error(llvm::errs())
      << llvm::toString(std::move(error)) << "\n";
  return failure();
}

inline LogicalResult reportText(const Twine &text) {
  return report(llvm::createStringError(text.str()));
}

} // namespace ckpt

#endif // CKPT_TOOLS_CKPTRUNNER_MESSAGES_H
