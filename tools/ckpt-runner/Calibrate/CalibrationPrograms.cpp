//===- CalibrationPrograms.cpp - Kernels to measure a device with ---------===//

#include "Calibrate/CalibrationPrograms.h"
#include "Calibrate/CalibrationKernels.h"

using namespace ckpt;

namespace {

/// A size in two dimensions.
struct Size {
  int64_t rows, columns;
};

/// Sizes of the kernels of a step.
struct Sizes {
  bool heldOut;
  /// A step that fits into a processor's cache; in one type of elements.
  bool isSmall;
  std::vector<MatmulSize> matmuls;
  /// How many of these come in other types, too.
  size_t varied;
  std::vector<ConvolutionSize> convolutions;
  /// Batch, tokens, heads, width.
  std::vector<std::array<int64_t, 4>> attention;
  std::vector<Size> elementwise;
};

} // namespace

static std::vector<Sizes> fewSizes() {
  std::vector<Sizes> sizes;
  for (bool heldOut : {false, true})
    sizes.push_back({heldOut,
                     /*isSmall=*/true,
                     {{16, 32, 24}, {40, 48, 64}},
                     0,
                     {{1, 6, 3, 4, 8, 1}},
                     {{1, 16, 2, 8}},
                     {{8, 64}}});
  return sizes;
}

static Sizes largeFittedSizes() {
  return {/*heldOut=*/false,
          /*isSmall=*/false,
          {{512, 384, 384},
           {384, 1536, 256},
           {128, 128, 128},
           {64, 512, 512},
           {1024, 64, 256},
           {300, 200, 100},
           {8, 256, 512},
           {1024, 1024, 512},
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
          {{384, 512}, {1024, 1024}}};
}

static Sizes largeHeldOutSizes() {
  return {/*heldOut=*/true,
          /*isSmall=*/false,
          {{640, 384, 512},
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
          {{640, 768}}};
}

static std::vector<Sizes> smallSizes() {
  Sizes fitted = {
      /*heldOut=*/false,
      /*isSmall=*/true,
      {{32, 32, 32}, {64, 192, 64}, {64, 64, 256}, {8, 48, 96}},
      0,
      {{2, 18, 3, 16, 16, 1}, {2, 17, 1, 16, 32, 2}, {2, 20, 3, 3, 16, 1}},
      {{2, 32, 4, 16}},
      {{16, 96}}};
  Sizes heldOut = {/*heldOut=*/true,
                   /*isSmall=*/true,
                   {{48, 80, 40}, {64, 256, 64}, {64, 64, 128}},
                   0,
                   {{2, 10, 3, 32, 32, 1}, {2, 24, 5, 3, 16, 1}},
                   {{2, 24, 4, 24}},
                   {{12, 112}}};
  return {
      fitted,
      heldOut,
      // Few elements, and few of them side by side.
      {/*heldOut=*/false, /*isSmall=*/true, {}, 0, {}, {}, {{2, 24}, {90, 10}}},
      {/*heldOut=*/true, /*isSmall=*/true, {}, 0, {}, {}, {{3, 40}, {70, 12}}}};
}

static std::string takeMatmuls(const Sizes &sizes, StringRef element,
                               bool allOrders) {
  MlirWriter writer;
  size_t count = element == "f32" ? sizes.matmuls.size() : sizes.varied;
  for (size_t i = 0; i < count; ++i) {
    addMatmul(writer, sizes.matmuls[i], element, Transposed::None);
    if (!allOrders && i >= 3)
      continue;
    for (Transposed transposed :
         {Transposed::Left, Transposed::Right, Transposed::Both})
      addMatmul(writer, sizes.matmuls[i], element, transposed);
    addUpdate(writer, sizes.matmuls[i], element);
  }
  return writer.take();
}

static std::string takeAttention(const Sizes &sizes, StringRef element) {
  MlirWriter writer;
  for (auto [batch, tokens, heads, width] : sizes.attention)
    for (bool scores : {false, true})
      addAttention(writer, batch, tokens, heads, width, scores, element);
  return writer.take();
}

static std::string takeConvolutions(const Sizes &sizes, StringRef element) {
  MlirWriter writer;
  for (ConvolutionSize size : sizes.convolutions) {
    addConvolution(writer, size, element);
    addBorder(writer, size, element);
    if (size.stride == 1)
      addFilterGradient(writer, size, element);
  }
  return writer.take();
}

namespace {
/// Ops with code: a GPU has no powers yet, and in f64 no functions.
struct Supported {
  bool functions = true;
  bool powers = true;
};
} // namespace

static std::string takeArithmetic(const Sizes &sizes, StringRef element,
                                  Supported supported) {
  MlirWriter writer;
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
    SmallVector<StringRef> functions = {"math.exp", "math.tanh", "math.rsqrt",
                                        "math.log", "math.sin"};
    if (element != "f64")
      functions.push_back("math.erf");
    if (!supported.functions)
      functions.clear();
    for (StringRef function : functions)
      fused(function, false);
    if (supported.functions) {
      single("math.exp", 1, false);
      single("math.tanh", 1, false);
    }
    single("arith.divf", 2, true);
    fused("arith.divf", true);
    if (supported.powers)
      single("math.powf", 1, true);
  }
  return writer.take();
}

static std::string takeReductions(const Sizes &sizes, StringRef element,
                                  Supported supported) {
  MlirWriter writer;
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
    if (supported.functions) {
      Operand powers = start();
      powers.apply(chain("arith.subf", 1, true, element), "(r)");
      powers.apply(chain("math.exp", 1, false, element), "(r, c)");
      powers.reduce(sum, /*alongRows=*/false);
    }
    Operand differences = start();
    differences.apply(chain("arith.subf", 1, true, element), "(r)");
    differences.reduce(squares, /*alongRows=*/false);
    for (bool alongRows : {false, true}) {
      Operand products = start();
      products.apply(chain("arith.mulf", 1, true, element), "(r, c)");
      products.reduce(sum, alongRows);
    }
    for (int64_t columnsBeside : {0, 1})
      start().pad(columnsBeside);
  }
  return writer.take();
}

/// All kernels of these sizes in one type of elements.
static void appendPrograms(const Sizes &sizes, StringRef element,
                           Supported supported,
                           std::vector<CalibrationProgram> &programs) {
  auto add = [&](StringRef title, std::string text) {
    programs.push_back(
        {(title + ", " + element).str(), std::move(text), sizes.heldOut});
  };
  bool isMain = element == "f32";
  if (!sizes.matmuls.empty())
    add("matmuls", takeMatmuls(sizes, element, /*allOrders=*/isMain));
  if (!sizes.attention.empty() && element != "f64")
    add("attention", takeAttention(sizes, element));
  if (!sizes.convolutions.empty() && isMain)
    add("convolutions", takeConvolutions(sizes, element));
  add("arithmetic", takeArithmetic(sizes, element, supported));
  // Frameworks reduce narrow types in 32 bits.
  if (element != "bf16")
    add("reductions", takeReductions(sizes, element, supported));
}

std::vector<CalibrationProgram> ckpt::calibrationPrograms(bool few,
                                                          bool onGpu) {
  std::vector<Sizes> all = few ? fewSizes() : smallSizes();
  if (!few)
    llvm::append_range(all,
                       std::vector{largeFittedSizes(), largeHeldOutSizes()});
  std::vector<CalibrationProgram> programs;
  for (StringRef element : {"f32", "bf16", "f64"})
    for (const Sizes &sizes : all)
      if (element == "f32" || !sizes.isSmall)
        appendPrograms(sizes, element, {!onGpu || element != "f64", !onGpu},
                       programs);
  return programs;
}
