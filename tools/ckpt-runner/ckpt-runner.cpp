//===- ckpt-runner.cpp - Plans, compiles, runs and verifies a step --------===//

#include "Compare.h"
#include "IndexRanges.h"
#include "RunReport.h"
#include "Variant.h"
#include "ckpt/Analysis/Step.h"
#include "ckpt/IR/CkptDialect.h"
#include "ckpt/InitAll.h"
#include "ckpt/Support/OutputFile.h"
#include "mlir/IR/AsmState.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/WithColor.h"

namespace cl = llvm::cl;
using namespace ckpt;

static const char overview[] =
    R"(Plans a training step under a memory budget, compiles it for the CPU, runs it
and measures memory and time. Reads what ckpt-opt reads: a function on tensors,
as it comes from a framework, or one that --ckpt-apply-plan has rewritten.)";

static const char examples[] = R"(
EXAMPLES:
  ckpt-runner step.mlir
      Runs on random arguments, fused and ordered, nothing recomputed.
  ckpt-runner step.mlir --budget=50% --verify
      Half of that memory. Also runs the program as written, one kernel per op,
      and compares every result bit by bit.
  ckpt-runner step.mlir --inputs=in.npz --expected=want.npz --outputs=out.npz
      Arguments arg000, arg001, ... from a file of numpy.savez; results out000,
      ... are compared with a tolerance, and written.
  ckpt-runner step.mlir --strategy=every-nth --plan-options="n=2"
      A named strategy with its parameters (docs/Passes.md, --ckpt-plan).

Exit code 0: done, and all comparisons hold. 1: an error, or a difference.
)";

static cl::OptionCategory category("Options of ckpt-runner");
static cl::extrahelp moreHelp(examples);

static cl::opt<std::string> inputPath(cl::Positional, cl::desc("<step.mlir>"),
                                      cl::init("-"), cl::cat(category));
static cl::opt<std::string>
    budget("budget", cl::cat(category), cl::value_desc("amount"),
           cl::desc("Largest arena: 4096 (MiB), 512KiB, 1.5GB, 50% (of what it "
                    "takes with nothing recomputed)"));
static cl::opt<std::string>
    strategy("strategy", cl::cat(category), cl::value_desc("name"),
             cl::desc("Strategy instead of a budget: none (default), full, "
                      "every-nth, ..."));
static cl::opt<std::string>
    planOptions("plan-options", cl::cat(category), cl::value_desc("options"),
                cl::desc("More options of --ckpt-plan, as there"));
static cl::opt<std::string>
    functionName("func", cl::cat(category), cl::value_desc("name"),
                 cl::desc("The step; by default the only public function"));
static cl::opt<std::string>
    inputsPath("inputs", cl::cat(category), cl::value_desc("file.npz"),
               cl::desc("Arguments arg000, arg001, ...; without it they are "
                        "random"));
static cl::opt<uint64_t>
    seed("seed", cl::cat(category), cl::init(0),
         cl::desc("Seed of random arguments: floating-point values in "
                  "[-0.1, 0.1), integers in the range that they index, else "
                  "0 or 1"));
static cl::list<std::string>
    ranges("range", cl::cat(category), cl::value_desc("argNNN:low:high"),
           cl::desc("Range low <= x < high of one random argument; may be "
                    "repeated"));
static cl::opt<std::string>
    expectedPath("expected", cl::cat(category), cl::value_desc("file.npz"),
                 cl::desc("Compare with the results out000, out001, ... of "
                          "this file"));
static cl::opt<double> relativeTolerance(
    "rtol", cl::cat(category), cl::init(1e-4),
    cl::desc("Tolerance, relative to the largest magnitude of a result "
             "(default 1e-4)"));
static cl::opt<double>
    absoluteTolerance("atol", cl::cat(category), cl::init(1e-5),
                      cl::desc("Tolerance, absolute (default 1e-5)"));
static cl::opt<std::string> outputsPath("outputs", cl::cat(category),
                                        cl::value_desc("file.npz"),
                                        cl::desc("Write the results"));
static cl::opt<bool>
    verify("verify", cl::cat(category),
           cl::desc("Also run the program as written and, with a budget or "
                    "strategy, without; compare results bit by bit, and peak "
                    "and time"));
static cl::opt<unsigned> repeat("repeat", cl::cat(category), cl::init(3),
                                cl::desc("Timed runs; the fastest counts "
                                         "(default 3)"));
