//===- engine.cpp - A step in the process of Python -----------------------===//
//
// ckpt/engine.py calls this module: text of a step in, machine code that runs
// on the caller's arrays out, on the CPU or a GPU (Gpu.h). The GIL is free
// while a step is planned, compiled and run, and a signal ends the planning
// (Watch.h).
//
//===----------------------------------------------------------------------===//

#include "Gpu.h"
#include "Watch.h"
#include "ckpt/Analysis/Step.h"
#include "ckpt/Cost/Device.h"
#include "ckpt/InitAll.h"
#include "ckpt/Pipelines/PlanPipeline.h"
#include "ckpt/Runtime/CompiledStep.h"
#include "ckpt/Runtime/DiagnosedError.h"
#include "ckpt/Runtime/Gpu.h"
#include "ckpt/Runtime/Signature.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringExtras.h"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>
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
using namespace ckpt::engine;

namespace {

/// Address and bytes of an array, which Python has checked and holds.
using Extent = std::pair<uintptr_t, int64_t>;

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

/// The memory of steps that run one at a time, as large as the largest needs,
/// on the host or on the GPU.
class Arena {
public:
  explicit Arena(bool isOnGpu) : isOnGpu(isOnGpu) {}

  /// Makes the memory large enough for \p bytes, behind a run that uses it.
  void reserve(int64_t bytes) {
    lend(bytes, [](char *) {});
  }

  int64_t bytes() const { return capacity; }

  /// Calls \p run with memory of \p bytes or more, which nothing else uses
  /// until it ends.
  template <typename Run>
  void lend(int64_t bytes, Run run) {
    std::lock_guard<std::mutex> guard(running);
    if (!data() || bytes > capacity)
      allocate(std::max<int64_t>(bytes, 1));
    run(data());
  }

  /// Whether its steps run on the GPU.
  const bool isOnGpu;

private:
  char *data() const { return onGpu ? onGpu->data() : onHost.get(); }

  /// In the place of the memory before, which holds nothing between runs.
  void allocate(int64_t bytes) {
    onHost.reset();
    onGpu.reset();
    capacity = 0;
    if (isOnGpu) {
      onGpu.emplace(bytes, GpuMemory::Use::Arena);
    } else {
      // Whole pages, which the system gives when they are touched.
      constexpr int64_t page = 4096;
      onHost.reset(static_cast<char *>(
          std::aligned_alloc(page, (bytes + page - 1) / page * page)));
      if (!onHost)
        throw std::bad_alloc();
    }
    capacity = bytes;
  }

  struct Free {
    void operator()(char *memory) const { std::free(memory); }
  };

  std::unique_ptr<char, Free> onHost;
  std::optional<GpuMemory> onGpu;
  std::atomic<int64_t> capacity = 0;
  std::mutex running;
};

/// A compiled step with the arena that it runs in.
class Step {
public:
  Step(std::shared_ptr<MLIRContext> context, Signature signature,
       std::unique_ptr<CompiledStep> compiled, std::shared_ptr<Arena> arena,
       bool offersMatmuls)
      : context(std::move(context)), signature(std::move(signature)),
        compiled(std::move(compiled)), arena(std::move(arena)) {
    if (this->arena->isOnGpu)
      onGpu([&] { return chooseMatmuls(offersMatmuls); });
    this->arena->reserve(this->compiled->getArenaBytes());
  }
  ~Step() {
    if (arena->isOnGpu)
      releaseOnGpu([&] { compiled.reset(); });
  }

  std::vector<Tensor> arguments() const {
    return describe(signature.arguments);
  }
  std::vector<Tensor> results() const { return describe(signature.results); }
  std::vector<int64_t> donated() const { return compiled->getDonated().vec(); }

  void run(const std::vector<Extent> &given, const std::vector<Extent> &made) {
    SmallVector<void *> arguments = pointers(given, signature.arguments);
    SmallVector<void *> results = pointers(made, signature.results);
    nb::gil_scoped_release released;
    arena->lend(compiled->getArenaBytes(), [&](char *memory) {
      auto launch = [&] { compiled->run(arguments, results, memory); };
      if (!arena->isOnGpu)
        return launch();
      // Frameworks write arguments in streams of their own.
      onGpu([&] {
        return cuda::waitForAll() && cuda::launchStep(launches(launch));
      });
    });
  }

private:
  template <typename Launch>
  static cuda::Step launches(Launch &launch) {
    return {[](void *self) { (*static_cast<Launch *>(self))(); }, &launch};
  }

