//===- Work.cpp - The work of an op, counted by kind ----------------------===//

#include "ckpt/Cost/Work.h"
#include "Cost/ContractionWork.h"
#include "ckpt/Analysis/StepOps.h"
#include "ckpt/Interfaces/RematOpInterface.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/StringSwitch.h"

using namespace ckpt;
using mlir::linalg::LinalgOp;
using plan::OpKind;

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

static constexpr StringRef typeNames[workTypeCount] = {"f64", "f32", "f16"};

static constexpr StringRef kindNames[workKindCount] = {"contraction",
                                                       "spread",
                                                       "page",
                                                       "pack",
                                                       "pack-transposed",
                                                       "pack-gathered",
                                                       "fetch",
                                                       "sums",
                                                       "element",
                                                       "elementwise",
                                                       "divide",
                                                       "square-root",
                                                       "exponential",
                                                       "logarithm",
                                                       "hyperbolic-tangent",
                                                       "error-function",
                                                       "power",
                                                       "sine",
                                                       "select",
                                                       "select-apart",
                                                       "gather",
                                                       "transpose",
                                                       "transpose-result",
                                                       "reduce",
                                                       "reduce-apart",
                                                       "reduce-short"};

StringRef ckpt::nameOf(WorkType type) {
  return typeNames[static_cast<unsigned>(type)];
}

StringRef ckpt::nameOf(WorkKind kind) {
  return kindNames[static_cast<unsigned>(kind)];
}

std::optional<WorkType> ckpt::workTypeNamed(StringRef name) {
  auto found = llvm::find(typeNames, name);
  if (found == std::end(typeNames))
    return std::nullopt;
  return static_cast<WorkType>(found - std::begin(typeNames));
}

