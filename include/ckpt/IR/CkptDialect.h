//===- CkptDialect.h - The ckpt dialect, its attributes and ops -*- C++ -*-===//

#ifndef CKPT_IR_CKPTDIALECT_H
#define CKPT_IR_CKPTDIALECT_H

#include "ckpt/Support/LLVM.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/RegionKindInterface.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace ckpt {

/// One output of a kernel of `#ckpt.plan`: result `result` of op number `op`,
/// at `offset` of the arena or of the part `host` of the function's results.
struct PlannedOutput {
  int64_t op = 0;
  int64_t result = 0;
  int64_t offset = -1;
  int64_t host = -1;
};

/// One kernel of `#ckpt.plan`.
struct PlannedKernel {
  SmallVector<int64_t> ops;
  SmallVector<PlannedOutput, 1> outputs;
  int64_t workspaceOffset = -1;
};

} // namespace ckpt

#include "ckpt/IR/CkptDialect.h.inc"
#include "ckpt/IR/CkptEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "ckpt/IR/CkptAttrs.h.inc"

#define GET_OP_CLASSES
#include "ckpt/IR/CkptOps.h.inc"

#endif // CKPT_IR_CKPTDIALECT_H
