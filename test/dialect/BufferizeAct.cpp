//===- BufferizeAct.cpp - Running sums as loops on buffers ----------------===//
//
// The lowering of an opaque op: ckpt brings its kernel to buffers by upstream's
// bufferization, which asks the op.
//
//===----------------------------------------------------------------------===//

#include "Act.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::bufferization;

bool act::CumsumOp::bufferizesToMemoryRead(OpOperand &operand,
                                           const AnalysisState &) {
  return operand.get() == getX();
}

bool act::CumsumOp::bufferizesToMemoryWrite(OpOperand &operand,
                                            const AnalysisState &) {
  return isDpsInit(&operand);
}

AliasingValueList act::CumsumOp::getAliasingValues(OpOperand &operand,
                                                   const AnalysisState &) {
  if (isDpsInit(&operand))
    return {{getResult(), BufferRelation::Equivalent}};
  return {};
}

/// Sums one row of \p x into \p out.
static void emitRow(OpBuilder &builder, Location loc, Value x, Value out,
                    Value row) {
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  Value one = arith::ConstantIndexOp::create(builder, loc, 1);
  Value columns = memref::DimOp::create(builder, loc, x, 1);
  Value start =
      arith::ConstantOp::create(builder, loc, builder.getF32FloatAttr(0));
  scf::ForOp::create(
      builder, loc, zero, columns, one, start,
      [&](OpBuilder &builder, Location loc, Value column, ValueRange sums) {
        ValueRange at({row, column});
        Value element = memref::LoadOp::create(builder, loc, x, at);
        Value sum = arith::AddFOp::create(builder, loc, sums[0], element);
        memref::StoreOp::create(builder, loc, sum, out, at);
        scf::YieldOp::create(builder, loc, sum);
      });
}

LogicalResult act::CumsumOp::bufferize(RewriterBase &rewriter,
                                       const BufferizationOptions &options,
                                       BufferizationState &state) {
  FailureOr<Value> x = getBuffer(rewriter, getX(), options, state);
  FailureOr<Value> out = getBuffer(rewriter, getOut(), options, state);
  if (failed(x) || failed(out))
    return failure();
  Location loc = getLoc();
  Value zero = arith::ConstantIndexOp::create(rewriter, loc, 0);
  Value one = arith::ConstantIndexOp::create(rewriter, loc, 1);
  Value rows = memref::DimOp::create(rewriter, loc, *x, 0);
  scf::ForOp::create(
      rewriter, loc, zero, rows, one, ValueRange(),
      [&](OpBuilder &builder, Location loc, Value row, ValueRange) {
        emitRow(builder, loc, *x, *out, row);
        scf::YieldOp::create(builder, loc);
      });
  replaceOpWithBufferizedValues(rewriter, getOperation(), *out);
  return success();
}
