//===- OpHashTest.cpp - Fingerprints of ops -------------------------------===//

#include "ckpt/Import/OpHash.h"
#include "ckpt/ExternalModels/ExternalModels.h"
#include "ckpt/IR/CkptDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

#include <set>

using namespace ckpt;

namespace {

/// Ops 0 and 2 have regions, so that values within them are numbered.
constexpr const char *original = R"(
#id = affine_map<(d0) -> (d0)>
func.func @f(%x: tensor<8xf32>, %y: tensor<8xf32>)
    -> (tensor<8xf32>, tensor<8xf32>) {
  %c = arith.constant 1.0 : f32
  %e = tensor.empty() : tensor<8xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id],
                       iterator_types = ["parallel"]}
      ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %s = math.sin %in : f32
    %t = arith.subf %s, %in : f32
    %u = arith.addf %t, %c : f32
    linalg.yield %u : f32
  } -> tensor<8xf32>
  %1 = arith.subf %0, %y : tensor<8xf32>
  %2 = linalg.generic {indexing_maps = [#id, #id],
                       iterator_types = ["parallel"]}
      ins(%1 : tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %s = math.cos %in : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  %3 = arith.mulf %2, %y : tensor<8xf32>
  return %3, %1 : tensor<8xf32>, tensor<8xf32>
}
)";

using Hashes = SmallVector<int64_t>;

class OpHashTest : public ::testing::Test {
protected:
  OpHashTest() : context(newContext()) {}

  static std::unique_ptr<MLIRContext> newContext() {
    mlir::DialectRegistry registry;
    registry.insert<CkptDialect, mlir::arith::ArithDialect,
                    mlir::func::FuncDialect, mlir::linalg::LinalgDialect,
                    mlir::math::MathDialect, mlir::tensor::TensorDialect>();
    registerExternalModels(registry);
    auto context = std::make_unique<MLIRContext>(registry);
    context->loadAllAvailableDialects();
    return context;
  }

  template <typename Ask>
  void withFunction(const std::string &text, Ask ask) {
    auto module = mlir::parseSourceString<ModuleOp>(text, context.get());
    ASSERT_TRUE(module) << text;
    ask(*module->getOps<mlir::func::FuncOp>().begin());
  }

  Hashes hashesOf(const std::string &text) {
    Hashes hashes;
    withFunction(text, [&](mlir::func::FuncOp function) {
      auto program = buildProblem(function, "cpu");
      ASSERT_TRUE(succeeded(program));
      hashes = hashOps(*program);
    });
    return hashes;
  }

  uint64_t decisionsOf(const std::string &text) {
    uint64_t hash = 0;
    withFunction(text, [&](mlir::func::FuncOp function) {
      hash = hashDecisions(function);
    });
    return hash;
  }

  /// The original with every \p from replaced by \p to.
  static std::string with(const std::string &from, const std::string &to) {
    std::string text = original;
    EXPECT_NE(text.find(from), std::string::npos) << from;
    for (size_t at = text.find(from); at != std::string::npos;
         at = text.find(from, at + to.size()))
      text.replace(at, from.size(), to);
    return text;
  }

  /// Number of the first op whose hash is not that of the original; -1 if all
  /// are equal.
  int firstDifference(const std::string &text) {
    Hashes before = hashesOf(original), after = hashesOf(text);
    for (size_t i = 0; i < std::min(before.size(), after.size()); ++i)
      if (before[i] != after[i])
        return i;
    return before.size() == after.size()
               ? -1
               : std::min(before.size(), after.size());
  }

  std::unique_ptr<MLIRContext> context;
};

TEST_F(OpHashTest, OneHashPerOpAndOneForTheTerminator) {
  Hashes hashes = hashesOf(original);
  EXPECT_EQ(hashes.size(), 5u);
  for (int64_t hash : hashes) {
    EXPECT_GE(hash, 0);
    EXPECT_LT(hash, 1 << 24);
  }
}

TEST_F(OpHashTest, IsTheSameInAnotherContext) {
  Hashes before = hashesOf(original);
  context = newContext();
  // Uniqued attributes and types lie elsewhere now.
  hashesOf("func.func @g(%x: tensor<3xf64>) -> tensor<3xf64> {\n"
           "  %0 = math.exp %x : tensor<3xf64>\n"
           "  return %0 : tensor<3xf64>\n}");
  EXPECT_EQ(hashesOf(original), before);
}

