//===- Calibrate.cpp - Measures this machine ------------------------------===//

#include "Calibrate.h"
#include "CalibrationPrograms.h"
#include "Inputs.h"
#include "KernelCosts.h"
#include "Messages.h"
#include "Variant.h"
#include "ckpt/Runtime/Execution.h"
#include "ckpt/Support/OutputFile.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/TargetParser/Host.h"

using namespace ckpt;

namespace {

class Calibration {
public:
  Calibration(mlir::MLIRContext &context, const CalibrationOptions &options)
      : context(context), options(options), lanes(hostLanes()) {}

  LogicalResult measureAll();
  Device fit() const;
  void print(const Device &device, llvm::raw_ostream &os) const;

private:
  LogicalResult measure(const CalibrationProgram &program);

  mlir::MLIRContext &context;
  const CalibrationOptions &options;
  int64_t lanes;
  std::vector<MeasuredKernel> fitted, heldOut;
};

} // namespace

LogicalResult Calibration::measure(const CalibrationProgram &program) {
  auto module = mlir::parseSourceString<ModuleOp>(program.text, &context);
  if (!module)
    return failure();
  llvm::json::Object figures;
  if (failed(planModule(
          *module, program.asWritten ? "strategy=as-written" : "strategy=none",
          /*formLayers=*/false, figures)))
    return failure();
  auto step = *module->getOps<mlir::func::FuncOp>().begin();
  FailureOr<Signature> signature = readSignature(step);
  FailureOr<std::vector<KernelWork>> work = countWork(step, lanes);
  if (failed(signature) || failed(work) || failed(rewriteModule(*module)))
    return failure();
  llvm::Expected<Buffers> arguments = allocate(signature->arguments);
  if (!arguments)
    return report(arguments.takeError());
  generateInputs(/*seed=*/0, {}, *signature, *arguments);

  RunOptions run;
  run.threads = options.threads;
  run.repeat = options.repeat;
  run.timeKernels = true;
  FailureOr<Measurement> measured =
      measureModule(*module, run, *signature, *arguments);
  if (failed(measured))
    return failure();
  auto &kernels = program.heldOut ? heldOut : fitted;
  for (auto [counted, nanoseconds] : llvm::zip_equal(*work, measured->kernelNs))
    kernels.push_back({counted, nanoseconds});
  if (getenv("CKPT_DUMP")) {
    std::error_code ec;
    llvm::raw_fd_ostream f(getenv("CKPT_DUMP"), ec, llvm::sys::fs::OF_Append);
    for (auto [w, ns] : llvm::zip_equal(*work, measured->kernelNs)) {
      f << ns << "\t0\t" << w.bytesMoved << "\t" << program.title
        << (program.heldOut ? " H" : " F") << "\t";
      for (auto &x : w.work)
        f << nameOf(x.type) << "." << nameOf(x.kind) << "=" << x.amount << " ";
      f << "\n";
    }
  }
  return success();
}

LogicalResult Calibration::measureAll() {
  auto programs = calibrationPrograms(options.few);
  for (auto [number, program] : llvm::enumerate(programs)) {
    Progress progress(llvm::formatv("measuring {0} ({1} of {2})", program.title,
                                    number + 1, programs.size()));
    if (failed(measure(program)))
      return failure();
  }
  return success();
}

Device Calibration::fit() const {
  Device device;
  device.name = "cpu";
  device.source = llvm::formatv("measured by ckpt-runner --calibrate "
                                "--threads={0} on a {1}",
                                options.threads, llvm::sys::getHostCPUName())
                      .str();
  device.lanes = lanes;
  return fitDevice(device, fitted);
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
  line("fitted", fitted);
  line("held out", heldOut);
}

LogicalResult ckpt::calibrate(mlir::MLIRContext &context,
                              const CalibrationOptions &options,
                              StringRef path) {
  Calibration calibration(context, options);
  if (failed(calibration.measureAll()))
    return failure();
  Device device = calibration.fit();
  if (failed(report(writeOutputFile(
          path, [&](llvm::raw_ostream &os) { printDevice(device, os); }))))
    return failure();
  calibration.print(device, llvm::outs());
  return success();
}
