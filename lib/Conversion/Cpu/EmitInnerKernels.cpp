//===- EmitInnerKernels.cpp - Reductions inside of loops on the CPU -------===//
//
// `--ckpt-emit-kernels` runs it on a kernel that was bufferized as a whole
// (BufferizeOpaque.h). The scratch of one reduction after another lies in the
// same bytes of the stack.
//
//===----------------------------------------------------------------------===//

#include "Conversion/Cpu/CpuEmitters.h"
#include "Conversion/Kernel/ContractionBody.h"
#include "Conversion/Kernel/InnerKernel.h"
#include "ckpt/Support/ElementBytes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace ckpt;
using namespace mlir;

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
    LogicalResult result =
        isContraction
            ? emitContractionKernel(*code, lanes, /*threads=*/false, symbols)
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
