//===- Strategies.h - Strategies that decide per layer ----------*- C++ -*-===//
//
// The strategies of docs/Strategies.md that need only a chain of layers: family
// A marks layers to recompute, family B names layer boundaries to save, and
// `budget` with `budget-model=layer-sum` is the greedy by sizes. Knows nothing
// of any IR, so that all of it is tested on plain numbers.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_PLAN_STRATEGIES_H
#define CKPT_PLAN_STRATEGIES_H

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ckpt::plan {

enum class LayerKind : uint8_t { Other, Attention, FFN, Embedding, Norm };

/// "attention", "ffn", "embedding", "norm" or "other".
std::string_view layerKindName(LayerKind kind);

/// The user's demand on a whole layer; every strategy obeys it.
enum class LayerPin : uint8_t { None, Save, Recompute };

/// One op of a layer, for strategies that look inside.
struct LayerOp {
  /// Such as `linalg.matmul`.
  std::string name;
  int64_t flops = 0;
  /// A matmul or a convolution, whatever its name.
  bool isContraction = false;
};

struct LayerInfo {
  std::string name;
  LayerKind kind = LayerKind::Other;
  LayerPin pin = LayerPin::None;
  /// Bytes that the layer keeps for the backward pass.
  int64_t activationBytes = 0;
  /// Cost of one more run of the layer's forward part.
  int64_t recomputeFlops = 0;
  int64_t parameters = 0;
  std::vector<LayerOp> ops;
};

/// FLOPs per byte; 0 when the layer keeps nothing.
double recomputeCostRatio(const LayerInfo &layer);

//===----------------------------------------------------------------------===//
// Options
//===----------------------------------------------------------------------===//

/// The user's options. A parameter that is absent has no default unless its
/// comment says so; a strategy that needs it then reports an error.
struct StrategyOptions {
  std::string strategy = "none";
  std::optional<double> ratio;
  std::optional<int64_t> n;
  std::optional<int64_t> topK;
  /// `heavy-ops`: layer kinds, `matmul`, `convolution` and op names. Empty:
  /// attention, and every contraction of at least `heavyFlops`.
  std::vector<std::string> ops;
  int64_t heavyFlops = 1'000'000'000;
  int64_t minParams = 1'000'000;
  std::vector<int64_t> layers;
  std::optional<int64_t> interval;
  std::vector<int64_t> boundaries;
  std::optional<double> memoryFraction;
  /// `custom`: a registered policy.
  std::string policy;
  /// `custom`: the script that pinned layers before
  /// (Transforms/PolicyScript.h); nothing else is recomputed then.
  std::string policyScript;
  /// The budget of `budget` in the layer-sum model, in bytes.
  std::optional<int64_t> budgetBytes;

  bool recomputeAttention = true;
  bool recomputeFFN = true;
  int64_t minInterval = 1;

  /// Whether an op of this name exists anywhere. Empty: it exists if a layer
  /// of the chain holds it.
  std::function<bool(const std::string &)> isKnownOp;
};

/// Sets the parameter that the pass option \p key names (`top-k`, `ratio`, …)
/// from its text. Returns an error, or an empty string; \p known is false if
/// no strategy has such a parameter, so that a caller can try its own.
std::string setStrategyOption(StrategyOptions &options, std::string_view key,
                              std::string_view value, bool &known);

/// Reads a whole strategy as text, as it stands in `ckpt.strategy`:
/// `every-nth n=2 recompute-ffn=false`. Returns an error or an empty string.
std::string parseStrategy(std::string_view text, StrategyOptions &options);

/// Whether \p name is a strategy of family A or B. `budget` is not: it is one
/// of these only in the layer-sum model, which the caller knows.
bool isLayerStrategy(std::string_view name);

//===----------------------------------------------------------------------===//
// Selection
//===----------------------------------------------------------------------===//

/// The decision of a strategy for each layer. Indices ascend.
struct Selection {
  /// Empty, or why the strategy does not apply (one sentence, lower case).
  /// Nothing else is set then.
  std::string error;
  /// Family B saves only the inputs of the layers in `boundaries` and
  /// rematerialises all values from there, except in layers of `keptWhole`.
  /// Family A saves the inputs of all layers and rematerialises the values of
  /// `recomputed` layers.
  bool storesBoundaries = false;
  std::vector<int32_t> boundaries;
  /// Family B: the distance of the boundaries; 0 if it varies.
  int64_t interval = 0;
  /// Family B: layers that a modifier or a pin takes out of the recomputation.
  std::vector<int32_t> keptWhole;
  /// Layers whose decision is `recompute`; that of all others is `save`.
  std::vector<int32_t> recomputed;
  /// One line for people, such as "uniform, every 2 layers".
  std::string summary;
};

/// Applies the strategy, the modifiers and the pins.
Selection selectLayers(const std::vector<LayerInfo> &layers,
                       const StrategyOptions &options);

//===----------------------------------------------------------------------===//
// Custom policies
//===----------------------------------------------------------------------===//

/// Says whether a layer is to be recomputed.
using LayerPolicy = std::function<bool(const LayerInfo &)>;

/// Makes \p policy known to `strategy=custom policy=NAME`; replaces one of the
/// same name. Threads may register and look up at the same time.
void registerPolicy(std::string name, LayerPolicy policy);

/// The registered policy, or an empty function.
LayerPolicy findPolicy(const std::string &name);

//===----------------------------------------------------------------------===//
// Figures
//===----------------------------------------------------------------------===//

/// Layer-sum accounting: the figures that a chain gives alone, without live
/// ranges. Reported beside the true peak, never instead of it. Sums saturate.
struct LayerSum {
  int64_t recomputeFlops = 0;
  /// Activation bytes of the layers that are not recomputed.
  int64_t savedBytes = 0;
  /// The largest recomputed layer: its activations stand while its backward
  /// pass runs.
  int64_t transientBytes = 0;
  int64_t estimatedBytes = 0;
  /// Recomputed layers as a share of all, in [0, 1].
  double recomputeRatio = 0;
  double reductionPercent = 0;
  double meanActivationBytes = 0;
};
LayerSum layerSum(const std::vector<LayerInfo> &layers,
                  const std::vector<int32_t> &recomputed);

/// Closed-form figures of family B, as the literature gives them.
struct BoundaryFigures {
  /// Share of the activation memory that is not stored, in [0, 1].
  double savedFraction = 0;
  /// Work relative to a step without recomputation.
  double computeFactor = 1;
};
/// For a boundary at every \p interval layers (at least 1).
BoundaryFigures uniformFigures(int64_t interval, int64_t layers);
/// For \p boundaries saved boundaries anywhere: their mean distance stands for
/// the interval.
BoundaryFigures boundaryFigures(int64_t boundaries, int64_t layers);

/// The figures of a strategy's boundaries.
BoundaryFigures boundaryFigures(const Selection &selection, int64_t layers);

} // namespace ckpt::plan

#endif // CKPT_PLAN_STRATEGIES_H
