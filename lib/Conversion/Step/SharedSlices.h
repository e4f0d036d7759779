//===- SharedSlices.h - Kernels that differ in a slice's place --*- C++ -*-===//
//
// A kernel that reads x[:, t] of a whole x is the same code for every t once
// the caller passes the address of x[:, t] and the kernel slices at zero.
// `--ckpt-kernels-to-calls` does so: the time steps of an unrolled loop are one
// function.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_LIB_CONVERSION_STEP_SHAREDSLICES_H
#define CKPT_LIB_CONVERSION_STEP_SHAREDSLICES_H

#include "ckpt/IR/CkptDialect.h"

namespace ckpt {

/// The part of an input that a kernel reads begins here.
struct SliceStart {
  /// One per dimension; empty if the kernel reads the input from its begin.
  SmallVector<int64_t> offsets;
  /// The same in memory.
  int64_t bytes = 0;
};

/// The least offsets of the slices of \p argument of a kernel, if its only
/// readers are slices at places known now.
SliceStart sliceStart(BlockArgument argument);

/// Moves \p slice towards the begin of its source by \p start.
void moveSlice(mlir::Operation *slice, const SliceStart &start);

} // namespace ckpt

#endif // CKPT_LIB_CONVERSION_STEP_SHAREDSLICES_H
