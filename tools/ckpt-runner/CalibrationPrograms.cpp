//===- CalibrationPrograms.cpp - Kernels to measure a device with ---------===//
//
// The kernels are made by the same lowering as those of a real step, of ops as
// frameworks write them: matmuls on transposed views, softmax and layer norm in
// their parts, weight gradients of convolutions.
//
//===----------------------------------------------------------------------===//

#include "CalibrationPrograms.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace ckpt;
using llvm::formatv;

namespace {

/// Writes a function of independent kernels. Arguments of equal type are one.
class ProgramWriter {
public:
  /// "tensor<4x8xf32>".
  static std::string tensor(ArrayRef<int64_t> shape, StringRef element);

  std::string argument(StringRef type, unsigned number = 0);
  /// Writes `%n = text : …` and returns %n.
  std::string add(const Twine &text);
  void addResult(StringRef value, StringRef type);
  bool empty() const { return results.empty(); }
  std::string take();

  std::string emptyTensor(StringRef type) {
    return add("tensor.empty() : " + type);
  }
  std::string filled(StringRef type, StringRef element);
  std::string transposed(StringRef value, ArrayRef<int64_t> shape,
                         StringRef element, ArrayRef<int64_t> permutation);

private:
  std::vector<std::string> argumentNames, argumentTypes;
  std::string body;
  std::vector<std::string> results, resultTypes;
  unsigned next = 0;
};

} // namespace

static std::string joined(ArrayRef<int64_t> numbers, StringRef separator) {
  return llvm::join(
      llvm::map_range(numbers, [](int64_t n) { return std::to_string(n); }),
      separator);
}

std::string ProgramWriter::tensor(ArrayRef<int64_t> shape, StringRef element) {
  return "tensor<" + joined(shape, "x") + (shape.empty() ? "" : "x") +
         element.str() + ">";
}

std::string ProgramWriter::argument(StringRef type, unsigned number) {
  for (size_t i = 0; i < argumentTypes.size(); ++i)
    if (argumentTypes[i] == type && number-- == 0)
      return argumentNames[i];
  argumentNames.push_back("%arg" + std::to_string(argumentNames.size()));
  argumentTypes.push_back(type.str());
  return argumentNames.back();
}

std::string ProgramWriter::add(const Twine &text) {
  std::string name = "%v" + std::to_string(next++);
  body += "  " + name + " = " + text.str() + "\n";
  return name;
}

void ProgramWriter::addResult(StringRef value, StringRef type) {
  results.push_back(value.str());
  resultTypes.push_back(type.str());
}

std::string ProgramWriter::take() {
  std::vector<std::string> arguments;
  for (auto [name, type] : llvm::zip_equal(argumentNames, argumentTypes))
    arguments.push_back(name + ": " + type);
  std::string types = llvm::join(resultTypes, ", ");
  std::string text = formatv(
      "func.func @calibration({0}) -> ({1}) {{\n{2}  return {3} : "
      "{1}\n}\n",
      llvm::join(arguments, ", "), types, body, llvm::join(results, ", "));
  *this = ProgramWriter();
  return text;
}

std::string ProgramWriter::filled(StringRef type, StringRef element) {
  std::string zero = add("arith.constant 0.0 : " + element);
  return add("linalg.fill ins(" + zero + " : " + element + ") outs(" +
             emptyTensor(type) + " : " + type + ") -> " + type);
}

