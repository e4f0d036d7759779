//===- Work.cpp - What an op does, counted by kind ------------------------===//

#include "ckpt/Analysis/Work.h"
#include "ContractionWork.h"
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
                                                       "contraction-apart",
                                                       "pack",
                                                       "pack-transposed",
                                                       "pack-gathered",
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
                                                       "gather",
                                                       "reduce",
                                                       "reduce-apart"};

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

/// The loop whose neighbours are made together: along the contiguous dimension
/// of what is reduced, or else of the result.
static int64_t laneLoop(LinalgOp op, bool &alongSum) {
  alongSum = false;
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
  return op.getNumDpsInits() > 0 ? contiguousLoop(op, *op.getDpsInitOperand(0))
                                 : -1;
}

/// Inputs whose neighbours in lanes are not neighbours in memory.
static int64_t gatheredInputs(LinalgOp op, int64_t lane) {
  int64_t count = 0;
  for (mlir::OpOperand *input : op.getDpsInputOperands()) {
    if (!op.payloadUsesValueFromOperand(input) ||
        !isa<mlir::RankedTensorType>(input->get().getType()) || lane < 0)
      continue;
    bool varies = op.getMatchingIndexingMap(input).isFunctionOfDim(lane);
    count += varies && contiguousLoop(op, *input) != lane;
  }
  return count;
}

static bool readsTensors(LinalgOp op) {
  return llvm::any_of(op.getDpsInputOperands(), [&](mlir::OpOperand *input) {
    return isa<mlir::TensorType>(input->get().getType()) &&
           op.payloadUsesValueFromOperand(input);
  });
}

static void addStructured(LinalgOp op, SmallVectorImpl<Work> &work) {
  int64_t points = pointsOf(op);
  bool alongSum;
  int64_t lane = laneLoop(op, alongSum);
  int64_t gathered = gatheredInputs(op, lane);
  op.getBlock()->walk([&](Operation *inner) {
    if (isArithmetic(inner))
      addArithmetic(inner, points, work);
    gathered += isa<mlir::tensor::ExtractOp>(inner);
  });
  WorkType type = workTypeOf(op->getResult(0).getType());
  if (gathered > 0)
    add(work, {type, WorkKind::Gather, saturatingProduct(points, gathered)});
  WorkKind step = op.getNumReductionLoops() == 0 ? WorkKind::Element
                  : alongSum                     ? WorkKind::Reduce
                                                 : WorkKind::ReduceApart;
  // A constant is a register of whoever reads it.
  if (readsTensors(op))
    add(work, {type, step, points});
}

//===----------------------------------------------------------------------===//
// All ops
//===----------------------------------------------------------------------===//

/// What a contraction multiplies decides its rate.
static WorkType multipliedType(Operation *op) {
  for (TypeRange types :
       {TypeRange(op->getOperandTypes()), TypeRange(op->getResultTypes())})
    if (!types.empty())
      return workTypeOf(types.front());
  return WorkType::F32;
}

static int64_t elementsOf(Type type) {
  auto shaped = dyn_cast<mlir::ShapedType>(type);
  return shaped && shaped.hasStaticShape() ? shaped.getNumElements() : 1;
}

SmallVector<Work> ckpt::workOf(Operation *op, int64_t lanes) {
  SmallVector<Work> work;
  OpSummary summary = summarize(op);
  auto linalgOp = dyn_cast<LinalgOp>(op);
  if (summary.kind == OpKind::Contraction) {
    if (lanes > 0 && linalgOp && appendTiledWork(linalgOp, lanes, work))
      return work;
    add(work, {multipliedType(op), WorkKind::Contraction, summary.flops});
  } else if (linalgOp && summary.kind != OpKind::Opaque) {
    if (summary.kind != OpKind::View)
      addStructured(linalgOp, work);
  } else if (isArithmetic(op)) {
    addArithmetic(op, summary.flops, work);
  } else if (summary.flops > 0) {
    WorkType type = op->getNumResults() == 0
                        ? WorkType::F32
                        : workTypeOf(op->getResult(0).getType());
    add(work, {type, WorkKind::Elementwise, summary.flops});
  } else if (summary.kind == OpKind::Fusible && op->getNumResults() > 0 &&
             !op->hasTrait<mlir::OpTrait::ConstantLike>()) {
    Type type = op->getResult(0).getType();
    add(work, {workTypeOf(type), WorkKind::Select, elementsOf(type)});
  }
  return work;
}
