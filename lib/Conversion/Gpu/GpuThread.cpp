//===- GpuThread.cpp - Device code of one kernel --------------------------===//

#include "Conversion/Gpu/GpuThread.h"
#include "Conversion/Kernel/ContractionShape.h"
#include "ckpt/Support/Elements.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace ckpt;
using namespace mlir;

Value GpuThread::block() {
  return gpu::BlockIdOp::create(builder, gpu::Dimension::x);
}

Value GpuThread::thread() {
  return gpu::ThreadIdOp::create(builder, gpu::Dimension::x);
}

int64_t TileGrid::blocks() const {
  return batches * llvm::divideCeil(rows, tileRows) *
         llvm::divideCeil(columns, tileColumns);
}

TileGrid ckpt::tilesOf(const ContractionShape &shape, int64_t rows,
                       int64_t columns) {
  return {shape.batch.getExtent(), shape.rows.getExtent(),
          shape.columns.getExtent(), rows, columns};
}

TileGrid ckpt::squaresOf(const ContractionShape &shape, int64_t side) {
  return tilesOf(shape, side, side);
}

int64_t ckpt::lanesOf(KernelCode &code) {
  if (!supportsLanes(code.function.front()))
    return 1;
  int64_t widest = 1;
  for (auto [tensor, argument] : code.outputs) {
    Type type = getElementTypeOrSelf(tensor.getType());
    widest = std::max(widest, elementBytes(type));
  }
  return std::max<int64_t>(1, accessBytes / widest);
}

/// Blocks that run at the same time make a square of tiles, so that they share
/// operands in the cache: numbers go down the columns of one band of rows after
/// the other. Devices of today run about 16 x 16 blocks at a time.
Corner GpuThread::corner(const TileGrid &grid, IndexEmitter &index) {
  constexpr int64_t bandRows = 16;
  int64_t down = llvm::divideCeil(grid.rows, grid.tileRows);
  int64_t across = llvm::divideCeil(grid.columns, grid.tileColumns);
  LinearIndex number = index.atom(block(), grid.blocks());
  auto [batch, inPlane] = divideIndex(number, down * across, index);
  auto [band, inBand] = divideIndex(inPlane, bandRows * across, index);
  // The last band may have fewer rows.
  Value firstRow = index.materialize(band * bandRows);
  Value rows = arith::MinUIOp::create(
      builder, constant(bandRows),
      arith::SubIOp::create(builder, constant(down), firstRow));
  Value rest = index.materialize(inBand);
  Value row = arith::AddIOp::create(
      builder, firstRow, arith::RemUIOp::create(builder, rest, rows));
  Value column = arith::DivUIOp::create(builder, rest, rows);
  return {batch, index.atom(row, down) * grid.tileRows,
          index.atom(column, across) * grid.tileColumns};
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

/// One symbol for all kernels of the module: the begin of the launch's memory.
/// It has no size of its own. Upstream's `gpu.dynamic_shared_memory` becomes a
/// symbol of the module, which `ptxas` lays over the declarations of kernels.
static memref::GlobalOp dynamicMemory(gpu::GPUFuncOp function) {
  constexpr StringRef name = "dynamic_shared";
  auto device = function->getParentOfType<gpu::GPUModuleOp>();
  if (auto known = device.lookupSymbol<memref::GlobalOp>(name))
    return known;
  OpBuilder builder = OpBuilder::atBlockBegin(device.getBody());
  auto space = gpu::AddressSpaceAttr::get(builder.getContext(),
                                          gpu::AddressSpace::Workgroup);
  return memref::GlobalOp::create(
      builder, device.getLoc(), name, /*sym_visibility=*/StringAttr(),
      MemRefType::get({0}, builder.getI8Type(), MemRefLayoutAttrInterface(),
                      space),
      /*initial_value=*/Attribute(), /*constant=*/false,
      builder.getI64IntegerAttr(dynamicAlignment));
}

static int64_t bytesOf(ArrayRef<int64_t> extents, Type element) {
  return llvm::product_of(extents) * element.getIntOrFloatBitWidth() / 8;
}

Value GpuThread::launchMemory(ArrayRef<int64_t> extents, Type element,
                              int64_t begin) {
  memref::GlobalOp global = dynamicMemory(function);
  Value all = memref::GetGlobalOp::create(builder, global.getType(),
                                          global.getSymName());
  auto type = MemRefType::get(extents, element, MemRefLayoutAttrInterface(),
                              global.getType().getMemorySpace());
  return memref::ViewOp::create(builder, type, all, constant(begin),
                                ValueRange());
}

Value GpuThread::dynamicShared(ArrayRef<int64_t> extents, Type element) {
  Value memory = launchMemory(extents, element, dynamicBytes);
  dynamicBytes += llvm::alignTo(bytesOf(extents, element), dynamicAlignment);
  return memory;
}

Value GpuThread::overlaidShared(ArrayRef<int64_t> extents, Type element) {
  assert(bytesOf(extents, element) <= dynamicBytes && "expected enough memory");
  return launchMemory(extents, element, /*begin=*/0);
}

void GpuThread::barrier() { gpu::BarrierOp::create(builder); }

void GpuThread::fenceProxies() {
  MLIRContext *context = builder.getContext();
  NVVM::FenceProxyOp::create(
      builder, NVVM::ProxyKindAttr::get(context, NVVM::ProxyKind::async_shared),
      NVVM::SharedSpaceAttr::get(context, NVVM::SharedSpace::shared_cta));
}

/// `ckpt-lower-to-nvvm-pipeline` makes it 128 bytes by value: upstream drops
/// the attribute.
Value GpuThread::tensorMap(cuda::TensorMap map) {
  unsigned number = function.getNumArguments();
  map.parameter = number;
  tensorMaps.push_back(map);
  NamedAttribute alignment =
      builder.getNamedAttr(LLVM::LLVMDialect::getAlignAttrName(),
                           builder.getI64IntegerAttr(cuda::tensorMapAlignment));
  LogicalResult isInserted = function.insertArgument(
      number, LLVM::LLVMPointerType::get(builder.getContext()),
      builder.getDictionaryAttr(alignment), builder.getLoc());
  assert(succeeded(isInserted) && "expected to add a parameter at the end");
  (void)isInserted;
  return function.getArgument(number);
}

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
