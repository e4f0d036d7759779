//===- OutputFile.cpp - Files that are complete or absent -----------------===//

#include "ckpt/Support/OutputFile.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Process.h"

#include <csignal>
#include <filesystem>
#include <map>
#include <mutex>

using namespace llvm;

static Error inFile(StringRef path, std::error_code error) {
  std::string name =
      path == "-" ? "the standard output" : ("'" + path + "'").str();
  return createStringError(error,
                           "cannot write " + name + ": " + error.message());
}

/// \p path without symbolic links, also where the file is not there yet.
static std::string resolved(StringRef path) {
  std::error_code error;
  std::filesystem::path file = std::filesystem::absolute(path.str(), error);
  constexpr int mostLinks = 40;
  for (int link = 0; link < mostLinks; ++link) {
    if (!std::filesystem::is_symlink(file, error))
      break;
    file = file.parent_path() / std::filesystem::read_symlink(file, error);
  }
  auto real = std::filesystem::weakly_canonical(file, error);
  return error ? path.str() : real.string();
}

namespace {
/// The files of one command, and the option that names each. Empty without a
/// command, as in a compiler that runs many pipelines.
struct Claims {
  std::mutex mutex;
  bool isCommand = false;
  std::map<std::string, std::string> owners;
};
} // namespace

static Claims &claims() {
  static Claims files;
  return files;
}

void ckpt::protectInputFile(StringRef path) {
  std::lock_guard<std::mutex> lock(claims().mutex);
  claims().isCommand = true;
  if (path != "-" && sys::fs::is_regular_file(path))
    claims().owners[resolved(path)] = "";
}

static Error claim(StringRef path, StringRef option) {
  std::lock_guard<std::mutex> lock(claims().mutex);
  if (!claims().isCommand)
    return Error::success();
  auto [owner, isNew] =
      claims().owners.try_emplace(resolved(path), option.str());
  if (isNew || owner->second == option)
    return Error::success();
  if (owner->second.empty())
    return createStringError("cannot write '" + path +
                             "': it is read by this command");
  return createStringError("cannot write '" + path + "': '" + owner->second +
                           "' and '" + option + "' name one file");
}

/// Runs \p write on a descriptor that stays open. A stream that still holds an
/// error when it is destroyed ends the process, so it is cleared here.
static std::error_code writeTo(int descriptor,
                               function_ref<void(raw_ostream &)> write) {
  // Beyond a limit on file sizes, or in a pipe without a reader, an error code
  // instead of the end.
  auto previous = std::signal(SIGXFSZ, SIG_IGN);
  auto previousPipe = std::signal(SIGPIPE, SIG_IGN);
  raw_fd_ostream stream(descriptor, /*shouldClose=*/false);
  write(stream);
  stream.flush();
  std::signal(SIGXFSZ, previous);
  std::signal(SIGPIPE, previousPipe);
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
  std::string target =
      sys::fs::is_symlink_file(path) ? resolved(path) : path.str();
  Expected<sys::fs::TempFile> file = createBeside(target);
  if (!file)
    return inFile(path, errorToErrorCode(file.takeError()));
  if (std::error_code error = writeTo(file->FD, write)) {
    consumeError(file->discard());
    return inFile(path, error);
  }
  if (Error error = file->keep(target))
    return inFile(path, errorToErrorCode(std::move(error)));
  return Error::success();
}

Error ckpt::checkOutputFile(StringRef path, StringRef option) {
  if (isWrittenInPlace(path))
    return sys::fs::is_directory(path)
               ? inFile(path, std::make_error_code(std::errc::is_a_directory))
               : Error::success();
  Expected<sys::fs::TempFile> file = createBeside(path);
  if (!file)
    return inFile(path, errorToErrorCode(file.takeError()));
  consumeError(file->discard());
  return claim(path, option);
}
