//===- DiagnosedError.h - An error that a diagnostic reported ---*- C++ -*-===//
//
// Tools print an `llvm::Error` at the end of a run, unless it is of this class.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_RUNTIME_DIAGNOSEDERROR_H
#define CKPT_RUNTIME_DIAGNOSEDERROR_H

#include "llvm/Support/Error.h"

namespace ckpt {

/// An error that a diagnostic has reported at its place in the program: to say
/// more would make two errors of one.
class DiagnosedError : public llvm::ErrorInfo<DiagnosedError> {
public:
  explicit DiagnosedError(std::string stage) : stage(std::move(stage)) {}

  void log(llvm::raw_ostream &stream) const override {
    stream << stage << " failed";
  }
  std::error_code convertToErrorCode() const override {
    return llvm::inconvertibleErrorCode();
  }

  inline static char ID = 0;

private:
  std::string stage;
};

} // namespace ckpt

#endif // CKPT_RUNTIME_DIAGNOSEDERROR_H
