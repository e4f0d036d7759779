//===- Supported.h - Programs that can be planned and run -------*- C++ -*-===//
//
// One place lists the programs that `ckpt` takes; docs/Supported.md is its
// table. Planning asks before it begins, so a program that was planned
// compiles:
//
//   - An op is made element by element, or is an anchor with an emitter, if its
//     `RematOpInterface` says so. The models of upstream's dialects
//     (ckpt/ExternalModels) agree exactly with the emitters of lib/Conversion.
//   - Any other op of these dialects is opaque: bufferized by itself
//     (OpaqueBuffers.h), which planning tries to see the memory that it takes.
//   - Other dialects of upstream are refused, with advice.
//   - Ops of dialects that are not upstream's are their owner's business,
//     planned as their interface says, or as opaque ones.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_ANALYSIS_SUPPORTED_H
#define CKPT_ANALYSIS_SUPPORTED_H

#include "ckpt/Support/LLVM.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ckpt {

/// Why values of \p type, a number, cannot stand in memory or in registers;
/// empty if they can.
std::string refusalOfNumber(Type type);

/// Says at the place why \p function is no step: its form, or a type in its
/// signature.
LogicalResult checkSignature(mlir::func::FuncOp function);

/// Says at \p op, an op of a step, or at an op inside it, why it cannot be run.
LogicalResult checkSupported(Operation *op);

/// Whether \p op is of a dialect whose lowering is not ours, or calls a
/// function that another compiler may link. Preparation inlines calls, or
/// refuses them.
bool isOfOtherDialect(Operation *op);

/// How a file with \p text, which no dialect here could parse, comes into the
/// form that `ckpt` reads: a sentence if a frontend wrote it, else empty.
StringRef wayOutOfFrontend(StringRef text);

/// Says at \p op, which the lowering met, that its dialect has to lower it.
LogicalResult refuseToLower(Operation *op);

} // namespace ckpt

#endif // CKPT_ANALYSIS_SUPPORTED_H
