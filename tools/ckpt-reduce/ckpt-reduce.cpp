//===- ckpt-reduce.cpp - Shrinks a program that shows a fault -------------===//
//
// mlir-reduce's main with all of ckpt registered, and a reduction for steps.
//
//===----------------------------------------------------------------------===//

#include "ReduceStep.h"
#include "ckpt/InitAll.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Tools/mlir-reduce/MlirReduceMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  ckpt::registerAllDialects(registry);
  ckpt::registerAllPasses();
  ckpt::registerReduceStepPass();
  mlir::registerAsmPrinterCLOptions();
  mlir::MLIRContext context(registry);
  return mlir::failed(mlir::mlirReduceMain(argc, argv, context));
}
