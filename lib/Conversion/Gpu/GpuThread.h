//===- GpuThread.h - Device code of one kernel ------------------*- C++ -*-===//
//
// Shared by the emitters of the different forms of kernels on a GPU: the
// function of one thread that they write, and the number of threads that run
// it. The same emitters of elements, reductions and epilogues as on the CPU
// write a thread's code.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_LIB_CONVERSION_GPU_GPUTHREAD_H
#define CKPT_LIB_CONVERSION_GPU_GPUTHREAD_H

#include "Conversion/Kernel/KernelCode.h"
#include "ckpt/Cuda/TensorMap.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace ckpt {

struct ContractionShape;

/// Threads of a block, in nearly every kernel that has more than one.
inline constexpr int64_t threadsPerBlock = 256;

/// Widest access of a thread to memory.
inline constexpr int64_t accessBytes = 16;

/// Alignment of the launch's shared memory, at which patterns of banks repeat.
inline constexpr int64_t dynamicAlignment = 1024;

/// How a kernel is launched; no blocks where there is nothing to do.
struct LaunchSize {
  int64_t blocks = 0;
  int64_t threads = threadsPerBlock;
  /// Memory that the threads of a block share, beside the kernel's
  /// declarations.
  int64_t sharedBytes = 0;
  /// Parameters behind the kernel's own.
  SmallVector<cuda::TensorMap, cuda::mostTensorMaps> tensorMaps = {};
};

/// Planes of rows and columns that are cut into tiles, one for each block.
struct TileGrid {
  int64_t batches, rows, columns;
  /// Of a tile.
  int64_t tileRows, tileColumns;

  int64_t blocks() const;
};
TileGrid tilesOf(const ContractionShape &shape, int64_t rows, int64_t columns);
TileGrid squaresOf(const ContractionShape &shape, int64_t side);

/// Neighbours of the outputs that a thread makes at a time: all that an access
/// to the widest output takes.
int64_t lanesOf(KernelCode &code);

/// Begin of the tile of a block.
struct Corner {
  LinearIndex batch, row, column;
};

/// The place at which one thread of a kernel is emitted.
class GpuThread {
public:
  GpuThread(mlir::gpu::GPUFuncOp function, TaskTarget &target)
      : function(function), target(target), builder(target.builder) {}

  TaskTarget &getTarget() { return target; }
  mlir::ImplicitLocOpBuilder &getBuilder() { return builder; }

  /// Number of the block and of the thread in it.
  Value block();
  Value thread();
  /// Corner of the tile of this block.
  Corner corner(const TileGrid &grid, IndexEmitter &index);
  /// Number of the thread among all of the kernel.
  Value global();
  Value constant(int64_t value);
  /// Memory that the threads of a block share.
  Value shared(ArrayRef<int64_t> extents, Type element);
  /// The same where it is more than a kernel may declare: the launch asks for
  /// it. Begins at a multiple of `dynamicAlignment`.
  Value dynamicShared(ArrayRef<int64_t> extents, Type element);
  /// The begin of it again, as other elements.
  Value overlaidShared(ArrayRef<int64_t> extents, Type element);
  /// All that `dynamicShared` gave.
  int64_t getDynamicBytes() const { return dynamicBytes; }
  void barrier();
  /// Makes this thread's writes to shared memory visible to the asynchronous
  /// proxy.
  void fenceProxies();
  /// A parameter that takes \p map, which the launcher makes.
  Value tensorMap(cuda::TensorMap map);
  ArrayRef<cuda::TensorMap> getTensorMaps() const { return tensorMaps; }
  /// Elements for \p lanes neighbours at a time. Buffers begin at multiples of
  /// the widest access: slots of the arena do, and a driver's allocations.
  ElementEmitter elements(int64_t lanes);
  /// Emits \p body for threads whose \p number is below \p end; for all if
  /// \p count, the number of numbers, is not above it.
  LogicalResult ifBelow(Value number, int64_t end, int64_t count,
                        llvm::function_ref<LogicalResult()> body);

private:
  Value launchMemory(ArrayRef<int64_t> extents, Type element, int64_t begin);

  mlir::gpu::GPUFuncOp function;
  TaskTarget &target;
  mlir::ImplicitLocOpBuilder &builder;
  int64_t dynamicBytes = 0;
  SmallVector<cuda::TensorMap, cuda::mostTensorMaps> tensorMaps;
};

} // namespace ckpt

#endif // CKPT_LIB_CONVERSION_GPU_GPUTHREAD_H
