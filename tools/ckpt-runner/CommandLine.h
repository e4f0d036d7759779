//===- CommandLine.h - Options of ckpt-runner -------------------*- C++ -*-===//
//
// All options in one struct, read and checked before anything runs.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_TOOLS_CKPTRUNNER_COMMANDLINE_H
#define CKPT_TOOLS_CKPTRUNNER_COMMANDLINE_H

#include "ckpt/Cuda/Device.h"
#include "ckpt/Emulator/Emulator.h"
#include "ckpt/Runtime/CompiledStep.h"
#include "ckpt/Support/LLVM.h"
#include "ckpt/Transforms/Prepare.h"
#include "llvm/Support/CommandLine.h"

#include <string>

namespace ckpt {

namespace cl = llvm::cl;

enum class CalibrateMode { Off, Full, Few };

/// The options of the runner. Not global variables: LLVM's shared library has
/// options of its own, `--threads` among them, which are taken out first.
struct CommandLine {
  /// Made with the options: forgetting LLVM's forgets categories too.
  cl::OptionCategory category{"Options"};

  cl::opt<std::string> inputPath{cl::Positional, cl::cat(category),
                                 cl::desc("<step.mlir>"), cl::init("-")};
  cl::opt<std::string> budget{
      "budget", cl::value_desc("amount"), cl::cat(category),
      cl::desc("Largest arena: 4096 (MiB), 512KiB, 1.5GB, 50% (of the "
               "arena with nothing recomputed)")};
  cl::opt<std::string> strategy{"strategy", cl::value_desc("name"),
                                cl::cat(category),
                                cl::desc("Strategy instead of a budget: none "
                                         "(default), full, every-nth, ...")};
  cl::opt<std::string> planOptions{
      "plan-options", cl::value_desc("options"), cl::cat(category),
      cl::desc("More options of --ckpt-plan, as there")};
  cl::opt<bool> prepare{
      "prepare", cl::init(true), cl::cat(category),
      cl::desc("Bring the step into the planner's form first, as "
               "--ckpt-prepare does (default true)")};
  cl::opt<int64_t> unrollLimit{
      "unroll-limit", cl::init(PrepareOptions().unrollLimit), cl::cat(category),
      cl::desc("Unroll loops as long as the step has at most so many ops "
               "(default 300000)")};
  cl::opt<std::string> functionName{
      "func", cl::value_desc("name"), cl::cat(category),
      cl::desc("The step; by default the only public function")};
  cl::opt<std::string> inputsPath{
      "inputs", cl::value_desc("file.npz"), cl::cat(category),
      cl::desc("Arguments arg000, arg001, ...; without it they are random")};
  cl::opt<uint64_t> seed{
      "seed", cl::init(0), cl::cat(category),
      cl::desc("Seed of random arguments: floating-point values in [-0.1, "
               "0.1), integers in the range that they index, else 0 or 1")};
  cl::list<std::string> ranges{
      "range", cl::value_desc("argNNN:low:high"), cl::cat(category),
      cl::desc(
          "Range low <= x < high of one random argument; may be repeated")};
  cl::opt<std::string> expectedPath{
      "expected", cl::value_desc("file.npz"), cl::cat(category),
      cl::desc("Compare with the results out000, out001, ... of this file")};
  cl::opt<double> relativeTolerance{
      "rtol", cl::init(1e-4), cl::cat(category),
      cl::desc("Tolerance, relative to the largest magnitude of a result "
               "(default 1e-4)")};
  cl::opt<double> absoluteTolerance{
      "atol", cl::init(1e-5), cl::cat(category),
      cl::desc("Tolerance, absolute (default 1e-5)")};
  cl::opt<std::string> outputsPath{"outputs", cl::value_desc("file.npz"),
                                   cl::cat(category),
                                   cl::desc("Write the results")};
  cl::opt<bool> verify{
      "verify", cl::cat(category),
      cl::desc(
          "Also run the program as written and, with a budget or strategy, "
          "without; compare results bit by bit, and peak and time")};
  cl::opt<bool> profile{
      "profile", cl::cat(category),
      cl::desc("Time each kernel, and compare with the predictions")};
  cl::opt<std::string> costs{
      "costs", cl::value_desc("device"), cl::cat(category),
      cl::desc("Device that the step is planned for: a name of docs/Devices.md "
               "or a file that '--calibrate' wrote (default cpu, on a GPU "
               "its known figures)")};
  cl::opt<unsigned> repeat{
      "repeat", cl::init(3), cl::cat(category),
      cl::desc("Timed runs, of which the fastest counts (default 3); on a GPU "
               "after a warm-up, and the median counts (default 50)")};
  cl::opt<unsigned> threads{
      "threads", cl::init(1), cl::cat(category),
      cl::desc("Threads; results do not depend on it (default 1)")};
  cl::opt<std::string> reportPath{
      "report", cl::value_desc("file"), cl::cat(category),
      cl::desc("Write the plan and all figures: a page (.html), a picture "
               "(.svg), else JSON (docs/Report.md)")};
  cl::opt<CalibrateMode> calibrate{
      "calibrate",
      cl::ValueOptional,
      cl::cat(category),
      cl::init(CalibrateMode::Off),
      cl::desc("Measure this machine instead of running a step, and write a "
               "device file for --ckpt-plan; needs '-o'"),
      cl::values(clEnumValN(CalibrateMode::Full, "", ""),
                 clEnumValN(CalibrateMode::Full, "full", "one or two minutes"),
                 clEnumValN(CalibrateMode::Few, "few",
                            "few and small kernels: a table that is quickly "
                            "made and says little"))};
  cl::opt<std::string> emit{
      "emit", cl::value_desc("executable"), cl::cat(category),
      cl::desc("Write the planned step as a small program for a GPU instead of "
               "running it; needs '-o' and a C compiler")};
  cl::opt<std::string> outputPath{
      "o", cl::value_desc("file"), cl::cat(category),
      cl::desc("Where '--calibrate' or '--emit' writes")};
  cl::opt<std::string> device{
      "device", cl::init("cpu"), cl::cat(category),
      cl::desc("Where it runs: cpu, cuda, a GPU with its driver, or emulator, "
               "which runs the code of a GPU on the CPU (default cpu)")};
  cl::opt<std::string> gpuOptions{
      "gpu-options", cl::value_desc("options"), cl::cat(category),
      cl::desc(
          "Options of --ckpt-lower-to-nvvm-pipeline, as there; by default the "
          "chip is that of the device, whose tensor cores multiply bf16 and "
          "f16 (tensor-cores=none gives the bits of the CPU)")};
  cl::opt<cuda::LibraryUse> matmulLibrary{
      "matmul-library", cl::init(cuda::LibraryUse::Never), cl::cat(category),
      cl::desc("When cuBLASLt, which is looked for as the step starts, runs "
               "matmuls on a GPU (default never)"),
      cl::values(clEnumValN(cuda::LibraryUse::Never, "never", "our kernels do"),
                 clEnumValN(cuda::LibraryUse::Auto, "auto",
                            "where it is faster and gives the same bits"),
                 clEnumValN(cuda::LibraryUse::Always, "always",
                            "wherever it can, with bits of its own"))};
  cl::opt<ThreadOrder> threadOrder{
      "thread-order", cl::init(ThreadOrder::Forward), cl::cat(category),
      cl::desc("How the emulator orders threads between barriers; results do "
               "not depend on it (default forward)"),
      cl::values(clEnumValN(ThreadOrder::Forward, "forward", "by number"),
                 clEnumValN(ThreadOrder::Reverse, "reverse", "the last first"),
                 clEnumValN(ThreadOrder::Shuffled, "shuffled",
                            "another order after every barrier"))};
  cl::list<std::string> dialectPlugins{
      "load-dialect-plugin", cl::value_desc("file.so"), cl::cat(category),
      cl::desc(
          "Load dialects of your own, as mlir-opt does (docs/Embedding.md)")};
};

/// Takes LLVM's own options out of the parser; before a `CommandLine` is made.
void forgetOptionsOfLLVM();

/// Reads the arguments into \p options. Ends the process on unknown options and
/// after `--help`; reports values that make no sense.
LogicalResult parseCommandLine(int argc, char **argv,
                               const CommandLine &options);

} // namespace ckpt

#endif // CKPT_TOOLS_CKPTRUNNER_COMMANDLINE_H
