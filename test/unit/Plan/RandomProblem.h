//===- RandomProblem.h - Small random problems for property tests *- C++
//-*-===//
//
// `randomProblem(seed, options)` makes a problem that passes `check`: at most
// `options.ops` ops of all kinds, with views, slices, several results,
// destinations, workspace, ops that run once, effects and backward ops. Every
// value is read or a result. Equal seeds give equal problems on every platform.
// Without `options.keeps` one kernel per op is a plan; with it the demands on
// values may have no plan (the first backward op reads what has to be
// recomputed), which the reference solver finds out.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_TEST_UNIT_PLAN_RANDOMPROBLEM_H
#define CKPT_TEST_UNIT_PLAN_RANDOMPROBLEM_H

#include "ckpt/Plan/Problem.h"

#include <random>

namespace ckpt::plan {

struct RandomOptions {
  int32_t ops = 7;
  int32_t arguments = 2;
  /// Some values have to be saved or recomputed.
  bool keeps = true;
  /// Some ops run once, some of them have effects.
  bool runOnce = true;
  /// Some values lie in the buffers of results, which constrains the order.
  bool hosts = true;
};

/// What an exhaustive search for the least memory takes little time for.
inline RandomOptions fewOps(uint64_t seed) {
  RandomOptions options;
  options.ops = 4 + seed % 3;
  options.keeps = seed % 5 == 0;
  options.runOnce = seed % 3 == 0;
  return options;
}

class RandomProblem {
public:
  RandomProblem(uint64_t seed, const RandomOptions &options)
      : random(seed), options(options) {}

  Problem make() {
    problem.bytesPerMicrosecond = 1000;
    problem.launchNs = 100;
    for (int32_t i = 0; i < options.arguments; ++i)
      addValue(pick(shapeCount), none);
    training = chance(50);
    count = training ? options.ops : 1 + pick(options.ops);
    firstBackward = count / 2 + pick(2);
    for (OpId id = 0; id < count; ++id)
      addOp(id);
    chooseResults();
    if (options.hosts && chance(50))
      hostInResults(problem);
    return problem;
  }

private:
  /// A matrix, its transpose, its flat form, its upper left part, a row, a
  /// scalar.
  enum Shape : int32_t { matrix, transposed, flat, part, row, scalar };
  static constexpr int32_t shapeCount = 6;

  int32_t pick(int32_t count) { return random() % count; }
  bool chance(int32_t percent) { return pick(100) < percent; }

  ValueId addValue(int32_t shape, OpId op) {
    constexpr int64_t elements[shapeCount] = {16, 16, 16, 9, 4, 1};
    Value value;
    value.name = "v" + std::to_string(problem.values.size());
    value.op = op;
    value.shape = shape;
    value.elements = elements[shape];
    // Masks are smaller than numbers.
    value.bytes = value.elements * (chance(15) ? 16 : 64);
    value.home = op == none ? Home::Argument : Home::Arena;
    problem.values.push_back(value);
    return problem.values.size() - 1;
  }

  /// Prefers the latest value and then what ops made, so that problems are deep
  /// and backward ops read what stood before.
  ValueId pickValue() {
    int32_t count = problem.values.size();
    if (training && chance(70))
      return count - 1;
    if (count > options.arguments && chance(80))
      return chance(50) ? count - 1
                        : options.arguments + pick(count - options.arguments);
    return pick(count);
  }

  Access accessTo(ValueId value, int32_t shape) {
    int32_t source = problem.values[value].shape;
    if (source == shape)
      return chance(85) ? Access::Pointwise : Access::Any;
    bool corner = (source == matrix && shape == part) ||
                  (source == part && shape == matrix);
    return corner && chance(80) ? Access::Aligned : Access::Any;
  }

  Read readFor(int32_t shape) {
    Read read;
    read.value = pickValue();
    read.access = accessTo(read.value, shape);
    return read;
  }

  void addDestination(Op &op, int32_t shape) {
    for (ValueId value = problem.values.size() - 1; value >= 0; --value)
      if (problem.values[value].shape == shape &&
          problem.values[value].op != static_cast<OpId>(problem.ops.size())) {
        op.reads.push_back({value, Access::Pointwise, Need::Inline, true});
        return;
      }
  }

