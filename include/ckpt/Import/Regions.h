//===- Regions.h - Budgets of layers in a program ---------------*- C++ -*-===//
//
// A region is the set of layers that a pattern matches. Users give its budget
// by `budget` on a layer or by the option `region-budget`. The planned function
// carries all of them, in bytes, as `ckpt.region_budgets`, so that every reader
// of the plan holds it to them.
//
//===----------------------------------------------------------------------===//

#ifndef CKPT_IMPORT_REGIONS_H
#define CKPT_IMPORT_REGIONS_H

#include "ckpt/IR/CkptDialect.h"
#include "ckpt/Import/ProblemBuilder.h"
#include "ckpt/Plan/LayerPatterns.h"
#include "ckpt/Plan/Validate.h"

namespace ckpt {

/// The layers of a function by their names, in the order of the first of each.
struct NamedLayers {
  std::vector<std::string> names;
  /// By name: its ops, in program order.
  std::vector<SmallVector<LayerOp, 1>> layers;
};
NamedLayers namedLayers(mlir::func::FuncOp function);

/// Names of the layers that \p pattern matches, and of layers nested in them,
/// in the order of \p function. An error at the function if it matches none.
FailureOr<SmallVector<StringRef>> layersOfRegion(mlir::func::FuncOp function,
                                                 StringRef pattern);

/// Gives \p program the regions that \p budgets names: bytes by pattern.
/// Regions without an op to plan are left out.
LogicalResult setRegions(ProgramProblem &program,
                         const std::map<std::string, int64_t> &budgets);

/// Gives \p program the regions of its attribute `ckpt.region_budgets`.
LogicalResult readRegions(ProgramProblem &program);

/// The inverse.
void writeRegions(const ProgramProblem &program);

/// Gives \p program the regions of its layers' budgets and of \p settings,
/// which win over a layer of the same name; without either, it keeps its
/// regions. Shares refer to the bytes of the region in \p baseline.
LogicalResult requestRegions(ProgramProblem &program,
                             ArrayRef<plan::LayerSetting> settings,
                             const plan::Solution &baseline);

} // namespace ckpt

#endif // CKPT_IMPORT_REGIONS_H
