//===- GpuKernel.cpp - Device code of one kernel --------------------------===//

#include "GpuKernel.h"
#include "ContractionShape.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace ckpt;
using namespace mlir;

Value GpuThread::block() {
  return gpu::BlockIdOp::create(builder, gpu::Dimension::x);
}

Value GpuThread::thread() {
  return gpu::ThreadIdOp::create(builder, gpu::Dimension::x);
}

int64_t SquareGrid::blocks() const {
  return batches * llvm::divideCeil(rows, side) *
         llvm::divideCeil(columns, side);
}

SquareGrid ckpt::squaresOf(const ContractionShape &shape, int64_t side) {
  return {shape.batch.getExtent(), shape.rows.getExtent(),
          shape.columns.getExtent(), side};
}

Corner GpuThread::corner(const SquareGrid &grid, IndexEmitter &index) {
  int64_t side = grid.side;
  int64_t down = llvm::divideCeil(grid.rows, side);
  int64_t across = llvm::divideCeil(grid.columns, side);
  SmallVector<LinearIndex> place = delinearize(
      index.atom(block(), grid.blocks()), {grid.batches, down, across}, index);
  return {place[0], place[1] * side, place[2] * side};
}

Value GpuThread::global() {
  Value first =
      arith::MulIOp::create(builder, block(), constant(threadsPerBlock));
  return arith::AddIOp::create(builder, first, thread());
}

Value GpuThread::constant(int64_t value) {
  return arith::ConstantIndexOp::create(builder, value);
}

Value GpuThread::shared(ArrayRef<int64_t> extents, Type element) {
  auto space = gpu::AddressSpaceAttr::get(builder.getContext(),
                                          gpu::AddressSpace::Workgroup);
  auto type =
      MemRefType::get(extents, element, MemRefLayoutAttrInterface(), space);
  Value memory = function.addWorkgroupAttribution(type, builder.getLoc());
  function.setWorkgroupAttributionAttr(function.getNumWorkgroupAttributions() -
                                           1,
                                       LLVM::LLVMDialect::getAlignAttrName(),
                                       builder.getI64IntegerAttr(accessBytes));
  return memory;
}

void GpuThread::barrier() { gpu::BarrierOp::create(builder); }

ElementEmitter GpuThread::elements(int64_t lanes) {
  ElementEmitter emitter(builder, target.memory, lanes);
  emitter.assumeAlignment(accessBytes);
  return emitter;
}

LogicalResult GpuThread::ifBelow(Value number, int64_t end, int64_t count,
                                 llvm::function_ref<LogicalResult()> body) {
  if (count <= end)
    return body();
  Value isInside = arith::CmpIOp::create(builder, arith::CmpIPredicate::ult,
                                         number, constant(end));
  auto choice = scf::IfOp::create(builder, isInside, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(choice.thenBlock());
  return body();
}