std::optional<WorkKind> ckpt::workKindNamed(StringRef name) {
  auto found = llvm::find(kindNames, name);
  if (found == std::end(kindNames))
    return std::nullopt;
  return static_cast<WorkKind>(found - std::begin(kindNames));
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

static bool isArithmetic(Operation *op) {
  mlir::Dialect *dialect = op->getDialect();
  return dialect &&
         isa<mlir::arith::ArithDialect, mlir::math::MathDialect,
             mlir::complex::ComplexDialect>(dialect) &&
         !op->hasTrait<mlir::OpTrait::ConstantLike>();
}

static WorkKind arithmeticKind(Operation *op) {
  return llvm::StringSwitch<WorkKind>(op->getName().getStringRef())
      .Cases({"arith.divf", "arith.remf", "arith.divsi", "arith.divui",
              "arith.remsi", "arith.remui"},
             WorkKind::Divide)
      .Cases({"math.sqrt", "math.rsqrt", "math.cbrt"}, WorkKind::SquareRoot)
      .Cases({"math.exp", "math.exp2", "math.expm1"}, WorkKind::Exponential)
      .Cases({"math.log", "math.log2", "math.log10", "math.log1p"},
             WorkKind::Logarithm)
      .Case("math.tanh", WorkKind::HyperbolicTangent)
      .Cases({"math.erf", "math.erfc"}, WorkKind::ErrorFunction)
      .Cases({"math.powf", "math.ipowi", "math.fpowi"}, WorkKind::Power)
      .Cases({"math.sin", "math.cos", "math.tan"}, WorkKind::Sine)
      .Default(WorkKind::Elementwise);
}

static void add(SmallVectorImpl<Work> &work, Work more) {
  for (Work &known : work)
    if (known.type == more.type && known.kind == more.kind) {
      known.amount = saturatingSum(known.amount, more.amount);
      return;
    }
  work.push_back(more);
}

/// Appends the arithmetic of \p op, done \p times.
static void addArithmetic(Operation *op, int64_t times,
                          SmallVectorImpl<Work> &work) {
  Type type = op->getNumOperands() > 0 ? op->getOperand(0).getType()
                                       : op->getResult(0).getType();
  add(work, {workTypeOf(type), arithmeticKind(op), times});
}

//===----------------------------------------------------------------------===//
// Structured ops
//===----------------------------------------------------------------------===//

static int64_t pointsOf(LinalgOp op) {
  int64_t points = 1;
  for (int64_t size : op.getStaticLoopRanges())
    points = saturatingProduct(points, size);
  return points;
}

/// The tensors that the body uses; scalars are constants of whoever runs it.
static SmallVector<mlir::OpOperand *> inputsRead(LinalgOp op) {
  return llvm::filter_to_vector(
      op.getDpsInputOperands(), [&](mlir::OpOperand *input) {
        auto type = dyn_cast<mlir::RankedTensorType>(input->get().getType());
        return type && type.getRank() > 0 &&
               op.payloadUsesValueFromOperand(input);
      });
}

namespace {
/// How the elements of an op are made together, several at a time.
struct Lanes {
  /// The loop along which they lie: along the contiguous dimension of the
  /// reduced operand, or else of the result; -1 if there is none.
  int64_t loop = -1;
  bool alongSum = false;
  /// Too few lie along that loop: all loops are taken as one, and neighbours
  /// are no longer neighbours in inputs that look different.
  bool flattened = false;
};
} // namespace

static int64_t laneLoop(LinalgOp op, bool &alongSum) {
  for (mlir::OpOperand *input : op.getDpsInputOperands()) {
    int64_t loop = contiguousLoop(op, *input);
    if (loop < 0)
      continue;
    alongSum = op.getIteratorTypesArray()[loop] ==
               mlir::utils::IteratorType::reduction;
    if (alongSum)
      return loop;
    break;
  }
  return op.getNumDpsInits() > 0 ? contiguousResultLoop(op) : -1;
}

static Lanes lanesOf(LinalgOp op, int64_t lanes) {
  Lanes result;
  result.loop = laneLoop(op, result.alongSum);
  if (result.loop >= 0)
    result.flattened = op.getStaticLoopRanges()[result.loop] < lanes;
  return result;
}

/// Work of \p elements, with \p extent of them side by side: in a remainder of
/// less than all lanes, each element takes as long as all lanes.
static int64_t withRemainders(int64_t elements, int64_t extent, int64_t lanes) {
  if (extent < lanes || lanes == 0)
    return elements;
  return saturatingProduct(elements / extent,
                           extent + extent % lanes * (lanes - 1));
}

static int64_t executionsOf(LinalgOp op, const Lanes &along, int64_t lanes) {
  int64_t points = pointsOf(op);
  if (along.loop < 0)
    return points;
  return withRemainders(points, op.getStaticLoopRanges()[along.loop], lanes);
}

/// Inputs and results whose neighbours in lanes lie a row apart.
static int64_t transposedOperands(LinalgOp op, const Lanes &along) {
  if (along.loop < 0 || along.flattened)
    return 0;
  int64_t count =
      op.getNumReductionLoops() == 0 && contiguousResultLoop(op) != along.loop;
  for (mlir::OpOperand *input : inputsRead(op))
    count += op.getMatchingIndexingMap(input).isFunctionOfDim(along.loop) &&
             contiguousLoop(op, *input) != along.loop;
  return count;
}

static bool usesProduct(LinalgOp op) {
  return llvm::any_of(inputsRead(op), [](mlir::OpOperand *input) {
    auto maker =
        lookThroughViews(input->get()).getDefiningOp<RematOpInterface>();
    return maker && maker.getRematKind() == OpKind::Contraction;
  });
}

/// Lookups along lanes read neighbours where their last index is the lane.
static bool readsRows(mlir::tensor::ExtractOp lookup, const Lanes &along) {
  if (lookup.getIndices().empty())
    return true;
  auto index =
      lookup.getIndices().back().getDefiningOp<mlir::linalg::IndexOp>();
  return !along.flattened && index &&
         static_cast<int64_t>(index.getDim()) == along.loop;
}

/// Lookups, and inputs that are not in the order of vectors which run over the
/// ends of rows.
static int64_t gatheredReads(LinalgOp op, const Lanes &along) {
  int64_t count = 0;
  if (along.flattened && op.getNumReductionLoops() == 0)
    for (mlir::OpOperand *input : inputsRead(op))
      count += !op.getMatchingIndexingMap(input).isIdentity();
  op.getBlock()->walk([&](mlir::tensor::ExtractOp lookup) {
    count += !readsRows(lookup, along);
  });
  return count;
}

/// Inputs that a reduction reads element by element.
static int64_t shortReductionReads(LinalgOp op, const Lanes &along) {
  bool isShort = along.flattened && op.getNumReductionLoops() > 0;
  return isShort ? inputsRead(op).size() : 0;
}

static void addStructured(LinalgOp op, int64_t lanes,
                          SmallVectorImpl<Work> &work) {
  Lanes along = lanesOf(op, lanes);
  int64_t executions = executionsOf(op, along, lanes);
  op.getBlock()->walk([&](Operation *inner) {
    if (isArithmetic(inner))
      addArithmetic(inner, executions, work);
  });
  WorkType type = workTypeOf(op->getResult(0).getType());
  for (auto [kind, count] :
       {std::pair(WorkKind::Gather, gatheredReads(op, along)),
        {WorkKind::ReduceShort, shortReductionReads(op, along)},
        {usesProduct(op) ? WorkKind::TransposeResult : WorkKind::Transpose,
         transposedOperands(op, along)}})
    if (count > 0)
      add(work, {type, kind, saturatingProduct(executions, count)});
  WorkKind step = op.getNumReductionLoops() == 0 ? WorkKind::Element
                  : along.alongSum               ? WorkKind::Reduce
                                                 : WorkKind::ReduceApart;
  // A constant is a register of whoever reads it.
  if (!inputsRead(op).empty())
    add(work, {type, step, executions});
}

//===----------------------------------------------------------------------===//
// All ops
//===----------------------------------------------------------------------===//

/// The type of the multiplied elements decides the rate of a contraction.
static WorkType multipliedType(Operation *op) {
  for (TypeRange types :
       {TypeRange(op->getOperandTypes()), TypeRange(op->getResultTypes())})
    if (!types.empty())
      return workTypeOf(types.front());
  return WorkType::F32;
}

static int64_t lastExtent(Type type) {
  auto shaped = dyn_cast<mlir::RankedTensorType>(type);
  return shaped && shaped.getRank() > 0 ? shaped.getShape().back() : 1;
}

/// Vectors are chosen as a whole if rows consist of them in the source and in
/// the result. If rows are too short for one, the index of each element is
/// divided by every dimension.
static void addSelect(Operation *op, int64_t lanes,
                      SmallVectorImpl<Work> &work) {
  auto inVectors = [&](Type type) {
    return lanes == 0 || lastExtent(type) % lanes == 0;
  };
  Type type = op->getResult(0).getType();
  bool whole = inVectors(type) && op->getNumOperands() > 0 &&
               inVectors(op->getOperand(0).getType());
  int64_t units = 1;
  if (auto shaped = dyn_cast<mlir::RankedTensorType>(type);
      shaped && shaped.hasStaticShape())
    units = saturatingProduct(
        shaped.getNumElements(),
        lastExtent(type) < lanes ? std::max<int64_t>(1, shaped.getRank()) : 1);
  add(work, {workTypeOf(type), whole ? WorkKind::Select : WorkKind::SelectApart,
             units});
}

SmallVector<Work> ckpt::workOf(Operation *op, WorkPlace place) {
  SmallVector<Work> work;
  OpSummary summary = summarize(op);
  auto linalgOp = dyn_cast<LinalgOp>(op);
  if (summary.kind == OpKind::Contraction) {
    if (place.lanes > 0 && linalgOp && appendTiledWork(linalgOp, place, work))
      return work;
    add(work, {multipliedType(op), WorkKind::Contraction, summary.flops});
  } else if (linalgOp && summary.kind != OpKind::Opaque) {
    if (summary.kind != OpKind::View)
      addStructured(linalgOp, place.lanes, work);
  } else if (isArithmetic(op)) {
    addArithmetic(op, summary.flops, work);
  } else if (summary.flops > 0) {
    WorkType type = op->getNumResults() == 0
                        ? WorkType::F32
                        : workTypeOf(op->getResult(0).getType());
    add(work, {type, WorkKind::Elementwise, summary.flops});
  } else if (summary.kind == OpKind::Fusible && op->getNumResults() > 0 &&
             !op->hasTrait<mlir::OpTrait::ConstantLike>()) {
    addSelect(op, place.lanes, work);
  }
  return work;
}
