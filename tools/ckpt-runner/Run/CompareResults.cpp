//===- CompareResults.cpp - Results bit by bit, or by tolerance -----------===//

#include "Run/CompareResults.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/APInt.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"

#include <cmath>

using namespace ckpt;

/// Element \p index of \p data as a number.
static double decode(const char *data, Type type, int64_t index) {
  int bytes = npyTypeOf(type).bytes;
  uint64_t bits = 0;
  memcpy(&bits, data + index * bytes, bytes);
  if (type.isF32())
    return llvm::bit_cast<float>(static_cast<uint32_t>(bits));
  if (auto floatType = dyn_cast<mlir::FloatType>(type)) {
    llvm::APFloat number(floatType.getFloatSemantics(),
                         llvm::APInt(floatType.getWidth(), bits));
    bool exact;
    number.convert(llvm::APFloat::IEEEdouble(),
                   llvm::APFloat::rmNearestTiesToEven, &exact);
    return number.convertToDouble();
  }
  if (type.isUnsignedInteger() || bytes == 8 || type.isInteger(1))
    return static_cast<double>(static_cast<int64_t>(bits));
  return static_cast<double>(llvm::SignExtend64(bits, 8 * bytes));
}

/// "out003[4, 17]".
static std::string placeOf(const TensorSpec &spec, int64_t linear) {
  SmallVector<std::string> indices;
  for (int64_t extent : llvm::reverse(spec.type.getShape())) {
    indices.push_back(std::to_string(linear % extent));
    linear /= extent;
  }
  std::reverse(indices.begin(), indices.end());
  return spec.name + "[" + llvm::join(indices, ", ") + "]";
}

/// With as many digits as tell two elements of f32 apart.
static std::string digitsOf(double value) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%.9g", value);
  return text;
}

/// The first of \p count elements with other bits, or \p count. NaNs are equal:
/// neither IEEE 754 nor LLVM fixes their sign and payload.
static int64_t firstDifference(const char *left, const char *right, Type type,
                               int64_t count) {
  int bytes = npyTypeOf(type).bytes;
  for (int64_t index = 0; index < count; ++index) {
    int64_t rest = (count - index) * bytes;
    const char *begin = left + index * bytes;
    const char *place =
        std::mismatch(begin, begin + rest, right + index * bytes).first;
    index += (place - begin) / bytes;
    if (place == begin + rest)
      return count;
    if (!std::isnan(decode(left, type, index)) ||
        !std::isnan(decode(right, type, index)))
      return index;
  }
  return count;
}

std::optional<std::string>
ckpt::compareBits(const Signature &signature, const Buffers &results,
                  ArrayRef<std::vector<char>> reference) {
  for (auto [spec, result, other] :
       llvm::zip_equal(signature.results, results, reference)) {
    Type element = spec.type.getElementType();
    int64_t count = spec.type.getNumElements();
    int64_t index =
        firstDifference(result->data(), other.data(), element, count);
    if (index == count)
      continue;
    return llvm::formatv("{0}: {1} and {2}", placeOf(spec, index),
                         digitsOf(decode(result->data(), element, index)),
                         digitsOf(decode(other.data(), element, index)))
        .str();
  }
  return std::nullopt;
}

/// Compares one result and merges the findings into \p closeness.
static void compareResult(const TensorSpec &spec, const char *result,
                          const char *expected, double relative,
                          double absolute, Closeness &closeness) {
  Type element = spec.type.getElementType();
  int64_t count = spec.type.getNumElements();
  double magnitude = 0;
  for (int64_t i = 0; i < count; ++i)
    if (double value = std::fabs(decode(expected, element, i));
        std::isfinite(value))
      magnitude = std::max(magnitude, value);
  double tolerance = std::max(absolute, relative * magnitude);

  double worst = tolerance;
  for (int64_t i = 0; i < count; ++i) {
    double got = decode(result, element, i),
           wanted = decode(expected, element, i);
    if (got == wanted || (std::isnan(got) && std::isnan(wanted)))
      continue;
    double error = std::fabs(got - wanted);
    if (std::isnan(error))
      error = HUGE_VAL;
    closeness.maxAbsoluteError = std::max(closeness.maxAbsoluteError, error);
    if (error <= worst)
      continue;
    worst = error;
    closeness.outside =
        llvm::formatv("{0}: expected {1}, but got {2}, off by {3:e3} where "
                      "{4:e3} is allowed",
                      placeOf(spec, i), digitsOf(wanted), digitsOf(got), error,
                      tolerance)
            .str();
  }
}

llvm::Expected<Closeness> ckpt::compareExpected(StringRef path,
                                                const Signature &signature,
                                                const Buffers &results,
                                                double relative,
                                                double absolute) {
  llvm::Expected<Buffers> expected = allocate(signature.results);
  if (!expected)
    return expected.takeError();
  if (llvm::Error error =
          loadTensors(path, signature.results, "result", *expected))
    return std::move(error);
  Closeness closeness;
  for (auto [spec, result, wanted] :
       llvm::zip_equal(signature.results, results, *expected))
    compareResult(spec, result->data(), wanted->data(), relative, absolute,
                  closeness);
  return closeness;
}
