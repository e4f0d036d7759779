//===- PlantFault.h - Faults that the emulator has to catch -----*- C++ -*-===//

#ifndef CKPT_TEST_INTEGRATION_PLANTFAULT_H
#define CKPT_TEST_INTEGRATION_PLANTFAULT_H

namespace mlir {
class ModuleOp;
} // namespace mlir

/// Whether `--plant` names a fault.
bool plantsFault();

/// Plants it into the device code of \p module, if there is one.
void plantFault(mlir::ModuleOp module);

#endif // CKPT_TEST_INTEGRATION_PLANTFAULT_H
