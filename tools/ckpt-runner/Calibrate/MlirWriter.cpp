//===- MlirWriter.cpp - Writes functions of kernels as MLIR ---------------===//

#include "Calibrate/MlirWriter.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace ckpt;
using llvm::formatv;

static std::string joined(ArrayRef<int64_t> numbers, StringRef separator) {
  return llvm::join(
      llvm::map_range(numbers, [](int64_t n) { return std::to_string(n); }),
      separator);
}

std::string MlirWriter::tensor(ArrayRef<int64_t> shape, StringRef element) {
  return "tensor<" + joined(shape, "x") + (shape.empty() ? "" : "x") +
         element.str() + ">";
}

std::string MlirWriter::argument(StringRef type, unsigned number) {
  for (size_t i = 0; i < argumentTypes.size(); ++i)
    if (argumentTypes[i] == type && number-- == 0)
      return argumentNames[i];
  argumentNames.push_back("%arg" + std::to_string(argumentNames.size()));
  argumentTypes.push_back(type.str());
  return argumentNames.back();
}

std::string MlirWriter::add(const Twine &text) {
  std::string name = "%v" + std::to_string(next++);
  body += "  " + name + " = " + text.str() + "\n";
  return name;
}

void MlirWriter::addResult(StringRef value, StringRef type) {
  results.push_back(value.str());
  resultTypes.push_back(type.str());
}

std::string MlirWriter::take() {
  std::vector<std::string> arguments;
  for (auto [name, type] : llvm::zip_equal(argumentNames, argumentTypes))
    arguments.push_back(name + ": " + type);
  std::string types = llvm::join(resultTypes, ", ");
  std::string text = formatv(
      "func.func @calibration({0}) -> ({1}) {{\n{2}  return {3} : "
      "{1}\n}\n",
      llvm::join(arguments, ", "), types, body, llvm::join(results, ", "));
  *this = MlirWriter();
  return text;
}

std::string MlirWriter::filled(StringRef type, StringRef element) {
  std::string zero = add("arith.constant 0.0 : " + element);
  return add("linalg.fill ins(" + zero + " : " + element + ") outs(" +
             emptyTensor(type) + " : " + type + ") -> " + type);
}

std::string MlirWriter::transposed(StringRef value, ArrayRef<int64_t> shape,
                                   StringRef element,
                                   ArrayRef<int64_t> permutation) {
  SmallVector<int64_t> target;
  for (int64_t dim : permutation)
    target.push_back(shape[dim]);
  std::string from = tensor(shape, element), to = tensor(target, element);
  return add("linalg.transpose ins(" + value + " : " + from + ") outs(" +
             emptyTensor(to) + " : " + to + ") permutation = [" +
             joined(permutation, ", ") + "]");
}
