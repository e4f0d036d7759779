//===- Inputs.cpp - Where the arguments of a step come from ---------------===//

#include "Run/Inputs.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/APInt.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/FormatVariadic.h"

#include <cmath>

using namespace ckpt;

static llvm::Error problem(const Twine &what) {
  return llvm::createStringError(what.str());
}

llvm::Expected<std::pair<std::string, Range>>
ckpt::parseRange(StringRef text, const Signature &signature) {
  auto [name, bounds] = text.split(':');
  auto [low, high] = bounds.split(':');
  Range range;
  if (low.getAsDouble(range.low) || high.getAsDouble(range.high) ||
      !(range.low < range.high) || !std::isfinite(range.high - range.low))
    return problem("expected a range such as arg003:0:100, but got '" + text +
                   "'");
  for (const TensorSpec &spec : signature.arguments)
    if (name == spec.name)
      return std::make_pair(name.str(), range);
  return problem("the range '" + text +
                 "' is for an argument that is not there: the step has " +
                 Twine(signature.arguments.size()) + " arguments");
}

llvm::Expected<Buffers> ckpt::allocate(ArrayRef<TensorSpec> tensors) {
  Buffers buffers;
  for (const TensorSpec &spec : tensors) {
    auto buffer = GuardedBuffer::create(spec.bytes, spec.title());
    if (!buffer)
      return buffer.takeError();
    buffers.push_back(std::move(*buffer));
  }
  return buffers;
}

//===----------------------------------------------------------------------===//
// From an archive
//===----------------------------------------------------------------------===//

/// "float32 of shape (2, 3)", as NumPy's users know it.
static std::string describe(NpyType type, ArrayRef<int64_t> shape) {
  return type.name() + " of shape (" +
         llvm::join(
             llvm::map_range(
                 shape, [](int64_t extent) { return std::to_string(extent); }),
             ", ") +
         ")";
}

static llvm::Error loadTensor(StringRef path, const TensorSpec &spec,
                              ArrayRef<NpyArray> arrays,
                              GuardedBuffer &buffer) {
  const NpyArray *found = llvm::find_if(
      arrays, [&](const NpyArray &array) { return array.name == spec.name; });
  if (found == arrays.end())
    return problem("'" + path + "' has no array for " + spec.title());
  Type element = spec.type.getElementType();
  if (!holdsElementsOf(found->type, element) ||
      ArrayRef<int64_t>(found->shape) != spec.type.getShape())
    return problem("'" + path + "': expected " + spec.title() + " to be " +
                   describe(npyTypeOf(element), spec.type.getShape()) +
                   ", but got " + describe(found->type, found->shape));
  llvm::copy(found->data, buffer.data());
  return llvm::Error::success();
}

llvm::Error ckpt::loadTensors(StringRef path, ArrayRef<TensorSpec> tensors,
                              StringRef kind, const Buffers &buffers) {
  llvm::Expected<std::vector<NpyArray>> arrays = readNpz(path);
  if (!arrays)
    return arrays.takeError();
  for (const NpyArray &array : *arrays)
    if (llvm::none_of(tensors, [&](const TensorSpec &spec) {
          return spec.name == array.name;
        }))
      return problem("'" + path + "' holds '" + array.name +
                     "', but the step has no such " + kind + "; it has " +
                     Twine(tensors.size()) +
                     (tensors.empty() ? "" : ", from " + tensors.front().name));
  for (auto [spec, buffer] : llvm::zip_equal(tensors, buffers))
    if (llvm::Error error = loadTensor(path, spec, *arrays, *buffer))
      return error;
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// From a seed
//===----------------------------------------------------------------------===//

/// SplitMix64: a good bijection of 64 bits, so that element i of argument k has
/// its value whatever the order in which they are made.
static uint64_t mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

/// The bits of \p value as an element of \p type.
static uint64_t encode(double value, Type type) {
  if (type.isF32())
    return llvm::bit_cast<uint32_t>(static_cast<float>(value));
  if (auto floatType = dyn_cast<mlir::FloatType>(type)) {
    llvm::APFloat number(value);
    bool exact;
    number.convert(floatType.getFloatSemantics(),
                   llvm::APFloat::rmNearestTiesToEven, &exact);
    return number.bitcastToAPInt().getZExtValue();
  }
  return static_cast<uint64_t>(static_cast<int64_t>(std::floor(value)));
}

static void generateInput(uint64_t seed, Range range, Type type,
                          GuardedBuffer &buffer) {
  int bytes = npyTypeOf(type).bytes;
  for (int64_t i = 0; i * bytes < buffer.size(); ++i) {
    double unit = (mix(seed + i) >> 11) * 0x1p-53;
    uint64_t bits = encode(range.low + unit * (range.high - range.low), type);
    memcpy(buffer.data() + i * bytes, &bits, bytes);
  }
}

void ckpt::generateInputs(uint64_t seed,
                          const std::map<std::string, Range> &ranges,
                          const Signature &signature, const Buffers &buffers) {
  uint64_t argumentSeed = mix(seed);
  for (auto [spec, buffer] : llvm::zip_equal(signature.arguments, buffers)) {
    Type element = spec.type.getElementType();
    Range range =
        isa<mlir::FloatType>(element) ? Range{-0.1, 0.1} : Range{0, 2};
    if (auto given = ranges.find(spec.name); given != ranges.end())
      range = given->second;
    generateInput(argumentSeed, range, element, *buffer);
    argumentSeed = mix(argumentSeed);
  }
}
