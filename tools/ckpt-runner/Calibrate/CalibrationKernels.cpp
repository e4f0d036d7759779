//===- CalibrationKernels.cpp - The ops of calibration programs -----------===//
//
// Ops as frameworks write them: matmuls on transposed views, convolutions with
// their gradients, chains of elementwise ops before reductions.
//
//===----------------------------------------------------------------------===//

#include "Calibrate/CalibrationKernels.h"
#include "llvm/Support/FormatVariadic.h"

using namespace ckpt;
using llvm::formatv;

//===----------------------------------------------------------------------===//
// Contractions
//===----------------------------------------------------------------------===//

static std::string productType(MatmulSize size, StringRef element) {
  return MlirWriter::tensor({size.rows, size.columns}, element);
}

static std::string multiply(MlirWriter &writer, MatmulSize size,
                            StringRef element, Transposed transposed) {
  auto operand = [&](int64_t rows, int64_t columns, bool flip) {
    if (!flip)
      return writer.argument(writer.tensor({rows, columns}, element));
    std::string stored =
        writer.argument(writer.tensor({columns, rows}, element));
    return writer.transposed(stored, {columns, rows}, element, {1, 0});
  };
  std::string left =
      operand(size.rows, size.steps,
              transposed == Transposed::Left || transposed == Transposed::Both);
  std::string right = operand(size.steps, size.columns,
                              transposed == Transposed::Right ||
                                  transposed == Transposed::Both);
  std::string type = productType(size, element);
  std::string init = writer.filled(type, element);
  return writer.add("linalg.matmul ins(" + left + ", " + right + " : " +
                    writer.tensor({size.rows, size.steps}, element) + ", " +
                    writer.tensor({size.steps, size.columns}, element) +
                    ") outs(" + init + " : " + type + ") -> " + type);
}

void ckpt::addMatmul(MlirWriter &writer, MatmulSize size, StringRef element,
                     Transposed transposed) {
  writer.addResult(multiply(writer, size, element, transposed),
                   productType(size, element));
}

void ckpt::addUpdate(MlirWriter &writer, MatmulSize size, StringRef element) {
  std::string product = multiply(writer, size, element, Transposed::Left);
  std::string gradient =
      writer.transposed(product, {size.rows, size.columns}, element, {1, 0});
  Operand weight(writer, element, size.columns, size.rows);
  weight.apply(chain("arith.subf", 1, true, element), "(r, c)", gradient);
  weight.finish();
}

void ckpt::addAttention(MlirWriter &writer, int64_t batch, int64_t tokens,
                        int64_t heads, int64_t width, bool scores,
                        StringRef element) {
  SmallVector<int64_t> stored = {batch, tokens, heads, width};
  auto byHead = [&](unsigned number, bool flip) {
    std::string value = writer.argument(writer.tensor(stored, element), number);
    SmallVector<int64_t> order = {0, 2, 1, 3};
    if (flip)
      order = {0, 2, 3, 1};
    SmallVector<int64_t> shape;
    for (int64_t dim : order)
      shape.push_back(stored[dim]);
    value = writer.transposed(value, stored, element, order);
    std::string flat =
        writer.tensor({batch * heads, shape[2], shape[3]}, element);
    return writer.add("tensor.collapse_shape " + value +
                      " [[0, 1], [2], [3]] : " + writer.tensor(shape, element) +
                      " into " + flat);
  };
  std::string heads3 = writer.tensor({batch * heads, tokens, width}, element);
  std::string square = writer.tensor({batch * heads, tokens, tokens}, element);
  std::string flipped = writer.tensor({batch * heads, width, tokens}, element);
  std::string left = scores ? byHead(0, false) : writer.argument(square);
  std::string right = byHead(1, scores);
  StringRef leftType = scores ? heads3 : square;
  StringRef rightType = scores ? flipped : heads3;
  StringRef type = scores ? square : heads3;
  std::string product =
      writer.add("linalg.batch_matmul ins(" + left + ", " + right + " : " +
                 leftType + ", " + rightType + ") outs(" +
                 writer.filled(type, element) + " : " + type + ") -> " + type);
  writer.addResult(product, type);
}

void ckpt::addConvolution(MlirWriter &writer, ConvolutionSize size,
                          StringRef element) {
  int64_t extent = (size.extent - size.window) / size.stride + 1;
  std::string image = writer.tensor(
      {size.batch, size.extent, size.extent, size.inputs}, element);
  std::string filter = writer.tensor(
      {size.window, size.window, size.inputs, size.outputs}, element);
  std::string type =
      writer.tensor({size.batch, extent, extent, size.outputs}, element);
  std::string result = writer.add(
      formatv("linalg.conv_2d_nhwc_hwcf {{strides = dense<{0}> : "
              "tensor<2xi64>} ins({1}, {2} : {3}, {4}) outs({5} : {6}) -> {6}",
              size.stride, writer.argument(image), writer.argument(filter),
              image, filter, writer.filled(type, element), type)
          .str());
  writer.addResult(result, type);
}

