//===- ckpt-opt.cpp - Runs passes on MLIR files ---------------------------===//

#include "ckpt/InitAll.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

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

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  ckpt::registerAllDialects(registry);
  ckpt::registerAllPasses();
  llvm::SmallVector<char *> arguments = withLocations(argc, argv);
  return mlir::asMainReturnCode(mlir::MlirOptMain(
      arguments.size(), arguments.data(),
      "ckpt: plans training steps under a memory budget\n", registry));
}
