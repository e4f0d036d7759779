//===- Tape.h - Records a forward pass, derives the gradients ---*- C++ -*-===//
//
// A generated training step is a forward pass of a few primitives. Each
// primitive leaves on the tape how gradients flow back through it. The tape
// derives backward pass and updates as front ends do, so sizes, reads and live
// ranges are like theirs.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_LIB_PLAN_GENERATE_TAPE_H
#define CKPT_LIB_PLAN_GENERATE_TAPE_H

#include "ckpt/Plan/Problem.h"

#include <functional>
#include <map>

namespace ckpt::plan {

class Tape {
public:
  using Dims = std::vector<int64_t>;

  /// Ops from here on belong to a layer of this name.
  void enterLayer(const std::string &name);

  ValueId argument(const std::string &name, const Dims &dims);
  /// An argument that the step updates.
  ValueId parameter(const std::string &name, const Dims &dims);

  ValueId unary(const char *name, ValueId x);
  ValueId add(ValueId a, ValueId b);
  ValueId subtract(ValueId a, ValueId b);
  ValueId multiply(ValueId a, ValueId b);
  /// Each element of \p x as often as \p dims asks for.
  ValueId broadcast(ValueId x, const Dims &dims);
  ValueId sum(ValueId x, const Dims &dims);
  /// The largest elements; no gradient flows back.
  ValueId largest(ValueId x, const Dims &dims);
  ValueId reshape(ValueId x, const Dims &dims);
  ValueId permute(ValueId x, const Dims &dims);
  /// Part of \p x; at the origin it keeps coordinates.
  ValueId slice(ValueId x, const Dims &dims, bool atOrigin);
  /// \p a at the origin, \p b behind it.
  ValueId concatenate(ValueId a, ValueId b, const Dims &dims);
  /// The rows of \p x moved by one, the last one to the front or back: a kernel
  /// reads them from memory.
  ValueId roll(ValueId x, bool forward);
  /// Sums over \p inner products for each element of \p dims.
  ValueId contract(const char *name, ValueId a, ValueId b, const Dims &dims,
                   int64_t inner);
  /// A convolution of images padded to \p padded (their own shape: none).
  ValueId convolve(ValueId image, ValueId filter, const Dims &padded,
                   const Dims &dims, int64_t inner);
  /// Windows to elements or back.
  ValueId pool(ValueId x, const Dims &dims);
  ValueId upsample(ValueId x, const Dims &dims);
  /// Rows of \p table.
  ValueId gather(ValueId table, ValueId indices, const Dims &dims);

  const Dims &dims(ValueId value) const {
    return shapes[problem.values[value].shape];
  }

  /// Appends the backward pass from \p loss and the updates of all parameters.
  Problem finish(ValueId loss);

private:
  int32_t shapeOf(const Dims &dims);
  ValueId addValue(OpId op, const char *name, const Dims &dims);
  ValueId emit(OpKind kind, const char *name, std::vector<Read> reads,
               const Dims &dims, int64_t flops);
  ValueId elementwise(const char *name, const std::vector<ValueId> &operands);
  ValueId spread(const char *name, ValueId x, const Dims &dims);
  ValueId reduce(const char *name, ValueId x, const Dims &dims);
  ValueId rolled(ValueId x, bool forward);
  ValueId fill(const Dims &dims);
  ValueId product(const char *name, ValueId a, ValueId b, const Dims &dims,
                  int64_t inner);
  ValueId pad(ValueId x, const Dims &dims);
  ValueId view(const char *name, ValueId x, Access access, const Dims &dims);

  /// Records how the gradient of \p result flows back.
  void onGradient(ValueId result, std::function<void(ValueId)> flowBack);
  /// Adds the value that \p make emits to the gradient of \p value, if any
  /// parameter needs it.
  template <typename Function>
  void accumulate(ValueId value, Function make);
  void addGradient(ValueId value, ValueId gradient);
  void update();

  struct Entry {
    ValueId result;
    int32_t layer;
    std::function<void(ValueId)> flowBack;
  };

  Problem problem;
  std::vector<Dims> shapes;
  std::map<Dims, int32_t> shapeNumbers;
  std::vector<ValueId> parameters;
  std::vector<Entry> entries;
  /// Per value: its gradient so far, or `none`; whether a parameter is in it.
  std::vector<ValueId> gradients;
  std::vector<char> trained;
  int32_t layer = none;
  bool backward = false;
};

} // namespace ckpt::plan

#endif // CKPT_LIB_PLAN_GENERATE_TAPE_H
