//===- OutputFile.cpp - Files that are complete or absent -----------------===//

#include "ckpt/Support/OutputFile.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Process.h"

#include <csignal>

using namespace llvm;

static Error inFile(StringRef path, std::error_code error) {
  return createStringError(error,
                           "cannot write '" + path + "': " + error.message());
}

/// Runs \p write on a descriptor that stays open. A stream that still holds an
/// error when it is destroyed ends the process, so it is cleared here.
static std::error_code writeTo(int descriptor,
                               function_ref<void(raw_ostream &)> write) {
  // Beyond a limit on file sizes, an error code instead of the end.
  auto previous = std::signal(SIGXFSZ, SIG_IGN);
  raw_fd_ostream stream(descriptor, /*shouldClose=*/false);
  write(stream);
  stream.flush();
  std::signal(SIGXFSZ, previous);
  std::error_code error = stream.error();
  stream.clear_error();
  return error;
}

static Error writeInPlace(StringRef path,
                          function_ref<void(raw_ostream &)> write) {
  int descriptor = 1;
  if (path != "-")
    if (std::error_code error = sys::fs::openFileForWrite(
            path, descriptor, sys::fs::CD_OpenExisting))
      return inFile(path, error);
  std::error_code error = writeTo(descriptor, write);
  if (path != "-") {
    std::error_code closeError =
        sys::Process::SafelyCloseFileDescriptor(descriptor);
    error = error ? error : closeError;
  }
  return error ? inFile(path, error) : Error::success();
}

/// Whether \p path is written as it is, not replaced by a new file.
static bool isWrittenInPlace(StringRef path) {
  sys::fs::file_status status;
  return path == "-" || (!sys::fs::status(path, status) &&
                         status.type() != sys::fs::file_type::regular_file);
}

static Expected<sys::fs::TempFile> createBeside(StringRef path) {
  return sys::fs::TempFile::create(path + ".%%%%%%.tmp");
}

Error ckpt::writeOutputFile(StringRef path,
                            function_ref<void(raw_ostream &)> write) {
  if (isWrittenInPlace(path))
    return writeInPlace(path, write);
  Expected<sys::fs::TempFile> file = createBeside(path);
  if (!file)
    return inFile(path, errorToErrorCode(file.takeError()));
  if (std::error_code error = writeTo(file->FD, write)) {
    consumeError(file->discard());
    return inFile(path, error);
  }
  if (Error error = file->keep(path))
    return inFile(path, errorToErrorCode(std::move(error)));
  return Error::success();
}

Error ckpt::checkOutputFile(StringRef path) {
  if (isWrittenInPlace(path))
    return sys::fs::is_directory(path)
               ? inFile(path, std::make_error_code(std::errc::is_a_directory))
               : Error::success();
  Expected<sys::fs::TempFile> file = createBeside(path);
  if (!file)
    return inFile(path, errorToErrorCode(file.takeError()));
  consumeError(file->discard());
  return Error::success();
}
