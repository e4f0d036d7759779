//===- PlanNotes.cpp - The text of a plan on a value ----------------------===//

#include "PlanNotes.h"
#include "ckpt/Analysis/StepOps.h"
#include "ckpt/Support/ElementBytes.h"

using namespace ckpt;
using namespace ckpt::lsp;

PlanNotes::PlanNotes(mlir::func::FuncOp function) : function(function) {
  readKernels();
  if (kernels.empty() && isPlanned(function))
    readAttributes();
}

void PlanNotes::readKernels() {
  if (!function.isExternal())
    for (KernelOp kernel : function.getOps<KernelOp>())
      kernels.try_emplace(kernel, kernels.size());
}

void PlanNotes::readAttributes() {
  mlir::ScopedDiagnosticHandler handler(
      function.getContext(), [&](mlir::Diagnostic &diagnostic) {
        if (diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error &&
            error.empty())
          error = diagnostic.str();
        return mlir::success();
      });
  FailureOr<ProgramProblem> problem = buildProblem(function, "cpu");
  if (failed(problem))
    return;
  FailureOr<plan::Solution> read = readPlan(*problem);
  if (failed(read))
    return;
  program = std::move(*problem);
  solution = std::move(*read);
  plan::report::addSchedule({program->problem, solution, {}, {}}, report);
  decisions =
      plan::plannedAs(program->problem, solution.plan, solution.verdict);
}

/// Bytes of \p type where they are known.
static std::optional<int64_t> bytesOf(Type type) {
  auto tensor = dyn_cast<mlir::RankedTensorType>(type);
  if (!tensor || !tensor.hasStaticShape() ||
      !(tensor.getElementType().isIntOrIndexOrFloat() ||
        isa<mlir::ComplexType>(tensor.getElementType())))
    return std::nullopt;
  return tensor.getNumElements() * elementBytes(tensor.getElementType());
}

std::string PlanNotes::describe(Value value) {
  std::optional<int64_t> bytes = bytesOf(value.getType());
  if (!bytes)
    return "";
  std::string text = "**" + plan::formatBytes(*bytes) + "**";
  if (auto kernel = value.getDefiningOp<KernelOp>())
    return text + describeKernelResult(
                      kernel, cast<mlir::OpResult>(value).getResultNumber());
  if (program) {
    auto id = program->valueIds.find(lookThroughLayers(value));
    if (id != program->valueIds.end())
      return text + describePlanned(id->second);
    return text + ", of which nothing stands in memory: a shape alone, or no "
                  "result needs it\n";
  }
  if (!error.empty())
    return text + "\n\nThe plan cannot be read: " + error + "\n";
  if (kernels.empty() && value.getParentRegion() == &function.getBody())
    return text + "\n\nThis function has no plan; `ckpt-opt "
                  "--ckpt-plan=budget=50%` writes one.\n";
  return text + "\n";
}

//===----------------------------------------------------------------------===//
// Functions of kernels
//===----------------------------------------------------------------------===//

std::string PlanNotes::describeKernelResult(KernelOp kernel, unsigned result) {
  int64_t first = kernels.lookup(kernel);
  int64_t last = first;
  for (Operation *user : kernel.getResult(result).getUsers())
    last = std::max(last, isa<KernelOp>(user)
                              ? kernels.lookup(user)
                              : static_cast<int64_t>(kernels.size()) - 1);
  int64_t offset = kernel.getOffsets()[result];
  std::string text;
  llvm::raw_string_ostream os(text);
  if (int64_t host = kernel.getHost(result); host >= 0)
    os << " at byte " << plan::formatCount(offset) << " of the buffer of part "
       << host << " of the results";
  else if (offset >= 0)
    os << " at byte " << plan::formatCount(offset) << " of the arena";
  else
    os << " in the caller's buffer";
  os << "\n\nLive in kernels " << first << " to " << last << " of 0 to "
     << kernels.size() - 1 << ".\n";
  if (kernel.getRecompute())
    os << "\nRecomputed: an earlier kernel made this value, too, or ran its "
          "anchor.\n";
  return text;
}

//===----------------------------------------------------------------------===//
// Functions with a plan
//===----------------------------------------------------------------------===//

std::string PlanNotes::kernelName(int32_t kernel) {
  int32_t value = report.kernels[kernel].value;
  std::string text = "kernel " + std::to_string(kernel);
  return value < 0 ? text : text + " (`" + report.values[value].name + "`)";
}

/// The kernels of \p plan for which \p holds.
static std::vector<int32_t>
kernelsWhere(const plan::Plan &plan,
             llvm::function_ref<bool(const plan::Kernel &)> holds) {
  std::vector<int32_t> found;
  for (size_t i = 0; i < plan.kernels.size(); ++i)
    if (holds(plan.kernels[i]))
      found.push_back(static_cast<int32_t>(i));
  return found;
}

