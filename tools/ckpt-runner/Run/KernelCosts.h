//===- KernelCosts.h - Predicted costs of the kernels of a plan -*- C++ -*-===//
//
// `--profile` compares these with measured times, `--calibrate` fits a device
// to the work that they count.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_TOOLS_CKPTRUNNER_RUN_KERNELCOSTS_H
#define CKPT_TOOLS_CKPTRUNNER_RUN_KERNELCOSTS_H

#include "ckpt/Cost/FitDevice.h"
#include "ckpt/Plan/Kernel.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ckpt {

/// A kernel of a planned step, as the cost model of a device sees it.
struct PredictedKernel {
  /// Layer and op of its anchor, or of its output.
  std::string name;
  plan::KernelInfo info;
};

/// The kernels of the planned \p step, in order, on \p device.
FailureOr<std::vector<PredictedKernel>> predictKernels(mlir::func::FuncOp step,
                                                       const Device &device);

/// The amounts of work in the kernels of the planned \p step, for the tiles and
/// the cache of \p device: the cost of a kernel if only one kind of work has a
/// price. The cost model answers, and stands in one place.
FailureOr<std::vector<KernelWork>> countWork(mlir::func::FuncOp step,
                                             const Device &device);

} // namespace ckpt

#endif // CKPT_TOOLS_CKPTRUNNER_RUN_KERNELCOSTS_H