  void makeView(Op &op, OpId id) {
    Read read;
    read.value = pickValue();
    int32_t source = problem.values[read.value].shape;
    int32_t target = source;
    read.access = Access::Pointwise;
    if (source == matrix || source == flat || source == transposed) {
      target = pick(4);
      bool mixed = source == transposed || target == transposed;
      if (target == part)
        read.access = source == matrix ? Access::Aligned : Access::Any;
      else if (target != source)
        read.access = mixed ? Access::Permute : Access::Reshape;
    } else if (source == part && id % 2 == 0) {
      target = matrix; // Padding for windows.
      read.access = id % 4 == 0 ? Access::Aligned : Access::Any;
    }
    op.reads.push_back(read);
    op.results.push_back(addValue(target, id));
    // A view keeps the type of its elements.
    Value &result = problem.values[op.results[0]];
    const Value &from = problem.values[read.value];
    result.bytes = from.bytes / from.elements * result.elements;
    // There and back again: the permutations of these shapes are inverse.
    if (from.op == none || read.access != Access::Permute)
      return;
    const Op &maker = problem.ops[from.op];
    if (maker.kind == OpKind::View &&
        maker.reads[0].access == Access::Permute &&
        problem.values[maker.reads[0].value].shape == target)
      result.same = maker.reads[0].value;
  }

  void makeFusible(Op &op, OpId id) {
    int32_t shape = pick(shapeCount);
    for (int32_t i = 0, reads = pick(4); i < reads; ++i)
      op.reads.push_back(readFor(shape));
    for (Read &read : op.reads)
      if (read.access == Access::Any && read.value % 2)
        read.access = Access::Gather;
    op.results.push_back(addValue(shape, id));
    if (chance(15))
      op.results.push_back(addValue(shape, id));
    op.flops = problem.values[op.results[0]].elements;
    op.computePs = op.flops * (100 + pick(2000));
  }

  void makeAnchor(Op &op, OpId id) {
    int32_t shape = pick(shapeCount);
    for (int32_t i = 0, reads = training ? 2 : 1 + pick(2); i < reads; ++i) {
      Read read;
      read.value = pickValue();
      // The backward pass reads the forward pass from its end to its start.
      if (training && op.backward && i == 1 && 2 * id >= count)
        read.value = problem.ops[count - 1 - id].results[0];
      if (op.kind == OpKind::Contraction)
        read.need = chance(75) ? Need::Memory : Need::Contiguous;
      op.reads.push_back(read);
    }
    if (chance(40))
      addDestination(op, shape);
    op.results.push_back(addValue(shape, id));
    if (op.kind != OpKind::Contraction && chance(15))
      op.results.push_back(addValue(shape, id));
    op.flops = 1 + pick(1000);
    op.computePs = op.flops * 200;
    if (chance(25))
      op.workspaceBytes = 1 + pick(1500);
    if (op.kind == OpKind::Opaque && options.runOnce && chance(40)) {
      op.mayRepeat = false;
      op.hasEffects = chance(50);
    }
  }

  void addOp(OpId id) {
    constexpr OpKind kinds[] = {OpKind::Fusible,     OpKind::Fusible,
                                OpKind::Fusible,     OpKind::View,
                                OpKind::Contraction, OpKind::Contraction,
                                OpKind::Reduction,   OpKind::Opaque};
    Op op;
    op.kind = kinds[training && chance(50) ? 4 : pick(8)];
    op.name = "op" + std::to_string(id);
    op.backward = id >= firstBackward;
    if (op.kind == OpKind::View)
      makeView(op, id);
    else if (op.kind == OpKind::Fusible)
      makeFusible(op, id);
    else
      makeAnchor(op, id);
    if (options.keeps && chance(15)) {
      bool save = !op.mayRepeat || chance(50);
      problem.values[op.results[0]].keep = save ? Keep::Save : Keep::Recompute;
    }
    problem.ops.push_back(std::move(op));
  }

  void chooseResults() {
    std::vector<char> isRead(problem.values.size(), false);
    for (const Op &op : problem.ops)
      for (const Read &read : op.reads)
        isRead[read.value] = true;
    for (size_t i = 0; i < problem.values.size(); ++i)
      if (problem.values[i].op != none && (!isRead[i] || chance(8)))
        problem.values[i].home = Home::Result;
  }

  std::mt19937_64 random;
  RandomOptions options;
  Problem problem;
  int32_t count = 0;
  OpId firstBackward = 0;
  /// Half of the problems resemble a training step: a chain there and back.
  bool training = false;
};

inline Problem randomProblem(uint64_t seed, const RandomOptions &options = {}) {
  return RandomProblem(seed, options).make();
}

} // namespace ckpt::plan

#endif // CKPT_TEST_UNIT_PLAN_RANDOMPROBLEM_H