  /// Loads the kernels as well. Steps that offer no matmul need no library.
  bool chooseMatmuls(bool isOffered) const {
    SmallVector<void *> arguments(signature.arguments.size(), nullptr);
    SmallVector<void *> results(signature.results.size(), nullptr);
    auto launch = [&] { compiled->run(arguments, results, nullptr); };
    return cuda::chooseMatmuls(launches(launch), isOffered
                                                     ? cuda::LibraryUse::Auto
                                                     : cuda::LibraryUse::Never);
  }

  static SmallVector<void *> pointers(const std::vector<Extent> &arrays,
                                      ArrayRef<TensorSpec> specs) {
    if (arrays.size() != specs.size())
      throw nb::value_error("another number of arrays than the step has");
    SmallVector<void *> all;
    for (auto [array, spec] : llvm::zip_equal(arrays, specs)) {
      if (array.second != spec.bytes)
        throw nb::value_error("an array of another size than the step's");
      all.push_back(reinterpret_cast<void *>(array.first));
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
              std::string planOptions, bool isOnGpu, std::string gpuOptions,
              const Progress &progress)
      : isOnGpu(isOnGpu), gpuOptions(std::move(gpuOptions)) {
    if (isOnGpu)
      openDevice(planOptions);
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
    return std::make_unique<Step>(
        context, signature, std::move(compiled), std::move(arena),
        StringRef(gpuOptions).contains("offer-matmuls=true"));
  }

private:
  /// Opens the GPU and plans for it, where it is known. A library may run
  /// matmuls with our bits.
  void openDevice(std::string &planOptions) {
    std::lock_guard<std::mutex> guard(gpuMutex);
    auto name = openGpu(gpuOptions);
    if (!name) {
      cuda::forgetFailure();
      throw GpuError(llvm::toString(name.takeError()));
    }
    if (!StringRef(gpuOptions).contains("offer-matmuls"))
      gpuOptions += " offer-matmuls=true";
    std::string known = describedGpu(*name);
    if (!known.empty() && !StringRef(planOptions).contains("device="))
      planOptions += " device=" + known;
  }

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
    if (isOnGpu) {
      options.device = RunDevice::Cuda;
      options.gpuOptions = gpuOptions;
    }
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
  bool isOnGpu;
  /// Of `--ckpt-lower-to-nvvm-pipeline`.
  std::string gpuOptions;
};

} // namespace

NB_MODULE(_engine, module) {
  // Steps of frameworks' caches live until the process ends, which is no leak.
  nb::set_leak_warnings(false);
  nb::exception<RefusedStep>(module, "RefusedStep");
  nb::exception<BudgetTooSmall>(module, "BudgetTooSmall");
  nb::exception<GpuError>(module, "GpuError");
  nb::class_<Tensor>(module, "Tensor")
      .def_ro("label", &Tensor::label)
      .def_ro("element", &Tensor::element)
      .def_ro("shape", &Tensor::shape)
      .def_ro("nbytes", &Tensor::bytes);
  nb::class_<Arena>(module, "Arena")
      .def(nb::init<bool>(), nb::arg("is_on_gpu"))
      .def_ro("is_on_gpu", &Arena::isOnGpu)
      .def_prop_ro("bytes", &Arena::bytes);
  nb::class_<Step>(module, "Step")
      .def_prop_ro("arguments", &Step::arguments)
      .def_prop_ro("results", &Step::results)
      .def_prop_ro("donated", &Step::donated)
      .def("run", &Step::run, nb::arg("arguments"), nb::arg("results"));
  nb::class_<PlannedStep>(module, "PlannedStep")
      .def(nb::init<const std::string &, const std::string &,
                    const std::string &, bool, const std::string &,
                    const Progress &>(),
           nb::arg("text"), nb::arg("name"), nb::arg("options"),
           nb::arg("is_on_gpu"), nb::arg("gpu_options"),
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
  nb::class_<GpuMemory>(module, "GpuMemory")
      .def(
          "__init__",
          [](GpuMemory *self, int64_t bytes) {
            nb::gil_scoped_release released;
            new (self) GpuMemory(bytes, GpuMemory::Use::Buffers);
          },
          nb::arg("bytes"))
      .def_prop_ro("address", &GpuMemory::address);
  module.def("copy_to_gpu", &copyByGpu<cuda::copyToDevice>, nb::arg("to"),
             nb::arg("from"), nb::arg("bytes"));
  module.def("copy_from_gpu", &copyByGpu<cuda::copyFromDevice>, nb::arg("to"),
             nb::arg("from"), nb::arg("bytes"));
  module.def("copy_on_gpu", &copyByGpu<cuda::copyOnDevice>, nb::arg("to"),
             nb::arg("from"), nb::arg("bytes"));
  module.def("describe_array", &describeArray, nb::arg("array"));
  module.def("gpu_array", &gpuArray, nb::arg("address"), nb::arg("shape"),
             nb::arg("code"), nb::arg("bits"), nb::arg("owner"));
}
