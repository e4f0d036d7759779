//===- InnerKernel.cpp - Reductions inside of loops as kernels ------------===//

#include "InnerKernel.h"
#include "ContractionBody.h"
#include "ckpt/ExternalModels/KernelFunction.h"
#include "ckpt/Support/ElementBytes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StructuredOpsUtils.h"

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
  FailureOr<KernelCode> code = KernelCode::read(function);
  if (failed(code) || !code->anchor || code->isOpaque()) {
    function->erase();
    return std::nullopt;
  }
  code->site = site;
  return *code;
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
  for (auto [tensor, argument] : code.inputs)
    target.memory[tensor] = flatten(builder, operandOf(argument));
  for (auto [tensor, argument] : code.outputs)
    target.outputs.push_back(flatten(builder, operandOf(argument)));
  return target;
}

/// Lets \p scratch of ops that run one after another lie in the same memory.
static void shareStack(func::FuncOp function,
                       ArrayRef<SmallVector<memref::AllocaOp>> scratch) {
  auto bytesOf = [](memref::AllocaOp buffer) {
    MemRefType type = buffer.getType();
    return llvm::alignTo(
        type.getNumElements() * elementBytes(type.getElementType()), 64);
  };
  int64_t most = 0;
  for (ArrayRef<memref::AllocaOp> buffers : scratch) {
    int64_t bytes = 0;
    for (memref::AllocaOp buffer : buffers)
      bytes += bytesOf(buffer);
    most = std::max(most, bytes);
  }
  if (most == 0)
    return;
  OpBuilder builder = OpBuilder::atBlockBegin(&function.front());
  Location loc = function.getLoc();
  auto stack = memref::AllocaOp::create(
      builder, loc, MemRefType::get({most}, builder.getI8Type()),
      builder.getI64IntegerAttr(64));
  for (ArrayRef<memref::AllocaOp> buffers : scratch) {
    int64_t offset = 0;
    for (memref::AllocaOp buffer : buffers) {
      OpBuilder here(buffer);
      Value shift = arith::ConstantIndexOp::create(here, loc, offset);
      offset += bytesOf(buffer);
      buffer.replaceAllUsesWith(memref::ViewOp::create(here, loc,
                                                       buffer.getType(), stack,
                                                       shift, ValueRange())
                                    .getResult());
      buffer.erase();
    }
  }
}

LogicalResult ckpt::emitInnerKernels(func::FuncOp function, int64_t lanes,
                                     SymbolTable &symbols) {
  SmallVector<linalg::LinalgOp> sites;
  function.walk([&](linalg::LinalgOp op) { sites.push_back(op); });
  SmallVector<SmallVector<memref::AllocaOp>> scratch;
  for (linalg::LinalgOp site : sites) {
    std::optional<KernelCode> code = readInnerKernel(site);
    if (!code)
      continue;
    auto allocas = [&] { return function.front().getOps<memref::AllocaOp>(); };
    SmallPtrSet<Operation *, 8> before;
    for (memref::AllocaOp buffer : allocas())
      before.insert(buffer);
    bool isContraction =
        matchContraction(cast<linalg::LinalgOp>(code->anchor)).has_value();
    LogicalResult result = isContraction
                               ? emitContractionKernel(*code, lanes, symbols)
                               : emitReductionKernel(*code, lanes, symbols);
    if (failed(result))
      return failure();
    scratch.emplace_back();
    for (memref::AllocaOp buffer : allocas())
      if (!before.contains(buffer))
        scratch.back().push_back(buffer);
    code->function->erase();
    site->erase();
  }
  shareStack(function, scratch);
  return success();
}
