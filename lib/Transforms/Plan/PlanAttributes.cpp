//===- PlanAttributes.cpp - Plans as attributes, there and back -----------===//
//
// `--ckpt-plan` writes the schedule and the decisions, `--ckpt-apply-plan`
// reads them. Between the two a user may edit them, or other passes may run:
// reading checks every op against a fingerprint.
//
//===----------------------------------------------------------------------===//

#include "ckpt/IR/ArenaLimit.h"
#include "ckpt/IR/CkptDialect.h"
#include "ckpt/Import/OpHash.h"
#include "ckpt/Import/Regions.h"
#include "ckpt/Plan/Pack.h"
#include "ckpt/Transforms/PlanStep.h"

using namespace ckpt;

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

static Decision decisionOf(plan::PlannedAs as) {
  switch (as) {
  case plan::PlannedAs::Save:
    return Decision::Save;
  case plan::PlannedAs::Recompute:
    return Decision::Recompute;
  case plan::PlannedAs::Inline:
    return Decision::Inline;
  }
  llvm_unreachable("all enumerators are handled");
}

/// A layer is recomputed if anything in it is.
static void decideLayers(mlir::func::FuncOp function) {
  function.walk([](LayerOp layer) {
    bool recompute = false;
    layer.getBody().walk([&](Operation *op) {
      auto decision =
          op->getAttrOfType<DecisionAttr>(CkptDialect::decisionAttrName());
      recompute |= decision && decision.getValue() == Decision::Recompute;
    });
    layer.setDecisionAttr(DecisionAttr::get(
        layer.getContext(), recompute ? Decision::Recompute : Decision::Save));
  });
}

static SmallVector<PlannedKernel> encode(const ProgramProblem &program,
                                         const plan::Plan &plan) {
  SmallVector<PlannedKernel> kernels;
  for (const plan::Kernel &kernel : plan.kernels) {
    PlannedKernel &planned = kernels.emplace_back();
    planned.ops.append(kernel.ops.begin(), kernel.ops.end());
    for (auto [i, value] : llvm::enumerate(kernel.outputs)) {
      plan::OpId op = program.problem.values[value].op;
      const auto &results = program.problem.ops[op].results;
      plan::ValueId host = kernel.hostOf(i);
      planned.outputs.push_back(
          {op, llvm::find(results, value) - results.begin(), kernel.offsets[i],
           host == plan::none ? -1 : program.partOf(host)});
    }
    planned.workspaceOffset = kernel.workspaceOffset;
  }
  return kernels;
}

