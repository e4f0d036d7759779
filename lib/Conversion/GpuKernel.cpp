//===- GpuKernel.cpp - Device code of one kernel --------------------------===//

#include "GpuKernel.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"

using namespace ckpt;
using namespace mlir;

Value GpuThread::block() {
  return gpu::BlockIdOp::create(builder, gpu::Dimension::x);
}

Value GpuThread::thread() {
  return gpu::ThreadIdOp::create(builder, gpu::Dimension::x);
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
  return function.addWorkgroupAttribution(type, builder.getLoc());
}

void GpuThread::barrier() { gpu::BarrierOp::create(builder); }

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

FailureOr<LaunchSize> ckpt::emitGpuElementwise(KernelCode &code,
                                               GpuThread &thread) {
  FailureOr<RankedTensorType> type = outputSpace(code);
  if (failed(type))
    return failure();
  int64_t count = type->getNumElements();
  if (count == 0)
    return LaunchSize();
  LaunchSize size{
      static_cast<int64_t>(llvm::divideCeil(count, threadsPerBlock))};
  Value number = thread.global();
  LogicalResult result =
      thread.ifBelow(number, count, size.blocks * size.threads, [&] {
        TaskTarget &target = thread.getTarget();
        ElementEmitter emitter(target.builder, target.memory, /*lanes=*/1);
        IndexEmitter &index = emitter.indices();
        return emitElementwisePoint(
            code, target, emitter,
            delinearize(index.atom(number, count), type->getShape(), index));
      });
  if (failed(result))
    return failure();
  return size;
}