std::string ProgramWriter::transposed(StringRef value, ArrayRef<int64_t> shape,
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

//===----------------------------------------------------------------------===//
// Contractions
//===----------------------------------------------------------------------===//

namespace {
struct MatmulSize {
  int64_t rows, columns, steps;
};
} // namespace

/// What is transposed of the operands of a matmul.
enum class Transposed { None, Left, Right };

static void addMatmul(ProgramWriter &writer, MatmulSize size, StringRef element,
                      Transposed transposed) {
  auto operand = [&](int64_t rows, int64_t columns, bool flip) {
    if (!flip)
      return writer.argument(writer.tensor({rows, columns}, element));
    std::string stored =
        writer.argument(writer.tensor({columns, rows}, element));
    return writer.transposed(stored, {columns, rows}, element, {1, 0});
  };
  std::string left =
      operand(size.rows, size.steps, transposed == Transposed::Left);
  std::string right =
      operand(size.steps, size.columns, transposed == Transposed::Right);
  std::string type = writer.tensor({size.rows, size.columns}, element);
  std::string init = writer.filled(type, element);
  std::string product =
      writer.add("linalg.matmul ins(" + left + ", " + right + " : " +
                 writer.tensor({size.rows, size.steps}, element) + ", " +
                 writer.tensor({size.steps, size.columns}, element) +
                 ") outs(" + init + " : " + type + ") -> " + type);
  writer.addResult(product, type);
}

/// Products of the heads of attention, which lie beside each other: tokens by
/// tokens with both operands as they come, or weights by tokens.
static void addAttention(ProgramWriter &writer, int64_t batch, int64_t tokens,
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

namespace {
struct ConvolutionSize {
  int64_t batch, extent, window, inputs, outputs, stride;
};
} // namespace

static void addConvolution(ProgramWriter &writer, ConvolutionSize size,
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

/// The gradient of a filter: images and gradients with batch and channels
/// swapped.
static void addFilterGradient(ProgramWriter &writer, ConvolutionSize size,
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

//===----------------------------------------------------------------------===//
// Elementwise arithmetic, reductions, copies
//===----------------------------------------------------------------------===//

/// Lines of a body that apply \p op to %x for \p times, with %y as the second
/// operand of those that take one.
static std::string chain(StringRef op, unsigned times, bool binary,
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

namespace {
/// A tensor that ops are applied to, one after the other.
struct Operand {
  ProgramWriter &writer;
  std::string element;
  int64_t rows, columns;
  std::string value;

  Operand(ProgramWriter &writer, StringRef element, int64_t rows,
          int64_t columns)
      : writer(writer), element(element), rows(rows), columns(columns),
        value(writer.argument(type())) {}

  std::string type() const { return writer.tensor({rows, columns}, element); }

  /// An elementwise op with \p body; its %y is read as \p second says: "(r,
  /// c)", "(c)", "(r)" or "(c, r)".
  void apply(StringRef body, StringRef second);
  /// Reduces the rows, or along them the columns, by \p body, which makes %n of
  /// %x and the running %o.
  void reduce(StringRef body, bool alongRows);
  void pad();
  void finish() { writer.addResult(value, type()); }
};
} // namespace

void Operand::apply(StringRef body, StringRef second) {
  std::string other = second == "(c)"   ? writer.tensor({columns}, element)
                      : second == "(r)" ? writer.tensor({rows}, element)
                      : second == "(c, r)"
                          ? writer.tensor({columns, rows}, element)
                          : type();
  std::string inputs = value, types = type(), maps, arguments;
  if (body.contains("%y")) {
    inputs += ", " + writer.argument(other, /*number=*/other == type());
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

void Operand::pad() {
  std::string zero = writer.add("arith.constant 0.0 : " + element);
  std::string to = writer.tensor({rows + 2, columns + 16}, element);
  std::string result = writer.add(
      formatv("tensor.pad {0} low[1, 0] high[1, 16] {{\n^bb0(%i: index, %j: "
              "index):\ntensor.yield {1} : {2}\n} : {3} to {4}",
              value, zero, element, type(), to)
          .str());
  writer.addResult(result, to);
}

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

namespace {

/// A size in two dimensions.
struct Size {
  int64_t rows, columns;
};

/// What sizes the kernels have.
struct Sizes {
  std::vector<MatmulSize> matmuls;
  /// Of these also in other types and orders of memory.
  size_t varied;
  std::vector<ConvolutionSize> convolutions;
  /// Batch, tokens, heads, width.
  std::vector<std::array<int64_t, 4>> attention;
  std::vector<Size> elementwise;
};

} // namespace

static Sizes fewSizes() {
  return {{{16, 32, 24}, {40, 48, 64}},
          1,
          {{1, 6, 3, 4, 8, 1}},
          {{1, 16, 2, 8}},
          {{8, 64}}};
}

static Sizes fittedSizes() {
  return {{{512, 384, 384},
           {384, 1536, 256},
           {128, 128, 128},
           {64, 512, 512},
           {1024, 64, 256},
           {300, 200, 100},
           {8, 256, 512},
           {1024, 1024, 512},
           {32, 32, 32},
           {1, 512, 512},
           {384, 2048, 384},
           {2048, 384, 1024},
           {17, 1000, 65}},
          8,
          {{4, 30, 3, 64, 64, 1},
           {4, 28, 1, 256, 64, 1},
           {4, 14, 1, 64, 256, 1},
           {2, 33, 3, 32, 48, 2},
           {1, 16, 3, 128, 128, 1}},
          {{4, 128, 6, 64}, {2, 256, 4, 32}, {8, 32, 4, 16}},
          {{2, 24}, {384, 512}, {512, 1024}, {1024, 1536}}};
}

static Sizes heldOutSizes() {
  return {{{640, 384, 512},
           {384, 1024, 384},
           {96, 192, 160},
           {48, 700, 300},
           {16, 384, 768},
           {900, 96, 320},
           {768, 768, 768},
           {250, 50, 1000}},
          6,
          {{4, 16, 3, 96, 96, 1},
           {2, 28, 1, 128, 96, 1},
           {4, 15, 1, 96, 384, 1},
           {2, 29, 3, 48, 64, 2}},
          {{4, 96, 8, 48}, {2, 192, 6, 64}},
          {{3, 40}, {256, 768}, {768, 960}, {640, 2304}}};
}

static std::string takeMatmuls(const Sizes &sizes, StringRef element,
                               bool allOrders) {
  ProgramWriter writer;
  size_t count = element == "f32" ? sizes.matmuls.size() : sizes.varied;
  for (size_t i = 0; i < count; ++i) {
    addMatmul(writer, sizes.matmuls[i], element, Transposed::None);
    if (!allOrders && i >= 3)
      continue;
    addMatmul(writer, sizes.matmuls[i], element, Transposed::Left);
    addMatmul(writer, sizes.matmuls[i], element, Transposed::Right);
  }
  return writer.take();
}

static std::string takeAttention(const Sizes &sizes, StringRef element) {
  ProgramWriter writer;
  for (auto [batch, tokens, heads, width] : sizes.attention)
    for (bool scores : {false, true})
      addAttention(writer, batch, tokens, heads, width, scores, element);
  return writer.take();
}

static std::string takeConvolutions(const Sizes &sizes, StringRef element) {
  ProgramWriter writer;
  for (ConvolutionSize size : sizes.convolutions) {
    addConvolution(writer, size, element);
    if (size.stride == 1)
      addFilterGradient(writer, size, element);
  }
  return writer.take();
}

static std::string takeArithmetic(const Sizes &sizes, StringRef element) {
  ProgramWriter writer;
  // No two kernels have one shape: a plan would make all their elements in one.
  int64_t more = 0;
  for (auto [rows, columns] : sizes.elementwise) {
    auto start = [&, rows = rows, columns = columns] {
      return Operand(writer, element, rows + more++, columns);
    };
    auto single = [&](StringRef op, unsigned times, bool binary,
                      StringRef second = "(r, c)") {
      Operand operand = start();
      operand.apply(chain(op, times, binary, element), second);
      operand.finish();
    };
    // As they stand in models, between a sum and a product.
    auto fused = [&](StringRef op, bool binary) {
      Operand operand = start();
      operand.apply(chain("arith.subf", 1, true, element), "(r)");
      operand.apply(chain(op, 1, binary, element), "(r, c)");
      operand.apply(chain("arith.mulf", 1, true, element), "(c)");
      operand.finish();
    };
    single("arith.addf", 1, true);
    single("arith.mulf", 1, true, "(c)");
    single("arith.subf", 1, true, "(r)");
    // Beyond, a column takes more pages than the processor keeps in mind.
    constexpr int64_t mostPages = 1024;
    if (columns <= mostPages)
      single("arith.addf", 1, true, "(c, r)");
    single("arith.mulf", 8, true);
    single("arith.maximumf", 3, true);
    single("arith.negf", 1, false);
    fused("arith.addf", true);
    fused("arith.maximumf", true);
    SmallVector<StringRef> functions = {"math.exp", "math.tanh", "math.rsqrt",
                                        "math.log", "math.sin"};
    if (element != "f64")
      functions.push_back("math.erf");
    for (StringRef function : functions) {
      single(function, 1, false);
      fused(function, false);
    }
    single("arith.divf", 2, true);
    fused("arith.divf", true);
    single("math.powf", 1, true);
  }
  return writer.take();
}

static std::string takeReductions(const Sizes &sizes, StringRef element) {
  ProgramWriter writer;
  auto line = [&](const Twine &text) {
    return (text + " : " + element + "\n").str();
  };
  std::string sum = line("%n = arith.addf %o, %x");
  std::string largest = line("%n = arith.maximumf %o, %x");
  std::string squares =
      line("%s = arith.mulf %x, %x") + line("%n = arith.addf %o, %s");
  int64_t more = 0;
  for (auto [rows, columns] : sizes.elementwise) {
    auto start = [&, rows = rows, columns = columns] {
      return Operand(writer, element, rows + more++, columns);
    };
    for (const std::string &body : {sum, largest, squares})
      start().reduce(body, /*alongRows=*/false);
    start().reduce(sum, /*alongRows=*/true);
    // The sum of a softmax, a variance, the gradient of a bias.
    Operand powers = start();
    powers.apply(chain("arith.subf", 1, true, element), "(r)");
    powers.apply(chain("math.exp", 1, false, element), "(r, c)");
    powers.reduce(sum, /*alongRows=*/false);
    Operand differences = start();
    differences.apply(chain("arith.subf", 1, true, element), "(r)");
    differences.reduce(squares, /*alongRows=*/false);
    for (bool alongRows : {false, true}) {
      Operand products = start();
      products.apply(chain("arith.mulf", 1, true, element), "(r, c)");
      products.reduce(sum, alongRows);
    }
    start().pad();
  }
  return writer.take();
}

std::vector<CalibrationProgram> ckpt::calibrationPrograms(bool few) {
  std::vector<CalibrationProgram> programs;
  Sizes sizes[] = {few ? fewSizes() : fittedSizes(),
                   few ? fewSizes() : heldOutSizes()};
  // What is compared is measured one after the other: the load of a machine
  // changes.
  auto add = [&](StringRef title, StringRef element,
                 llvm::function_ref<std::string(const Sizes &)> take) {
    for (bool heldOut : {false, true})
      programs.push_back(
          {(title + ", " + element).str(), take(sizes[heldOut]), heldOut});
  };
  for (StringRef element : {"f32", "bf16", "f64"}) {
    bool isMain = element == "f32";
    if (few && !isMain)
      break;
    add("matmuls", element, [&](const Sizes &of) {
      return takeMatmuls(of, element, /*allOrders=*/isMain);
    });
    if (element != "f64")
      add("attention", element,
          [&](const Sizes &of) { return takeAttention(of, element); });
    if (isMain)
      add("convolutions", element,
          [&](const Sizes &of) { return takeConvolutions(of, element); });
    add("arithmetic", element,
        [&](const Sizes &of) { return takeArithmetic(of, element); });
    // Frameworks reduce narrow types in 32 bits.
    if (element != "bf16")
      add("reductions", element,
          [&](const Sizes &of) { return takeReductions(of, element); });
  }
  return programs;
}
