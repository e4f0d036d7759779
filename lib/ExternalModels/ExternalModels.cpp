//===- ExternalModels.cpp - All models at once ----------------------------===//

#include "ckpt/ExternalModels/ExternalModels.h"

void ckpt::registerExternalModels(mlir::DialectRegistry &registry) {
  registerArithExternalModels(registry);
  registerMathExternalModels(registry);
  registerComplexExternalModels(registry);
  registerLinalgExternalModels(registry);
  registerTensorExternalModels(registry);
  registerSCFExternalModels(registry);
  registerFuncExternalModels(registry);
}
