//===- ConstrainLayers.cpp - From decisions on layers to values -----------===//
//
// Turns the decision of a strategy into demands on values. Passes call it once
// before `solveUnlimited`, and Published for strategies with boundaries.
//
//===----------------------------------------------------------------------===//

#include "ckpt/Plan/ConstrainLayers.h"

#include <algorithm>

using namespace ckpt::plan;

ValueId ckpt::plan::throughViews(const Problem &problem, ValueId value) {
  for (OpId op = problem.values[value].op;
       op != none && problem.ops[op].kind == OpKind::View;
       op = problem.values[value].op)
    value = problem.ops[op].reads.front().value;
  return value;
}

namespace {
/// Which values the layers of a selection may hand to the backward pass.
class Constrainer {
public:
  Constrainer(Problem &problem, const std::vector<int32_t> &layerOfOp,
              const Selection &selection);

  std::vector<OpId> run();

private:
  void findHandedOn();
  bool crossesSavedBoundary(int32_t maker, int32_t reader) const;
  bool isConstrained(const Value &value) const;

  Problem &problem;
  const std::vector<int32_t> &layerOfOp;
  const Selection &selection;
  /// By layer.
  std::vector<bool> isRemade;
  /// By layer, family B: saved boundaries at or before it.
  std::vector<int32_t> boundariesUpTo;
  /// By value: a part of the forward pass reads it for which it stays saved.
  std::vector<bool> handedOn;
};
} // namespace

static size_t countLayers(const std::vector<int32_t> &layerOfOp) {
  auto last = std::max_element(layerOfOp.begin(), layerOfOp.end());
  return last == layerOfOp.end() ? 0 : static_cast<size_t>(*last + 1);
}

Constrainer::Constrainer(Problem &problem,
                         const std::vector<int32_t> &layerOfOp,
                         const Selection &selection)
    : problem(problem), layerOfOp(layerOfOp), selection(selection),
      isRemade(countLayers(layerOfOp), selection.storesBoundaries),
      boundariesUpTo(isRemade.size()), handedOn(problem.values.size()) {
  auto setRemade = [&](const std::vector<int32_t> &layers, bool remade) {
    for (int32_t layer : layers)
      if (static_cast<size_t>(layer) < isRemade.size())
        isRemade[layer] = remade;
  };
  if (!selection.storesBoundaries) {
    setRemade(selection.recomputed, true);
    return;
  }
  setRemade(selection.keptWhole, false);
  for (int32_t boundary : selection.boundaries)
    if (static_cast<size_t>(boundary) < boundariesUpTo.size())
      ++boundariesUpTo[boundary];
  for (size_t layer = 1; layer < boundariesUpTo.size(); ++layer)
    boundariesUpTo[layer] += boundariesUpTo[layer - 1];
}

bool Constrainer::crossesSavedBoundary(int32_t maker, int32_t reader) const {
  return reader == none || !selection.storesBoundaries ||
         boundariesUpTo[reader] > boundariesUpTo[maker];
}

void Constrainer::findHandedOn() {
  for (size_t id = 0; id < problem.ops.size(); ++id) {
    const Op &op = problem.ops[id];
    if (op.backward || op.kind == OpKind::View)
      continue;
    for (const Read &read : op.reads) {
      ValueId value = throughViews(problem, read.value);
      OpId maker = problem.values[value].op;
      if (maker == none || layerOfOp[maker] == layerOfOp[id] ||
          layerOfOp[maker] == none)
        continue;
      if (crossesSavedBoundary(layerOfOp[maker], layerOfOp[id]))
        handedOn[value] = true;
    }
  }
}

/// Made in the forward part of a layer that is made again, and still free.
bool Constrainer::isConstrained(const Value &value) const {
  if (value.op == none || value.home != Home::Arena || value.keep != Keep::Free)
    return false;
  const Op &op = problem.ops[value.op];
  int32_t layer = layerOfOp[value.op];
  return layer != none && isRemade[layer] && !op.backward &&
         op.kind != OpKind::View;
}

std::vector<OpId> Constrainer::run() {
  std::vector<OpId> refused;
  findHandedOn();
  for (size_t id = 0; id < problem.values.size(); ++id) {
    Value &value = problem.values[id];
    if (!isConstrained(value))
      continue;
    // A value that is handed on has to stand in memory: computed inside its
    // readers it would take everything before it to make it again.
    if (handedOn[id])
      value.keep = Keep::Save;
    else if (problem.ops[value.op].mayRepeat)
      value.keep = Keep::Recompute;
    else
      refused.push_back(value.op);
  }
  return refused;
}

std::vector<OpId>
ckpt::plan::constrainLayers(Problem &problem,
                            const std::vector<int32_t> &layerOfOp,
                            const Selection &selection) {
  return Constrainer(problem, layerOfOp, selection).run();
}
