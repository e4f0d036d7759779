//===- VerifyTakeovers.cpp - Is an input read before it is lost? ----------===//
//
// Slots say that a result lies where an input does; only the body of the kernel
// says whether that is right. It is read here as a program of its own.
//
//===----------------------------------------------------------------------===//

#include "Verify/VerifyTakeovers.h"
#include "ckpt/Analysis/ReturnedParts.h"
#include "ckpt/Analysis/ValueShape.h"
#include "ckpt/Import/Donation.h"
#include "ckpt/Import/KernelProblem.h"
#include "ckpt/Plan/Kernel.h"
#include "mlir/IR/IRMapping.h"

using namespace ckpt;

namespace {
/// A stretch of memory: of the arena, or of a part of the function's results.
struct Stretch {
  /// -1 for the arena.
  int64_t buffer;
  int64_t begin, end;

  bool overlaps(const Stretch &other) const {
    return buffer == other.buffer && begin < other.end && other.begin < end;
  }
};
} // namespace

/// The number of the part that a value fills.
using PartNumbers = llvm::DenseMap<Value, int64_t>;

/// The place of a result of a kernel or of a donated argument.
static std::optional<Stretch> stretchOf(Value value,
                                        const PartNumbers &partOf) {
  auto kernel = value.getDefiningOp<KernelOp>();
  if (!kernel) {
    auto part = partOf.find(value);
    FailureOr<ValueShape> shape = shapeOfValue(value);
    if (!isa<BlockArgument>(value) || part == partOf.end() || failed(shape))
      return std::nullopt;
    return Stretch{part->second, 0, shape->bytes};
  }
  unsigned number = cast<OpResult>(value).getResultNumber();
  int64_t offset = kernel.getOffsets()[number];
  int64_t bytes = kernel.getBytes()[number];
  if (offset >= 0)
    return Stretch{kernel.getHost(number), offset, offset + bytes};
  if (auto part = partOf.find(value); part != partOf.end())
    return Stretch{part->second, 0, bytes};
  return std::nullopt;
}

/// The body as a function, whose results go to a call: so they are values like
/// any other.
static mlir::OwningOpRef<mlir::func::FuncOp> functionOf(KernelOp kernel) {
  OpBuilder builder(kernel.getContext());
  auto type = builder.getFunctionType(kernel.getInputs().getTypes(), {});
  mlir::OwningOpRef<mlir::func::FuncOp> function =
      mlir::func::FuncOp::create(kernel.getLoc(), "kernel", type);
  mlir::IRMapping mapping;
  kernel.getBody().cloneInto(&function->getBody(), mapping);
  Operation *yield = function->getBody().front().getTerminator();
  builder.setInsertionPoint(yield);
  mlir::func::CallOp::create(builder, kernel.getLoc(), "results", TypeRange(),
                             yield->getOperands());
  mlir::func::ReturnOp::create(builder, kernel.getLoc());
  yield->erase();
  return function;
}

/// Whether result \p result may be written over input \p input.
static bool mayOverwrite(KernelOp kernel, unsigned input, unsigned result) {
  mlir::OwningOpRef<mlir::func::FuncOp> function = functionOf(kernel);
  FailureOr<ProgramProblem> program = buildKernelProblem(*function);
  if (failed(program))
    return false;
  plan::Kernel whole;
  plan::OpId call = program->ops.size() - 1;
  for (plan::OpId op = 0; op < call; ++op)
    whole.ops.push_back(op);
  for (Value operand : program->ops[call]->getOperands())
    whole.outputs.push_back(program->valueIds.lookup(operand));
  plan::ValueId source = program->valueIds.lookup(function->getArgument(input));
  plan::KernelInfo info = plan::analyze(program->problem, whole);
  return llvm::any_of(info.inPlace, [&](const plan::InPlacePair &pair) {
    return pair.input == source && pair.output == static_cast<int32_t>(result);
  });
}

/// \p value, or the value of which it shows a stretch.
static Value wholeOf(Value value) {
  Operation *maker = value.getDefiningOp();
  while (maker && !isa<KernelOp>(maker) && maker->getNumOperands() > 0) {
    value = maker->getOperand(0);
    maker = value.getDefiningOp();
  }
  return value;
}

LogicalResult ckpt::verifyTakeovers(mlir::func::FuncOp function) {
  PartNumbers partOf;
  llvm::DenseMap<int64_t, int64_t> partOfResult;
  for (auto [number, part] :
       llvm::enumerate(returnedParts(function.getBody().front()))) {
    partOfResult.try_emplace(part.result, number);
    if (!isa<BlockArgument>(part.value))
      partOf.try_emplace(part.value, number);
  }
  for (auto [number, result] : llvm::enumerate(donatedResults(function)))
    if (auto part = partOfResult.find(result); part != partOfResult.end())
      partOf.try_emplace(function.getArgument(number), part->second);
  for (KernelOp kernel : function.getOps<KernelOp>())
    for (auto [i, input] : llvm::enumerate(kernel.getInputs())) {
      std::optional<Stretch> place = stretchOf(wholeOf(input), partOf);
      if (!place)
        continue;
      for (OpResult result : kernel->getResults()) {
        std::optional<Stretch> target = stretchOf(result, partOf);
        if (!target || !target->overlaps(*place) ||
            mayOverwrite(kernel, i, result.getResultNumber()))
          continue;
        mlir::InFlightDiagnostic diagnostic =
            mlir::emitError(kernel.getLoc())
            << "result " << result.getResultNumber()
            << " is written over input " << i
            << ", of which other elements are still to be read";
        diagnostic.attachNote(input.getLoc()) << "which is made here";
        return diagnostic;
      }
    }
  return success();
}
