//===- StrategiesTest.cpp - Strategies on plain chains --------------------===//

#include "ckpt/Plan/Strategies.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <limits>

using namespace ckpt::plan;

namespace {

using Indices = std::vector<int32_t>;

LayerInfo layer(LayerKind kind, int64_t bytes, int64_t flops) {
  LayerInfo info;
  info.kind = kind;
  info.activationBytes = bytes;
  info.recomputeFlops = flops;
  return info;
}

/// attention, ffn, attention, ffn, attention, ffn.
std::vector<LayerInfo> sixLayers() {
  std::vector<LayerInfo> layers;
  for (int i = 0; i < 3; ++i) {
    layers.push_back(layer(LayerKind::Attention, 1024, 2'000'000));
    layers.push_back(layer(LayerKind::FFN, 512, 1'000'000));
  }
  return layers;
}

std::vector<LayerInfo> equalLayers(int count, int64_t bytes = 1 << 20) {
  return std::vector<LayerInfo>(count,
                                layer(LayerKind::Other, bytes, 1'000'000));
}

Selection select(const std::vector<LayerInfo> &layers,
                 const std::string &strategy) {
  StrategyOptions options;
  std::string error = parseStrategy(strategy, options);
  EXPECT_EQ(error, "") << strategy;
  return selectLayers(layers, options);
}

Indices recomputed(const std::vector<LayerInfo> &layers,
                   const std::string &strategy) {
  Selection selection = select(layers, strategy);
  EXPECT_EQ(selection.error, "") << strategy;
  return selection.recomputed;
}

Indices boundaries(int layers, const std::string &strategy) {
  Selection selection = select(equalLayers(layers), strategy);
  EXPECT_EQ(selection.error, "") << strategy;
  EXPECT_TRUE(selection.storesBoundaries);
  return selection.boundaries;
}

struct Vector {
  const char *strategy;
  Indices recomputed;
  int64_t transientBytes;
  int64_t recomputeFlops;
};

TEST(StrategiesTest, VectorsOfSixLayers) {
  const Vector vectors[] = {
      {"none", {}, 0, 0},
      {"full", {0, 1, 2, 3, 4, 5}, 1024, 9'000'000},
      {"all", {0, 1, 2, 3, 4, 5}, 1024, 9'000'000},
      {"every-nth n=2", {0, 2, 4}, 1024, 6'000'000},
      {"every-nth n=4", {0, 4}, 1024, 4'000'000},
      {"alternate", {0, 2, 4}, 1024, 6'000'000},
      {"attention-only", {0, 2, 4}, 1024, 6'000'000},
      {"ffn-only", {1, 3, 5}, 512, 3'000'000},
      {"largest top-k=2", {0, 2}, 1024, 4'000'000},
      {"largest top-k=10", {0, 1, 2, 3, 4, 5}, 1024, 9'000'000},
      {"largest top-k=0", {}, 0, 0},
      {"selective ratio=0.5", {0, 2, 4}, 1024, 6'000'000},
      {"selective ratio=0", {}, 0, 0},
      {"selective ratio=1", {0, 1, 2, 3, 4, 5}, 1024, 9'000'000},
      // 1.5 layers round up to 2, at a distance of 3.
      {"selective ratio=0.25", {0, 3}, 1024, 3'000'000},
      {"layers layers=5,0", {0, 5}, 1024, 3'000'000},
      {"layers", {}, 0, 0},
      {"heavy-ops", {0, 2, 4}, 1024, 6'000'000},
      {"heavy-ops ops=ffn", {1, 3, 5}, 512, 3'000'000},
      {"auto", {}, 0, 0},
  };
  std::vector<LayerInfo> layers = sixLayers();
  for (const Vector &vector : vectors) {
    SCOPED_TRACE(vector.strategy);
    Indices indices = recomputed(layers, vector.strategy);
    EXPECT_EQ(indices, vector.recomputed);
    LayerSum sum = layerSum(layers, indices);
    EXPECT_EQ(sum.transientBytes, vector.transientBytes);
    EXPECT_EQ(sum.recomputeFlops, vector.recomputeFlops);
    EXPECT_EQ(sum.estimatedBytes, sum.savedBytes + vector.transientBytes);
  }
}

TEST(StrategiesTest, LayerSumFigures) {
  std::vector<LayerInfo> layers = sixLayers();
  LayerSum none = layerSum(layers, {});
  EXPECT_EQ(none.estimatedBytes, 4608);
  EXPECT_EQ(none.recomputeRatio, 0);
  EXPECT_EQ(none.meanActivationBytes, 768);
  LayerSum half = layerSum(layers, {0, 2, 4});
  EXPECT_EQ(half.savedBytes, 1536);
  EXPECT_EQ(half.estimatedBytes, 2560);
  EXPECT_EQ(half.reductionPercent, 50);
  EXPECT_EQ(half.recomputeRatio, 0.5);
  EXPECT_EQ(recomputeCostRatio(layer(LayerKind::Other, 1024, 2'048'000)), 2000);
  EXPECT_EQ(recomputeCostRatio(layer(LayerKind::Other, 0, 2'048'000)), 0);
}

TEST(StrategiesTest, SumsSaturate) {
  const int64_t most = std::numeric_limits<int64_t>::max();
  std::vector<LayerInfo> layers(3, layer(LayerKind::Other, most, most));
  EXPECT_EQ(layerSum(layers, {0, 1}).recomputeFlops, most);
  EXPECT_EQ(layerSum(layers, {0}).estimatedBytes, most);
  EXPECT_EQ(recomputed(layers, "largest top-k=1"), Indices({0}));
}

TEST(StrategiesTest, AttentionAmongOthers) {
  std::vector<LayerInfo> layers = {layer(LayerKind::Other, 512, 1),
                                   layer(LayerKind::Attention, 1024, 1),
                                   layer(LayerKind::Other, 512, 1)};
  EXPECT_EQ(recomputed(layers, "attention-only"), Indices({1}));
}

TEST(StrategiesTest, HeavyOpsLooksInside) {
  std::vector<LayerInfo> layers = equalLayers(4);
  layers[0].ops = {{"linalg.matmul", 999'999'999, true}};
  layers[1].ops = {{"linalg.matmul", 1'000'000'000, true}};
  layers[2].ops = {{"math.exp", 2'000'000'000, false}};
  layers[3].ops = {{"linalg.conv_2d_nhwc_hwcf", 5, true}};
  EXPECT_EQ(recomputed(layers, "heavy-ops"), Indices({1}));
  EXPECT_EQ(recomputed(layers, "heavy-ops heavy-flops=5"), Indices({0, 1, 3}));
  EXPECT_EQ(recomputed(layers, "heavy-ops ops=matmul"), Indices({0, 1}));
  EXPECT_EQ(recomputed(layers, "heavy-ops ops=convolution,math.exp"),
            Indices({2, 3}));
  EXPECT_EQ(recomputed(layers, "heavy-ops ops=attention"), Indices());
  StrategyOptions options;
  options.strategy = "heavy-ops";
  options.ops = {"linalg.pooling_nhwc_sum"};
  EXPECT_NE(selectLayers(layers, options).error, "");
  options.isKnownOp = [](const std::string &name) {
    return name == "linalg.pooling_nhwc_sum";
  };
  EXPECT_EQ(selectLayers(layers, options).error, "");
}

TEST(StrategiesTest, AutoExceedsTheThreshold) {
  std::vector<LayerInfo> layers = equalLayers(3);
  layers[0].parameters = 1'000'000;
  layers[1].parameters = 1'000'001;
  layers[2].parameters = 10;
  EXPECT_EQ(recomputed(layers, "auto"), Indices({1}));
  EXPECT_EQ(recomputed(layers, "auto min-params=9"), Indices({0, 1, 2}));
}

TEST(StrategiesTest, CustomPolicy) {
  registerPolicy("small", [](const LayerInfo &info) {
    return info.activationBytes < 1000;
  });
  EXPECT_EQ(recomputed(sixLayers(), "custom policy=small"), Indices({1, 3, 5}));
  registerPolicy("small", [](const LayerInfo &) { return false; });
  EXPECT_EQ(recomputed(sixLayers(), "custom policy=small"), Indices());
  EXPECT_EQ(select(sixLayers(), "custom policy=absent").error,
            "no policy is registered as 'absent'");
}

TEST(StrategiesTest, ScriptsDecideByPins) {
  std::vector<LayerInfo> layers = sixLayers();
  layers[3].pin = LayerPin::Recompute;
  Selection selection = select(layers, "custom policy-script=mine.mlir");
  EXPECT_EQ(selection.recomputed, Indices({3}));
  EXPECT_EQ(selection.summary, "custom 'mine.mlir', 1 of 6 layers");
}

TEST(StrategiesTest, LayerSumBudget) {
  std::vector<LayerInfo> layers = equalLayers(6);
  StrategyOptions options;
  options.strategy = "budget";
  options.budgetBytes = 3 << 20;
  Selection selection = selectLayers(layers, options);
  EXPECT_EQ(selection.recomputed, Indices({0, 1, 2}));
  EXPECT_LE(layerSum(layers, selection.recomputed).savedBytes, 3 << 20);

  options.budgetBytes = 100 << 20;
  EXPECT_TRUE(selectLayers(equalLayers(3, 1024), options).recomputed.empty());

  // Most bytes per FLOP first: the second layer is four times as cheap.
  layers = equalLayers(2);
  layers[1].recomputeFlops /= 4;
  options.budgetBytes = 1 << 20;
  EXPECT_EQ(selectLayers(layers, options).recomputed, Indices({1}));

  options.budgetBytes = -1;
  EXPECT_NE(selectLayers(layers, options).error, "");
  options.budgetBytes = 10;
  layers[0].pin = LayerPin::Save;
  EXPECT_NE(selectLayers(layers, options).error.find("1048576"),
            std::string::npos);
}

TEST(StrategiesTest, Boundaries) {
  EXPECT_EQ(boundaries(12, "uniform interval=3"), Indices({0, 3, 6, 9}));
  EXPECT_EQ(boundaries(12, "boundaries boundaries=6,0"), Indices({0, 6}));
  EXPECT_EQ(boundaries(12, "dynamic memory-fraction=0.3"),
            Indices({0, 3, 6, 9}));
  EXPECT_EQ(boundaries(5, "dynamic memory-fraction=0"),
            Indices({0, 1, 2, 3, 4}));
  EXPECT_EQ(boundaries(100, "dynamic memory-fraction=0.29"),
            Indices({0, 29, 58, 87}));
  EXPECT_EQ(boundaries(12, "dynamic memory-fraction=0.1 min-interval=5"),
            Indices({0, 5, 10}));
  EXPECT_EQ(boundaries(10, "uniform interval=20"), Indices({0}));
  EXPECT_EQ(boundaries(12, "uniform interval=2 min-interval=3"),
            Indices({0, 4, 8}));
  EXPECT_EQ(boundaries(6, "boundaries boundaries=1,2,4 min-interval=2"),
            Indices({1, 4}));
  EXPECT_EQ(recomputed(equalLayers(5), "uniform interval=2"), Indices({1, 3}));
}

TEST(StrategiesTest, BoundaryFigures) {
  EXPECT_DOUBLE_EQ(uniformFigures(3, 12).savedFraction, 2.0 / 3);
  EXPECT_DOUBLE_EQ(boundaryFigures(2, 12).savedFraction, 10.0 / 12);
  EXPECT_EQ(uniformFigures(20, 10).savedFraction, 0);
  EXPECT_DOUBLE_EQ(uniformFigures(2, 12).computeFactor, 1 + 1.0 / 12);
  EXPECT_DOUBLE_EQ(uniformFigures(5, 12).savedFraction, 1 - 3.0 / 12);
  EXPECT_EQ(uniformFigures(3, 0).savedFraction, 0);
  EXPECT_EQ(boundaryFigures(0, 0).computeFactor, 1);
  auto factor = [](const char *strategy) {
    return boundaryFigures(select(equalLayers(12), strategy), 12).computeFactor;
  };
  EXPECT_DOUBLE_EQ(factor("uniform interval=5"), 1 + 2.5 / 12);
  EXPECT_DOUBLE_EQ(factor("dynamic memory-fraction=0.5"), 1 + 3.0 / 12);
  // Three boundaries at 0, 5 and 10: the mean distance is 4.
  EXPECT_DOUBLE_EQ(factor("boundaries boundaries=0,5,10"), 1 + 2.0 / 12);
}

TEST(StrategiesTest, ModifiersLeaveAKindSaved) {
  EXPECT_EQ(recomputed(sixLayers(), "full recompute-attention=false"),
            Indices({1, 3, 5}));
  EXPECT_EQ(recomputed(sixLayers(), "full recompute-ffn=false"),
            Indices({0, 2, 4}));
  Selection selection =
      select(sixLayers(), "uniform interval=3 recompute-ffn=false");
  EXPECT_EQ(selection.boundaries, Indices({0, 3}));
  EXPECT_EQ(selection.keptWhole, Indices({1, 3, 5}));
  EXPECT_EQ(selection.recomputed, Indices({2, 4}));
}

TEST(StrategiesTest, PinsHoldInEveryStrategy) {
  std::vector<LayerInfo> layers = sixLayers();
  layers[0].pin = LayerPin::Save;
  layers[1].pin = LayerPin::Recompute;
  for (const char *strategy :
       {"none", "full recompute-ffn=false", "attention-only", "ffn-only",
        "alternate", "uniform interval=1", "boundaries boundaries=1",
        "layers layers=0"}) {
    SCOPED_TRACE(strategy);
    Indices indices = recomputed(layers, strategy);
    EXPECT_EQ(std::count(indices.begin(), indices.end(), 0), 0);
    EXPECT_EQ(std::count(indices.begin(), indices.end(), 1), 1);
  }
}

TEST(StrategiesTest, EmptyChain) {
  for (const char *strategy :
       {"none", "full", "all", "selective ratio=0.5", "attention-only",
        "ffn-only", "every-nth n=2", "alternate", "largest top-k=2",
        "heavy-ops", "auto", "layers", "uniform interval=2", "boundaries"}) {
    SCOPED_TRACE(strategy);
    EXPECT_TRUE(recomputed({}, strategy).empty());
  }
  LayerSum sum = layerSum({}, {});
  EXPECT_EQ(sum.estimatedBytes, 0);
  EXPECT_EQ(sum.recomputeRatio, 0);
  EXPECT_EQ(sum.reductionPercent, 0);
  EXPECT_EQ(sum.meanActivationBytes, 0);
  EXPECT_NE(select({}, "dynamic memory-fraction=0.5").error, "");
}

TEST(StrategiesTest, Errors) {
  const std::pair<const char *, const char *> errors[] = {
      {"selective ratio=1.5",
       "expected 'ratio' to be in [0, 1], but got 1.500000"},
      {"selective ratio=-0.1",
       "expected 'ratio' to be in [0, 1], but got -0.100000"},
      {"selective ratio=nan", "expected 'ratio' to be in [0, 1], but got nan"},
      {"selective", "strategy 'selective' needs 'ratio'"},
      {"every-nth n=0", "expected 'n' to be at least 1, but got 0"},
      {"every-nth", "strategy 'every-nth' needs 'n'"},
      {"largest top-k=-1", "expected 'top-k' to be at least 0, but got -1"},
      {"layers layers=1,1", "expected distinct indices, but got layer 1 twice"},
      {"layers layers=6", "expected layer to be in [0, 6), but got 6"},
      {"layers layers=-1", "expected layer to be in [0, 6), but got -1"},
      {"uniform interval=0", "expected 'interval' to be at least 1, but got 0"},
      {"boundaries boundaries=0,0",
       "expected distinct indices, but got boundary 0 twice"},
      {"boundaries boundaries=7",
       "expected boundary to be in [0, 6), but got 7"},
      {"dynamic memory-fraction=1.1",
       "expected 'memory-fraction' to be in [0, 1], but got 1.100000"},
      {"heavy-ops ops=linalg.nonsense",
       "expected 'ops' to hold layer kinds, 'matmul', 'convolution' or names "
       "of ops, but got 'linalg.nonsense'"},
      {"custom", "strategy 'custom' needs 'policy' or 'policy-script'"},
      {"nonsense", "unknown strategy 'nonsense'"},
      {"none min-interval=0",
       "expected 'min-interval' to be at least 1, but got 0"},
  };
  for (const auto &[strategy, error] : errors)
    EXPECT_EQ(select(sixLayers(), strategy).error, error) << strategy;
}

TEST(StrategiesTest, TextErrors) {
  const std::pair<const char *, const char *> errors[] = {
      {"", "expected the name of a strategy"},
      {"every-nth n=two", "expected 'n' to be an integer, but got 'two'"},
      {"every-nth n=99999999999999999999",
       "expected 'n' to be an integer, but got '99999999999999999999'"},
      {"selective ratio=", "expected 'ratio' to be a number, but got ''"},
      {"layers layers=1,,2",
       "expected 'layers' to be a list of integers, but got '1,,2'"},
      {"full recompute-ffn=no",
       "expected 'recompute-ffn' to be 'true' or 'false', but got 'no'"},
      {"full deep", "expected 'name=value', but got 'deep'"},
      {"full depth=1", "unknown parameter 'depth'"},
  };
  for (const auto &[text, error] : errors) {
    StrategyOptions options;
    EXPECT_EQ(parseStrategy(text, options), error) << text;
  }
}

TEST(StrategiesTest, Summaries) {
  const std::pair<const char *, const char *> summaries[] = {
      {"uniform interval=2", "uniform, every 2 layers"},
      {"uniform interval=1", "uniform, every layer"},
      {"every-nth n=3", "every-nth, every 3 layers"},
      {"dynamic memory-fraction=0.3", "dynamic, 6 layers, 30.0 % target"},
      {"attention-only", "attention-only, 3 of 6 layers"},
      {"boundaries boundaries=0,3", "boundaries, 2 of 6 saved"},
  };
  for (const auto &[strategy, summary] : summaries)
    EXPECT_EQ(select(sixLayers(), strategy).summary, summary);
}

TEST(StrategiesTest, FamiliesByName) {
  EXPECT_TRUE(isLayerStrategy("alternate"));
  EXPECT_TRUE(isLayerStrategy("dynamic"));
  EXPECT_FALSE(isLayerStrategy("budget"));
  EXPECT_FALSE(isLayerStrategy("sqrt"));
}

} // namespace
