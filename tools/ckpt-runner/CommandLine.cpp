//===- CommandLine.cpp - Options of ckpt-runner ---------------------------===//

#include "CommandLine.h"
#include "Run/Messages.h"
#include "ckpt/Plan/Budget.h"
#include "ckpt/Support/OutputFile.h"

using namespace ckpt;

static const char overview[] =
    R"(Plans a training step under a memory budget, compiles it for the CPU or a GPU,
runs it and measures memory and time. Reads what ckpt-opt reads: a function on tensors,
as it comes from a framework, or one that --ckpt-apply-plan has rewritten.)";

static const char examples[] = R"(
EXAMPLES:
  ckpt-runner step.mlir
      Runs on random arguments, fused and ordered, nothing recomputed.
  ckpt-runner step.mlir --budget=50% --verify
      Half of that memory. Also runs the program as written, one kernel per op,
      and compares every result bit by bit.
  ckpt-runner step.mlir --inputs=in.npz --expected=want.npz --outputs=out.npz
      Arguments arg000, arg001, ... from a file of numpy.savez; results out000,
      ... are compared with a tolerance, and written.
  ckpt-runner step.mlir --strategy=every-nth --plan-options="n=2"
      A named strategy with its parameters (docs/Passes.md, --ckpt-plan).
  ckpt-runner --calibrate -o cpu.json
  ckpt-runner step.mlir --costs=cpu.json --profile
      Measures this machine, plans for it, and times every kernel of the step.
  ckpt-runner step.mlir --device=cuda --budget=50% --verify
      On the GPU of this machine, replayed as a graph.
  ckpt-runner step.mlir --budget=50% --emit=executable -o step
      A small program for a machine that has a GPU, its driver and nothing else.
  ckpt-runner --calibrate --device=cuda -o gpu.json
      Measures that GPU.
  ckpt-runner step.mlir --device=emulator --thread-order=shuffled --verify
      Runs the code of a GPU on the CPU: slow, and made to find its faults.

Exit code 0: done, and all comparisons hold. 1: an error, or a difference.
)";

/// No output may replace an input or another output.
static LogicalResult checkFiles(const CommandLine &options) {
  for (const auto *path :
       {&options.inputPath, &options.inputsPath, &options.expectedPath})
    if (!path->empty())
      protectInputFile(*path);
  for (const auto *path :
       {&options.outputsPath, &options.reportPath, &options.outputPath}) {
    std::string option =
        (path->ArgStr.size() == 1 ? "-" : "--") + path->ArgStr.str();
    if (!path->empty() && failed(report(checkOutputFile(*path, option))))
      return failure();
  }
  return success();
}

/// Checks that need no program.
static LogicalResult check(const CommandLine &options) {
  bool emulates = options.device == "emulator";
  bool usesGpu = options.device == "cuda";
  if (options.device != "cpu" && !emulates && !usesGpu)
    return reportText("expected device 'cpu', 'cuda' or 'emulator', but got '" +
                      options.device + "'");
  bool calibrates = options.calibrate != CalibrateMode::Off;
  if (emulates && calibrates)
    return reportText("'--calibrate' measures this machine, but the emulator "
                      "is no device");
  if ((emulates || usesGpu) && options.threads > 1)
    return reportText("'--threads' is for '--device=cpu'");
  if (!emulates && !usesGpu && !options.emit.getNumOccurrences() &&
      !options.gpuOptions.empty())
    return reportText("'--gpu-options' is for '--device=cuda', "
                      "'--device=emulator' and '--emit'");
  if ((!usesGpu || calibrates || options.emit.getNumOccurrences()) &&
      options.matmulLibrary.getNumOccurrences())
    return reportText("'--matmul-library' is for a step that runs with "
                      "'--device=cuda'");
  if (!emulates && options.threadOrder.getNumOccurrences())
    return reportText("'--thread-order' is for '--device=emulator'");
  bool emits = options.emit.getNumOccurrences();
  if (emits && options.emit != "executable")
    return reportText("expected '--emit=executable', but got '" + options.emit +
                      "'");
  if (emits && (calibrates || options.verify || options.profile ||
                !options.inputsPath.empty() || !options.expectedPath.empty() ||
                !options.outputsPath.empty()))
    return reportText("'--emit' runs nothing: it goes with a plan, "
                      "'--gpu-options' and '-o' only");
  if ((calibrates || emits) && options.outputPath.empty())
    return reportText(Twine(calibrates ? "'--calibrate'" : "'--emit'") +
                      " needs '-o' and a file to write");
  if (calibrates && options.inputPath.getNumOccurrences())
    return reportText("'--calibrate' measures kernels of its own, but got '" +
                      options.inputPath + "'");
  if (!calibrates && !emits && !options.outputPath.empty())
    return reportText("'-o' is for '--calibrate' and '--emit'; results of a "
                      "step go to '--outputs'");
  for (StringRef option : {"prepare=", "unroll-limit="})
    if (StringRef(options.planOptions).contains(option))
      return reportText("expected '--" + option +
                        "...' of ckpt-runner itself, but got it in "
                        "'--plan-options'");
  if (options.threads < 1 || options.threads > CompileOptions::mostThreads)
    return reportText("expected 1 to " + Twine(CompileOptions::mostThreads) +
                      " threads, but got " + Twine(options.threads));
  if (options.repeat < 1)
    return reportText("expected 'repeat' to be at least 1, but got 0");
  if (!(options.relativeTolerance >= 0) || !(options.absoluteTolerance >= 0))
    return reportText("expected tolerances not to be negative");
  if (!options.inputsPath.empty() &&
      (options.seed.getNumOccurrences() || !options.ranges.empty()))
    return reportText("'--seed' and '--range' are for random arguments, but "
                      "'--inputs' gives them");
  plan::Budget budget;
  std::string error;
  if (options.budget.getNumOccurrences() && options.budget.empty() &&
      !plan::parseBudget(options.budget, budget, error))
    return reportText(error);
  return checkFiles(options);
}

void ckpt::forgetOptionsOfLLVM() { cl::ResetCommandLineParser(); }

LogicalResult ckpt::parseCommandLine(int argc, char **argv,
                                     const CommandLine &options) {
  static cl::extrahelp moreHelp(examples);
  cl::ParseCommandLineOptions(argc, argv, overview);
  return check(options);
}
