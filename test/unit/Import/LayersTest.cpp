//===- LayersTest.cpp - Layers of programs and their constraints ----------===//

#include "ckpt/Import/Layers.h"
#include "ckpt/Cost/Device.h"
#include "ckpt/ExternalModels/ExternalModels.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringExtras.h"
#include "gtest/gtest.h"

using namespace ckpt;

namespace {

/// Three layers, a loss and a backward pass that reads something of each. Of
/// the layers' results, "inner" ones go to the backward pass only.
constexpr const char *jointGraph = R"(
func.func @step(%x: tensor<4x2xf32>, %w: tensor<4x2xf32>, %v: tensor<2xf32>)
    -> (tensor<4x2xf32>, tensor<4x2xf32>) {
  %a:2 = ckpt.layer "a" kind <attention> -> tensor<4x2xf32>, tensor<4x2xf32> {
    %0 = math.exp %x : tensor<4x2xf32> loc("a inner")
    %1 = arith.mulf %0, %w : tensor<4x2xf32> loc("a out")
    ckpt.yield %0, %1 : tensor<4x2xf32>, tensor<4x2xf32>
  }
  %b:2 = ckpt.layer "b" -> tensor<4x2xf32>, tensor<4x2xf32> {
    %0 = math.tanh %a#1 : tensor<4x2xf32> loc("b inner")
    %1 = arith.addf %0, %a#1 : tensor<4x2xf32> loc("b out")
    ckpt.yield %0, %1 : tensor<4x2xf32>, tensor<4x2xf32>
  }
  %c:2 = ckpt.layer "c" -> tensor<4x2xf32>, tensor<4x2xf32> {
    %0 = math.sin %b#1 : tensor<4x2xf32> loc("c inner")
    %1 = math.cos %0 : tensor<4x2xf32> loc("c out")
    ckpt.yield %0, %1 : tensor<4x2xf32>, tensor<4x2xf32>
  }
  %loss = math.log %c#1 : tensor<4x2xf32> loc("loss")
  %g0 = arith.mulf %loss, %c#0 : tensor<4x2xf32> loc("jit(f)/transpose(jvp(c))/g0")
  %g1 = arith.mulf %g0, %b#0 : tensor<4x2xf32> loc("jit(f)/transpose(jvp(b))/g1")
  %g2 = arith.mulf %g1, %a#0 : tensor<4x2xf32> loc("jit(f)/transpose(jvp(a))/g2")
  return %g1, %g2 : tensor<4x2xf32>, tensor<4x2xf32>
}
)";

