//===- Tape.cpp - Primitives of generated steps and gradients -------------===//
//
// Kinds, accesses and costs are those that the importer gives the same ops of a
// linalg program: fills are destinations, transposes are views, convolutions
// read padded copies.
//
//===----------------------------------------------------------------------===//

#include "Plan/Generate/Tape.h"

#include <utility>

using namespace ckpt::plan;

static constexpr int64_t elementBytes = 4;
/// Speeds of the defaults of the importer.
static constexpr int64_t contractionPsPerFlop = 5, otherPsPerFlop = 50;

static int64_t countElements(const Tape::Dims &dims) {
  int64_t count = 1;
  for (int64_t size : dims)
    count *= size;
  return count;
}

int32_t Tape::shapeOf(const Dims &dims) {
  auto [known, added] =
      shapeNumbers.emplace(dims, static_cast<int32_t>(shapes.size()));
  if (added)
    shapes.push_back(dims);
  return known->second;
}

ValueId Tape::addValue(OpId op, const char *name, const Dims &dims) {
  Value value;
  value.name = name;
  if (layer != none)
    value.name = problem.layers[layer] + "/" + value.name;
  value.op = op;
  value.shape = shapeOf(dims);
  value.elements = countElements(dims);
  value.bytes = elementBytes * value.elements;
  problem.values.push_back(std::move(value));
  gradients.push_back(none);
  trained.push_back(false);
  return static_cast<ValueId>(problem.values.size()) - 1;
}

ValueId Tape::emit(OpKind kind, const char *name, std::vector<Read> reads,
                   const Dims &dims, int64_t flops) {
  OpId id = static_cast<OpId>(problem.ops.size());
  ValueId result = addValue(id, name, dims);
  for (const Read &read : reads)
    trained[result] |= trained[read.value];
  Op op;
  op.name = name;
  op.kind = kind;
  op.reads = std::move(reads);
  op.results = {result};
  op.flops = flops;
  op.computePs = flops * (kind == OpKind::Contraction ? contractionPsPerFlop
                                                      : otherPsPerFlop);
  op.backward = backward;
  op.layer = layer;
  problem.ops.push_back(std::move(op));
  return result;
}

void Tape::enterLayer(const std::string &name) {
  layer = static_cast<int32_t>(problem.layers.size());
  problem.layers.push_back(name);
}

ValueId Tape::argument(const std::string &name, const Dims &dims) {
  ValueId value = addValue(none, name.c_str(), dims);
  problem.values[value].home = Home::Argument;
  return value;
}

ValueId Tape::parameter(const std::string &name, const Dims &dims) {
  parameters.push_back(argument(name, dims));
  trained[parameters.back()] = true;
  return parameters.back();
}

//===----------------------------------------------------------------------===//
// Ops without gradients
//===----------------------------------------------------------------------===//

ValueId Tape::elementwise(const char *name,
                          const std::vector<ValueId> &operands) {
  std::vector<Read> reads;
  for (ValueId operand : operands)
    reads.push_back({operand, Access::Pointwise});
  Dims shape = dims(operands.front());
  return emit(OpKind::Fusible, name, std::move(reads), shape,
              countElements(shape));
}

ValueId Tape::spread(const char *name, ValueId x, const Dims &dims) {
  return emit(OpKind::Fusible, name, {{x, Access::Any}}, dims, 0);
}

ValueId Tape::rolled(ValueId x, bool forward) {
  Dims one = dims(x), others = dims(x);
  one.front() = 1;
  --others.front();
  ValueId moved = view("slice", x, Access::Any, others);
  ValueId around = view("slice", x, Access::Any, one);
  if (forward)
    std::swap(moved, around);
  return emit(OpKind::Fusible, "roll",
              {{moved, Access::Aligned, Need::Memory},
               {around, Access::Any, Need::Memory}},
              Dims(dims(x)), 0);
}

ValueId Tape::fill(const Dims &dims) {
  return emit(OpKind::Fusible, "fill", {}, dims, 0);
}

ValueId Tape::reduce(const char *name, ValueId x, const Dims &dims) {
  ValueId start = fill(dims);
  return emit(
      OpKind::Reduction, name,
      {{x, Access::Any}, {start, Access::Pointwise, Need::Inline, true}}, dims,
      problem.values[x].elements);
}

ValueId Tape::product(const char *name, ValueId a, ValueId b, const Dims &dims,
                      int64_t inner) {
  ValueId start = fill(dims);
  return emit(OpKind::Contraction, name,
              {{a, Access::Any, Need::Memory},
               {b, Access::Any, Need::Memory},
               {start, Access::Pointwise, Need::Inline, true}},
              dims, 2 * countElements(dims) * inner);
}

