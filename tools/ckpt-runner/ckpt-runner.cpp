//===- ckpt-runner.cpp - Plans, compiles, runs and verifies a step --------===//
//
// The order of a run: read, prepare, plan, rewrite, compile, run, compare,
// report. Each part is a file of a room (README.md).
//
//===----------------------------------------------------------------------===//

#include "Calibrate/Calibrate.h"
#include "CommandLine.h"
#include "Report/RunReport.h"
#include "Run/CompareResults.h"
#include "Run/EmitProgram.h"
#include "Run/IndexRanges.h"
#include "Run/MeasureOnGpu.h"
#include "Run/MeasureStep.h"
#include "Run/Messages.h"
#include "Run/Progress.h"
#include "Run/ScalarArguments.h"
#include "ckpt/Analysis/Step.h"
#include "ckpt/Analysis/Supported.h"
#include "ckpt/Cost/Device.h"
#include "ckpt/IR/CkptDialect.h"
#include "ckpt/InitAll.h"
#include "ckpt/Pipelines/PlanPipeline.h"
#include "ckpt/Runtime/Gpu.h"
#include "ckpt/Support/OutputFile.h"
#include "ckpt/Support/ReadModule.h"
#include "mlir/IR/AsmState.h"
#include "mlir/Tools/Plugins/DialectPlugin.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/WithColor.h"

using namespace ckpt;

static bool isRewritten(mlir::func::FuncOp step) {
  return step.walk([](KernelOp) { return mlir::WalkResult::interrupt(); })
      .wasInterrupted();
}

/// Arguments from a file or from the seed; nothing may write to them
/// later.
static FailureOr<Buffers> makeArguments(const CommandLine &command,
                                        mlir::func::FuncOp step,
                                        const Signature &signature) {
  llvm::Expected<Buffers> arguments = allocate(signature.arguments);
  if (!arguments)
    return report(arguments.takeError());
  if (!command.inputsPath.empty()) {
    if (failed(report(loadTensors(command.inputsPath, signature.arguments,
                                  "argument", *arguments))))
      return failure();
  } else {
    std::map<std::string, Range> byName;
    for (auto [spec, extent] :
         llvm::zip_equal(signature.arguments, indexedExtents(step)))
      if (extent > 0)
        byName[spec.name] = {0, static_cast<double>(extent)};
    for (const std::string &text : command.ranges) {
      auto range = parseRange(text, signature);
      if (!range)
        return report(range.takeError());
      byName[range->first] = range->second;
    }
    generateInputs(command.seed, byName, signature, *arguments);
  }
  for (const auto &buffer : *arguments)
    buffer->makeReadOnly();
  return std::move(*arguments);
}

namespace {
/// One way to run the step.
struct Variant {
  std::string title, planOptions;
  bool formLayers = false;
  /// Whether pins and budgets of regions hold.
  bool obeysDemands = true;
};

/// Everything between a parsed program and the exit code.
class Runner {
public:
  Runner(const CommandLine &command, ModuleOp program, RunReport &summary)
      : command(command), program(program), summary(summary) {
    options.function = command.functionName;
    options.threads = command.threads;
    options.repeat = command.repeat;
    options.gpuOptions = command.gpuOptions;
    options.matmulLibrary = command.matmulLibrary;
    costs = command.costs;
    if (command.device == "emulator")
      options.device = RunDevice::Emulator;
    if (command.device == "cuda")
      useGpu();
    setThreadOrder(command.threadOrder);
  }

  LogicalResult run();
  /// Whether nothing runs.
  bool emits() const { return command.emit.getNumOccurrences(); }

private:
  void useGpu();
  LogicalResult openDevice();
  LogicalResult prepare(mlir::func::FuncOp step);
  Variant plannedVariant() const;
  FailureOr<mlir::OwningOpRef<ModuleOp>>
  planVariant(const Variant &variant, plan::report::StepReport &report);
  FailureOr<Measurement> runVariant(const Variant &variant,
                                    plan::report::StepReport &report);
  LogicalResult emit();
  LogicalResult predict(ModuleOp planned);
  LogicalResult runPlanned();
  LogicalResult runAsWritten();
  LogicalResult runBaseline();
  LogicalResult compareWithExpected();
  LogicalResult writeOutputs();

  const CommandLine &command;
  ModuleOp program;
  RunReport &summary;
  RunOptions options;
  /// The device that is planned for; empty for the planner's default.
  std::string costs;
  Signature signature;
  Buffers arguments;
  bool rewritten = false;
};
} // namespace

static void dropDemands(ModuleOp program) {
  program->walk([](Operation *op) {
    op->removeDiscardableAttr(CkptDialect::pinAttrName());
    op->removeDiscardableAttr(CkptDialect::regionBudgetsAttrName());
  });
}

