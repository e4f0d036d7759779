//===- MlirWriter.h - Writes functions of kernels as MLIR -------*- C++ -*-===//
//
// CalibrationKernels.h writes its kernels by it, as text that the runner then
// reads like a file of a user.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_TOOLS_CKPTRUNNER_CALIBRATE_MLIRWRITER_H
#define CKPT_TOOLS_CKPTRUNNER_CALIBRATE_MLIRWRITER_H

#include "ckpt/Support/LLVM.h"

#include <string>
#include <vector>

namespace ckpt {

/// Writes a function of independent kernels. Arguments of equal type are one.
class MlirWriter {
public:
  /// "tensor<4x8xf32>".
  static std::string tensor(ArrayRef<int64_t> shape, StringRef element);

  /// Argument \p number among the arguments of this type.
  std::string argument(StringRef type, unsigned number = 0);
  /// Writes `%n = text : …` and returns %n.
  std::string add(const Twine &text);
  void addResult(StringRef value, StringRef type);
  /// The text of the function; another one begins.
  std::string take();

  std::string emptyTensor(StringRef type) {
    return add("tensor.empty() : " + type);
  }
  /// A tensor of zeros.
  std::string filled(StringRef type, StringRef element);
  std::string transposed(StringRef value, ArrayRef<int64_t> shape,
                         StringRef element, ArrayRef<int64_t> permutation);

private:
  std::vector<std::string> argumentNames, argumentTypes;
  std::string body;
  std::vector<std::string> results, resultTypes;
  unsigned next = 0;
};

} // namespace ckpt

#endif // CKPT_TOOLS_CKPTRUNNER_CALIBRATE_MLIRWRITER_H
