//===- RematOpInterface.h - The planner's questions to an op ----*- C++ -*-===//

#ifndef CKPT_INTERFACES_REMATOPINTERFACE_H
#define CKPT_INTERFACES_REMATOPINTERFACE_H

#include "ckpt/Plan/Problem.h"
#include "ckpt/Support/LLVM.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace ckpt {

/// One value that an op takes from outside; the fields are as in `plan::Read`.
struct RematRead {
  Value value;
  plan::Access access = plan::Access::Any;
  plan::Need need = plan::Need::Inline;
  bool destination = false;
};

/// The planner's knowledge of one op.
struct OpSummary {
  plan::OpKind kind = plan::OpKind::Opaque;
  SmallVector<RematRead, 4> reads;
  int64_t flops = 0;
  int64_t workspaceBytes = 0;
  bool mayRepeat = false;
  bool hasEffects = true;
};

/// Asks the interface; an op without it is opaque.
OpSummary summarize(Operation *op);

/// Work of one execution of \p op. Without the interface: the sum over the ops
/// in its regions.
int64_t flopsOf(Operation *op);

/// Appends all operands and captured values as an opaque op reads them: from
/// memory, as they are laid out.
void appendOpaqueReads(Operation *op, SmallVectorImpl<RematRead> &reads);

/// Product and sum of counts; the largest number instead of an overflow.
int64_t saturatingProduct(int64_t a, int64_t b);
int64_t saturatingSum(int64_t a, int64_t b);

} // namespace ckpt

#include "ckpt/Interfaces/RematOpInterface.h.inc"

#endif // CKPT_INTERFACES_REMATOPINTERFACE_H