/// Plans a copy of the program.
FailureOr<mlir::OwningOpRef<ModuleOp>>
Runner::planVariant(const Variant &variant, plan::report::StepReport &report) {
  mlir::OwningOpRef<ModuleOp> copy(program.clone());
  if (rewritten)
    return std::move(copy);
  if (!variant.obeysDemands)
    dropDemands(*copy);
  Progress progress("planning " + variant.title);
  std::string text = "prepare=false " + variant.planOptions;
  if (!command.functionName.empty())
    text += " func=" + command.functionName;
  if (failed(planModule(*copy, text, variant.formLayers, report)))
    return failure();
  if (options.timeKernels && failed(predict(*copy)))
    return failure();
  if (failed(rewriteModule(*copy)))
    return failure();
  return std::move(copy);
}

/// Plans a copy of the program, compiles and runs it.
FailureOr<Measurement> Runner::runVariant(const Variant &variant,
                                          plan::report::StepReport &report) {
  auto planned = planVariant(variant, report);
  if (failed(planned))
    return failure();
  Progress progress("compiling and running " + variant.title);
  return measureModule(**planned, options, signature, arguments);
}

/// Fills in the predicted times of the kernels of the \p planned program.
LogicalResult Runner::predict(ModuleOp planned) {
  llvm::Expected<Device> device = findDevice(costs.empty() ? "cpu" : costs);
  if (!device)
    return report(device.takeError());
  FailureOr<mlir::func::FuncOp> step = findStep(planned, command.functionName);
  if (failed(step))
    return failure();
  auto kernels = predictKernels(*step, *device);
  if (failed(kernels))
    return failure();
  summary.predicted = std::move(*kernels);
  return success();
}

/// The variant of the command line.
Variant Runner::plannedVariant() const {
  std::string text = command.planOptions;
  if (!costs.empty())
    text += " device=" + costs;
  if (!command.budget.empty())
    text += " budget=" + command.budget;
  if (!command.strategy.empty())
    text += " strategy=" + command.strategy;
  return {"the step", text, /*formLayers=*/!command.strategy.empty()};
}

/// Writes the planned step as a program.
LogicalResult Runner::emit() {
  auto planned = planVariant(plannedVariant(), summary.plan);
  if (failed(planned))
    return failure();
  Progress progress("compiling the program");
  return emitProgram(**planned, options, summary.title, signature,
                     command.outputPath);
}

LogicalResult Runner::runPlanned() {
  options.timeKernels = command.profile;
  FailureOr<Measurement> planned = runVariant(plannedVariant(), summary.plan);
  options.timeKernels = false;
  if (failed(planned))
    return failure();
  summary.planned = std::move(*planned);
  return success();
}

LogicalResult Runner::runAsWritten() {
  plan::report::StepReport ignored;
  FailureOr<Measurement> written =
      runVariant({"the step as written", "strategy=as-written",
                  /*formLayers=*/false, /*obeysDemands=*/false},
                 ignored);
  if (failed(written))
    return failure();
  std::vector<std::vector<char>> reference;
  for (const auto &buffer : written->results)
    reference.emplace_back(buffer->data(), buffer->data() + buffer->size());
  std::optional<std::string> difference =
      compareBits(signature, summary.planned->results, reference);
  summary.bitEqual = !difference;
  summary.difference = difference.value_or("");
  written->results.clear();
  summary.written = std::move(*written);
  return success();
}

/// Runs the step with nothing recomputed, to compare times with.
LogicalResult Runner::runBaseline() {
  plan::report::StepReport ignored;
  FailureOr<Measurement> baseline =
      runVariant({"the step without a budget", "strategy=none"}, ignored);
  if (failed(baseline))
    return failure();
  baseline->results.clear();
  summary.baseline = std::move(*baseline);
  return success();
}

LogicalResult Runner::compareWithExpected() {
  auto closeness =
      compareExpected(command.expectedPath, signature, summary.planned->results,
                      command.relativeTolerance, command.absoluteTolerance);
  if (!closeness)
    return report(closeness.takeError());
  summary.closeness = *closeness;
  return success();
}

LogicalResult Runner::writeOutputs() {
  std::vector<NpyView> views;
  for (auto [spec, buffer] :
       llvm::zip_equal(signature.results, summary.planned->results))
    views.push_back({spec.name, npyTypeOf(spec.type.getElementType()),
                     llvm::to_vector(spec.type.getShape()),
                     ArrayRef<char>(buffer->data(), buffer->size())});
  return report(writeNpz(command.outputsPath, views));
}

/// The median needs more runs than the minimum, which take less time there.
void Runner::useGpu() {
  options.device = RunDevice::Cuda;
  if (!command.repeat.getNumOccurrences())
    options.repeat = 50;
}

/// Before anything that takes long.
LogicalResult Runner::openDevice() {
  if (options.device == RunDevice::Emulator)
    summary.title += ", on the emulator of a GPU";
  if (options.device != RunDevice::Cuda)
    return success();
  llvm::Expected<std::string> name = openGpu(options.gpuOptions);
  if (!name)
    return report(name.takeError());
  summary.title += ", on " + *name;
  if (costs.empty() && !StringRef(command.planOptions).contains("device="))
    costs = describedGpu(*name);
  return success();
}

