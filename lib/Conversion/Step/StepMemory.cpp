//===- StepMemory.cpp - Places of the values of a step --------------------===//

#include "Conversion/Step/StepMemory.h"
#include "Conversion/Step/SharedSlices.h"
#include "ckpt/Analysis/ValueShape.h"
#include "ckpt/ExternalModels/ContiguousSlice.h"
#include "ckpt/Support/Elements.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace ckpt;
using namespace mlir;

/// \p type with the strides that upstream's ops that make memory demand.
static MemRefType denseType(MemRefType type) {
  return MemRefType::get(type.getShape(), type.getElementType());
}

Type ckpt::operandType(Value value) {
  bool isScalar = !isa<RankedTensorType>(value.getType());
  return isScalar && !value.getDefiningOp<KernelOp>()
             ? value.getType()
             : Type(memoryType(value.getType()));
}

/// The value of which \p op shows a stretch, and its begin in bytes.
static std::optional<std::pair<Value, int64_t>> stretchOf(Operation *op) {
  if (!op || op->getNumResults() != 1)
    return std::nullopt;
  Value result = op->getResult(0);
  if (Value source = lookThroughReshapes(result); source != result)
    return std::make_pair(source, int64_t(0));
  auto slice = dyn_cast<tensor::ExtractSliceOp>(op);
  std::optional<int64_t> begin =
      slice ? contiguousBegin(slice) : std::optional<int64_t>();
  if (!begin)
    return std::nullopt;
  FailureOr<ValueShape> shape = shapeOfValue(result);
  if (failed(shape) || shape->elements == 0)
    return std::nullopt;
  return std::make_pair(slice.getSource(),
                        *begin * (shape->bytes / shape->elements));
}

bool ckpt::isStretch(Operation *op) { return stretchOf(op).has_value(); }

StepMemory::StepMemory(func::FuncOp step, SymbolTable &symbols)
    : step(step), symbols(symbols), old(step.front()),
      parts(returnedParts(old)) {
  markBytes();
}

/// The part in whose buffer \p result of \p kernel lies; -1 if there is none.
int64_t StepMemory::partOf(KernelOp kernel, OpResult result) const {
  unsigned number = result.getResultNumber();
  if (kernel.getOffsets()[number] >= 0)
    return kernel.getHost(number);
  auto found = llvm::find_if(
      parts, [&](const ReturnedPart &part) { return part.value == result; });
  return found == parts.end() ? -1 : found - parts.begin();
}

/// Makes the buffers bytes of results that hold values of other types before,
/// or values elsewhere than at their begin.
void StepMemory::markHosts(KernelOp kernel) {
  auto elementOf = [](Value value) {
    return memoryType(value.getType()).getElementType();
  };
  for (auto [number, result] : llvm::enumerate(kernel.getResults())) {
    int64_t part = kernel.getHost(number);
    if (part >= 0 && part < static_cast<int64_t>(parts.size()) &&
        (kernel.getOffsets()[number] > 0 ||
         elementOf(result) != elementOf(parts[part].value)))
      byteResults.insert(parts[part].result);
  }
}

/// Makes the buffer bytes in which \p root stands.
void StepMemory::markBytes(Value root) {
  while (auto stretch = stretchOf(root.getDefiningOp()))
    root = stretch->first;
  if (auto argument = dyn_cast<BlockArgument>(root))
    byteArguments.insert(argument.getArgNumber());
  if (root.getDefiningOp<arith::ConstantOp>())
    byteConstants.insert(root);
  auto kernel = root.getDefiningOp<KernelOp>();
  if (!kernel)
    return;
  auto result = cast<OpResult>(root);
  int64_t part = partOf(kernel, result);
  if (part >= 0 && part < static_cast<int64_t>(parts.size()))
    byteResults.insert(parts[part].result);
}

void StepMemory::markBytes() {
  for (const ReturnedPart &part : parts)
    if (part.beginBytes > 0)
      byteResults.insert(part.result);
  for (auto slice : old.getOps<tensor::ExtractSliceOp>())
    markBytes(slice.getSource());
  for (auto kernel : old.getOps<KernelOp>()) {
    markHosts(kernel);
    for (BlockArgument argument : kernel.getBody().getArguments())
      if (sliceStart(argument).bytes != 0)
        markBytes(kernel.getInputs()[argument.getArgNumber()]);
  }
}

SmallVector<Type> StepMemory::callerTypes() const {
  SmallVector<Type> types;
  auto bytes = [](Value value) -> Type {
    FailureOr<ValueShape> shape = shapeOfValue(value);
    return MemRefType::get({succeeded(shape) ? shape->bytes : 0},
                           IntegerType::get(value.getContext(), 8));
  };
  for (BlockArgument argument : old.getArguments())
    types.push_back(byteArguments.contains(argument.getArgNumber())
                        ? bytes(argument)
                        : operandType(argument));
  for (OpOperand &result : old.getTerminator()->getOpOperands())
    types.push_back(byteResults.contains(result.getOperandNumber())
                        ? bytes(result.get())
                        : memoryType(result.get().getType()));
  return types;
}

void StepMemory::enter(Block &block, OpBuilder &at) {
  entry = &block;
  builder = &at;
  for (auto [before, after] :
       llvm::zip(old.getArguments(), entry->getArguments())) {
    places[before] = {after, 0};
    if (!isa<MemRefType>(after.getType()))
      buffers[{before, 0}] = after;
  }
}

//===----------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------===//

