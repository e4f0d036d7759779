//===- Layers.h - The layers of a program and their strategies --*- C++ -*-===//
//
// From `ckpt.layer` regions to the chain of layers that the strategies of
// Plan/Strategies.h decide on, and from their decisions to constraints on the
// values of the planning problem.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_IMPORT_LAYERS_H
#define CKPT_IMPORT_LAYERS_H

#include "ckpt/IR/CkptDialect.h"
#include "ckpt/Import/ProblemBuilder.h"
#include "ckpt/Plan/Strategies.h"

namespace ckpt {

/// The layers of a function, in the order of their first regions.
struct LayerChain {
  std::vector<plan::LayerInfo> layers;
  /// By layer: its regions, in program order.
  std::vector<SmallVector<LayerOp, 1>> regions;
  /// By `plan::OpId`: the layer that the op belongs to, or `plan::none`.
  std::vector<int32_t> layerOfOp;
  /// False for a forward chain, whose backward pass is not in the function.
  bool hasBackward = false;
};

/// Finds the layers of \p program. Believes their attributes and derives all
/// other figures:
///
/// - activation bytes: values made in the layer that the backward pass reads;
///   without a backward pass all values made in it. Views take no bytes;
/// - recompute FLOPs: the work of its ops;
/// - parameters: elements of function arguments of floating-point type and rank
///   1 or more that no other part of the forward pass reads, and, with a
///   backward pass, of the type of a result (the gradient or the new value).
///
/// Reports regions of one layer that contradict each other.
FailureOr<LayerChain> collectLayers(ProgramProblem &program);

/// Applies a strategy; knows all ops that are registered by name.
plan::Selection selectLayers(const LayerChain &chain,
                             plan::StrategyOptions options,
                             MLIRContext *context);

/// Sets the demands of \p selection on the values of \p program. A recomputed
/// layer saves the values that it hands on: values that other parts of the
/// forward pass read (family A), or values that cross a saved boundary or are
/// read outside of all layers (family B). All its other values are made again.
/// Other layers and pinned values stay as they are. A remark names run-once
/// ops, which are not recomputed.
void constrain(ProgramProblem &program, const LayerChain &chain,
               const plan::Selection &selection);

/// Writes the decision of each layer to its regions: all that can be said of a
/// forward chain.
void annotateLayers(const LayerChain &chain, const plan::Selection &selection);

} // namespace ckpt

#endif // CKPT_IMPORT_LAYERS_H