class LayersTest : public ::testing::Test {
protected:
  LayersTest() {
    mlir::DialectRegistry registry;
    registry.insert<CkptDialect, mlir::arith::ArithDialect,
                    mlir::func::FuncDialect, mlir::math::MathDialect>();
    registerExternalModels(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }

  void read(const std::string &text) {
    module = mlir::parseSourceString<ModuleOp>(text, &context);
    ASSERT_TRUE(module);
    auto built = buildProblem(*module->getOps<mlir::func::FuncOp>().begin(),
                              knownDevices().front());
    ASSERT_TRUE(succeeded(built));
    program = std::move(*built);
    auto layers = collectLayers(program);
    ASSERT_TRUE(succeeded(layers));
    chain = std::move(*layers);
  }

  /// Applies a strategy. Returns the names of the values that have to be made
  /// again, then those that are to be saved, in program order.
  std::string demands(const std::string &strategy) {
    plan::StrategyOptions options;
    EXPECT_EQ(plan::parseStrategy(strategy, options), "");
    plan::Selection selection = selectLayers(chain, options, &context);
    EXPECT_EQ(selection.error, "");
    constrain(program, chain, selection);
    return namesOf(plan::Keep::Recompute) + " | " + namesOf(plan::Keep::Save);
  }

  std::string namesOf(plan::Keep keep) {
    std::vector<std::string> names;
    for (auto [id, value] : llvm::enumerate(program.problem.values))
      if (value.keep == keep)
        names.push_back(
            cast<mlir::NameLoc>(program.values[id].getLoc()).getName().str());
    return llvm::join(names, ", ");
  }

  MLIRContext context;
  mlir::OwningOpRef<ModuleOp> module;
  ProgramProblem program;
  LayerChain chain;
};

TEST_F(LayersTest, DerivesWhatIsNotGiven) {
  read(jointGraph);
  ASSERT_EQ(chain.layers.size(), 3u);
  EXPECT_TRUE(chain.hasBackward);
  const plan::LayerInfo &a = chain.layers[0];
  EXPECT_EQ(a.name, "a");
  EXPECT_EQ(a.kind, plan::LayerKind::Attention);
  // "a inner" of 4 x 2 elements is all that the backward pass reads.
  EXPECT_EQ(a.activationBytes, 32);
  EXPECT_EQ(a.recomputeFlops,
            chain.layers[0].ops[0].flops + chain.layers[0].ops[1].flops);
  EXPECT_GT(a.recomputeFlops, 0);
  EXPECT_EQ(a.ops[1].name, "arith.mulf");
  // %x and %w, which have the type of a result.
  EXPECT_EQ(a.parameters, 16);
  EXPECT_EQ(chain.layers[1].parameters, 0);
}

TEST_F(LayersTest, BelievesWhatIsGiven) {
  std::string text = jointGraph;
  std::string head = "\"b\" -> tensor<4x2xf32>, tensor<4x2xf32>";
  text.replace(text.find(head), head.size(),
               "\"b\" kind <norm> pin <save> -> tensor<4x2xf32>, "
               "tensor<4x2xf32> attributes {activation_bytes = 7 : i64, "
               "recompute_flops = 8 : i64, parameters = 9 : i64}");
  read(text);
  const plan::LayerInfo &b = chain.layers[1];
  EXPECT_EQ(b.kind, plan::LayerKind::Norm);
  EXPECT_EQ(b.pin, plan::LayerPin::Save);
  EXPECT_EQ(b.activationBytes, 7);
  EXPECT_EQ(b.recomputeFlops, 8);
  EXPECT_EQ(b.parameters, 9);
}

TEST_F(LayersTest, FamilyASavesTheInputsOfAllLayers) {
  read(jointGraph);
  EXPECT_EQ(demands("full"), "a inner, b inner, c inner | a out, b out, c out");
  read(jointGraph);
  EXPECT_EQ(demands("attention-only"), "a inner | a out");
  read(jointGraph);
  EXPECT_EQ(demands("none"), " | ");
}

TEST_F(LayersTest, FamilyBSavesTheListedBoundaries) {
  read(jointGraph);
  EXPECT_EQ(demands("uniform interval=2"),
            "a inner, a out, b inner, c inner | b out, c out");
  read(jointGraph);
  EXPECT_EQ(demands("boundaries boundaries=1"),
            "a inner, b inner, b out, c inner | a out, c out");
  read(jointGraph);
  EXPECT_EQ(demands("uniform interval=2 recompute-attention=false"),
            "b inner, c inner | b out, c out");
}

TEST_F(LayersTest, PinsStay) {
  std::string text = jointGraph;
  text.replace(text.find("math.tanh %a#1"), 14,
               "math.tanh %a#1 {ckpt.pin = #ckpt.pin<save>}");
  read(text);
  EXPECT_EQ(demands("full"), "a inner, c inner | a out, b inner, b out, c out");
}

TEST_F(LayersTest, RegionsOfOneNameAreOneLayer) {
  read(R"(
func.func @chain(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = ckpt.layer "a" kind <ffn> -> tensor<4xf32> {
    %2 = math.exp %x : tensor<4xf32>
    ckpt.yield %2 : tensor<4xf32>
  }
  %1 = ckpt.layer "a" -> tensor<4xf32> {
    %2 = math.sin %0 : tensor<4xf32>
    ckpt.yield %2 : tensor<4xf32>
  }
  return %1 : tensor<4xf32>
}
)");
  EXPECT_FALSE(chain.hasBackward);
  ASSERT_EQ(chain.layers.size(), 1u);
  EXPECT_EQ(chain.layers[0].kind, plan::LayerKind::FFN);
  // Without a backward pass everything that is made in the layer counts.
  EXPECT_EQ(chain.layers[0].activationBytes, 32);
  plan::StrategyOptions full;
  full.strategy = "full";
  annotateLayers(chain, selectLayers(chain, full, &context));
  EXPECT_EQ(chain.regions[0].size(), 2u);
  for (LayerOp region : chain.regions[0])
    EXPECT_EQ(region.getDecision(), Decision::Recompute);
}

TEST_F(LayersTest, ContradictionsAreErrors) {
  module = mlir::parseSourceString<ModuleOp>(R"(
func.func @chain() {
  ckpt.layer "a" attributes {parameters = 1 : i64} {}
  ckpt.layer "a" attributes {parameters = 2 : i64} {}
  return
}
)",
                                             &context);
  ASSERT_TRUE(module);
  auto built = buildProblem(*module->getOps<mlir::func::FuncOp>().begin(),
                            knownDevices().front());
  ASSERT_TRUE(succeeded(built));
  std::string message;
  mlir::ScopedDiagnosticHandler handler(&context,
                                        [&](mlir::Diagnostic &diagnostic) {
                                          message = diagnostic.str();
                                          return success();
                                        });
  EXPECT_TRUE(failed(collectLayers(*built)));
  EXPECT_EQ(message, "expected parameters of layer 'a' to be 1 : i64 as in its "
                     "region before, but got 2 : i64");
}

} // namespace