/// Pads by \p beside on both ends of every dimension, whose numbers are called
/// \p indices.
static std::string padded(MlirWriter &writer, const std::string &value,
                          StringRef from, StringRef to, StringRef beside,
                          StringRef element, ArrayRef<StringRef> indices) {
  std::string zero = writer.add("arith.constant 0.0 : " + element);
  std::string arguments;
  for (StringRef index : indices)
    arguments += (arguments.empty() ? "" : ", ") + index.str() + ": index";
  return writer.add(
      formatv("tensor.pad {0} low[{1}] high[{1}] {{\n^bb0({2}):\ntensor.yield "
              "{3} : {4}\n} : {5} to {6}",
              value, beside, arguments, zero, element, from, to)
          .str());
}

void ckpt::addBorder(MlirWriter &writer, ConvolutionSize size,
                     StringRef element) {
  auto image = [&](int64_t extent) {
    return writer.tensor({size.batch, extent, extent, size.inputs}, element);
  };
  std::string from = image(size.extent), to = image(size.extent + 2);
  writer.addResult(padded(writer, writer.argument(from), from, to, "0, 1, 1, 0",
                          element, {"%i", "%j", "%k", "%l"}),
                   to);
}

void ckpt::addFilterGradient(MlirWriter &writer, ConvolutionSize size,
                             StringRef element) {
  int64_t extent = size.extent - size.window + 1;
  SmallVector<int64_t> image = {size.batch, size.extent, size.extent,
                                size.inputs};
  SmallVector<int64_t> gradient = {size.batch, extent, extent, size.outputs};
  std::string images =
      writer.transposed(writer.argument(writer.tensor(image, element)), image,
                        element, {3, 1, 2, 0});
  std::string gradients =
      writer.transposed(writer.argument(writer.tensor(gradient, element)),
                        gradient, element, {1, 2, 0, 3});
  std::string imageType = writer.tensor(
      {size.inputs, size.extent, size.extent, size.batch}, element);
  std::string gradientType =
      writer.tensor({extent, extent, size.batch, size.outputs}, element);
  std::string type = writer.tensor(
      {size.inputs, size.window, size.window, size.outputs}, element);
  std::string result = writer.add(
      formatv("linalg.conv_2d_nhwc_hwcf ins({0}, {1} : {2}, {3}) outs({4} : "
              "{5}) -> {5}",
              images, gradients, imageType, gradientType,
              writer.filled(type, element), type)
          .str());
  writer.addResult(result, type);
}

std::string ckpt::chain(StringRef op, unsigned times, bool binary,
                        StringRef element) {
  std::string lines, value = "%x";
  for (unsigned i = 0; i < times; ++i) {
    std::string next = "%c" + std::to_string(i);
    lines += (next + " = " + op + " " + value + (binary ? ", %y" : "") + " : " +
              element + "\n")
                 .str();
    value = next;
  }
  return lines + "linalg.yield " + value + " : " + element.str() + "\n";
}

void Operand::apply(StringRef body, StringRef second, StringRef given) {
  std::string other = second == "(c)"   ? writer.tensor({columns}, element)
                      : second == "(r)" ? writer.tensor({rows}, element)
                      : second == "(c, r)"
                          ? writer.tensor({columns, rows}, element)
                          : type();
  std::string inputs = value, types = type(), maps, arguments;
  if (body.contains("%y")) {
    std::string argument =
        given.empty() ? writer.argument(other, /*number=*/other == type())
                      : given.str();
    inputs += ", " + argument;
    types += ", " + other;
    maps = "affine_map<(r, c) -> " + second.str() + ">, ";
    arguments = "%y: " + element + ", ";
  }
  value = writer.add(
      formatv("linalg.generic {{indexing_maps = [affine_map<(r, c) -> (r, c)>, "
              "{0}affine_map<(r, c) -> (r, c)>], iterator_types = "
              "[\"parallel\", \"parallel\"]} ins({1} : {2}) outs({3} : {4}) "
              "{{\n^bb0(%x: {5}, {6}%o: {5}):\n{7}} -> {4}",
              maps, inputs, types, writer.emptyTensor(type()), type(), element,
              arguments, body)
          .str());
}

void Operand::reduce(StringRef body, bool alongRows) {
  std::string resultType = writer.tensor({alongRows ? columns : rows}, element);
  std::string result = writer.add(
      formatv("linalg.generic {{indexing_maps = [affine_map<(r, c) -> (r, c)>, "
              "affine_map<(r, c) -> ({0})>], iterator_types = [{1}]} ins({2} : "
              "{3}) outs({4} : {5}) {{\n^bb0(%x: {6}, %o: {6}):\n{7}"
              "linalg.yield %n : {6}\n} -> {5}",
              alongRows ? "c" : "r",
              alongRows ? "\"reduction\", \"parallel\""
                        : "\"parallel\", \"reduction\"",
              value, type(), writer.filled(resultType, element), resultType,
              element, body)
          .str());
  writer.addResult(result, resultType);
}

void Operand::pad(int64_t columnsBeside) {
  std::string to =
      writer.tensor({rows + 2, columns + 2 * columnsBeside}, element);
  std::string beside = std::to_string(columnsBeside);
  writer.addResult(
      padded(writer, value, type(), to, "1, " + beside, element, {"%i", "%j"}),
      to);
}