ValueId Tape::pad(ValueId x, const Dims &dims) {
  return dims == this->dims(x) ? x : spread("pad", x, dims);
}

ValueId Tape::view(const char *name, ValueId x, Access access,
                   const Dims &dims) {
  return emit(OpKind::View, name, {{x, access}}, dims, 0);
}

//===----------------------------------------------------------------------===//
// Gradients
//===----------------------------------------------------------------------===//

void Tape::onGradient(ValueId result, std::function<void(ValueId)> flowBack) {
  entries.push_back({result, layer, std::move(flowBack)});
}

template <typename Function>
void Tape::accumulate(ValueId value, Function make) {
  if (trained[value])
    addGradient(value, make());
}

void Tape::addGradient(ValueId value, ValueId gradient) {
  ValueId before = gradients[value];
  gradients[value] =
      before == none ? gradient : elementwise("add", {before, gradient});
}

Problem Tape::finish(ValueId loss) {
  problem.values[loss].home = Home::Result;
  backward = true;
  gradients[loss] = fill(Dims(dims(loss)));
  for (size_t i = entries.size(); i-- > 0;) {
    const Entry &entry = entries[i];
    ValueId gradient = gradients[entry.result];
    if (gradient == none)
      continue;
    layer = entry.layer;
    entry.flowBack(gradient);
  }
  layer = none;
  update();
  hostInResults(problem);
  return std::move(problem);
}

void Tape::update() {
  ValueId rate = fill({});
  for (ValueId parameter : parameters) {
    ValueId gradient = gradients[parameter];
    if (gradient == none)
      continue;
    Dims shape = dims(parameter);
    ValueId step =
        elementwise("multiply", {spread("broadcast", rate, shape), gradient});
    ValueId next = elementwise("subtract", {parameter, step});
    problem.values[next].home = Home::Result;
  }
}

//===----------------------------------------------------------------------===//
// Primitives with gradients
//===----------------------------------------------------------------------===//

ValueId Tape::unary(const char *name, ValueId x) {
  ValueId y = elementwise(name, {x});
  onGradient(y, [=](ValueId dy) {
    accumulate(x, [&] { return elementwise("derivative", {dy, x}); });
  });
  return y;
}

ValueId Tape::add(ValueId a, ValueId b) {
  ValueId y = elementwise("add", {a, b});
  onGradient(y, [=](ValueId dy) {
    accumulate(a, [&] { return dy; });
    accumulate(b, [&] { return dy; });
  });
  return y;
}

ValueId Tape::subtract(ValueId a, ValueId b) {
  ValueId y = elementwise("subtract", {a, b});
  onGradient(y, [=](ValueId dy) {
    accumulate(a, [&] { return dy; });
    accumulate(b, [&] { return elementwise("negate", {dy}); });
  });
  return y;
}

ValueId Tape::multiply(ValueId a, ValueId b) {
  ValueId y = elementwise("multiply", {a, b});
  onGradient(y, [=](ValueId dy) {
    accumulate(a, [&] { return elementwise("multiply", {dy, b}); });
    accumulate(b, [&] { return elementwise("multiply", {dy, a}); });
  });
  return y;
}

ValueId Tape::broadcast(ValueId x, const Dims &shape) {
  ValueId y = spread("broadcast", x, shape);
  onGradient(y, [=](ValueId dy) {
    accumulate(x, [&] { return reduce("sum", dy, Dims(dims(x))); });
  });
  return y;
}

ValueId Tape::sum(ValueId x, const Dims &shape) {
  ValueId y = reduce("sum", x, shape);
  onGradient(y, [=](ValueId dy) {
    accumulate(x, [&] { return spread("broadcast", dy, Dims(dims(x))); });
  });
  return y;
}

ValueId Tape::largest(ValueId x, const Dims &shape) {
  ValueId y = reduce("maximum", x, shape);
  trained[y] = false;
  return y;
}

ValueId Tape::reshape(ValueId x, const Dims &shape) {
  ValueId y = view("reshape", x, Access::Reshape, shape);
  onGradient(y, [=](ValueId dy) {
    accumulate(
        x, [&] { return view("reshape", dy, Access::Reshape, Dims(dims(x))); });
  });
  return y;
}

ValueId Tape::permute(ValueId x, const Dims &shape) {
  ValueId y = view("transpose", x, Access::Permute, shape);
  onGradient(y, [=](ValueId dy) {
    accumulate(x, [&] {
      return view("transpose", dy, Access::Permute, Dims(dims(x)));
    });
  });
  return y;
}

