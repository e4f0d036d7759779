//===- ckpt-fuzz.cpp - Runs many small programs in many ways --------------===//
//
// usage: ckpt-fuzz PROGRAMS ARGUMENTS RESULTS
//
// PROGRAMS holds modules with one step each, separated by lines `// -----`.
// A line `// ways: ...` in a module lists the ways to run it: BUDGET:DEVICE,
// where BUDGET is as-written, none, least or what `budget=` takes, and DEVICE
// is cpu, narrow (vectors of one lane), threads (two of them) or emulator.
// A line `// passes: PIPELINE; PIPELINE` makes it a text that was edited
// instead: the first pipeline may refuse it, and kernels that all accept are
// run. ARGUMENTS holds the bytes of all arguments of all modules, in order.
// Each module runs in a process of its own, so that a crash ends one program
// only.
//
// RESULTS receives one line per module, "VERDICT BYTES MESSAGE", and behind it
// so many bytes: the results of the first way, in order. All ways must agree
// bit by bit. The verdict is ok, refused (before planning), or the stage that
// failed: parse, plan, rewrite, verify, compile, run, bits, crash, hang.
//
//===----------------------------------------------------------------------===//

#include "OneProgram.h"
#include "ckpt/InitAll.h"
#include "ckpt/Runtime/Arena.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include <csignal>
#include <cstring>
#include <sys/wait.h>
#include <unistd.h>

using namespace ckpt;
using namespace mlir;
namespace cl = llvm::cl;

static cl::opt<std::string> programsPath(cl::Positional, cl::Required);
static cl::opt<std::string> argumentsPath(cl::Positional, cl::Required);
static cl::opt<std::string> resultsPath(cl::Positional, cl::Required);
static cl::opt<unsigned>
    limit("limit", cl::init(60),
          cl::desc("seconds for one program, then it hangs"));

static std::string readAll(FILE *file) {
  std::string text;
  char chunk[4096];
  std::rewind(file);
  while (size_t count = std::fread(chunk, 1, sizeof chunk, file))
    text.append(chunk, count);
  return text;
}

/// Runs \p text in a child and returns its line and bytes.
static std::string judge(MLIRContext &context, StringRef text,
                         ArrayRef<char> data) {
  FILE *answer = std::tmpfile(), *errors = std::tmpfile();
  if (!answer || !errors)
    llvm::report_fatal_error("cannot create a temporary file");
  std::fflush(nullptr);
  pid_t child = fork();
  if (child == 0) {
    std::signal(SIGALRM, SIG_DFL);
    alarm(limit);
    dup2(fileno(errors), 2);
    runProgram(context, text, data, answer);
  }
  int status = 0;
  waitpid(child, &status, 0);
  std::string line = readAll(answer), said = readAll(errors);
  std::fclose(answer);
  std::fclose(errors);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0 && !line.empty())
    return line;
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
    return "hang 0 after " + std::to_string(limit) + " seconds\n";
  std::string how = WIFSIGNALED(status)
                        ? std::string("crash 0 ") + strsignal(WTERMSIG(status))
                        : std::string("run 0");
  return how + " " + oneLine(said) + "\n";
}

static std::unique_ptr<llvm::MemoryBuffer> readFile(StringRef path) {
  auto buffer = llvm::MemoryBuffer::getFile(path);
  if (!buffer)
    llvm::report_fatal_error("cannot read '" + path + "'", false);
  return std::move(*buffer);
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  cl::ParseCommandLineOptions(argc, argv);
  installGuardHandler();
  DialectRegistry registry;
  ckpt::registerAllDialects(registry);
  ckpt::registerAllPasses();
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  auto programs = readFile(programsPath), data = readFile(argumentsPath);
  SmallVector<StringRef> texts;
  programs->getBuffer().split(texts, "// -----\n");
  FILE *results = std::fopen(resultsPath.c_str(), "wb");
  if (!results)
    llvm::report_fatal_error("cannot write '" + StringRef(resultsPath) + "'",
                             false);
  ArrayRef<char> rest(data->getBufferStart(), data->getBufferEnd());
  for (StringRef text : texts) {
    std::string line = judge(context, text, rest);
    std::fwrite(line.data(), 1, line.size(), results);
    std::fflush(results);
    rest = rest.drop_front(std::min(argumentBytes(text), rest.size()));
  }
  std::fclose(results);
  return 0;
}
