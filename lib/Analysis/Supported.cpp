//===- Supported.cpp - Programs that can be planned and run ---------------===//

#include "ckpt/Analysis/Supported.h"
#include "ckpt/Analysis/ValueShape.h"
#include "ckpt/ExternalModels/ScalarCode.h"
#include "ckpt/Interfaces/RematOpInterface.h"
#include "ckpt/Support/Elements.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/StringSwitch.h"

using namespace ckpt;

//===----------------------------------------------------------------------===//
// Dialects
//===----------------------------------------------------------------------===//

/// Dialects whose ops are lowered.
static bool isLowered(StringRef dialect) {
  static const llvm::StringSet<> names{
      "affine", "arith",  "bufferization", "builtin", "ckpt",   "complex",
      "index",  "linalg", "math",          "scf",     "tensor", "ub"};
  return names.contains(dialect);
}

/// Other dialects of upstream, and advice for their ops.
static StringRef wayOutOf(StringRef dialect) {
  constexpr StringRef none = "write it as ops on tensors";
  return llvm::StringSwitch<StringRef>(dialect)
      .Case("tosa",
            "lower TOSA first, with --pass-pipeline='builtin.module(func.func("
            "tosa-optional-decompositions,tosa-to-scf,tosa-to-linalg-named,"
            "tosa-to-linalg,tosa-to-tensor,"
            "tosa-to-arith{include-apply-rescale=true}))'")
      .Case("cf", "leave assertions and branches out: 'scf.if', 'scf.for' and "
                  "'scf.while' express data-dependent flow")
      .Case("memref", "give and take tensors: memory is planned")
      .Case("vector", "write it on tensors: vectors are made by the lowering")
      .Case("ml_program", "make the state an argument and a result of the step")
      .Case("shape", "lower it first, with --convert-shape-to-std, and leave "
                     "assertions on shapes out")
      .Case("func", "inline its function first, with --inline")
      .Case("sparse_tensor", "write it on dense tensors")
      .Case("quant", "lower it first, with --lower-quant-ops --canonicalize")
      .Cases({"amdgpu", "amx", "arm_neon", "arm_sme", "arm_sve", "async"}, none)
      .Cases({"acc", "dlti", "emitc", "gpu", "irdl", "llvm", "mpi"}, none)
      .Cases({"nvgpu", "nvvm", "omp", "pdl", "pdl_interp", "ptr"}, none)
      .Cases({"rocdl", "shard", "smt", "spirv", "transform"}, none)
      .Cases({"wasmssa", "x86vector", "xegpu", "xevm"}, none)
      .Default("");
}

StringRef ckpt::wayOutOfFrontend(StringRef text) {
  if (text.contains("= stablehlo.") || text.contains("= \"stablehlo."))
    return "StableHLO is lowered to linalg first: 'python -m ckpt import' "
           "does that for a step of JAX";
  if (text.contains("!torch.vtensor"))
    return "ops of torch-mlir are lowered to linalg first: 'python -m ckpt "
           "import' does that for a step of PyTorch";
  return "";
}

bool ckpt::isOfOtherDialect(Operation *op) {
  StringRef dialect = op->getName().getDialectNamespace();
  return isa<mlir::CallOpInterface>(op) ||
         (!isLowered(dialect) && wayOutOf(dialect).empty());
}

