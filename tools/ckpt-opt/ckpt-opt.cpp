//===- ckpt-opt.cpp - Runs passes on MLIR files ---------------------------===//

#include "ckpt/InitAll.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  ckpt::registerAllDialects(registry);
  ckpt::registerAllPasses();
  return mlir::asMainReturnCode(mlir::MlirOptMain(
      argc, argv, "ckpt: plans training steps under a memory budget\n",
      registry));
}
