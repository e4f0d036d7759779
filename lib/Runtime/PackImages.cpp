//===- PackImages.cpp - Makes device code in host code small --------------===//
//
// Code of the device is text, most of a program, and packs to a fifth. Upstream
// has no place for it between `gpu-module-to-binary`, whose object has to be
// code, and `gpu-to-llvm`, which embeds it. This file therefore replaces the
// embedded text.
//
//===----------------------------------------------------------------------===//

#include "PackImages.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/Module.h"
#include <zlib.h>

using namespace ckpt;

static llvm::Expected<std::string> pack(StringRef image) {
  uLongf bytes = compressBound(image.size());
  std::string packed(bytes, '\0');
  if (compress2(reinterpret_cast<Bytef *>(packed.data()), &bytes,
                reinterpret_cast<const Bytef *>(image.data()), image.size(),
                Z_BEST_COMPRESSION) != Z_OK)
    return llvm::createStringError("cannot compress the device code");
  packed.resize(bytes);
  return packed;
}

/// Makes \p load one of the packed image; \p level is that of the driver's
/// compiler.
static llvm::Error packImage(llvm::CallBase &load, llvm::Value *level) {
  auto *global = llvm::dyn_cast<llvm::GlobalVariable>(
      load.getArgOperand(0)->stripPointerCasts());
  auto *image = global && global->hasInitializer()
                    ? llvm::dyn_cast<llvm::ConstantDataSequential>(
                          global->getInitializer())
                    : nullptr;
  if (!image)
    return llvm::createStringError("expected device code in the host's code");
  StringRef data = image->getRawDataValues();
  auto packed = pack(data);
  if (!packed)
    return packed.takeError();

  llvm::IRBuilder<> builder(&load);
  llvm::Type *pointer = builder.getPtrTy(), *size = builder.getInt64Ty();
  llvm::FunctionCallee function = load.getModule()->getOrInsertFunction(
      "ckptModuleLoadPacked", pointer, pointer, size, size, level->getType());
  auto *packedGlobal = builder.CreateGlobalString(*packed, global->getName());
  load.replaceAllUsesWith(builder.CreateCall(
      function, {packedGlobal, builder.getInt64(packed->size()),
                 builder.getInt64(data.size()), level}));
  load.eraseFromParent();
  if (global->use_empty())
    global->eraseFromParent();
  return llvm::Error::success();
}

llvm::Error ckpt::packImages(llvm::Module &module) {
  for (StringRef name : {"mgpuModuleLoad", "mgpuModuleLoadJIT"}) {
    llvm::Function *function = module.getFunction(name);
    if (!function)
      continue;
    for (llvm::User *user : llvm::make_early_inc_range(function->users())) {
      auto &load = *llvm::cast<llvm::CallBase>(user);
      bool isText = name.ends_with("JIT");
      llvm::Value *level =
          isText ? load.getArgOperand(1)
                 : llvm::ConstantInt::getSigned(
                       llvm::Type::getInt32Ty(module.getContext()), -1);
      if (llvm::Error error = packImage(load, level))
        return error;
    }
  }
  return llvm::Error::success();
}
