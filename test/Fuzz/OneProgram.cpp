//===- OneProgram.cpp - One program, run in all its ways ------------------===//

#include "OneProgram.h"
#include "ckpt/Emulator/Emulator.h"
#include "ckpt/IR/CkptDialect.h"
#include "ckpt/Report/StepReport.h"
#include "ckpt/Runtime/Arena.h"
#include "ckpt/Runtime/CompiledStep.h"
#include "ckpt/Transforms/Passes.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "llvm/ADT/StringExtras.h"
#include <cstring>
#include <map>
#include <unistd.h>

using namespace ckpt;
using namespace mlir;

std::string oneLine(StringRef text) {
  std::string line;
  for (char letter : text.trim().take_front(2000))
    line += letter == '\n' ? std::string(" | ") : std::string(1, letter);
  return line;
}

/// The rest of the line of \p text that begins with \p key.
static StringRef lineOf(StringRef text, StringRef key) {
  auto [before, behind] = text.split(key);
  return behind.split('\n').first.trim();
}

size_t argumentBytes(StringRef text) {
  size_t bytes = 0;
  (void)lineOf(text, "// bytes:").getAsInteger(10, bytes);
  return bytes;
}

namespace {
using Buffers = std::vector<std::unique_ptr<GuardedBuffer>>;

/// A program, planned and compiled again for every way.
class Program {
public:
  Program(MLIRContext &context, StringRef text, ArrayRef<char> data,
          FILE *answer)
      : context(context), text(text), data(data), answer(answer) {}

  [[noreturn]] void run();

private:
  [[noreturn]] void runGiven(StringRef passes);
  void runWay(StringRef budget, StringRef device);
  OwningOpRef<ModuleOp> rewrite(StringRef budget);
  OwningOpRef<ModuleOp> plan(StringRef budget,
                             plan::report::StepReport &report);
  void verify(ModuleOp module);
  std::string execute(ModuleOp module, StringRef device);
  OwningOpRef<ModuleOp> parse();
  void check(LogicalResult result, StringRef verdict) {
    if (failed(result))
      fail(verdict, said);
  }
  template <typename T>
  T take(llvm::Expected<T> value, StringRef verdict) {
    if (value)
      return std::move(*value);
    fail(verdict, llvm::toString(value.takeError()) + ": " + said);
  }
  [[noreturn]] void fail(StringRef verdict, StringRef message) {
    finish(verdict, way + ": " + oneLine(message), "");
  }
  [[noreturn]] void finish(StringRef verdict, StringRef message,
                           StringRef bytes);

  MLIRContext &context;
  StringRef text;
  ArrayRef<char> data;
  FILE *answer;
  /// The way that runs, and the errors that it reported.
  std::string way, said;
  std::optional<std::string> first;
  std::string firstWay;
  bool planned = false;
  /// What ran already: equal kernels on equal devices give equal bits.
  std::map<std::string, bool> done;
};
} // namespace

OwningOpRef<ModuleOp> Program::parse() {
  auto module = parseSourceString<ModuleOp>(text, &context, "program.mlir");
  check(success(bool(module)), "parse");
  return module;
}

/// A planned program; null where no plan fits the budget.
OwningOpRef<ModuleOp> Program::plan(StringRef budget,
                                    plan::report::StepReport &report) {
  auto module = parse();
  std::string options = "quiet=true effort=100 ";
  if (budget == "as-written")
    options += "strategy=as-written";
  else if (budget != "none")
    options += ("budget=" + budget).str();
  std::unique_ptr<Pass> pass = createPlanPass(report);
  check(pass->initializeOptions(options,
                                [&](const Twine &message) {
                                  said += message.str();
                                  return failure();
                                }),
        "parse");
  PassManager manager(&context);
  manager.addPass(std::move(pass));
  LogicalResult result = manager.run(*module);
  plan::report::Figure &feasible = report.figures["feasible"];
  if (failed(result) && feasible == plan::report::Figure(false)) {
    feasible = nullptr;
    return nullptr;
  }
  // A plan that the planner itself refuses is no refusal of the program.
  bool isOwn = StringRef(said).contains("that its simulator refuses");
  check(result, planned || isOwn ? "plan" : "refused");
  planned = true;
  return module;
}

/// Original and rewrite are compared as `--ckpt-verify` does, by a file.
void Program::verify(ModuleOp module) {
  FILE *file = std::tmpfile();
  std::fwrite(text.data(), 1, text.size(), file);
  std::fflush(file);
  std::string path = "/proc/self/fd/" + std::to_string(fileno(file));
  PassManager manager(&context);
  check(parsePassPipeline("ckpt-verify{original=" + path + "}", manager),
        "verify");
  check(manager.run(module), "verify");
  std::fclose(file);
}

OwningOpRef<ModuleOp> Program::rewrite(StringRef budget) {
  plan::report::StepReport report;
  OwningOpRef<ModuleOp> module;
  module = plan(budget == "least" ? "1B" : budget, report);
  if (!module && budget == "least") {
    int64_t bytes =
        plan::report::integerOf(report.figures, "minimum_budget_bytes")
            .value_or(0);
    module = plan(std::to_string(bytes) + "B", report);
    check(success(bool(module)), "plan");
  }
  said.clear();
  if (!module)
    return nullptr;
  PassManager manager(&context);
  manager.addPass(createApplyPlanPass());
  check(manager.run(*module), "rewrite");
  verify(*module);
  return module;
}

