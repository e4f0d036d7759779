//===- Mutations.h - Ways to break a rewritten program ----------*- C++ -*-===//

#ifndef CKPT_TEST_UNIT_TRANSFORMS_MUTATIONS_H
#define CKPT_TEST_UNIT_TRANSFORMS_MUTATIONS_H

#include "ckpt/IR/CkptDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <functional>

namespace ckpt {

/// A change that can be taken back.
struct Mutation {
  std::function<void()> apply, undo;
};

/// Every operand of every op: the nearest other value of its type.
SmallVector<Mutation> wrongOperands(mlir::func::FuncOp step);
/// Every input of a kernel: an argument of the function.
SmallVector<Mutation> wrongInputs(mlir::func::FuncOp step);
/// Every attribute with a number in it: one larger.
SmallVector<Mutation> wrongAttributes(mlir::func::FuncOp step);
/// Neighbours that change places among what a kernel hands out, and among what
/// the function returns.
SmallVector<Mutation> wrongResults(mlir::func::FuncOp step);
/// Every recomputation: waits for nothing.
SmallVector<Mutation> droppedWaits(ArrayRef<KernelOp> kernels);
/// Every kernel that can be: taken out, with arguments in place of its results.
SmallVector<Mutation> removedKernels(mlir::func::FuncOp step);
/// Every kernel that calls: runs twice.
SmallVector<Mutation> repeatedEffects(ArrayRef<KernelOp> kernels);
/// Every kernel that calls: behind the next one that does.
SmallVector<Mutation> exchangedEffects(ArrayRef<KernelOp> kernels);

// Those may be harmless.

/// Every place: one alignment down and one up.
SmallVector<Mutation> movedPlaces(ArrayRef<KernelOp> kernels);
/// Every kernel: behind each later one of the list, up to its first reader.
SmallVector<Mutation> movedKernels(ArrayRef<KernelOp> kernels);

/// Whether every kernel finds its inputs whole: places are written when the
/// kernel runs, and whatever is written over is gone. Within a kernel, an input
/// may only be written over at its own place.
bool isSound(mlir::func::FuncOp step);

} // namespace ckpt

#endif // CKPT_TEST_UNIT_TRANSFORMS_MUTATIONS_H
