//===- EmitProgram.cpp - A step as a program of its own -------------------===//

#include "Run/EmitProgram.h"
#include "Run/Messages.h"
#include "ckpt/Runtime/EmitExecutable.h"
#include "ckpt/Runtime/Gpu.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace ckpt;

/// Beside this program, as built and as installed.
static SmallVector<std::string> libraryFolders() {
  std::string program = llvm::sys::fs::getMainExecutable(
      nullptr, reinterpret_cast<void *>(&emitProgram));
  SmallVector<std::string> folders;
  for (StringRef name : {"lib", CKPT_INSTALL_LIBDIR}) {
    llvm::SmallString<128> folder(program);
    llvm::sys::path::remove_filename(folder);
    llvm::sys::path::append(folder, "..", name);
    llvm::sys::path::remove_dots(folder, /*remove_dot_dot=*/true);
    if (!llvm::is_contained(folders, folder.str()))
      folders.push_back(folder.str().str());
  }
  return folders;
}

static ExecutableTensor describe(const TensorSpec &spec) {
  return {spec.name, npyTypeOf(spec.type.getElementType()),
          llvm::to_vector(spec.type.getShape())};
}

LogicalResult ckpt::emitProgram(ModuleOp module, const RunOptions &options,
                                StringRef title, const Signature &signature,
                                StringRef path) {
  ExecutableOptions program;
  program.compile.function = options.function;
  program.compile.device = RunDevice::Cuda;
  program.compile.gpuOptions = options.gpuOptions;
  if (llvm::Error error = preferTensorCores(program.compile.gpuOptions))
    return report(std::move(error));
  // The program decides whether there is a library, and its share of the work.
  program.compile.offerMatmuls = true;
  program.title = title.str();
  program.arguments = llvm::map_to_vector(signature.arguments, describe);
  program.results = llvm::map_to_vector(signature.results, describe);
  program.libraryFolders = libraryFolders();
  return report(emitExecutable(module, program, path));
}
