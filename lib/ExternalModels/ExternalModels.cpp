//===- ExternalModels.cpp - All models at once ----------------------------===//

#include "ckpt/ExternalModels/ExternalModels.h"
#include "mlir/Dialect/Arith/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Linalg/Transforms/AllInterfaces.h"
#include "mlir/Dialect/SCF/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Tensor/Transforms/BufferizableOpInterfaceImpl.h"

void ckpt::registerExternalModels(mlir::DialectRegistry &registry) {
  registerArithExternalModels(registry);
  registerMathExternalModels(registry);
  registerComplexExternalModels(registry);
  registerLinalgExternalModels(registry);
  registerTensorExternalModels(registry);
  registerSCFExternalModels(registry);
  registerFuncExternalModels(registry);
  // The memory that an opaque op takes inside is that of its bufferized form.
  mlir::arith::registerBufferizableOpInterfaceExternalModels(registry);
  mlir::linalg::registerAllDialectInterfaceImplementations(registry);
  mlir::scf::registerBufferizableOpInterfaceExternalModels(registry);
  mlir::tensor::registerBufferizableOpInterfaceExternalModels(registry);
}
