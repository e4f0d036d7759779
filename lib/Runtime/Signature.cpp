//===- Signature.cpp - Arguments and results of a step --------------------===//

#include "ckpt/Runtime/Signature.h"
#include "ckpt/Support/Elements.h"
#include "mlir/IR/Location.h"
#include "llvm/Support/FormatVariadic.h"

using namespace ckpt;

std::string TensorSpec::title() const {
  return label.empty() ? name : name + " (" + label + ")";
}

NpyType ckpt::npyTypeOf(Type type) {
  // numpy's name for types that it does not know: bf16 and floats of 8 bits.
  bool isKnown = type.isF16() || type.isF32() || type.isF64();
  if (isa<mlir::FloatType>(type) && !isKnown)
    return {'V', static_cast<int>(elementBytes(type))};
  if (type.isInteger(1))
    return {'b', 1};
  char kind = isa<mlir::FloatType>(type) ? 'f'
              : type.isUnsignedInteger() ? 'u'
                                         : 'i';
  return {kind, static_cast<int>(elementBytes(type))};
}

bool ckpt::holdsElementsOf(NpyType stored, Type type) {
  NpyType exact = npyTypeOf(type);
  if (stored == exact)
    return true;
  if (exact.kind == 'V')
    return stored == NpyType{'u', exact.bytes};
  auto isInteger = [](NpyType t) { return t.kind == 'i' || t.kind == 'u'; };
  return isInteger(stored) && isInteger(exact) && stored.bytes == exact.bytes;
}

static bool isSupportedElement(Type type) {
  if (type.isF16() || type.isBF16() || type.isF32() || type.isF64() ||
      type.isIndex())
    return true;
  if (auto integer = dyn_cast<mlir::IntegerType>(type))
    return integer.getWidth() <= 64;
  auto floating = dyn_cast<mlir::FloatType>(type);
  return floating && floating.getWidth() == 8;
}

/// The name that a frontend gave an argument.
static std::string labelOf(Location location) {
  if (auto name = dyn_cast<mlir::NameLoc>(location))
    return name.getName().str();
  return "";
}

static FailureOr<TensorSpec> readTensor(mlir::func::FuncOp function, Type type,
                                        Location location, StringRef kind,
                                        size_t number) {
  auto tensor = dyn_cast<mlir::RankedTensorType>(type);
  if (!tensor || !tensor.hasStaticShape() ||
      !isSupportedElement(tensor.getElementType()))
    return mlir::emitError(location)
           << "expected a tensor of static shape with elements of floats of 8, "
              "16, 32 or 64 bits or integers of at most 64 to run '"
           << function.getSymName() << "', but "
           << (kind == "arg" ? "argument " : "result ") << number << " is "
           << type;
  TensorSpec spec;
  spec.name = llvm::formatv("{0}{1,0+3}", kind, number).str();
  spec.type = tensor;
  spec.bytes =
      tensor.getNumElements() * npyTypeOf(tensor.getElementType()).bytes;
  return spec;
}

FailureOr<Signature> ckpt::readSignature(mlir::func::FuncOp function) {
  Signature signature;
  for (auto [number, argument] : llvm::enumerate(function.getArguments())) {
    FailureOr<TensorSpec> spec = readTensor(function, argument.getType(),
                                            argument.getLoc(), "arg", number);
    if (failed(spec))
      return failure();
    spec->label = labelOf(argument.getLoc());
    signature.arguments.push_back(*spec);
  }
  for (auto [number, type] : llvm::enumerate(function.getResultTypes())) {
    FailureOr<TensorSpec> spec =
        readTensor(function, type, function.getLoc(), "out", number);
    if (failed(spec))
      return failure();
    signature.results.push_back(*spec);
  }
  return signature;
}
