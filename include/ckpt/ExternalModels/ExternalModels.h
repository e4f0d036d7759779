//===- ExternalModels.h - RematOpInterface for upstream dialects -*- C++
//-*-===//
//
// One function per upstream dialect. Each only registers an extension: nothing
// is loaded before a program uses the dialect.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_EXTERNALMODELS_EXTERNALMODELS_H
#define CKPT_EXTERNALMODELS_EXTERNALMODELS_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace ckpt {

/// Elementwise ops on tensors and scalars; constants that are splats.
void registerArithExternalModels(mlir::DialectRegistry &registry);
void registerMathExternalModels(mlir::DialectRegistry &registry);
/// Arithmetic on complex scalars.
void registerComplexExternalModels(mlir::DialectRegistry &registry);
/// All structured ops, named or generic.
void registerLinalgExternalModels(mlir::DialectRegistry &registry);
/// Reshapes, static slices, padding and the like.
void registerTensorExternalModels(mlir::DialectRegistry &registry);
/// Loops and conditionals: one opaque op each.
void registerSCFExternalModels(mlir::DialectRegistry &registry);
/// Calls: opaque, and pure if the callee is.
void registerFuncExternalModels(mlir::DialectRegistry &registry);

/// All of the above.
void registerExternalModels(mlir::DialectRegistry &registry);

} // namespace ckpt

#endif // CKPT_EXTERNALMODELS_EXTERNALMODELS_H
