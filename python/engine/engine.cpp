//===- engine.cpp - A step in the process of Python -----------------------===//
//
// ckpt/engine.py calls this module: text of a step in, machine code that runs
// on the caller's arrays out. The GIL is free while a step is planned, compiled
// and run, and a signal ends the planning (Watch.h).
//
//===----------------------------------------------------------------------===//

#include "Watch.h"
#include "ckpt/Analysis/Step.h"
#include "ckpt/InitAll.h"
#include "ckpt/Pipelines/PlanPipeline.h"
#include "ckpt/Runtime/CompiledStep.h"
#include "ckpt/Runtime/DiagnosedError.h"
#include "ckpt/Runtime/Signature.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringExtras.h"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <atomic>
#include <cstdlib>
#include <mutex>
#include <sstream>

namespace nb = nanobind;
using namespace ckpt;
using Array = nb::ndarray<nb::ro, nb::c_contig, nb::device::cpu>;

namespace {

/// A step that MLIR or the planner refuses, with its diagnostics.
struct RefusedStep : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A step that has no plan within its budget. The first line of the text has
/// the budget, the smallest one that was met, and its proven bound.
struct BudgetTooSmall : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// All errors and notes of a scope, a line each.
class Diagnostics {
public:
  explicit Diagnostics(MLIRContext &context)
      : handler(&context, [this](mlir::Diagnostic &diagnostic) {
          add(diagnostic);
          return success();
        }) {}

  std::string text() const { return llvm::join(lines, "\n"); }

private:
  void add(mlir::Diagnostic &diagnostic) {
    // A warning is no reason to refuse a step; the report repeats it.
    if (diagnostic.getSeverity() == mlir::DiagnosticSeverity::Warning ||
        diagnostic.getSeverity() == mlir::DiagnosticSeverity::Remark)
      return;
    std::string line;
    llvm::raw_string_ostream os(line);
    auto place =
        diagnostic.getLocation()->findInstanceOf<mlir::FileLineColLoc>();
    if (place)
      os << place.getFilename().getValue() << ":" << place.getLine() << ": ";
    os << diagnostic;
    lines.push_back(std::move(line));
    for (mlir::Diagnostic &note : diagnostic.getNotes())
      add(note);
  }

  std::vector<std::string> lines;
  mlir::ScopedDiagnosticHandler handler;
};

/// A tensor of the signature, as Python reads it.
struct Tensor {
  std::string label, element;
  std::vector<int64_t> shape;
  int64_t bytes = 0;
};

std::vector<Tensor> describe(ArrayRef<TensorSpec> specs) {
  std::vector<Tensor> tensors;
  for (const TensorSpec &spec : specs) {
    std::string element;
    llvm::raw_string_ostream(element) << spec.type.getElementType();
    tensors.push_back(
        {spec.label, element, spec.type.getShape().vec(), spec.bytes});
  }
  return tensors;
}

/// Refusals of the planner and the compiler, as an exception.
template <typename Function>
void orRefuse(MLIRContext &context, const plan::report::StepReport &report,
              Function function) {
  Diagnostics diagnostics(context);
  std::string fault;
  if (succeeded(function(fault)))
    return;
  auto feasible = report.figures.find("feasible");
  bool isTooSmall = feasible != report.figures.end() &&
                    feasible->second == plan::report::Figure(false);
  if (!isTooSmall)
    throw RefusedStep(fault.empty() ? diagnostics.text() : fault);
  std::string text;
  for (const char *key :
       {"budget_bytes", "minimum_budget_bytes", "minimum_budget_bound_bytes"})
    text += std::to_string(
                plan::report::integerOf(report.figures, key).value_or(0)) +
            " ";
  throw BudgetTooSmall(text + "\n" + diagnostics.text());
}

/// The memory of steps that run one at a time, as large as the largest needs.
class Arena {
public:
  Arena() { reserve(0); }

  /// Makes the memory large enough for \p bytes, behind a run that uses it.
  void reserve(int64_t bytes) {
    std::lock_guard<std::mutex> guard(running);
    if (memory && bytes <= capacity)
      return;
    // Whole pages, which the system gives when they are touched.
    constexpr int64_t page = 4096;
    std::unique_ptr<char, Free> larger(static_cast<char *>(std::aligned_alloc(
        page, (std::max<int64_t>(bytes, 1) + page - 1) / page * page)));
    if (!larger)
      throw std::bad_alloc();
    memory = std::move(larger);
    capacity = bytes;
  }

  int64_t bytes() const { return capacity; }

  /// Calls \p run with the memory, which nothing else uses until it ends.
  template <typename Run>
  void lend(Run run) {
    std::lock_guard<std::mutex> guard(running);
    run(memory.get());
  }

private:
  struct Free {
    void operator()(char *memory) const { std::free(memory); }
  };

  std::unique_ptr<char, Free> memory;
  std::atomic<int64_t> capacity = 0;
  std::mutex running;
};

/// A compiled step with the arena that it runs in.
class Step {
public:
  Step(std::shared_ptr<MLIRContext> context, Signature signature,
       std::unique_ptr<CompiledStep> compiled, std::shared_ptr<Arena> arena)
      : context(std::move(context)), signature(std::move(signature)),
        compiled(std::move(compiled)), arena(std::move(arena)) {
    this->arena->reserve(this->compiled->getArenaBytes());
  }

  std::vector<Tensor> arguments() const {
    return describe(signature.arguments);
  }
  std::vector<Tensor> results() const { return describe(signature.results); }
  std::vector<int64_t> donated() const { return compiled->getDonated().vec(); }
  int64_t arenaBytes() const { return compiled->getArenaBytes(); }