TEST_F(OpHashTest, NamesPlacesAndOurOwnAttributesDoNotCount) {
  EXPECT_EQ(firstDifference(with("@f", "@g")), -1);
  EXPECT_EQ(firstDifference(with("%in", "%other")), -1);
  EXPECT_EQ(firstDifference(with("\n  %1 =", "\n\n\n  %1 =")), -1);
  EXPECT_EQ(firstDifference(with("%0, %y : tensor<8xf32>",
                                 "%0, %y {ckpt.decision = "
                                 "#ckpt.decision<save>} : tensor<8xf32>")),
            -1);
  EXPECT_EQ(firstDifference(with("%1 = arith.subf %0, %y : tensor<8xf32>",
                                 R"(%1 = ckpt.layer "a" -> tensor<8xf32> {
                                   %i = arith.subf %0, %y : tensor<8xf32>
                                   ckpt.yield %i : tensor<8xf32>
                                 })")),
            -1);
}

TEST_F(OpHashTest, EveryChangeCounts) {
  struct {
    const char *from, *to;
    int first;
  } changes[] = {
      {"arith.mulf", "arith.divf", 3},                      // Name.
      {"subf %0, %y", "subf %y, %0", 1},                    // Order.
      {"mulf %2, %y", "mulf %2, %x", 3},                    // Operand.
      {"mulf %2, %y", "mulf %2, %2", 3},                    // Operand.
      {"mulf %2, %y :", "mulf %2, %y fastmath<fast> :", 3}, // Attribute.
      {"math.cos %in", "math.exp %in", 2},                  // Region.
      {"subf %s, %in : f32", "subf %in, %s : f32", 0},      // Region.
      {"subf %s, %in : f32", "subf %s, %out : f32", 0},     // Region.
      {"yield %u", "yield %t", 0},                          // Region.
      {"constant 1.0", "constant 2.0", 0},                  // Read inside.
      {"8xf32", "9xf32", 0},                                // Types.
      {"%3, %1 : tensor", "%1, %3 : tensor", 4},            // Returned.
      {"%3, %1 : tensor", "%3, %y : tensor", 4},            // Returned.
  };
  for (const auto &change : changes)
    EXPECT_EQ(firstDifference(with(change.from, change.to)), change.first)
        << change.from << " -> " << change.to;
}

/// An op behind others changes no hash before it, though the values within
/// regions are numbered too.
TEST_F(OpHashTest, NamesTheFirstOpThatDiffers) {
  EXPECT_EQ(
      firstDifference(with("  return %3", "  %4 = math.exp %3 : tensor<8xf32>\n"
                                          "  return %4")),
      4);
  EXPECT_EQ(firstDifference(
                with("  %1 =", "  %z = math.exp %0 : tensor<8xf32>\n  %1 =")),
            -1); // Nothing needs it.
  EXPECT_EQ(firstDifference(with("%1 = arith.subf %0, %y",
                                 "%z = math.exp %0 : tensor<8xf32>\n"
                                 "  %1 = arith.subf %z, %y")),
            1);
  // Op 2 is as it was behind a longer region.
  Hashes longer =
      hashesOf(with("%s = math.sin %in : f32", "%r = math.sin %in : f32\n"
                                               "    %s = math.sin %r : f32"));
  Hashes before = hashesOf(original);
  EXPECT_NE(longer[0], before[0]);
  EXPECT_EQ(longer[2], before[2]);
}

TEST_F(OpHashTest, DecisionsCountByTheirPlace) {
  auto decided = [&](const std::string &op, const std::string &what) {
    return decisionsOf(with(op, op + " {ckpt." + what + "}"));
  };
  uint64_t none = decisionsOf(original);
  EXPECT_EQ(none, decisionsOf(with("arith.mulf", "arith.divf")));
  uint64_t save = decided("subf %0, %y", "decision = #ckpt.decision<save>");
  uint64_t inlined =
      decided("subf %0, %y", "decision = #ckpt.decision<inline>");
  uint64_t elsewhere =
      decided("mulf %2, %y", "decision = #ckpt.decision<save>");
  uint64_t pinned = decided("subf %0, %y", "pin = #ckpt.pin<save>");
  std::set<uint64_t> different = {none, save, inlined, elsewhere, pinned};
  EXPECT_EQ(different.size(), 5u);
}

} // namespace
