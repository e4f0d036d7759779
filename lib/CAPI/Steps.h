//===- Steps.h - Steps behind their handles ---------------------*- C++ -*-===//

#ifndef CKPT_LIB_CAPI_STEPS_H
#define CKPT_LIB_CAPI_STEPS_H

#include "Handles.h"
#include "ckpt/Support/LLVM.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"

#include <mutex>

namespace ckpt::capi {

struct StepObject : Object {
  static constexpr const char *what = "a step";
  StepObject();

  /// One call at a time: a step changes.
  std::mutex mutex;
  mlir::MLIRContext context;
  mlir::OwningOpRef<ModuleOp> module;
};

/// Collects the first error that a context reports, as "file:1:2: text", with
/// its notes, and prints nothing.
class FirstError {
public:
  explicit FirstError(mlir::MLIRContext &context);
  /// The error, or \p otherwise where nothing was reported.
  std::string text(const std::string &otherwise) const {
    return message.empty() ? otherwise : message;
  }

private:
  std::string message;
  mlir::ScopedDiagnosticHandler handler;
};

} // namespace ckpt::capi

#endif // CKPT_LIB_CAPI_STEPS_H