  void run(const std::vector<Array> &given, const std::vector<Array> &made) {
    SmallVector<void *> arguments = pointers(given, signature.arguments);
    SmallVector<void *> results = pointers(made, signature.results);
    nb::gil_scoped_release released;
    arena->lend(
        [&](char *memory) { compiled->run(arguments, results, memory); });
  }

private:
  static SmallVector<void *> pointers(const std::vector<Array> &arrays,
                                      ArrayRef<TensorSpec> specs) {
    if (arrays.size() != specs.size())
      throw nb::value_error("another number of arrays than the step has");
    SmallVector<void *> all;
    for (auto [array, spec] : llvm::zip_equal(arrays, specs)) {
      if (static_cast<int64_t>(array.nbytes()) != spec.bytes)
        throw nb::value_error("an array of another size than the step's");
      all.push_back(const_cast<void *>(array.data()));
    }
    return all;
  }

  std::shared_ptr<MLIRContext> context;
  Signature signature;
  std::unique_ptr<CompiledStep> compiled;
  std::shared_ptr<Arena> arena;
};

/// A step with its plan.
class PlannedStep {
public:
  PlannedStep(const std::string &text, const std::string &name,
              const std::string &planOptions, const Progress &progress) {
    mlir::DialectRegistry registry;
    registerAllDialects(registry);
    context = std::make_shared<MLIRContext>(registry,
                                            MLIRContext::Threading::DISABLED);
    context->printOpOnDiagnostic(false);
    // The pass's options limit the time.
    watched(plan::SolverOptions(), progress,
            [&](const plan::SolverOptions &solver) {
              orRefuse(*context, planReport, [&](std::string &) {
                return plan(text, name, planOptions, solver);
              });
            });
  }

  /// The report in the format that the end of \p path names.
  std::string report(const std::string &path) const {
    plan::report::Format format = plan::report::formatOf(path);
    if (std::string reason = plan::report::refuse(planReport, format);
        !reason.empty())
      throw nb::value_error(reason.c_str());
    std::ostringstream os;
    plan::report::write(planReport, format, os);
    return os.str();
  }

  /// The planned program, as --ckpt-plan prints it.
  std::string text() {
    std::string text;
    llvm::raw_string_ostream os(text);
    mlir::OpPrintingFlags flags;
    module->print(os, flags.enableDebugInfo());
    return text;
  }

  std::unique_ptr<Step> compile(unsigned threads,
                                std::shared_ptr<Arena> arena) {
    nb::gil_scoped_release released;
    std::unique_ptr<CompiledStep> compiled;
    orRefuse(*context, planReport, [&](std::string &fault) {
      return compile(threads, compiled, fault);
    });
    return std::make_unique<Step>(context, signature, std::move(compiled),
                                  std::move(arena));
  }

private:
  LogicalResult plan(const std::string &text, const std::string &name,
                     const std::string &planOptions,
                     const plan::SolverOptions &solver) {
    module = mlir::parseSourceString<ModuleOp>(text, context.get(), name);
    if (!module)
      return failure();
    FailureOr<mlir::func::FuncOp> step = findStep(*module, "");
    if (failed(step))
      return failure();
    FailureOr<Signature> read = readSignature(*step);
    if (failed(read))
      return failure();
    signature = std::move(*read);
    return planModule(*module, planOptions, /*formLayers=*/false, planReport,
                      solver);
  }

  LogicalResult compile(unsigned threads,
                        std::unique_ptr<CompiledStep> &compiled,
                        std::string &fault) {
    mlir::OwningOpRef<ModuleOp> rewritten(module->clone());
    if (failed(rewriteModule(*rewritten)))
      return failure();
    CompileOptions options;
    options.threads = threads;
    auto made = CompiledStep::compile(*rewritten, options);
    if (made) {
      compiled = std::move(*made);
      return success();
    }
    llvm::handleAllErrors(
        made.takeError(), [](const DiagnosedError &) {},
        [&](const llvm::ErrorInfoBase &error) { fault = error.message(); });
    return failure();
  }

  std::shared_ptr<MLIRContext> context;
  mlir::OwningOpRef<ModuleOp> module;
  Signature signature;
  plan::report::StepReport planReport;
};

} // namespace

NB_MODULE(_engine, module) {
  // Steps of frameworks' caches live until the process ends, which is no leak.
  nb::set_leak_warnings(false);
  nb::exception<RefusedStep>(module, "RefusedStep");
  nb::exception<BudgetTooSmall>(module, "BudgetTooSmall");
  nb::class_<Tensor>(module, "Tensor")
      .def_ro("label", &Tensor::label)
      .def_ro("element", &Tensor::element)
      .def_ro("shape", &Tensor::shape)
      .def_ro("nbytes", &Tensor::bytes);
  nb::class_<Arena>(module, "Arena")
      .def(nb::init<>())
      .def_prop_ro("bytes", &Arena::bytes);
  nb::class_<Step>(module, "Step")
      .def_prop_ro("arguments", &Step::arguments)
      .def_prop_ro("results", &Step::results)
      .def_prop_ro("donated", &Step::donated)
      .def_prop_ro("arena_bytes", &Step::arenaBytes)
      .def("run", &Step::run, nb::arg("arguments"), nb::arg("results"));
  nb::class_<PlannedStep>(module, "PlannedStep")
      .def(nb::init<const std::string &, const std::string &,
                    const std::string &, const Progress &>(),
           nb::arg("text"), nb::arg("name"), nb::arg("options"),
           nb::arg("progress").none())
      .def_prop_ro("text", &PlannedStep::text)
      .def("report", &PlannedStep::report, nb::arg("path"))
      .def(
          "compile",
          [](PlannedStep &step, unsigned threads,
             std::shared_ptr<Arena> arena) {
            return step.compile(threads, std::move(arena));
          },
          nb::arg("threads"), nb::arg("arena"));
}
