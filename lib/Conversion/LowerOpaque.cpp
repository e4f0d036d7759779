//===- LowerOpaque.cpp - Kernels of loops and of unknown ops --------------===//
//
// A kernel that is not made element by element (a scatter as a loop, a
// conditional) is bufferized by itself with upstream's one-shot bufferization.
// The inits of a loop are copied to its results first, so it updates them in
// place.
//
//===----------------------------------------------------------------------===//

#include "KernelCode.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/Transforms/OneShotAnalysis.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

using namespace ckpt;
using namespace mlir;

/// The operand whose buffer \p result may be made in.
static OpOperand *destinationOf(OpResult result) {
  Operation *op = result.getOwner();
  if (auto loop = dyn_cast<LoopLikeOpInterface>(op))
    return loop.getTiedLoopInit(result);
  if (auto dps = dyn_cast<DestinationStyleOpInterface>(op))
    return dps.getTiedOpOperand(result);
  return nullptr;
}

/// Lets the anchor start from a copy of its init in the output's buffer. Where
/// the output lies over the init, the copy is one onto itself.
static void writeIntoOutput(KernelCode &code, Value tensor,
                            BlockArgument out) {
  auto result = dyn_cast<OpResult>(tensor);
  if (!result || result.getOwner() != code.anchor)
    return;
  OpOperand *init = destinationOf(result);
  if (!init || init->get().getDefiningOp<tensor::EmptyOp>())
    return;
  OpBuilder builder(code.anchor);
  Location loc = code.anchor->getLoc();
  Value destination = bufferization::ToTensorOp::create(
      builder, loc, init->get().getType(), out, /*restrict=*/true,
      /*writable=*/true);
  DenseElementsAttr splat;
  Value started;
  if (matchPattern(init->get(), m_Constant(&splat)) && splat.isSplat()) {
    Value scalar = arith::ConstantOp::create(
        builder, loc, cast<TypedAttr>(splat.getSplatValue<Attribute>()));
    started = linalg::FillOp::create(builder, loc, scalar, destination)
                  .getResult(0);
  } else {
    started = linalg::CopyOp::create(builder, loc, init->get(), destination)
                  .getResult(0);
  }
  init->set(started);
}

/// Small temporaries go to the stack; `--ckpt-check-kernel-memory` limits them.
static void moveToStack(func::FuncOp function) {
  OpBuilder entry = OpBuilder::atBlockBegin(&function.front());
  function.walk([](memref::DeallocOp dealloc) { dealloc.erase(); });
  function.walk([&](memref::AllocOp alloc) {
    if (!alloc.getType().hasStaticShape())
      return;
    Value scratch = memref::AllocaOp::create(
        entry, alloc.getLoc(), alloc.getType(), alloc.getAlignmentAttr());
    alloc.replaceAllUsesWith(scratch);
    alloc.erase();
  });
}

LogicalResult ckpt::lowerOpaqueKernel(KernelCode &code) {
  for (auto [tensor, out] : code.outputs)
    writeIntoOutput(code, tensor, out);
  bufferization::OneShotBufferizationOptions options;
  options.bufferAlignment = 64;
  bufferization::BufferizationState state;
  if (failed(bufferization::runOneShotBufferize(code.function, options, state)))
    return failure();
  moveToStack(code.function);
  return success();
}