LogicalResult ckpt::refuseToLower(Operation *op) {
  return op->emitError("expected ops that ckpt lowers, but got '")
         << op->getName() << "': its dialect has to lower it before";
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

std::string ckpt::refusalOfNumber(Type type) {
  if (auto pair = dyn_cast<mlir::ComplexType>(type)) {
    Type part = pair.getElementType();
    return part.isF32() || part.isF64() ? "" : "complex numbers of f32 or f64";
  }
  if (type.isIndex() || type.isF16() || type.isBF16() || type.isF32() ||
      type.isF64())
    return "";
  if (auto integer = dyn_cast<mlir::IntegerType>(type)) {
    if (!integer.isSignless())
      return "integers without a sign in their type";
    return integer.getWidth() <= 64 ? "" : "integers of at most 64 bits";
  }
  if (isa<mlir::Float8E3M4Type, mlir::Float8E4M3Type, mlir::Float8E4M3FNType,
          mlir::Float8E4M3FNUZType, mlir::Float8E5M2Type,
          mlir::Float8E5M2FNUZType>(type))
    return "";
  if (isa<mlir::FloatType>(type))
    return "floats of 8 bits that have a sign, f16, bf16, f32 or f64";
  return "ranked tensors and scalars of numbers";
}

/// Why a value of \p type has no place in a step.
static std::string refusalOfType(Type type) {
  if (auto tensor = dyn_cast<mlir::RankedTensorType>(type))
    return refusalOfNumber(tensor.getElementType());
  if (isa<mlir::ShapedType>(type))
    return "ranked tensors and scalars of numbers";
  return refusalOfNumber(type);
}

static LogicalResult
checkType(Type type, llvm::function_ref<mlir::InFlightDiagnostic()> error) {
  std::string refusal = refusalOfType(type);
  if (refusal.empty())
    return success();
  return error() << "expected " << refusal << ", but got " << type;
}

LogicalResult ckpt::checkSignature(mlir::func::FuncOp function) {
  Block &body = function.getBody().front();
  for (BlockArgument argument : body.getArguments())
    if (failed(checkType(argument.getType(), [&] {
          return mlir::emitError(argument.getLoc())
                 << "argument " << argument.getArgNumber() << ": ";
        })))
      return failure();
  auto end = dyn_cast<mlir::func::ReturnOp>(body.getTerminator());
  if (!end)
    return body.getTerminator()->emitError(
               "expected the step to end in 'func.return', but got '")
           << body.getTerminator()->getName() << "'";
  for (auto [number, type] : llvm::enumerate(end.getOperandTypes()))
    if (isScalar(type))
      return end.emitError("expected results to be tensors, but result ")
             << number << " is " << type
             << ": make it one with 'tensor.from_elements'";
  return success();
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

static bool isComposite(Operation *op) {
  return llvm::isa_and_nonnull<mlir::linalg::LinalgDialect>(op->getDialect()) &&
         !isa<mlir::linalg::LinalgOp, mlir::linalg::YieldOp,
              mlir::linalg::IndexOp>(op);
}

/// Bufferization wants the values of a loop in one order throughout.
static bool handsOnInOrder(mlir::scf::WhileOp loop) {
  auto handedOn = loop.getConditionOp().getArgs();
  auto carried = loop.getBeforeArguments();
  auto typeAt = [](mlir::ValueRange values, size_t i) {
    return i < values.size() ? values[i].getType() : Type();
  };
  for (size_t i = 0, end = std::max<size_t>(handedOn.size(), carried.size());
       i < end; ++i) {
    Type given = typeAt(handedOn, i), expected = typeAt(carried, i);
    if (given != expected &&
        (llvm::isa_and_nonnull<mlir::TensorType>(given) ||
         llvm::isa_and_nonnull<mlir::TensorType>(expected)))
      return false;
  }
  return true;
}

/// Whether bufferization, which is asked for ops without emitters, takes it.
static bool hasBuffers(Operation *op) {
  auto isTensor = [](Type type) { return isa<mlir::TensorType>(type); };
  return isa<mlir::bufferization::BufferizableOpInterface,
             mlir::tensor::ConcatOp>(op) ||
         mlir::OpTrait::hasElementwiseMappableTraits(op) ||
         !(llvm::any_of(op->getOperandTypes(), isTensor) ||
           llvm::any_of(op->getResultTypes(), isTensor));
}

/// Machines round to the nearest number unless a program switches them.
static bool roundsElsewhere(Operation *op) {
  auto rounding = dyn_cast<mlir::arith::ArithRoundingModeInterface>(op);
  mlir::arith::RoundingModeAttr mode;
  if (rounding)
    mode = rounding.getRoundingModeAttr();
  return mode && mode.getValue() != mlir::arith::RoundingMode::to_nearest_even;
}

static LogicalResult checkDialect(Operation *op) {
  StringRef dialect = op->getName().getDialectNamespace();
  if (isLowered(dialect) || isOfOtherDialect(op))
    return success();
  return op->emitError("expected ops that ckpt lowers, but got '")
         << op->getName() << "': " << wayOutOf(dialect);
}

static LogicalResult checkOne(Operation *op, bool isOpaque) {
  if (failed(checkDialect(op)))
    return failure();
  if (isComposite(op))
    return op->emitError("expected ops that work element by "
                         "element, but got '")
           << op->getName() << "': write it as 'linalg.generic' ops";
  if (auto constant = dyn_cast<mlir::arith::ConstantOp>(op))
    if (auto elements = dyn_cast<mlir::ElementsAttr>(constant.getValue()))
      if (std::string refusal = refusalOfResource(elements); !refusal.empty())
        return op->emitError("expected the resource of the constant, but ")
               << refusal;
  for (TypeRange types :
       {TypeRange(op->getOperandTypes()), TypeRange(op->getResultTypes())})
    for (Type type : types)
      if (failed(checkType(type, [&] { return op->emitOpError(); })))
        return failure();
  if (roundsElsewhere(op))
    return op->emitOpError("expected rounding to the nearest number, of two "
                           "the even one");
  if (auto loop = dyn_cast<mlir::scf::WhileOp>(op);
      loop && !handsOnInOrder(loop))
    return op->emitOpError("expected 'scf.condition' to hand on the tensors of "
                           "the loop in their order, and no others");
  if (isOpaque && !hasBuffers(op))
    return op->emitError("expected ops that ckpt lowers, but got '")
           << op->getName() << "': "
           << (op->getName().getDialectNamespace() == "affine"
                   ? "lower it first, with --lower-affine"
                   : "write it as 'linalg.generic' ops, or as a loop of "
                     "'tensor.insert_slice'");
  return success();
}

/// Complex numbers of which memory holds a table: LLVM's dialect has none.
static bool isComplexTable(Operation *op) {
  auto constant = dyn_cast<mlir::arith::ConstantOp>(op);
  return constant &&
         isa<mlir::ComplexType>(
             mlir::getElementTypeOrSelf(constant.getType())) &&
         !isa<mlir::SplatElementsAttr>(constant.getValue());
}

LogicalResult ckpt::checkSupported(Operation *op) {
  if (llvm::isa_and_nonnull<mlir::bufferization::BufferizationDialect>(
          op->getDialect()))
    return op->emitError("expected ops that ckpt lowers, but got '")
           << op->getName() << "': '--ckpt-prepare' takes it for its contents";
  if (isComplexTable(op))
    return op->emitError("expected complex constants of equal elements: make "
                         "others of their parts, with 'complex.create'");
  if (failed(checkDialect(op)))
    return failure();
  for (Value result : op->getResults())
    if (failed(shapeOfValue(result)))
      return failure();
  bool isOpaque = summarize(op).kind == plan::OpKind::Opaque;
  mlir::WalkResult result =
      op->walk<mlir::WalkOrder::PreOrder>([&](Operation *inner) {
        auto described = dyn_cast<RematOpInterface>(inner);
        if (described && failed(described.checkSupported()))
          return mlir::WalkResult::interrupt();
        if (isOfOtherDialect(inner))
          return mlir::WalkResult::skip();
        return failed(checkOne(inner, isOpaque)) ? mlir::WalkResult::interrupt()
                                                 : mlir::WalkResult::advance();
      });
  return failure(result.wasInterrupted());
}