static CompileOptions optionsOf(StringRef device) {
  CompileOptions options;
  options.lanes = device == "narrow" || device == "emulator" ? 1 : 16;
  options.threads = device == "threads" ? 2 : 1;
  if (device == "emulator")
    options.device = RunDevice::Emulator;
  return options;
}

/// Gives every NaN in \p data the same bits: neither IEEE 754 nor LLVM fixes
/// them.
static void unifyNaNs(Type type, MutableArrayRef<char> data) {
  auto element = dyn_cast<FloatType>(getElementTypeOrSelf(type));
  if (!element)
    return;
  const llvm::fltSemantics &semantics = element.getFloatSemantics();
  size_t bytes = element.getWidth() / 8;
  for (; !data.empty(); data = data.drop_front(bytes)) {
    uint64_t bits = 0;
    std::memcpy(&bits, data.data(), bytes);
    if (!llvm::APFloat(semantics, llvm::APInt(element.getWidth(), bits))
             .isNaN())
      continue;
    bits = llvm::APFloat::getNaN(semantics).bitcastToAPInt().getZExtValue();
    std::memcpy(data.data(), &bits, bytes);
  }
}

std::string Program::execute(ModuleOp module, StringRef device) {
  auto step = take(CompiledStep::compile(module, optionsOf(device)), "compile");
  Buffers arguments, results;
  size_t place = 0;
  for (const BufferType &type : step->getArguments()) {
    arguments.push_back(
        take(GuardedBuffer::create(type.bytes, "an argument"), "run"));
    if (place + type.bytes > data.size())
      fail("parse", "the program takes more than its arguments");
    if (type.bytes)
      std::memcpy(arguments.back()->data(), data.data() + place, type.bytes);
    place += type.bytes;
    arguments.back()->makeReadOnly();
  }
  for (const BufferType &type : step->getResults()) {
    results.push_back(
        take(GuardedBuffer::create(type.bytes, "a result"), "run"));
    results.back()->poison();
  }
  auto arena =
      take(GuardedBuffer::create(step->getArenaBytes(), "the arena"), "run");
  arena->poison();
  SmallVector<void *> in, out;
  for (auto &buffer : arguments)
    in.push_back(buffer->data());
  for (auto &buffer : results)
    out.push_back(buffer->data());
  step->run(in, out, arena->data());
  std::string bytes;
  results.push_back(std::move(arena));
  for (auto &buffer : results)
    if (llvm::Error error = buffer->checkEdges())
      fail("run", llvm::toString(std::move(error)));
  results.pop_back();
  for (auto [buffer, type] : llvm::zip_equal(results, step->getResults())) {
    unifyNaNs(type.type, {buffer->data(), static_cast<size_t>(type.bytes)});
    bytes.append(buffer->data(), type.bytes);
  }
  return bytes;
}

void Program::runWay(StringRef budget, StringRef device) {
  way = (budget + ":" + device).str();
  said.clear();
  OwningOpRef<ModuleOp> module = rewrite(budget);
  if (!module)
    return;
  std::string key = device.str();
  llvm::raw_string_ostream(key) << *module;
  if (!done.try_emplace(key, true).second)
    return;
  std::string bytes = execute(*module, device);
  if (!first) {
    first = bytes;
    firstWay = way;
  } else if (bytes != *first) {
    size_t place = 0;
    while (place < bytes.size() && bytes[place] == (*first)[place])
      ++place;
    fail("bits",
         "differs from " + firstWay + " at byte " + std::to_string(place));
  }
}

/// A text that was edited: read, judged by passes, and run if it has kernels.
/// The first pipeline may refuse it, those behind `;` may not.
void Program::runGiven(StringRef passes) {
  way = "given";
  auto module = parseSourceString<ModuleOp>(text, &context, "program.mlir");
  check(success(bool(module)), "refused");
  StringRef verdict = "refused";
  for (StringRef pipeline : llvm::split(passes, ';')) {
    PassManager manager(&context);
    if (failed(parsePassPipeline(pipeline.trim(), manager)))
      fail("parse", "expected a pipeline, but got " + pipeline.str());
    check(manager.run(*module), verdict);
    verdict = "verify";
  }
  bool hasKernels =
      module->walk([](KernelOp) { return WalkResult::interrupt(); })
          .wasInterrupted();
  finish("ok", "", hasKernels ? execute(*module, "cpu") : "");
}

void Program::finish(StringRef verdict, StringRef message, StringRef bytes) {
  std::string line =
      (verdict + " " + Twine(bytes.size()) + " " + message + "\n" + bytes)
          .str();
  std::fwrite(line.data(), 1, line.size(), answer);
  std::fflush(answer);
  _exit(0);
}

void Program::run() {
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
      llvm::raw_string_ostream(said)
          << diagnostic.getLocation() << ": " << diagnostic << "\n";
  });
  if (StringRef passes = lineOf(text, "// passes:"); !passes.empty())
    runGiven(passes);
  setThreadOrder(ThreadOrder::Shuffled);
  SmallVector<StringRef> ways;
  lineOf(text, "// ways:").split(ways, ' ', -1, /*KeepEmpty=*/false);
  if (ways.empty())
    ways = {"as-written:cpu", "none:cpu", "least:emulator"};
  for (StringRef each : ways)
    runWay(each.split(':').first, each.split(':').second);
  finish("ok", "", first.value_or(""));
}

void runProgram(MLIRContext &context, StringRef text, ArrayRef<char> data,
                FILE *answer) {
  Program(context, text, data, answer).run();
}
