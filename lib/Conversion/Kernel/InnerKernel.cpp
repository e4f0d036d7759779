//===- InnerKernel.cpp - Reductions inside of loops as kernels ------------===//

#include "Conversion/Kernel/InnerKernel.h"
#include "ckpt/ExternalModels/KernelFunction.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StructuredOpsUtils.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"

using namespace ckpt;
using namespace mlir;

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

/// Whether \p type is one piece of memory, at any offset, that holds the
/// elements of a tensor as kernels do.
static bool isContiguous(MemRefType type) {
  SmallVector<int64_t> strides;
  int64_t offset;
  if (!type.hasStaticShape() ||
      failed(type.getStridesAndOffset(strides, offset)))
    return false;
  int64_t elements = 1;
  for (auto [extent, stride] :
       llvm::reverse(llvm::zip_equal(type.getShape(), strides))) {
    if (stride != elements)
      return false;
    elements *= extent;
  }
  auto tensor = RankedTensorType::get(type.getShape(), type.getElementType());
  return elements > 0 &&
         memoryType(tensor).getElementType() == type.getElementType();
}

static bool isReadable(linalg::LinalgOp site) {
  return site.getNumReductionLoops() > 0 && site.hasPureBufferSemantics() &&
         llvm::all_of(site->getOperandTypes(), [](Type type) {
           auto memory = dyn_cast<MemRefType>(type);
           return memory ? isContiguous(memory) : !isa<ShapedType>(type);
         });
}

/// A function, in no module, whose arguments stand for the operands of \p site.
static func::FuncOp isolate(linalg::LinalgOp site) {
  OpBuilder builder(site.getContext());
  Location loc = site.getLoc();
  SmallVector<Type> types;
  for (Type type : site->getOperandTypes()) {
    auto memory = dyn_cast<MemRefType>(type);
    types.push_back(
        memory ? MemRefType::get(memory.getShape(), memory.getElementType())
               : type);
  }
  auto function = func::FuncOp::create(
      loc, "inner", builder.getFunctionType(types, TypeRange()));
  Block *entry = function.addEntryBlock();
  builder.setInsertionPointToStart(entry);
  SmallVector<Value> operands;
  for (BlockArgument argument : entry->getArguments()) {
    auto memory = dyn_cast<MemRefType>(argument.getType());
    operands.push_back(
        memory ? loadInput(builder, loc,
                           RankedTensorType::get(memory.getShape(),
                                                 memory.getElementType()),
                           argument)
               : argument);
  }
  unsigned firstInit = site.getNumDpsInputs();
  auto inits = ArrayRef(operands).slice(firstInit, site.getNumDpsInits());
  Operation *copy =
      clone(builder, site, TypeRange(ValueRange(inits)), operands);
  for (auto [result, argument] : llvm::zip_equal(
           copy->getResults(),
           entry->getArguments().slice(firstInit, site.getNumDpsInits())))
    storeOutput(builder, loc, result, argument);
  func::ReturnOp::create(builder, loc);
  return function;
}

std::optional<KernelCode> ckpt::readInnerKernel(linalg::LinalgOp site) {
  if (!isReadable(site))
    return std::nullopt;
  func::FuncOp function = isolate(site);
  KernelCode code = KernelCode::read(function);
  if (!code.anchor || code.isOpaque()) {
    function->erase();
    return std::nullopt;
  }
  code.site = site;
  return code;
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

TaskTarget ckpt::enterSite(KernelCode &code, ImplicitLocOpBuilder &builder) {
  TaskTarget target{builder, MemoryMap(), {}, Value()};
  auto operandOf = [&](BlockArgument argument) {
    return code.site->getOperand(argument.getArgNumber());
  };
  for (BlockArgument argument : code.function.getArguments())
    if (!isa<MemRefType>(argument.getType()))
      target.memory[argument] = operandOf(argument);
  // Counters and other numbers of the loops around the site.
  llvm::SetVector<Value> captured;
  getUsedValuesDefinedAbove(code.site->getRegions(), captured);
  for (Value scalar : captured)
    target.memory[scalar] = scalar;
  for (auto [tensor, argument] : code.inputs)
    target.memory[tensor] = flatten(builder, operandOf(argument));
  for (auto [tensor, argument] : code.outputs)
    target.outputs.push_back(flatten(builder, operandOf(argument)));
  return target;
}
