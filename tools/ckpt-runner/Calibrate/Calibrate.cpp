//===- Calibrate.cpp - Measures this machine ------------------------------===//

#include "Calibrate/Calibrate.h"
#include "Calibrate/CalibrationPrograms.h"
#include "Run/Inputs.h"
#include "Run/KernelCosts.h"
#include "Run/MeasureOnGpu.h"
#include "Run/Messages.h"
#include "Run/Progress.h"
#include "ckpt/Pipelines/PlanPipeline.h"
#include "ckpt/Runtime/CompiledStep.h"
#include "ckpt/Runtime/Gpu.h"
#include "ckpt/Support/OutputFile.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/TargetParser/Host.h"
#include <unistd.h>

using namespace ckpt;

/// Bytes of the largest cache that a core has for itself; 0 if unknown.
static int64_t hostCacheBytes() {
#ifdef _SC_LEVEL2_CACHE_SIZE
  return std::max<int64_t>(0, sysconf(_SC_LEVEL2_CACHE_SIZE));
#else
  return 0;
#endif
}

namespace {

/// A program whose kernels are measured in several rounds.
struct CompiledProgram {
  std::string title;
  bool heldOut;
  Signature signature;
  std::unique_ptr<CompiledStep> step;
  /// The work of each kernel, and its fastest run so far.
  std::vector<MeasuredKernel> kernels;
};

class Calibration {
public:
  Calibration(mlir::MLIRContext &context, const CalibrationOptions &options)
      : context(context), options(options) {}

  /// Finds the facts of the device that need no measurement.
  llvm::Error describeDevice();
  LogicalResult compileAll();
  LogicalResult measureAll();
  Device fit() const { return fitDevice(device, kernels(/*heldOut=*/false)); }
  void print(const Device &device, llvm::raw_ostream &os) const;

private:
  LogicalResult compile(const CalibrationProgram &program);
  llvm::Error measure(CompiledProgram &program) const;
  llvm::Error measureOnGpu(CompiledProgram &program, const Buffers &arguments,
                           const Buffers &results) const;
  std::vector<MeasuredKernel> kernels(bool heldOut) const;

  mlir::MLIRContext &context;
  CalibrationOptions options;
  Device device;
  std::vector<CompiledProgram> programs;
};

} // namespace

llvm::Error Calibration::describeDevice() {
  if (options.device == RunDevice::Cuda) {
    auto name = openGpu(options.gpuOptions);
    if (!name)
      return name.takeError();
    device.name = "cuda";
    device.source =
        "measured by ckpt-runner --calibrate --device=cuda on " + *name;
    return llvm::Error::success();
  }
  device.name = "cpu";
  device.source =
      llvm::formatv("measured by ckpt-runner --calibrate --threads={0} on {1}",
                    options.threads, llvm::sys::getHostCPUName())
          .str();
  device.lanes = hostLanes();
  if (int64_t bytes = hostCacheBytes())
    device.caches.push_back({bytes, 0});
  return llvm::Error::success();
}

LogicalResult Calibration::compile(const CalibrationProgram &program) {
  auto module = mlir::parseSourceString<ModuleOp>(program.text, &context);
  if (!module)
    return failure();
  plan::report::StepReport ignored;
  if (failed(
          planModule(*module, "strategy=none", /*formLayers=*/false, ignored)))
    return failure();
  auto function = *module->getOps<mlir::func::FuncOp>().begin();
  FailureOr<Signature> signature = readSignature(function);
  FailureOr<std::vector<KernelWork>> work = countWork(function, device);
  if (failed(signature) || failed(work) || failed(rewriteModule(*module)))
    return failure();
  CompileOptions compileOptions;
  compileOptions.threads = options.threads;
  compileOptions.timeKernels = true;
  compileOptions.device = options.device;
  compileOptions.gpuOptions = options.gpuOptions;
  auto step = CompiledStep::compile(*module, compileOptions);
  if (!step)
    return report(step.takeError());
  CompiledProgram &compiled =
      programs.emplace_back(CompiledProgram{program.title,
                                            program.heldOut,
                                            std::move(*signature),
                                            std::move(*step),
                                            {}});
  for (KernelWork &counted : *work)
    compiled.kernels.push_back({std::move(counted), INT64_MAX});
  return success();
}

