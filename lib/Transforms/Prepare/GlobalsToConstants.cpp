//===- GlobalsToConstants.cpp - Globals are constants ---------------------===//
//
// A step is a function of its arguments. A global that nothing writes is a
// constant of it; one that steps hand on has to be an argument and a result.
//
//===----------------------------------------------------------------------===//

#include "Transforms/Prepare/PrepareSteps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MLProgram/IR/MLProgram.h"
#include "mlir/IR/SymbolTable.h"

using namespace ckpt;
namespace ml_program = mlir::ml_program;
using mlir::SymbolRefAttr;

/// The global that \p op loads or stores; null for other ops.
static SymbolRefAttr globalOf(Operation *op) {
  if (auto load = dyn_cast<ml_program::GlobalLoadOp>(op))
    return load.getGlobal();
  if (auto load = dyn_cast<ml_program::GlobalLoadConstOp>(op))
    return load.getGlobal();
  if (auto load = dyn_cast<ml_program::GlobalLoadGraphOp>(op))
    return load.getGlobal();
  if (auto store = dyn_cast<ml_program::GlobalStoreOp>(op))
    return store.getGlobal();
  if (auto store = dyn_cast<ml_program::GlobalStoreGraphOp>(op))
    return store.getGlobal();
  return nullptr;
}

LogicalResult ckpt::readGlobals(mlir::func::FuncOp step,
                                PreparationSummary &summary) {
  SmallVector<Operation *> uses;
  step.walk([&](Operation *op) {
    if (globalOf(op))
      uses.push_back(op);
  });
  for (Operation *op : uses) {
    SymbolRefAttr name = globalOf(op);
    auto global =
        mlir::SymbolTable::lookupNearestSymbolFrom<ml_program::GlobalOp>(op,
                                                                         name);
    if (!global)
      return op->emitError()
             << "expected a global " << name << ", but there is none";
    if (global.getIsMutable())
      return op->emitError() << "expected a step without state, but " << name
                             << " can change: make it an argument and a result";
    auto value =
        llvm::dyn_cast_if_present<mlir::ElementsAttr>(global.getValueAttr());
    if (op->getNumResults() != 1 || !value ||
        value.getType() != op->getResult(0).getType())
      return op->emitError() << "expected the elements of global " << name
                             << " in this file, but they are not";
    mlir::OpBuilder builder(op);
    op->getResult(0).replaceAllUsesWith(mlir::arith::ConstantOp::create(
        builder, op->getLoc(), cast<mlir::TypedAttr>(value)));
    op->erase();
    ++summary.globals;
  }
  return success();
}
