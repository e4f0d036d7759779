//===- ckpt-opt.cpp - Runs passes on MLIR files ---------------------------===//
//
// mlir-opt's core with all of ckpt registered. Only reading and writing are our
// own: the output is complete or absent, and an error of the file system is a
// message, where upstream's main ends the process.
//
//===----------------------------------------------------------------------===//

#include "ckpt/Analysis/Supported.h"
#include "ckpt/InitAll.h"
#include "ckpt/Support/CommandLine.h"
#include "ckpt/Support/OutputFile.h"
#include "ckpt/Support/ReadModule.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Support/ToolUtilities.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/WithColor.h"

/// Locations name values and layers in reports, so text that goes from one
/// command to the next keeps them unless the user says otherwise.
static llvm::SmallVector<char *> withLocations(int argc, char **argv) {
  static char option[] = "--mlir-print-debuginfo";
  llvm::SmallVector<char *> arguments(argv, argv + argc);
  if (llvm::none_of(arguments, [](llvm::StringRef argument) {
        return argument.ltrim('-').starts_with("mlir-print-debuginfo");
      }))
    arguments.insert(arguments.begin() + 1, option);
  return arguments;
}

static int fail(const llvm::Twine &message) {
  llvm::WithColor::error(llvm::errs(), "ckpt-opt") << message << "\n";
  return 1;
}

int main(int argc, char **argv) {
  llvm::InitLLVM initialize(argc, argv);
  ckpt::hideOptionsOfLLVM();
  mlir::DialectRegistry registry;
  ckpt::registerAllDialects(registry);
  ckpt::registerAllPasses();
  llvm::SmallVector<char *> arguments = withLocations(argc, argv);
  auto [input, output] = mlir::registerAndParseCLIOptions(
      arguments.size(), arguments.data(),
      "ckpt: plans training steps under a memory budget\n", registry);
  auto config = mlir::MlirOptMainConfig::createFromCLOptions();
  if (config.shouldShowDialects() || config.shouldListPasses())
    return mlir::asMainReturnCode(mlir::MlirOptMain(
        arguments.size(), arguments.data(), input, output, registry));

  if (input == "-" && llvm::sys::Process::StandardInIsUserInput())
    llvm::errs() << "(reading from the terminal; end with ctrl-d, or name a "
                    "file)\n";
  std::string error;
  std::unique_ptr<llvm::MemoryBuffer> buffer = ckpt::openModule(input, &error);
  if (!buffer)
    return fail(error);
  ckpt::protectInputFile(input);
  if (llvm::Error problem = ckpt::checkOutputFile(output, "-o"))
    return fail(llvm::toString(std::move(problem)));
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (failed(mlir::MlirOptMain(
          stream, llvm::MemoryBuffer::getMemBuffer(buffer->getMemBufferRef()),
          registry, config))) {
    llvm::StringRef advice = ckpt::wayOutOfFrontend(buffer->getBuffer());
    if (!advice.empty())
      llvm::WithColor::note() << advice << "\n";
    return 1;
  }
  if (llvm::Error problem = ckpt::writeOutputFile(
          output, [&](llvm::raw_ostream &os) { os << text; }))
    return fail(llvm::toString(std::move(problem)));
  return 0;
}
