//===- Donation.cpp - Arguments that results may overwrite ----------------===//

#include "ckpt/Import/Donation.h"
#include "ckpt/Analysis/ValueShape.h"
#include "ckpt/Plan/Donation.h"
#include "llvm/ADT/SmallBitVector.h"
#include <set>

using namespace ckpt;
using mlir::func::FuncOp;

static constexpr llvm::StringLiteral donatedName = "ckpt.donated";
static constexpr llvm::StringLiteral aliasingName = "tf.aliasing_output";
static constexpr llvm::StringLiteral donorName = "jax.buffer_donor";

/// The number of the result that \p argument names, if it names one.
static std::optional<int64_t> namedResult(FuncOp function, unsigned argument) {
  for (StringRef name : {donatedName, aliasingName})
    if (auto number =
            function.getArgAttrOfType<mlir::IntegerAttr>(argument, name);
        number && !number.getType().isInteger(1))
      return number.getInt();
  return std::nullopt;
}

static bool isDonor(FuncOp function, unsigned argument) {
  auto donor = function.getArgAttrOfType<mlir::BoolAttr>(argument, donorName);
  return (donor && donor.getValue()) ||
         function.getArgAttr(argument, donatedName);
}

static int64_t bytesOf(Value value) {
  FailureOr<ValueShape> shape = shapeOfValue(value);
  return succeeded(shape) ? shape->bytes : -1;
}

/// By argument: the result that is to lie in its buffer, or -1.
static FailureOr<SmallVector<int64_t>> readDonations(FuncOp function) {
  auto returned = function.getBody().front().getTerminator()->getOperands();
  SmallVector<int64_t> donated(function.getNumArguments(), -1);
  llvm::SmallBitVector taken(returned.size());
  for (BlockArgument argument : function.getArguments()) {
    unsigned number = argument.getArgNumber();
    std::optional<int64_t> result = namedResult(function, number);
    if (!result || *result == -1)
      continue;
    auto error = [&] {
      return mlir::emitError(argument.getLoc())
             << "argument " << number << " of '" << function.getSymName()
             << "' is donated to result " << *result;
    };
    if (*result < 0 || *result >= static_cast<int64_t>(returned.size()))
      return error() << ", but the function has " << returned.size()
                     << " results";
    if (taken.test(*result))
      return error() << ", as another argument is";
    if (bytesOf(argument) != bytesOf(returned[*result]))
      return error() << ", but that is " << returned[*result].getType()
                     << ", which does not have the bytes of "
                     << argument.getType();
    taken.set(*result);
    donated[number] = *result;
  }
  for (BlockArgument argument : function.getArguments()) {
    unsigned number = argument.getArgNumber();
    if (namedResult(function, number) || !isDonor(function, number))
      continue;
    for (auto [result, value] : llvm::enumerate(returned))
      if (!taken.test(result) && value.getType() == argument.getType()) {
        taken.set(result);
        donated[number] = result;
        break;
      }
  }
  return donated;
}

/// Whether a result lies in the buffer of its argument is up to the plan, but
/// for arguments that are also returned as they are.
LogicalResult ckpt::addDonations(ProgramProblem &program) {
  FuncOp function = program.function;
  FailureOr<SmallVector<int64_t>> wanted = readDonations(function);
  if (failed(wanted))
    return failure();
  program.donated.assign(wanted->size(), -1);
  for (auto [argument, result] : llvm::enumerate(*wanted)) {
    auto isPart = [&, r = result](const ProgramResult &part) {
      return r >= 0 && part.result == r;
    };
    if (llvm::count_if(program.results, isPart) != 1)
      continue;
    const ProgramResult &part = *llvm::find_if(program.results, isPart);
    plan::ValueId from =
        program.valueIds.lookup(function.getArgument(argument));
    auto isCopied = [&](const ProgramResult &other) {
      return other.copied && other.value == from;
    };
    if (part.copied || part.value == plan::none ||
        llvm::any_of(program.results, isCopied))
      continue;
    program.problem.values[part.value].host = from;
    program.donated[argument] = result;
  }
  return success();
}

SmallVector<int64_t> ckpt::donatedResults(FuncOp function) {
  SmallVector<int64_t> results(function.getNumArguments(), -1);
  for (auto [number, result] : llvm::enumerate(results))
    if (auto named =
            function.getArgAttrOfType<mlir::IntegerAttr>(number, donatedName))
      result = named.getInt();
  return results;
}

void ckpt::recordDonations(ProgramProblem &program, const plan::Plan &plan) {
  FuncOp function = program.function;
  std::set<plan::ValueId> inPlace;
  for (plan::ValueId result : plan::donatedResults(program.problem, plan))
    inPlace.insert(program.problem.values[result].host);
  OpBuilder builder(function.getContext());
  for (auto [number, result] : llvm::enumerate(program.donated)) {
    function.removeArgAttr(number, donatedName);
    if (inPlace.count(program.valueIds.lookup(function.getArgument(number))))
      function.setArgAttr(number, donatedName,
                          builder.getI64IntegerAttr(result));
  }
}

void ckpt::dropDonations(FuncOp function) {
  for (unsigned number = 0; number < function.getNumArguments(); ++number)
    function.removeArgAttr(number, donatedName);
}

LogicalResult ckpt::markDonated(FuncOp function, StringRef text) {
  auto mark = [&](unsigned argument) {
    if (!namedResult(function, argument))
      function.setArgAttr(argument, donatedName,
                          mlir::UnitAttr::get(function.getContext()));
  };
  if (text == "all") {
    for (unsigned number = 0; number < function.getNumArguments(); ++number)
      mark(number);
    return mlir::success();
  }
  SmallVector<StringRef> numbers;
  text.split(numbers, ',');
  for (StringRef word : numbers) {
    unsigned number;
    if (word.trim().getAsInteger(10, number) ||
        number >= function.getNumArguments())
      return mlir::emitError(function.getLoc())
             << "expected donate=all or the numbers of arguments, such as "
                "donate=0,1, but got '"
             << text << "'; '" << function.getSymName() << "' has "
             << function.getNumArguments() << " arguments";
    mark(number);
  }
  return mlir::success();
}
