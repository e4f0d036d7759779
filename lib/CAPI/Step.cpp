//===- Step.cpp - Steps are planned and rewritten through C ---------------===//

#include "ckpt-c/Step.h"
#include "Plans.h"
#include "Steps.h"
#include "ckpt/Analysis/Step.h"
#include "ckpt/InitAll.h"
#include "ckpt/Transforms/Passes.h"
#include "ckpt/Transforms/PlanStep.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

using namespace ckpt;
using namespace ckpt::capi;

static const mlir::DialectRegistry &allDialects() {
  static const auto *const registry = [] {
    auto *made = new mlir::DialectRegistry();
    ckpt::registerAllDialects(*made);
    return made;
  }();
  return *registry;
}

StepObject::StepObject()
    : context(allDialects(), mlir::MLIRContext::Threading::DISABLED) {
  // The caller has the text.
  context.printOpOnDiagnostic(false);
}

static std::string describe(mlir::Diagnostic &diagnostic) {
  std::string text;
  llvm::raw_string_ostream os(text);
  if (auto place =
          diagnostic.getLocation()->findInstanceOf<mlir::FileLineColLoc>())
    os << place.getFilename().getValue() << ":" << place.getLine() << ":"
       << place.getColumn() << ": ";
  os << diagnostic.str();
  for (mlir::Diagnostic &note : diagnostic.getNotes())
    os << "\nnote: " << note.str();
  return text;
}

FirstError::FirstError(mlir::MLIRContext &context)
    : handler(&context, [this](mlir::Diagnostic &diagnostic) {
        if (diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error &&
            message.empty())
          message = describe(diagnostic);
        return mlir::success();
      }) {}

CkptStatus ckptStepParse(const char *text, CkptStep *step) {
  if (!text || !step)
    return failNull(text ? "step" : "text");
  auto object = std::make_shared<StepObject>();
  FirstError error(object->context);
  object->module = mlir::parseSourceString<ModuleOp>(
      text, mlir::ParserConfig(&object->context), "step");
  if (!object->module)
    return fail(CKPT_INVALID_INPUT, error.text("the text is no module"));
  step->number = add(std::move(object));
  return CKPT_SUCCESS;
}

CkptStatus ckptStepDestroy(CkptStep step) {
  return destroy<StepObject>(step.number);
}

/// The plan that \p module has, if it is a schedule.
static LogicalResult readSchedule(ModuleOp module, PlanObject &plan) {
  FailureOr<mlir::func::FuncOp> function = findStep(module, "");
  if (failed(function))
    return failure();
  FailureOr<ProgramProblem> program = buildProblem(*function, "cpu");
  if (failed(program))
    return failure();
  FailureOr<plan::Solution> solution = readPlan(*program);
  if (succeeded(solution))
    plan.plan = std::move(solution->plan);
  return LogicalResult(solution);
}

CkptStatus ckptStepPlan(CkptStep step, const char *options, CkptPlan *plan) {
  auto object = get<StepObject>(step.number);
  if (!object)
    return failHandle(step.number, StepObject::what);
  if (!options)
    return failNull("options");
  std::lock_guard<std::mutex> lock(object->mutex);
  auto made = std::make_shared<PlanObject>();
  std::unique_ptr<mlir::Pass> pass = createPlanPass(made->report);
  std::string message;
  if (failed(pass->initializeOptions(("quiet=true " + Twine(options)).str(),
                                     [&](const Twine &text) {
                                       message = text.str();
                                       return failure();
                                     })))
    return fail(CKPT_INVALID_ARGUMENT, StringRef(message).trim().str());
  FirstError error(object->context);
  mlir::OwningOpRef<ModuleOp> planned = object->module->clone();
  mlir::PassManager manager(&object->context);
  manager.addPass(std::move(pass));
  if (failed(manager.run(*planned))) {
    auto feasible = made->report.figures.find("feasible");
    bool isFeasible = feasible == made->report.figures.end() ||
                      feasible->second != plan::report::Figure(false);
    return fail(isFeasible ? CKPT_INVALID_INPUT : CKPT_INFEASIBLE,
                error.text("the step cannot be planned"));
  }
  if (plan && made->report.hasSchedule && failed(readSchedule(*planned, *made)))
    return fail(CKPT_INVALID_INPUT, error.text("the plan cannot be read"));
  object->module = std::move(planned);
  if (plan)
    plan->number = add(std::move(made));
  return CKPT_SUCCESS;
}

CkptStatus ckptStepApplyPlan(CkptStep step) {
  auto object = get<StepObject>(step.number);
  if (!object)
    return failHandle(step.number, StepObject::what);
  std::lock_guard<std::mutex> lock(object->mutex);
  FirstError error(object->context);
  mlir::OwningOpRef<ModuleOp> rewritten = object->module->clone();
  mlir::PassManager manager(&object->context);
  manager.addPass(createApplyPlanPass());
  if (failed(manager.run(*rewritten)))
    return fail(CKPT_INVALID_INPUT, error.text("the plan cannot be applied"));
  object->module = std::move(rewritten);
  return CKPT_SUCCESS;
}

CkptStatus ckptStepPrint(CkptStep step, CkptStringCallback callback,
                         void *userData) {
  auto object = get<StepObject>(step.number);
  if (!object)
    return failHandle(step.number, StepObject::what);
  if (!callback)
    return failNull("callback");
  std::string text;
  {
    std::lock_guard<std::mutex> lock(object->mutex);
    llvm::raw_string_ostream os(text);
    object->module->print(os, mlir::OpPrintingFlags().enableDebugInfo());
  }
  callback(text.data(), text.size(), userData);
  return CKPT_SUCCESS;
}
