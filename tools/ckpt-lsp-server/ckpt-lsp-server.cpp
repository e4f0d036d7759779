//===- ckpt-lsp-server.cpp - MLIR's language server, with plans -----------===//
//
// Upstream's server runs in a child process, since it has no hook for texts
// under the pointer. This process passes messages on, and adds to these texts
// (Proxy.h).
//
//===----------------------------------------------------------------------===//

#include "Proxy.h"
#include "ckpt/InitAll.h"
#include "ckpt/Support/CommandLine.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/LSP/Logging.h"
#include "llvm/Support/LogicalResult.h"
#include "llvm/Support/WithColor.h"

#include <csignal>
#include <cstdlib>
#include <sys/wait.h>
#include <unistd.h>

using llvm::lsp::Logger;

/// Reads the options and takes upstream's `--log` from the command line again,
/// for upstream's main in the child defines it, too.
static Logger::Level parseOptions(int argc, char **argv) {
  llvm::cl::opt<Logger::Level> level(
      "log", llvm::cl::desc("Verbosity of log messages written to stderr"),
      llvm::cl::values(
          clEnumValN(Logger::Level::Error, "error", "Error messages only"),
          clEnumValN(Logger::Level::Info, "info",
                     "High level execution tracing"),
          clEnumValN(Logger::Level::Debug, "verbose", "Low level details")),
      llvm::cl::init(Logger::Level::Info));
  llvm::cl::ParseCommandLineOptions(
      argc, argv,
      "MLIR's language server with the ckpt dialect: texts under the pointer "
      "tell a value's bytes, its live range and its decision\n");
  level.removeArgument();
  return level;
}

static int fail(const char *call) {
  llvm::WithColor::error(llvm::errs(), "ckpt-lsp-server")
      << "cannot start: '" << call << "' failed\n";
  return 1;
}

int main(int argc, char **argv) {
  llvm::InitLLVM initialize(argc, argv);
  ckpt::hideOptionsOfLLVM();
  Logger::setLogLevel(parseOptions(argc, argv));
  mlir::DialectRegistry registry;
  ckpt::registerAllDialects(registry);

  int toServer[2], fromServer[2];
  if (pipe(toServer) != 0 || pipe(fromServer) != 0)
    return fail("pipe");
  pid_t child = fork();
  if (child < 0)
    return fail("fork");
  if (child == 0) {
    dup2(toServer[0], STDIN_FILENO);
    dup2(fromServer[1], STDOUT_FILENO);
    for (int end : {toServer[0], toServer[1], fromServer[0], fromServer[1]})
      close(end);
    return llvm::failed(mlir::MlirLspServerMain(argc, argv, registry));
  }
  close(toServer[0]);
  close(fromServer[1]);
  // A server that has ended is no reason to end before its last messages.
  std::signal(SIGPIPE, SIG_IGN);
  ckpt::lsp::Proxy proxy(registry, stdin, fdopen(toServer[1], "wb"),
                         fdopen(fromServer[0], "rb"), stdout);
  proxy.run();
  int status = 0;
  waitpid(child, &status, 0);
  // The thread that waits for the client's next message still does.
  std::_Exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
}