static cl::opt<unsigned>
    threads("threads", cl::cat(category), cl::init(1),
            cl::desc("Threads; results do not depend on it (default 1)"));
static cl::opt<std::string>
    reportPath("report", cl::cat(category), cl::value_desc("file.json"),
               cl::desc("Write all figures, in bytes and nanoseconds"));
static cl::opt<std::string> device("device", cl::cat(category), cl::init("cpu"),
                                   cl::desc("Where it runs: cpu"));

static LogicalResult report(llvm::Error error) {
  if (!error)
    return success();
  llvm::WithColor::error(llvm::errs())
      << llvm::toString(std::move(error)) << "\n";
  return failure();
}

static LogicalResult reportText(const Twine &text) {
  return report(llvm::createStringError(text.str()));
}

/// What can be said without reading the program.
static LogicalResult checkOptions() {
  if (device == "emulator" || device == "cuda")
    return reportText("device '" + device + "' is not supported yet");
  if (device != "cpu")
    return reportText("expected device 'cpu', but got '" + device + "'");
  if (threads < 1 || threads > 1024)
    return reportText("expected 1 to 1024 threads, but got " + Twine(threads));
  if (repeat < 1)
    return reportText("expected 'repeat' to be at least 1, but got 0");
  if (!(relativeTolerance >= 0) || !(absoluteTolerance >= 0))
    return reportText("expected tolerances not to be negative");
  if (!inputsPath.empty() && (seed.getNumOccurrences() || !ranges.empty()))
    return reportText("'--seed' and '--range' are for random arguments, but "
                      "'--inputs' gives them");
  for (const std::string &path :
       {outputsPath.getValue(), reportPath.getValue()})
    if (!path.empty() && failed(report(checkOutputFile(path))))
      return failure();
  return success();
}

static bool isRewritten(mlir::func::FuncOp step) {
  return step.walk([](KernelOp) { return mlir::WalkResult::interrupt(); })
      .wasInterrupted();
}

/// Arguments from a file or from the seed; nothing may write to them later.
static FailureOr<Buffers> makeArguments(mlir::func::FuncOp step,
                                        const Signature &signature) {
  llvm::Expected<Buffers> arguments = allocate(signature.arguments);
  if (!arguments)
    return report(arguments.takeError());
  if (!inputsPath.empty()) {
    if (failed(report(loadTensors(inputsPath, signature.arguments, "argument",
                                  *arguments))))
      return failure();
  } else {
    std::map<std::string, Range> byName;
    for (auto [spec, extent] :
         llvm::zip_equal(signature.arguments, indexedExtents(step)))
      if (extent > 0)
        byName[spec.name] = {0, static_cast<double>(extent)};
    for (const std::string &text : ranges) {
      auto range = parseRange(text, signature);
      if (!range)
        return report(range.takeError());
      byName[range->first] = range->second;
    }
    generateInputs(seed, byName, signature, *arguments);
  }
  for (const auto &buffer : *arguments)
    buffer->makeReadOnly();
  return std::move(*arguments);
}

namespace {
/// Everything between a parsed program and the exit code.
class Runner {
public:
  Runner(ModuleOp program, RunReport &summary)
      : program(program), summary(summary) {
    options.function = functionName;
    options.threads = threads;
    options.repeat = repeat;
  }

  LogicalResult run();

private:
  FailureOr<Measurement> runVariant(StringRef title, StringRef variantOptions,
                                    bool formLayers,
                                    llvm::json::Object &figures);
  LogicalResult runPlanned();
  LogicalResult runAsWritten();
  LogicalResult runBaseline();
  LogicalResult compareWithExpected();
  LogicalResult writeOutputs();

  ModuleOp program;
  RunReport &summary;
  RunOptions options;
  Signature signature;
  Buffers arguments;
  bool rewritten = false;
};
} // namespace

/// Plans a copy of the program, compiles and runs it.
FailureOr<Measurement> Runner::runVariant(StringRef title,
                                          StringRef variantOptions,
                                          bool formLayers,
                                          llvm::json::Object &figures) {
  mlir::OwningOpRef<ModuleOp> copy(program.clone());
  if (!rewritten) {
    Progress progress("planning " + title);
    std::string text = variantOptions.str();
    if (!functionName.empty())
      text += " func=" + functionName;
    if (failed(planModule(*copy, text, formLayers, figures)))
      return failure();
  }
  Progress progress("compiling and running " + title);
  return measureModule(*copy, options, signature, arguments);
}