static bool computes(const plan::Kernel &kernel, plan::OpId op) {
  return std::binary_search(kernel.ops.begin(), kernel.ops.end(), op);
}

/// "kernel 3", "kernels 3, 5 and 8" or "9 kernels".
static std::string listed(llvm::ArrayRef<int32_t> numbers) {
  if (numbers.size() > 4)
    return std::to_string(numbers.size()) + " kernels";
  std::string text = numbers.size() == 1 ? "kernel " : "kernels ";
  for (size_t i = 0; i < numbers.size(); ++i)
    text += (i == 0                    ? ""
             : i + 1 == numbers.size() ? " and "
                                       : ", ") +
            std::to_string(numbers[i]);
  return text;
}

std::string PlanNotes::describePlace(plan::ValueId id) {
  switch (program->problem.values[id].home) {
  case plan::Home::Argument:
    return ", the caller's: an argument or a constant, in memory throughout\n";
  case plan::Home::Result:
    return " in the caller's buffer of a result\n";
  case plan::Home::Hosted:
    return " in the buffer of a result, until that is written\n";
  case plan::Home::Arena:
    break;
  }
  std::string text = "\n";
  llvm::raw_string_ostream os(text);
  for (const plan::report::LiveRange &range : report.ranges)
    if (report.values[range.value].id == id)
      os << "\nLive in kernels " << range.first << " to " << range.last
         << " of 0 to " << report.kernels.size() - 1 << ", at byte "
         << plan::formatCount(range.offset) << " of the arena"
         << (range.recomputed ? ", recomputed" : "") << ".\n";
  return text;
}

std::string PlanNotes::describeSaved(plan::ValueId id) {
  const plan::Problem &problem = program->problem;
  const plan::Value &value = problem.values[id];
  std::vector<int32_t> readers =
      kernelsWhere(solution.plan, [&](const plan::Kernel &kernel) {
        return !computes(kernel, value.op) &&
               llvm::any_of(kernel.ops, [&](plan::OpId op) {
                 return llvm::any_of(
                     problem.ops[op].reads,
                     [&](const plan::Read &read) { return read.value == id; });
               });
      });
  std::string text = "\n**saved**: ";
  if (value.keep == plan::Keep::Save)
    text += "a pin or the strategy asks for it";
  else if (!problem.ops[value.op].mayRepeat)
    text += "its op may run only once";
  else if (readers.empty())
    text += "the step returns it";
  else
    text += "read by " + listed(readers) + ", last by " +
            kernelName(readers.back());
  if (int64_t flops = problem.ops[value.op].flops; flops > 0)
    text += "; its op takes " + plan::formatCount(flops) + " FLOPs";
  return text + ".\n";
}

std::string PlanNotes::describeRecomputed(plan::ValueId id) {
  std::string text = "\n**recomputed**";
  if (program->problem.values[id].keep == plan::Keep::Recompute)
    text += ": a pin or the strategy asks for it";
  text += ".\n";
  llvm::raw_string_ostream os(text);
  for (const plan::report::Recomputation &again : report.recomputations) {
    if (report.values[again.value].id != id)
      continue;
    os << "\n- " << kernelName(again.kernel) << " computes it again, for "
       << plan::formatCount(again.flops) << " FLOPs";
    if (again.freedLast >= again.freedFirst && again.bytes > 0)
      os << "; that frees " << plan::formatBytes(again.bytes) << " in kernels "
         << again.freedFirst << " to " << again.freedLast;
    os << ".";
  }
  os << "\n";
  return text;
}

std::string PlanNotes::describeInlined(plan::ValueId id) {
  const plan::Value &value = program->problem.values[id];
  std::vector<int32_t> users =
      kernelsWhere(solution.plan, [&](const plan::Kernel &kernel) {
        return computes(kernel, value.op);
      });
  std::string text =
      "\n**inlined**: never in memory; computed inside " + listed(users);
  if (value.keep == plan::Keep::Inline)
    text += ", as a pin or the strategy asks";
  return text + ".\n";
}

std::string PlanNotes::describePlanned(plan::ValueId id) {
  std::string text = describePlace(id);
  plan::OpId op = program->problem.values[id].op;
  if (op == plan::none)
    return text;
  switch (decisions[op]) {
  case plan::PlannedAs::Save:
    return text + describeSaved(id);
  case plan::PlannedAs::Recompute:
    return text + describeRecomputed(id);
  case plan::PlannedAs::Inline:
    return text + describeInlined(id);
  }
  llvm_unreachable("all enumerators are handled");
}