LogicalResult Calibration::compileAll() {
  auto all =
      calibrationPrograms(options.few, options.device == RunDevice::Cuda);
  for (auto [number, program] : llvm::enumerate(all)) {
    Progress progress(llvm::formatv("compiling {0} ({1} of {2})", program.title,
                                    number + 1, all.size()));
    if (failed(compile(program)))
      return failure();
  }
  return success();
}

static SmallVector<void *> pointersTo(const Buffers &buffers) {
  return llvm::map_to_vector(
      buffers, [](const auto &buffer) -> void * { return buffer->data(); });
}

llvm::Error Calibration::measureOnGpu(CompiledProgram &program,
                                      const Buffers &arguments,
                                      const Buffers &results) const {
  auto nanoseconds =
      timeKernelsOnDevice(*program.step, options.repeat, arguments, results);
  if (!nanoseconds)
    return nanoseconds.takeError();
  for (auto [kernel, elapsed] : llvm::zip_equal(program.kernels, *nanoseconds))
    kernel.nanoseconds = std::min(kernel.nanoseconds, elapsed);
  return llvm::Error::success();
}

/// One round of one program, in memory that is given back after it.
llvm::Error Calibration::measure(CompiledProgram &program) const {
  llvm::Expected<Buffers> arguments = allocate(program.signature.arguments);
  if (!arguments)
    return arguments.takeError();
  generateInputs(/*seed=*/0, {}, program.signature, *arguments);
  llvm::Expected<Buffers> results = allocate(program.signature.results);
  if (!results)
    return results.takeError();
  if (options.device == RunDevice::Cuda)
    return measureOnGpu(program, *arguments, *results);
  auto arena =
      GuardedBuffer::create(program.step->getArenaBytes(), "the arena");
  if (!arena)
    return arena.takeError();
  // The first run also waits for the pages of the results.
  for (unsigned run = 0; run <= options.repeat; ++run) {
    std::vector<int64_t> nanoseconds = program.step->time(
        pointersTo(*arguments), pointersTo(*results), (*arena)->data());
    for (auto [kernel, elapsed] : llvm::zip_equal(program.kernels, nanoseconds))
      if (run > 0)
        kernel.nanoseconds = std::min(kernel.nanoseconds, elapsed);
  }
  return llvm::Error::success();
}

/// Runs in rounds over all programs: a disturbance of a machine comes and goes,
/// and would spoil all runs of one program at a time.
LogicalResult Calibration::measureAll() {
  for (unsigned round = 0; round < options.rounds; ++round)
    for (auto [number, program] : llvm::enumerate(programs)) {
      Progress progress(llvm::formatv("measuring {0} ({1} of {2}), round {3} "
                                      "of {4}",
                                      program.title, number + 1,
                                      programs.size(), round + 1,
                                      options.rounds));
      if (failed(report(measure(program))))
        return failure();
    }
  return success();
}

std::vector<MeasuredKernel> Calibration::kernels(bool heldOut) const {
  std::vector<MeasuredKernel> chosen;
  for (const CompiledProgram &program : programs)
    if (program.heldOut == heldOut)
      llvm::append_range(chosen, program.kernels);
  return chosen;
}

void Calibration::print(const Device &device, llvm::raw_ostream &os) const {
  auto line = [&](StringRef which, ArrayRef<MeasuredKernel> kernels) {
    PredictionError error = errorOf(device, kernels);
    os << llvm::formatv("  {0,-10} {1,8} {2,8:f1}% {3,16:f1}%\n", which,
                        kernels.size(), 100 * error.median,
                        100 * error.ninetiethPercentile);
  };
  os << device.source << "\n\n  predicted time of a kernel, off by\n"
     << "              kernels   median  90th percentile\n";
  line("fitted", kernels(/*heldOut=*/false));
  line("held out", kernels(/*heldOut=*/true));
}

LogicalResult ckpt::calibrate(mlir::MLIRContext &context,
                              const CalibrationOptions &options,
                              StringRef path) {
  Calibration calibration(context, options);
  if (failed(report(calibration.describeDevice())) ||
      failed(calibration.compileAll()) || failed(calibration.measureAll()))
    return failure();
  Device device = calibration.fit();
  if (failed(report(writeOutputFile(
          path, [&](llvm::raw_ostream &os) { printDevice(device, os); }))))
    return failure();
  return report(writeOutputFile(
      "-", [&](llvm::raw_ostream &os) { calibration.print(device, os); }));
}
