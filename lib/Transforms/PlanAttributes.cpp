//===- PlanAttributes.cpp - Plans as attributes, there and back -----------===//

#include "ckpt/Analysis/OpHash.h"
#include "ckpt/IR/CkptDialect.h"
#include "ckpt/Plan/Pack.h"
#include "ckpt/Transforms/Planning.h"

using namespace ckpt;

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

/// What the plan does with each op: it is made again, it stands in memory, or
/// it is only computed inside kernels. An anchor that runs in several kernels
/// is made again though its result may never stand in memory.
static SmallVector<Decision> decide(const ProgramProblem &program,
                                    const plan::Solution &solution) {
  SmallVector<Decision> decisions(program.ops.size(), Decision::Inline);
  std::vector<bool> ran(program.ops.size(), false);
  for (const plan::Kernel &kernel : solution.plan.kernels)
    for (plan::OpId op : kernel.ops) {
      if (plan::isAnchor(program.problem.ops[op]) && ran[op])
        decisions[op] = Decision::Recompute;
      ran[op] = true;
    }
  for (const plan::Instance &instance : solution.verdict.instances) {
    Decision &decision = decisions[program.problem.values[instance.value].op];
    if (instance.recomputed)
      decision = Decision::Recompute;
    else if (decision == Decision::Inline)
      decision = Decision::Save;
  }
  return decisions;
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
      planned.outputs.push_back({op,
                                 llvm::find(results, value) - results.begin(),
                                 kernel.offsets[i]});
    }
    planned.workspaceOffset = kernel.workspaceOffset;
  }
  return kernels;
}

void ckpt::annotatePlan(ProgramProblem &program,
                        const plan::Solution &solution) {
  mlir::func::FuncOp function = program.function;
  MLIRContext *context = function.getContext();
  for (auto [op, decision] :
       llvm::zip_equal(program.ops, decide(program, solution)))
    op->setAttr(CkptDialect::decisionAttrName(),
                DecisionAttr::get(context, decision));
  decideLayers(function);
  function->setAttr(
      CkptDialect::planAttrName(),
      PlanAttr::get(context, hashOps(program), hashDecisions(function),
                    solution.plan.arenaBytes, encode(program, solution.plan)));
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

/// Refuses a schedule that was made for another body.
static LogicalResult checkBody(ProgramProblem &program, PlanAttr attribute) {
  SmallVector<int64_t> hashes = hashOps(program);
  ArrayRef<int64_t> planned = attribute.getOps();
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

/// Numbers out of range are left to the simulator, which names them; what
/// cannot even be expressed is refused here.
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
    }
    kernel.workspaceOffset = planned.workspaceOffset;
  }
  return success();
}

/// What the user wrote on ops and layers, as demands on values.
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
  if (failed(checkBody(program, attribute)))
    return failure();
  if (attribute.getDecisionsHash() != hashDecisions(program.function))
    return planFromDecisions(program);
  plan::Solution solution;
  if (failed(decode(program, attribute, solution.plan)))
    return failure();
  solution.verdict =
      plan::validate(program.problem, solution.plan, /*slots=*/true);
  if (!solution.verdict.error.empty())
    return mlir::emitError(program.function.getLoc())
           << "the plan breaks a rule: " << solution.verdict.error;
  return solution;
}