LogicalResult Runner::runPlanned() {
  std::string text = planOptions;
  if (!budget.empty())
    text += " budget=" + budget;
  if (!strategy.empty())
    text += " strategy=" + strategy;
  FailureOr<Measurement> planned = runVariant(
      "the step", text, /*formLayers=*/!strategy.empty(), summary.planFigures);
  if (failed(planned))
    return failure();
  summary.planned = std::move(*planned);
  return success();
}

LogicalResult Runner::runAsWritten() {
  llvm::json::Object ignored;
  FailureOr<Measurement> written =
      runVariant("the step as written", "strategy=as-written",
                 /*formLayers=*/false, ignored);
  if (failed(written))
    return failure();
  std::vector<std::vector<char>> reference;
  for (const auto &buffer : written->results)
    reference.emplace_back(buffer->data(), buffer->data() + buffer->size());
  std::optional<std::string> difference =
      compareBits(signature, summary.planned->results, reference);
  summary.bitEqual = !difference;
  summary.difference = difference.value_or("");
  written->results.clear();
  summary.written = std::move(*written);
  return success();
}

/// What the step takes with nothing recomputed, to compare times with.
LogicalResult Runner::runBaseline() {
  llvm::json::Object ignored;
  FailureOr<Measurement> baseline =
      runVariant("the step without a budget", "strategy=none",
                 /*formLayers=*/false, ignored);
  if (failed(baseline))
    return failure();
  baseline->results.clear();
  summary.baseline = std::move(*baseline);
  return success();
}

LogicalResult Runner::compareWithExpected() {
  auto closeness =
      compareExpected(expectedPath, signature, summary.planned->results,
                      relativeTolerance, absoluteTolerance);
  if (!closeness)
    return report(closeness.takeError());
  summary.closeness = *closeness;
  return success();
}

LogicalResult Runner::writeOutputs() {
  std::vector<NpyView> views;
  for (auto [spec, buffer] :
       llvm::zip_equal(signature.results, summary.planned->results))
    views.push_back({spec.name, npyTypeOf(spec.type.getElementType()),
                     llvm::to_vector(spec.type.getShape()),
                     ArrayRef<char>(buffer->data(), buffer->size())});
  return report(writeNpz(outputsPath, views));
}

LogicalResult Runner::run() {
  FailureOr<mlir::func::FuncOp> step = findStep(program, functionName);
  if (failed(step))
    return failure();
  summary.title = ("@" + step->getSymName() + " of " + inputPath).str();
  rewritten = isRewritten(*step);
  if (rewritten &&
      (verify || !budget.empty() || !strategy.empty() || !planOptions.empty()))
    return step->emitError()
           << "is rewritten into kernels already: '--verify' and plan options "
              "need the program as it was before";
  FailureOr<Signature> read = readSignature(*step);
  if (failed(read))
    return failure();
  signature = *read;
  FailureOr<Buffers> made = makeArguments(*step, signature);
  if (failed(made))
    return failure();
  arguments = std::move(*made);

  bool hasPlanOptions =
      !budget.empty() || !strategy.empty() || !planOptions.empty();
  if (failed(runPlanned()) || (verify && failed(runAsWritten())) ||
      (verify && hasPlanOptions && failed(runBaseline())) ||
      (!expectedPath.empty() && failed(compareWithExpected())) ||
      (!outputsPath.empty() && failed(writeOutputs())))
    return failure();
  return success();
}

int main(int argc, char **argv) {
  llvm::InitLLVM initialization(argc, argv);
  installGuardHandler();
  cl::HideUnrelatedOptions(category);
  cl::ParseCommandLineOptions(argc, argv, overview);
  if (failed(checkOptions()))
    return 1;

  mlir::DialectRegistry registry;
  registerAllDialects(registry);
  registerAllPasses();
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  llvm::SourceMgr sources;
  mlir::SourceMgrDiagnosticHandler diagnostics(sources, &context);
  auto program = mlir::parseSourceFile<ModuleOp>(inputPath, sources, &context);
  if (!program)
    return 1;

  RunReport summary;
  bool ran = succeeded(Runner(*program, summary).run());
  // Without a plan that fits, its figures say what would.
  if (!reportPath.empty() && (ran || !summary.planFigures.empty()) &&
      failed(report(writeRunReport(reportPath, summary))))
    return 1;
  if (!ran)
    return 1;
  printRunReport(summary, llvm::outs());
  return summary.holds() ? 0 : 1;
}
