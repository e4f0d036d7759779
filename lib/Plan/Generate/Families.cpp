//===- Families.cpp - Networks as forward passes --------------------------===//
//
// One function per family, with published shapes and a free number of blocks.
// Tape.h derives the other parts of a training step. `ckpt-plan --generate` and
// tests call it. A call that adds ops is an argument only where no other
// argument adds any: compilers choose the order of arguments, and steps are to
// be equal.
//
//===----------------------------------------------------------------------===//

#include "ckpt/Plan/Generate.h"

#include "Plan/Generate/Tape.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <random>

using namespace ckpt::plan;

namespace {

using Dims = Tape::Dims;

ValueId addBias(Tape &tape, ValueId x, int64_t size) {
  ValueId bias = tape.parameter("bias", {size});
  return tape.add(x, tape.broadcast(bias, Dims(tape.dims(x))));
}

/// [rows, from] times a new weight [from, to], with a bias.
ValueId dense(Tape &tape, ValueId x, int64_t to) {
  Dims dims = tape.dims(x);
  ValueId weight = tape.parameter("weight", {dims[1], to});
  ValueId product = tape.contract("matmul", x, weight, {dims[0], to}, dims[1]);
  return addBias(tape, product, to);
}

/// To zero mean and unit variance over all but \p kept, then a learned scale.
ValueId normalize(Tape &tape, ValueId x, const Dims &kept, int64_t channels) {
  Dims dims = tape.dims(x);
  ValueId mean = tape.unary("mean", tape.sum(x, kept));
  ValueId centred = tape.subtract(x, tape.broadcast(mean, dims));
  ValueId squares = tape.sum(tape.multiply(centred, centred), kept);
  ValueId factor = tape.unary("rsqrt", squares);
  ValueId unit = tape.multiply(centred, tape.broadcast(factor, dims));
  ValueId scale = tape.parameter("scale", {channels});
  ValueId scaled = tape.multiply(unit, tape.broadcast(scale, dims));
  return addBias(tape, scaled, channels);
}

ValueId layerNorm(Tape &tape, ValueId x) {
  return normalize(tape, x, {tape.dims(x)[0]}, tape.dims(x)[1]);
}

ValueId batchNorm(Tape &tape, ValueId image) {
  int64_t channels = tape.dims(image)[1];
  return normalize(tape, image, {channels}, channels);
}

/// Exponentials along the last dimension, and their sums.
std::pair<ValueId, ValueId> exponentials(Tape &tape, ValueId x,
                                         const Dims &rows) {
  Dims dims = tape.dims(x);
  ValueId shifted =
      tape.subtract(x, tape.broadcast(tape.largest(x, rows), dims));
  ValueId powers = tape.unary("exp", shifted);
  return {powers, tape.sum(powers, rows)};
}

ValueId softmax(Tape &tape, ValueId x, const Dims &rows) {
  auto [powers, sums] = exponentials(tape, x, rows);
  ValueId factor = tape.unary("reciprocal", sums);
  return tape.multiply(powers, tape.broadcast(factor, Dims(tape.dims(x))));
}

/// The mean over rows of log-sum-exp minus the score of the label.
ValueId crossEntropy(Tape &tape, ValueId logits) {
  Dims rows = {tape.dims(logits)[0]};
  ValueId labels = tape.argument("labels", rows);
  ValueId sums = exponentials(tape, logits, rows).second;
  ValueId hot = tape.broadcast(labels, Dims(tape.dims(logits)));
  ValueId scores = tape.sum(tape.multiply(logits, hot), rows);
  return tape.sum(tape.subtract(tape.unary("log", sums), scores), {});
}

ValueId squaredError(Tape &tape, ValueId output) {
  ValueId target = tape.argument("target", Dims(tape.dims(output)));
  ValueId error = tape.subtract(output, target);
  return tape.sum(tape.multiply(error, error), {});
}

//===----------------------------------------------------------------------===//
// Families
//===----------------------------------------------------------------------===//

/// A perceptron whose layers are all alike.
Problem makeChain(int64_t layers) {
  constexpr int64_t rows = 1024, width = 1024;
  Tape tape;
  ValueId x = tape.argument("input", {rows, width});
  for (int64_t i = 0; i < layers; ++i) {
    tape.enterLayer("layer/" + std::to_string(i));
    x = tape.unary("relu", dense(tape, x, width));
  }
  tape.enterLayer("loss");
  return tape.finish(squaredError(tape, x));
}

/// Radford et al. 2019: width 768, 12 heads.
ValueId attention(Tape &tape, ValueId x, int64_t batch, int64_t length) {
  constexpr int64_t heads = 12;
  int64_t width = tape.dims(x)[1], size = width / heads, pairs = batch * heads;
  ValueId joined = dense(tape, x, 3 * width);
  auto headsOf = [&](bool first, const Dims &turned) {
    ValueId part = tape.slice(joined, {batch * length, width}, first);
    ValueId apart = tape.reshape(part, {batch, length, heads, size});
    return tape.reshape(tape.permute(apart, turned),
                        {pairs, turned[2], turned[3]});
  };
  ValueId query = headsOf(true, {batch, heads, length, size});
  ValueId key = headsOf(false, {batch, heads, size, length});
  ValueId value = headsOf(false, {batch, heads, length, size});
  ValueId scores =
      tape.contract("batch_matmul", query, key, {pairs, length, length}, size);
  ValueId mask = tape.argument("mask", {length, length});
  ValueId spread = tape.broadcast(mask, {pairs, length, length});
  ValueId masked = tape.add(tape.unary("scale", scores), spread);
  ValueId shares = softmax(tape, masked, {pairs, length});
  ValueId mixed = tape.contract("batch_matmul", shares, value,
                                {pairs, length, size}, length);
  ValueId apart = tape.reshape(mixed, {batch, heads, length, size});
  ValueId together = tape.permute(apart, {batch, length, heads, size});
  return dense(tape, tape.reshape(together, {batch * length, width}), width);
}

Problem makeGpt(int64_t blocks) {
  constexpr int64_t batch = 4, length = 512, width = 768, words = 50257;
  Tape tape;
  tape.enterLayer("embedding");
  ValueId tokens = tape.argument("tokens", {batch * length});
  ValueId table = tape.parameter("table", {words, width});
  ValueId x = tape.gather(table, tokens, {batch * length, width});
  for (int64_t i = 0; i < blocks; ++i) {
    std::string block = "h/" + std::to_string(i);
    tape.enterLayer(block + "/attention");
    x = tape.add(x, attention(tape, layerNorm(tape, x), batch, length));
    tape.enterLayer(block + "/mlp");
    ValueId hidden = dense(tape, layerNorm(tape, x), 4 * width);
    x = tape.add(x, dense(tape, tape.unary("gelu", hidden), width));
  }
  tape.enterLayer("head");
  ValueId turned = tape.permute(table, {width, words});
  ValueId logits = tape.contract("matmul", layerNorm(tape, x), turned,
                                 {batch * length, words}, width);
  return tape.finish(crossEntropy(tape, logits));
}

/// A square filter with padding that keeps the size, but for the stride.
ValueId convolution(Tape &tape, ValueId image, int64_t channels, int64_t size,
                    int64_t stride) {
  Dims from = tape.dims(image);
  ValueId filter = tape.parameter("filter", {channels, from[1], size, size});
  Dims padded = {from[0], from[1], from[2] + size - 1, from[3] + size - 1};
  Dims to = {from[0], channels, from[2] / stride, from[3] / stride};
  return tape.convolve(image, filter, padded, to, from[1] * size * size);
}

ValueId convolutionUnit(Tape &tape, ValueId image, int64_t channels,
                        int64_t size, int64_t stride) {
  ValueId made = convolution(tape, image, channels, size, stride);
  return tape.unary("relu", batchNorm(tape, made));
}

ValueId halve(Tape &tape, ValueId image) {
  Dims dims = tape.dims(image);
  return tape.pool(image, {dims[0], dims[1], dims[2] / 2, dims[3] / 2});
}

/// The mean of every channel, then classes.
ValueId classify(Tape &tape, ValueId image) {
  Dims dims = tape.dims(image);
  tape.enterLayer("classifier");
  ValueId means = tape.pool(image, {dims[0], dims[1]});
  return crossEntropy(tape, dense(tape, means, 1000));
}

/// He et al. 2016: bottleneck blocks; deeper networks have more of them in the
/// middle stages.
Problem makeResNet(int64_t blocks) {
  constexpr int64_t batch = 32;
  Tape tape;
  tape.enterLayer("stem");
  ValueId x = tape.argument("images", {batch, 3, 224, 224});
  x = halve(tape, convolutionUnit(tape, x, 64, 7, 2));
  int64_t counts[] = {1, 1 + blocks / 5, std::max<int64_t>(1, blocks), 1};
  for (int64_t stage = 0; stage < 4; ++stage)
    for (int64_t i = 0; i < counts[stage]; ++i) {
      tape.enterLayer("stage" + std::to_string(stage) + "/" +
                      std::to_string(i));
      int64_t width = 64 << stage, stride = stage > 0 && i == 0 ? 2 : 1;
      ValueId shortcut = x;
      if (i == 0)
        shortcut = batchNorm(tape, convolution(tape, x, 4 * width, 1, stride));
      ValueId inner = convolutionUnit(tape, x, width, 1, 1);
      inner = convolutionUnit(tape, inner, width, 3, stride);
      inner = batchNorm(tape, convolution(tape, inner, 4 * width, 1, 1));
      x = tape.unary("relu", tape.add(inner, shortcut));
    }
  return tape.finish(classify(tape, x));
}

/// Ho et al. 2020: every block on the way down hands its output to one on the
/// way up.
Problem makeUNet(int64_t blocks) {
  constexpr int64_t batch = 8, levels = 4, width = 64;
  Tape tape;
  tape.enterLayer("stem");
  ValueId x = tape.argument("images", {batch, 4, 128, 128});
  x = convolution(tape, x, width, 3, 1);
  std::vector<ValueId> skips;
  for (int64_t level = 0; level < levels; ++level) {
    for (int64_t i = 0; i < blocks; ++i) {
      tape.enterLayer("down" + std::to_string(level) + "/" + std::to_string(i));
      x = convolutionUnit(tape, x, width << level, 3, 1);
      skips.push_back(x);
    }
    if (level + 1 < levels)
      x = halve(tape, x);
  }
  for (int64_t level = levels; level-- > 0;) {
    for (int64_t i = 0; i < blocks; ++i) {
      tape.enterLayer("up" + std::to_string(level) + "/" + std::to_string(i));
      Dims dims = tape.dims(x);
      dims[1] += tape.dims(skips.back())[1];
      x = tape.concatenate(x, skips.back(), dims);
      skips.pop_back();
      x = convolutionUnit(tape, x, width << level, 3, 1);
    }
    Dims dims = tape.dims(x);
    if (level > 0)
      x = tape.upsample(x, {dims[0], dims[1], 2 * dims[2], 2 * dims[3]});
  }
  tape.enterLayer("head");
  return tape.finish(squaredError(tape, convolution(tape, x, 4, 3, 1)));
}

/// Huang et al. 2017: each layer reads all before it in its dense block.
Problem makeDenseNet(int64_t layers) {
  constexpr int64_t batch = 32, growth = 32, layersPerBlock = 24;
  Tape tape;
  tape.enterLayer("stem");
  ValueId x = tape.argument("images", {batch, 3, 224, 224});
  x = halve(tape, convolutionUnit(tape, x, 64, 7, 2));
  for (int64_t i = 0; i < layers; ++i) {
    if (i > 0 && i % layersPerBlock == 0) {
      tape.enterLayer("transition/" + std::to_string(i / layersPerBlock));
      x = convolutionUnit(tape, x, tape.dims(x)[1] / 2, 1, 1);
      if (tape.dims(x)[2] > 7)
        x = halve(tape, x);
    }
    tape.enterLayer("dense/" + std::to_string(i));
    ValueId made = convolutionUnit(tape, x, 4 * growth, 1, 1);
    made = convolutionUnit(tape, made, growth, 3, 1);
    Dims dims = tape.dims(x);
    dims[1] += growth;
    x = tape.concatenate(x, made, dims);
  }
  return tape.finish(classify(tape, x));
}

/// Hochreiter and Schmidhuber 1997, one layer unrolled in time.
Problem makeLstm(int64_t steps) {
  constexpr int64_t batch = 64, width = 1024;
  Tape tape;
  ValueId input = tape.parameter("input", {width, 4 * width});
  ValueId recurrent = tape.parameter("recurrent", {width, 4 * width});
  ValueId bias = tape.parameter("bias", {4 * width});
  ValueId state = tape.argument("state", {batch, width});
  ValueId cell = tape.argument("cell", {batch, width});
  Dims wide = {batch, 4 * width};
  for (int64_t i = 0; i < steps; ++i) {
    tape.enterLayer("step/" + std::to_string(i));
    ValueId x = tape.argument("x", {batch, width});
    ValueId before = tape.contract("matmul", state, recurrent, wide, width);
    ValueId now = tape.contract("matmul", x, input, wide, width);
    ValueId gates = tape.add(now, before);
    gates = tape.add(gates, tape.broadcast(bias, wide));
    auto gate = [&](const char *name, bool first) {
      return tape.unary(name, tape.slice(gates, {batch, width}, first));
    };
    ValueId kept = tape.multiply(gate("sigmoid", true), cell);
    ValueId candidate = gate("tanh", false);
    ValueId fresh = tape.multiply(gate("sigmoid", false), candidate);
    cell = tape.add(kept, fresh);
    ValueId shown = tape.unary("tanh", cell);
    state = tape.multiply(gate("sigmoid", false), shown);
  }
  tape.enterLayer("loss");
  return tape.finish(squaredError(tape, state));
}

/// A damped wave by finite differences, whose loss reads a row of every step.
Problem makeStencil(int64_t steps) {
  const Dims grid = {256, 256}, row = {1, 256};
  Tape tape;
  ValueId speed = tape.parameter("speed", grid);
  ValueId damping = tape.parameter("damping", grid);
  ValueId before = tape.argument("before", grid);
  ValueId state = tape.argument("state", grid);
  ValueId loss = squaredError(tape, state);
  for (int64_t i = 0; i < steps; ++i) {
    tape.enterLayer("step/" + std::to_string(i));
    ValueId above = tape.roll(state, true);
    ValueId around = tape.add(above, tape.roll(state, false));
    ValueId curvature = tape.subtract(around, tape.unary("double", state));
    ValueId pull = tape.multiply(speed, curvature);
    ValueId drag = tape.multiply(damping, tape.subtract(state, before));
    ValueId ahead = tape.subtract(tape.unary("double", state), before);
    before = state;
    state = tape.add(ahead, tape.subtract(pull, drag));
    loss = tape.add(loss, squaredError(tape, tape.slice(state, row, true)));
  }
  tape.enterLayer("loss");
  return tape.finish(loss);
}

/// A layer of \p width columns on \p x, of a form that \p draw chooses.
ValueId drawnLayer(Tape &tape, ValueId x, int64_t width, uint32_t draw) {
  switch (draw) {
  case 0:
    return tape.unary("relu", dense(tape, x, width));
  case 1:
    return tape.unary("gelu", dense(tape, layerNorm(tape, x), width));
  case 2: {
    ValueId linear = dense(tape, x, width);
    return tape.multiply(tape.unary("sigmoid", dense(tape, x, width)), linear);
  }
  case 3:
    return softmax(tape, dense(tape, x, width), {tape.dims(x)[0]});
  default:
    ValueId hidden = tape.unary("tanh", dense(tape, x, 2 * width));
    return tape.slice(hidden, {tape.dims(x)[0], width}, true);
  }
}

/// Layers, widths and connections drawn at random; each number of layers draws
/// others. A layer joins an earlier one of its width by a sum or a product.
Problem makeRandom(int64_t layers) {
  constexpr int64_t rows = 512, leastWidth = 64;
  constexpr uint32_t forms = 5, widths = 4;
  std::mt19937 random(static_cast<uint32_t>(layers));
  Tape tape;
  std::map<int64_t, std::vector<ValueId>> ofWidth;
  ValueId x = tape.argument("input", {rows, leastWidth << random() % widths});
  for (int64_t i = 0; i < layers; ++i) {
    tape.enterLayer("layer/" + std::to_string(i));
    int64_t width = leastWidth << random() % widths;
    x = drawnLayer(tape, x, width, random() % forms);
    std::vector<ValueId> &earlier = ofWidth[width];
    if (!earlier.empty() && random() % 2 == 0) {
      ValueId other = earlier[random() % earlier.size()];
      x = random() % 4 == 0 ? tape.multiply(x, other) : tape.add(x, other);
    }
    earlier.push_back(x);
  }
  tape.enterLayer("loss");
  return tape.finish(squaredError(tape, x));
}

struct Family {
  std::string_view name;
  Problem (*make)(int64_t blocks);
};

constexpr Family families[] = {
    {"chain", makeChain},       {"gpt", makeGpt},
    {"resnet", makeResNet},     {"unet", makeUNet},
    {"densenet", makeDenseNet}, {"lstm", makeLstm},
    {"stencil", makeStencil},   {"random", makeRandom},
};

/// Measures on two small steps the ops outside of blocks and the ops of each
/// block.
int64_t blocksFor(const Family &family, int64_t ops) {
  constexpr int64_t few = 4, more = 24;
  double small = static_cast<double>(family.make(few).ops.size());
  double large = static_cast<double>(family.make(more).ops.size());
  double perBlock = (large - small) / static_cast<double>(more - few);
  double blocks = few + (static_cast<double>(ops) - small) / perBlock;
  return std::max<int64_t>(1, std::llround(blocks));
}

} // namespace

std::vector<std::string_view> ckpt::plan::generatedFamilies() {
  std::vector<std::string_view> names;
  for (const Family &family : families)
    names.push_back(family.name);
  return names;
}

std::string ckpt::plan::generateProblem(std::string_view family, int64_t ops,
                                        Problem &problem) {
  constexpr int64_t mostOps = 10'000'000;
  if (ops < 1 || ops > mostOps)
    return "expected between 1 and " + std::to_string(mostOps) +
           " ops, but got " + std::to_string(ops);
  for (const Family &known : families)
    if (known.name == family) {
      problem = known.make(blocksFor(known, ops));
      return "";
    }
  std::string names;
  for (const Family &known : families)
    names += (names.empty() ? "" : ", ") + std::string(known.name);
  return "expected one of " + names + ", but got '" + std::string(family) + "'";
}
