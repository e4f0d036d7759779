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

/// One output of a kernel of `#ckpt.plan`: result `result` of op number `op`.
struct PlannedOutput {
  int64_t op = 0;
  int64_t result = 0;
  int64_t offset = -1;
};

/// One kernel of `#ckpt.plan`.
struct PlannedKernel {
  SmallVector<int64_t> ops;
  SmallVector<PlannedOutput, 1> outputs;
  int64_t workspaceOffset = -1;
};

/// The offset of a kernel's result that lies in the buffer of result number
/// \p result of the function until that is written. (Offset -1 says that it is
/// a result of the function itself.)
inline int64_t hostedOffset(int64_t result) { return -2 - result; }

/// The inverse: the number of the function's result, or -1.
inline int64_t hostOf(int64_t offset) { return offset < -1 ? -2 - offset : -1; }

} // namespace ckpt

#include "ckpt/IR/CkptDialect.h.inc"
#include "ckpt/IR/CkptEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "ckpt/IR/CkptAttrs.h.inc"

#define GET_OP_CLASSES
#include "ckpt/IR/CkptOps.h.inc"

#endif // CKPT_IR_CKPTDIALECT_H