/// Once for all ways to run the step.
LogicalResult Runner::prepare(mlir::func::FuncOp step) {
  if (!command.prepare)
    return success();
  FailureOr<PreparationSummary> prepared =
      prepareStep(step, {command.unrollLimit});
  if (succeeded(prepared))
    summary.preparation = prepared->text();
  return prepared;
}

LogicalResult Runner::run() {
  FailureOr<mlir::func::FuncOp> step = findStep(program, command.functionName);
  if (failed(step))
    return failure();
  summary.title = ("@" + step->getSymName() + " of " + command.inputPath).str();
  if (failed(openDevice()))
    return failure();
  rewritten = isRewritten(*step);
  if (rewritten &&
      (command.verify || command.profile || !command.budget.empty() ||
       !command.strategy.empty() || !command.planOptions.empty()))
    return step->emitError()
           << "'" << step->getSymName()
           << "' is rewritten into kernels already: '--verify', '--profile' "
              "and plan options need the program as it was before";
  takeScalarsAsTensors(*step);
  FailureOr<Signature> read = readSignature(*step);
  if (failed(read) || failed(prepare(*step)))
    return failure();
  signature = *read;
  if (emits())
    return emit();
  FailureOr<Buffers> made = makeArguments(command, *step, signature);
  if (failed(made))
    return failure();
  arguments = std::move(*made);

  bool hasPlanOptions = !command.budget.empty() || !command.strategy.empty() ||
                        !command.planOptions.empty();
  if (failed(runPlanned()) || (command.verify && failed(runAsWritten())) ||
      (command.verify && hasPlanOptions && failed(runBaseline())) ||
      (!command.expectedPath.empty() && failed(compareWithExpected())) ||
      (!command.outputsPath.empty() && failed(writeOutputs())))
    return failure();
  return success();
}

static LogicalResult runCalibration(const CommandLine &command,
                                    mlir::MLIRContext &context) {
  CalibrationOptions options;
  options.threads = command.threads;
  options.gpuOptions = command.gpuOptions;
  if (command.device == "cuda")
    options.device = RunDevice::Cuda;
  options.few = command.calibrate == CalibrateMode::Few;
  options.repeat = command.repeat;
  if (options.few)
    options.rounds = 1;
  return calibrate(context, options, command.outputPath);
}

/// Dialects of other projects, whose ops bring their own lowering.
static LogicalResult loadPlugins(ArrayRef<std::string> paths,
                                 mlir::DialectRegistry &registry) {
  for (const std::string &path : paths) {
    llvm::Expected<mlir::DialectPlugin> plugin =
        mlir::DialectPlugin::load(path);
    if (!plugin)
      return report(plugin.takeError());
    plugin->registerDialectRegistryCallbacks(registry);
  }
  return success();
}

static void adviseOnFrontend(StringRef text) {
  StringRef advice = wayOutOfFrontend(text);
  if (!advice.empty())
    llvm::WithColor::note() << advice << "\n";
}

int main(int argc, char **argv) {
  llvm::InitLLVM initialization(argc, argv);
  installGuardHandler();
  forgetOptionsOfLLVM();
  CommandLine command;
  if (failed(parseCommandLine(argc, argv, command)))
    return 1;

  mlir::DialectRegistry registry;
  registerAllDialects(registry);
  registerAllPasses();
  if (failed(loadPlugins(command.dialectPlugins, registry)))
    return 1;
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  context.printOpOnDiagnostic(false);
  llvm::SourceMgr sources;
  mlir::SourceMgrDiagnosticHandler diagnostics(sources, &context);
  if (command.calibrate != CalibrateMode::Off)
    return failed(runCalibration(command, context));
  auto program = readModule(command.inputPath, sources, context);
  if (!program) {
    if (sources.getNumBuffers() > 0)
      adviseOnFrontend(sources.getMemoryBuffer(1)->getBuffer());
    return 1;
  }

  RunReport summary;
  Runner runner(command, *program, summary);
  bool ran = succeeded(runner.run());
  // Without a plan that fits, its figures show the way out.
  if (!command.reportPath.empty() && (ran || !summary.plan.figures.empty()) &&
      failed(report(writeRunReport(command.reportPath, summary))))
    return 1;
  if (!ran || runner.emits())
    return ran ? 0 : 1;
  llvm::Error error = writeOutputFile("-", [&](llvm::raw_ostream &os) {
    printRunReport(summary, os);
    if (command.profile)
      printProfile(summary.predicted, summary.planned->kernelNs, os);
    if (command.matmulLibrary != cuda::LibraryUse::Never)
      printMatmuls(command.profile, os);
  });
  return succeeded(report(std::move(error))) && summary.holds() ? 0 : 1;
}
