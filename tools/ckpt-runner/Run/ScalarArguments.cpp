//===- ScalarArguments.cpp - Scalars that a step takes --------------------===//

#include "Run/ScalarArguments.h"
#include "ckpt/ExternalModels/ScalarCode.h"
#include "ckpt/IR/CkptDialect.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace ckpt;
using mlir::RankedTensorType;

/// Makes \p argument, a scalar, a tensor that its block reads.
static void readFromTensor(BlockArgument argument) {
  auto builder = OpBuilder::atBlockBegin(argument.getOwner());
  argument.setType(RankedTensorType::get({}, argument.getType()));
  // A function of kernels holds nothing but kernels: they read it.
  for (mlir::OpOperand &use : argument.getUses())
    if (auto kernel = dyn_cast<KernelOp>(use.getOwner()))
      readFromTensor(kernel.getBody().getArgument(use.getOperandNumber()));
  auto isInStep = [](mlir::OpOperand &use) {
    return !isa<KernelOp>(use.getOwner());
  };
  if (llvm::none_of(argument.getUses(), isInStep))
    return;
  auto read = mlir::tensor::ExtractOp::create(builder, argument.getLoc(),
                                              argument, mlir::ValueRange());
  argument.replaceUsesWithIf(read, [&](mlir::OpOperand &use) {
    return use.getOwner() != read && isInStep(use);
  });
}

void ckpt::takeScalarsAsTensors(mlir::func::FuncOp step) {
  step.getContext()->loadDialect<mlir::tensor::TensorDialect>();
  for (BlockArgument argument : step.getArguments())
    if (isScalar(argument.getType()))
      readFromTensor(argument);
  step.setFunctionType(mlir::FunctionType::get(step.getContext(),
                                               step.front().getArgumentTypes(),
                                               step.getResultTypes()));
}
