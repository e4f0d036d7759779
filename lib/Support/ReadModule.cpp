//===- ReadModule.cpp - Modules of text or bytecode -----------------------===//

#include "ckpt/Support/ReadModule.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Support/FileUtilities.h"
#include "llvm/Support/Alignment.h"

using namespace ckpt;
using mlir::ModuleOp;

std::unique_ptr<llvm::MemoryBuffer> ckpt::openModule(StringRef path,
                                                     std::string *error) {
  const llvm::Align page(4096);
  return mlir::openInputFile(path, page, error);
}

mlir::OwningOpRef<ModuleOp> ckpt::readModule(StringRef path,
                                             llvm::SourceMgr &sources,
                                             MLIRContext &context) {
  std::unique_ptr<llvm::MemoryBuffer> buffer = openModule(path);
  if (!buffer) {
    mlir::emitError(mlir::UnknownLoc::get(&context))
        << "could not open input file " << path;
    return nullptr;
  }
  sources.AddNewSourceBuffer(std::move(buffer), llvm::SMLoc());
  return mlir::parseSourceFile<ModuleOp>(sources, &context);
}
