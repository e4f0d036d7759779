//===- CalibrationKernels.h - The ops of calibration programs ---*- C++ -*-===//
//
// Matmuls, convolutions, attention and elementwise chains as a framework writes
// them; CalibrationPrograms.h chooses their sizes.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_TOOLS_CKPTRUNNER_CALIBRATE_CALIBRATIONKERNELS_H
#define CKPT_TOOLS_CKPTRUNNER_CALIBRATE_CALIBRATIONKERNELS_H

#include "Calibrate/MlirWriter.h"

namespace ckpt {

struct MatmulSize {
  int64_t rows, columns, steps;
};

/// The transposed operands of a matmul.
enum class Transposed { None, Left, Right, Both };

void addMatmul(MlirWriter &writer, MatmulSize size, StringRef element,
               Transposed transposed);

/// Subtracts a product from a weight that is stored by columns.
void addUpdate(MlirWriter &writer, MatmulSize size, StringRef element);

/// Products of the heads of attention, which lie beside each other: tokens by
/// tokens where these are the \p scores, else scores by values.
void addAttention(MlirWriter &writer, int64_t batch, int64_t tokens,
                  int64_t heads, int64_t width, bool scores, StringRef element);

struct ConvolutionSize {
  int64_t batch, extent, window, inputs, outputs, stride;
};

void addConvolution(MlirWriter &writer, ConvolutionSize size,
                    StringRef element);

/// An image with a border of zeros.
void addBorder(MlirWriter &writer, ConvolutionSize size, StringRef element);

/// The gradient of a filter: images and gradients with batch and channels
/// swapped.
void addFilterGradient(MlirWriter &writer, ConvolutionSize size,
                       StringRef element);

/// A body that applies \p op to %x for \p times, with %y as the second operand
/// of a binary op.
std::string chain(StringRef op, unsigned times, bool binary, StringRef element);

/// A tensor that ops are applied to, one after the other.
struct Operand {
  MlirWriter &writer;
  std::string element;
  int64_t rows, columns;
  std::string value;

  Operand(MlirWriter &writer, StringRef element, int64_t rows, int64_t columns)
      : writer(writer), element(element), rows(rows), columns(columns),
        value(writer.argument(type())) {}

  std::string type() const { return writer.tensor({rows, columns}, element); }

  /// An elementwise op with \p body; its %y is read as \p second says: "(r,
  /// c)", "(c)", "(r)" or "(c, r)". That is an argument if it is not \p given.
  void apply(StringRef body, StringRef second, StringRef given = "");
  /// Reduces the rows, or along them the columns, by \p body, which makes %n of
  /// %x and the running %o.
  void reduce(StringRef body, bool alongRows);
  /// By rows, and by as many columns on both sides.
  void pad(int64_t columnsBeside);
  void finish() { writer.addResult(value, type()); }
};

} // namespace ckpt

#endif // CKPT_TOOLS_CKPTRUNNER_CALIBRATE_CALIBRATIONKERNELS_H
