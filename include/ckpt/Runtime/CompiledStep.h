//===- CompiledStep.h - Compiles a step and calls it ------------*- C++ -*-===//
//
// From a function of ckpt.kernel ops to machine code of this process. The
// caller owns all memory: arguments, results and the arena.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_RUNTIME_COMPILEDSTEP_H
#define CKPT_RUNTIME_COMPILEDSTEP_H

#include "ckpt/Support/LLVM.h"
#include "llvm/Support/Error.h"
#include <functional>
#include <memory>
#include <vector>

namespace mlir {
class ExecutionEngine;
} // namespace mlir

namespace ckpt {

/// The device that runs a step.
enum class RunDevice {
  Cpu,
  /// The code of a GPU on the CPU (Emulator.h), in one thread and not fast.
  Emulator,
  /// The GPU that is open (Cuda/Device.h); all memory of a step is its.
  Cuda
};

struct CompileOptions {
  /// The function to compile; may be empty if there is one public function.
  std::string function;
  /// Threads of large kernels, at least one. Has no influence on results.
  unsigned threads = 1;
  /// A machine starts so many; callers refuse more.
  static constexpr unsigned mostThreads = 1024;
  /// Level of LLVM's optimisations, 0 to 3.
  unsigned optLevel = 2;
  /// 32-bit elements of a vector; 0 means this machine's.
  int64_t lanes = 0;
  /// Lets `CompiledStep::time` time each kernel; on a GPU, a graph does.
  bool timeKernels = false;
  RunDevice device = RunDevice::Cpu;
  /// Options of `--ckpt-lower-to-nvvm-pipeline`; the emulator has a format of
  /// its own.
  std::string gpuOptions;
  /// Offers matmuls to a library, on a GPU (Cuda/Device.h, chooseMatmuls).
  bool offerMatmuls = false;
  /// Called with the launches and the device code before these are lowered
  /// further: so tests plant faults that the emulator has to catch.
  std::function<void(ModuleOp)> editLaunches;
};

/// As many 32-bit elements as the widest vector registers of this machine hold.
int64_t hostLanes();

/// Type of an argument or result of a step. An i1 takes a byte.
struct BufferType {
  /// The tensor, or the scalar that is passed by value.
  Type type;
  int64_t bytes = 0;
};

class CompiledStep {
public:
  /// Compiles a copy of \p module, which stays unchanged. A tensor function of
  /// kernels; see `--ckpt-kernels-to-calls` for its form. A failure already
  /// reported by a diagnostic is a `DiagnosedError`.
  static llvm::Expected<std::unique_ptr<CompiledStep>>
  compile(ModuleOp module, const CompileOptions &options = {});

  ~CompiledStep();

  ArrayRef<BufferType> getArguments() const { return arguments; }
  ArrayRef<BufferType> getResults() const { return results; }
  /// By argument: the result that may have its address, since the caller
  /// donates the argument and the step writes the result when it is dead; or
  /// -1.
  ArrayRef<int64_t> getDonated() const { return donated; }
  /// Bytes of the arena; its address must be a multiple of `arenaAlignment`.
  int64_t getArenaBytes() const { return arenaBytes; }
  static constexpr int64_t arenaAlignment = 64;

  /// Runs the step once: one pointer per argument and per result, in order.
  void run(ArrayRef<void *> arguments, ArrayRef<void *> results,
           void *arena) const;

  /// The same, and returns the nanoseconds of each kernel, in order; empty if
  /// it was not compiled to be timed. With one thread, time in which it had to
  /// wait for its processor does not count. One step at a time in a process.
  std::vector<int64_t> time(ArrayRef<void *> arguments,
                            ArrayRef<void *> results, void *arena) const;

private:
  CompiledStep() = default;

  std::unique_ptr<mlir::ExecutionEngine> engine;
  void (*entry)(void **) = nullptr;
  SmallVector<BufferType> arguments, results;
  SmallVector<int64_t> donated;
  int64_t arenaBytes = 0;
  unsigned threads = 1;
};

} // namespace ckpt

#endif // CKPT_RUNTIME_COMPILEDSTEP_H