void ckpt::annotatePlan(ProgramProblem &program,
                        const plan::Solution &solution) {
  mlir::func::FuncOp function = program.function;
  MLIRContext *context = function.getContext();
  for (auto [op, as] : llvm::zip_equal(
           program.ops,
           plan::plannedAs(program.problem, solution.plan, solution.verdict)))
    op->setAttr(CkptDialect::decisionAttrName(),
                DecisionAttr::get(context, decisionOf(as)));
  decideLayers(function);
  writeRegions(program);
  function->setAttr(
      CkptDialect::planAttrName(),
      PlanAttr::get(context, hashOps(program), hashDecisions(function),
                    solution.plan.arenaBytes, encode(program, solution.plan)));
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

/// Refuses a schedule that was made for another body.
static LogicalResult checkBody(ProgramProblem &program,
                               ArrayRef<int64_t> planned) {
  SmallVector<int64_t> hashes = hashOps(program);
  for (auto [i, op] : llvm::enumerate(program.ops))
    if (i >= planned.size() || planned[i] != hashes[i])
      return mlir::emitError(op->getLoc())
             << "the plan of '" << program.function.getSymName()
             << "' was made for another body: op number " << i
             << " is the first that differs; plan again";
  if (planned != ArrayRef<int64_t>(hashes))
    return mlir::emitError(program.function.getLoc())
           << "the plan of '" << program.function.getSymName()
           << "' was made for another body, which had more ops or returned "
              "something else; plan again";
  return success();
}

/// Judges \p solution with its places.
static LogicalResult checkRules(const ProgramProblem &program,
                                plan::Solution &solution) {
  mlir::func::FuncOp function = program.function;
  int64_t arenaBytes = solution.plan.arenaBytes;
  if (arenaBytes < 0 || arenaBytes > largestArenaBytes)
    return mlir::emitError(function.getLoc())
           << "expected the plan's arena to take at most " << largestArenaBytes
           << " bytes, but got " << arenaBytes;
  solution.verdict =
      plan::validate(program.problem, solution.plan, /*slots=*/true);
  if (solution.verdict.error.empty())
    return success();
  return mlir::emitError(function.getLoc())
         << "the plan breaks a rule: " << solution.verdict.error;
}

/// Leaves numbers out of range to the simulator, which names them; refuses here
/// only values that cannot be expressed.
static LogicalResult decode(ProgramProblem &program, PlanAttr attribute,
                            plan::Plan &plan) {
  int64_t opCount = program.ops.size();
  plan.arenaBytes = attribute.getArenaBytes();
  for (const PlannedKernel &planned : attribute.getKernels()) {
    plan::Kernel &kernel = plan.kernels.emplace_back();
    kernel.ops.assign(planned.ops.begin(), planned.ops.end());
    for (const PlannedOutput &output : planned.outputs) {
      bool known =
          output.op >= 0 && output.op < opCount && output.result >= 0 &&
          output.result < static_cast<int64_t>(
                              program.problem.ops[output.op].results.size());
      if (!known)
        return mlir::emitError(program.function.getLoc())
               << "the plan names result " << output.result << " of op "
               << output.op << ", which does not exist";
      kernel.outputs.push_back(
          program.problem.ops[output.op].results[output.result]);
      kernel.offsets.push_back(output.offset);
      if (output.host < 0)
        continue;
      if (output.host >= static_cast<int64_t>(program.results.size()))
        return mlir::emitError(program.function.getLoc())
               << "the plan names part " << output.host
               << " of the results, which does not exist";
      kernel.hosts.resize(kernel.outputs.size(), plan::none);
      kernel.hosts.back() = program.results[output.host].value;
    }
    if (!kernel.hosts.empty())
      kernel.hosts.resize(kernel.outputs.size(), plan::none);
    kernel.workspaceOffset = planned.workspaceOffset;
  }
  return success();
}

/// Sets the user's decisions on ops and layers as demands on values.
static void keepAsDecided(ProgramProblem &program) {
  for (auto [i, value] : llvm::enumerate(program.values)) {
    Operation *op = value.getDefiningOp();
    if (!op || program.problem.values[i].op == plan::none)
      continue;
    auto decision =
        op->getAttrOfType<DecisionAttr>(CkptDialect::decisionAttrName());
    auto layer = op->getParentOfType<LayerOp>();
    if (!decision && layer)
      decision = layer.getDecisionAttr();
    if (!decision)
      continue;
    plan::Keep &keep = program.problem.values[i].keep;
    switch (decision.getValue()) {
    case Decision::Save:
      keep = plan::Keep::Save;
      break;
    case Decision::Recompute:
      keep = plan::Keep::Recompute;
      break;
    case Decision::Inline:
      keep = plan::Keep::Inline;
      break;
    }
  }
}

static FailureOr<plan::Solution> planFromDecisions(ProgramProblem &program) {
  keepAsDecided(program);
  plan::Solution solution =
      plan::solveUnlimited(program.problem, plan::SolverOptions());
  if (!solution.verdict.error.empty())
    return mlir::emitError(program.function.getLoc())
           << "no schedule follows the decisions: " << solution.verdict.error;
  mlir::emitRemark(program.function.getLoc())
      << "a schedule was derived from the decisions; its arena takes "
      << solution.plan.arenaBytes << " bytes";
  return solution;
}

bool ckpt::isPlanned(mlir::func::FuncOp function) {
  if (function->hasAttr(CkptDialect::planAttrName()))
    return true;
  return function
      .walk([](Operation *op) {
        auto layer = dyn_cast<LayerOp>(op);
        return op->hasAttr(CkptDialect::decisionAttrName()) ||
                       (layer && layer.getDecision())
                   ? mlir::WalkResult::interrupt()
                   : mlir::WalkResult::advance();
      })
      .wasInterrupted();
}

FailureOr<plan::Solution> ckpt::readPlan(ProgramProblem &program) {
  auto attribute =
      program.function->getAttrOfType<PlanAttr>(CkptDialect::planAttrName());
  if (!attribute)
    return planFromDecisions(program);
  if (failed(checkBody(program, attribute.getOps())))
    return failure();
  if (attribute.getDecisionsHash() != hashDecisions(program.function))
    return planFromDecisions(program);
  plan::Solution solution;
  if (failed(decode(program, attribute, solution.plan)))
    return failure();
  if (failed(checkRules(program, solution)))
    return failure();
  return solution;
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

plan::PlanFile ckpt::makePlanFile(const ProgramProblem &program,
                                  const plan::Solution &solution,
                                  int64_t budgetBytes) {
  plan::PlanFile file;
  mlir::func::FuncOp function = program.function;
  file.function = function.getName().str();
  file.budgetBytes = budgetBytes;
  file.timeNs = solution.verdict.timeNs;
  file.extraFlops = solution.verdict.extraFlops;
  file.valueCount = program.values.size();
  for (const plan::Region &region : program.problem.regions)
    file.regions[region.name] = region.budgetBytes;
  SmallVector<int64_t> hashes = hashOps(program);
  std::vector<plan::PlannedAs> planned =
      plan::plannedAs(program.problem, solution.plan, solution.verdict);
  for (auto [i, op] : llvm::enumerate(program.problem.ops)) {
    file.flops += op.flops;
    const std::string &name =
        op.results.empty() ? op.name
                           : program.problem.values[op.results.front()].name;
    file.ops.push_back({hashes[i], planned[i], name});
  }
  file.returnHash = hashes.back();
  file.plan = solution.plan;
  return file;
}

/// Compares the decisions of the file with its kernels.
static LogicalResult checkPlannedOps(const ProgramProblem &program,
                                     const plan::Solution &solution,
                                     const plan::PlanFile &file) {
  std::vector<plan::PlannedAs> planned =
      plan::plannedAs(program.problem, solution.plan, solution.verdict);
  for (auto [i, op] : llvm::enumerate(program.ops))
    if (planned[i] != file.ops[i].as)
      return mlir::emitError(op->getLoc())
             << "the plan says that op number " << i << " is "
             << plan::describe(file.ops[i].as) << ", but by its kernels it is "
             << plan::describe(planned[i]);
  return success();
}

/// Compares the figures of the file with its kernels.
static LogicalResult checkFigures(const ProgramProblem &program,
                                  const plan::Solution &solution,
                                  const plan::PlanFile &file) {
  mlir::func::FuncOp function = program.function;
  auto differs = [&](StringRef key, int64_t said, int64_t found) {
    return mlir::emitError(function.getLoc())
           << "the plan says '" << key << "=" << said
           << "', but by its kernels it is " << found;
  };
  int64_t flops = 0;
  for (const plan::Op &op : program.problem.ops)
    flops += op.flops;
  if (file.flops != flops)
    return differs("flops", file.flops, flops);
  if (file.extraFlops != solution.verdict.extraFlops)
    return differs("extra-flops", file.extraFlops, solution.verdict.extraFlops);
  // Devices are measured anew now and then; the plan is right on each of them.
  if (file.timeNs != solution.verdict.timeNs)
    mlir::emitWarning(function.getLoc())
        << "the plan says 'time=" << file.timeNs
        << "', but on this device it is " << solution.verdict.timeNs
        << "; 'device' says for which one it is";
  return success();
}

FailureOr<plan::Solution> ckpt::readPlanFile(ProgramProblem &program,
                                             const plan::PlanFile &file) {
  SmallVector<int64_t> hashes;
  for (const plan::PlannedOp &op : file.ops)
    hashes.push_back(op.hash);
  hashes.push_back(file.returnHash);
  if (failed(checkBody(program, hashes)))
    return failure();
  if (file.valueCount != static_cast<int64_t>(program.values.size()))
    return mlir::emitError(program.function.getLoc())
           << "expected a plan of " << program.values.size()
           << " values, but got one of " << file.valueCount;
  plan::Solution solution;
  solution.plan = file.plan;
  if (failed(setRegions(program, file.regions)) ||
      failed(checkRules(program, solution)) ||
      failed(checkPlannedOps(program, solution, file)) ||
      failed(checkFigures(program, solution, file)))
    return failure();
  return solution;
}
