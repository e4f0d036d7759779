//===- Complex.cpp - Complex arithmetic -----------------------------------===//
//
// Upstream has these ops for scalars only, so they stand in bodies, and beside
// tensors where a scalar serves all elements.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Complex/IR/Complex.h"
#include "Elementwise.h"
#include "ckpt/ExternalModels/ExternalModels.h"

using namespace ckpt;

namespace {

template <typename... Ops>
void attachModels(MLIRContext *context) {
  (Ops::template attachInterface<ElementwiseModel<Ops>>(*context), ...);
}

} // namespace

void ckpt::registerComplexExternalModels(mlir::DialectRegistry &registry) {
  registry.addExtension(
      +[](MLIRContext *context, mlir::complex::ComplexDialect *) {
        attachModels<
#define GET_OP_LIST
#include "mlir/Dialect/Complex/IR/ComplexOps.cpp.inc"
            >(context);
      });
}