/// \p buffer in the shape of \p wanted, which has as many elements.
Value StepMemory::reshaped(Value buffer, MemRefType wanted) {
  if (buffer.getType() == wanted)
    return buffer;
  auto [strides, offset] = wanted.getStridesAndOffset();
  return memref::ReinterpretCastOp::create(*builder, buffer.getLoc(), wanted,
                                           buffer, offset, wanted.getShape(),
                                           strides);
}

/// Memory of \p type at \p place.
Value StepMemory::view(Location loc, MemRefType type, Place place) {
  auto held = cast<MemRefType>(place.buffer.getType());
  bool isBytes = held.getRank() == 1 && held.getElementType().isInteger(8);
  if (!isBytes || (place.begin == 0 && held == type))
    return reshaped(place.buffer, type);
  Value shift = arith::ConstantIndexOp::create(*builder, loc, place.begin);
  Value dense = memref::ViewOp::create(*builder, loc, denseType(type),
                                       place.buffer, shift, ValueRange());
  return reshaped(dense, type);
}

Value StepMemory::workspace(KernelOp kernel) {
  auto bytes = static_cast<int64_t>(kernel.getWorkspaceBytes());
  return view(kernel.getLoc(), MemRefType::get({bytes}, builder->getI8Type()),
              {entry->getArguments().back(),
               static_cast<int64_t>(kernel.getWorkspaceOffset())});
}

StepMemory::Place StepMemory::partPlace(size_t part) const {
  unsigned result = parts[part].result;
  return {entry->getArgument(old.getNumArguments() + result),
          parts[part].beginBytes};
}

Value StepMemory::partBuffer(size_t part, Location loc) {
  return view(loc, memoryType(parts[part].value.getType()), partPlace(part));
}

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

/// Values of other shapes and types may lie in the buffer of a part before
/// that.
LogicalResult StepMemory::checkHost(OpResult result, int64_t part,
                                    int64_t offset) const {
  FailureOr<ValueShape> wanted = shapeOfValue(result), held = failure();
  if (part < static_cast<int64_t>(parts.size()))
    held = shapeOfValue(parts[part].value);
  if (succeeded(wanted) && succeeded(held) && wanted->bytes <= held->bytes &&
      offset <= held->bytes - wanted->bytes)
    return success();
  return result.getOwner()->emitOpError()
         << "expected result " << result.getResultNumber()
         << " to end within part " << part
         << " of the function's results, in whose buffer it lies";
}

LogicalResult StepMemory::place(KernelOp kernel) {
  for (auto [number, result] : llvm::enumerate(kernel.getResults())) {
    int64_t offset = kernel.getOffsets()[number], host = kernel.getHost(number);
    if (host < 0 && offset >= 0) {
      places[result] = {entry->getArguments().back(), offset};
      continue;
    }
    int64_t part = partOf(kernel, result);
    if (part < 0)
      return kernel.emitOpError()
             << "expected result " << result.getResultNumber()
             << ", which has no place in the arena, to be returned";
    if (host >= 0 && failed(checkHost(result, part, offset)))
      return failure();
    if (host < 0)
      written.insert(part);
    places[result] = partPlace(part);
    places[result].begin += std::max<int64_t>(offset, 0);
  }
  return success();
}

/// Data of the program, which becomes a global.
/// \p elements as the bytes that stand in memory.
static ElementsAttr asBytes(ElementsAttr elements) {
  ArrayRef<char> raw = cast<DenseElementsAttr>(elements).getRawData();
  SmallVector<char> bytes(raw);
  if (elements.isSplat())
    for (int64_t i = 1; i < elements.getNumElements(); ++i)
      bytes.append(raw.begin(), raw.end());
  auto type = RankedTensorType::get({static_cast<int64_t>(bytes.size())},
                                    IntegerType::get(elements.getContext(), 8));
  return DenseElementsAttr::getFromRawBuffer(type, bytes);
}

StepMemory::Place StepMemory::constantPlace(Value value) {
  auto constant = value.getDefiningOp<arith::ConstantOp>();
  MemRefType type = memoryType(value.getType());
  auto elements = storedElements(cast<ElementsAttr>(constant.getValue()));
  if (byteConstants.contains(value)) {
    elements = asBytes(elements);
    type = MemRefType::get(elements.getShapedType().getShape(),
                           elements.getElementType());
  }
  OpBuilder atModule(step);
  auto global = memref::GlobalOp::create(
      atModule, constant.getLoc(), "constant",
      atModule.getStringAttr("private"), denseType(type), elements,
      /*constant=*/true, /*alignment=*/atModule.getI64IntegerAttr(64));
  symbols.insert(global);
  // In the entry so that it dominates every later reader.
  return {memref::GetGlobalOp::create(*builder, constant.getLoc(),
                                      global.getType(), global.getSymName()),
          0};
}

StepMemory::Place StepMemory::placeOf(Value value) {
  auto known = places.find(value);
  if (known != places.end())
    return known->second;
  Place place;
  if (auto stretch = stretchOf(value.getDefiningOp())) {
    place = placeOf(stretch->first);
    place.begin += stretch->second;
  } else {
    place = constantPlace(value);
  }
  return places[value] = place;
}

Value StepMemory::buffer(Value value, int64_t begin) {
  Value &known = buffers[{value, begin}];
  if (known)
    return known;
  // A scalar constant.
  if (!isa<RankedTensorType>(value.getType()) &&
      !value.getDefiningOp<KernelOp>())
    return known = builder->clone(*value.getDefiningOp())->getResult(0);
  Place place = placeOf(value);
  place.begin += begin;
  return known = view(value.getLoc(), memoryType(value.getType()), place);
}