ValueId Tape::slice(ValueId x, const Dims &shape, bool atOrigin) {
  Access access = atOrigin ? Access::Aligned : Access::Any;
  ValueId y = view("slice", x, access, shape);
  onGradient(y, [=](ValueId dy) {
    accumulate(x, [&] {
      return emit(OpKind::Fusible, "pad", {{dy, access}}, Dims(dims(x)), 0);
    });
  });
  return y;
}

ValueId Tape::concatenate(ValueId a, ValueId b, const Dims &shape) {
  ValueId y = emit(OpKind::Fusible, "concatenate",
                   {{a, Access::Aligned}, {b, Access::Any}}, shape, 0);
  onGradient(y, [=](ValueId dy) {
    accumulate(
        a, [&] { return view("slice", dy, Access::Aligned, Dims(dims(a))); });
    accumulate(b,
               [&] { return view("slice", dy, Access::Any, Dims(dims(b))); });
  });
  return y;
}

ValueId Tape::roll(ValueId x, bool forward) {
  ValueId y = rolled(x, forward);
  onGradient(y, [=](ValueId dy) {
    accumulate(x, [&] { return rolled(dy, !forward); });
  });
  return y;
}

ValueId Tape::contract(const char *name, ValueId a, ValueId b,
                       const Dims &shape, int64_t inner) {
  ValueId y = product(name, a, b, shape, inner);
  // Each element of an operand meets as many as the work is spread over.
  int64_t flops = 2 * countElements(shape) * inner;
  onGradient(y, [=](ValueId dy) {
    auto gradient = [&](ValueId other, ValueId of, bool left) {
      Dims turned = dims(other);
      std::swap(turned[turned.size() - 1], turned[turned.size() - 2]);
      ValueId view = this->view("transpose", other, Access::Permute, turned);
      int64_t per = flops / 2 / problem.values[of].elements;
      return left ? product(name, view, dy, Dims(dims(of)), per)
                  : product(name, dy, view, Dims(dims(of)), per);
    };
    accumulate(a, [&] { return gradient(b, a, false); });
    accumulate(b, [&] { return gradient(a, b, true); });
  });
  return y;
}

ValueId Tape::convolve(ValueId image, ValueId filter, const Dims &padded,
                       const Dims &shape, int64_t inner) {
  ValueId input = pad(image, padded);
  ValueId y = product("convolution", input, filter, shape, inner);
  int64_t products = countElements(shape) * inner;
  onGradient(y, [=](ValueId dy) {
    int64_t perImage = products / problem.values[image].elements;
    int64_t perFilter = products / problem.values[filter].elements;
    Dims imageDims = dims(image);
    // The gradient of the image is a convolution of the padded gradient.
    Dims wide = dims(dy);
    for (size_t axis : {wide.size() - 2, wide.size() - 1})
      wide[axis] = std::max(wide[axis], padded[axis]);
    accumulate(image, [&] {
      return product("convolution", pad(dy, wide), filter, imageDims,
                     std::max<int64_t>(1, perImage));
    });
    // Front ends compile forward and backward apart: the input is padded anew.
    accumulate(filter, [&] {
      return product("convolution", pad(image, padded), dy, Dims(dims(filter)),
                     std::max<int64_t>(1, perFilter));
    });
  });
  return y;
}

ValueId Tape::pool(ValueId x, const Dims &shape) {
  ValueId y = reduce("pool", x, shape);
  onGradient(y, [=](ValueId dy) {
    accumulate(x, [&] { return spread("unpool", dy, Dims(dims(x))); });
  });
  return y;
}

ValueId Tape::upsample(ValueId x, const Dims &shape) {
  ValueId y = spread("upsample", x, shape);
  onGradient(y, [=](ValueId dy) {
    accumulate(x, [&] { return reduce("pool", dy, Dims(dims(x))); });
  });
  return y;
}

ValueId Tape::gather(ValueId table, ValueId indices, const Dims &shape) {
  ValueId y =
      emit(OpKind::Fusible, "gather",
           {{indices, Access::Any}, {table, Access::Gather, Need::Memory}},
           shape, countElements(shape));
  onGradient(y, [=](ValueId dy) {
    Dims tableDims = dims(table);
    ValueId zeros = fill(tableDims);
    accumulate(table, [&] {
      return emit(OpKind::Opaque, "scatter",
                  {{zeros, Access::Any, Need::Contiguous, true},
                   {indices, Access::Any, Need::Contiguous},
                   {dy, Access::Any, Need::Contiguous}},
                  tableDims, problem.values[dy].elements);
    });
  });
  return y;
}
