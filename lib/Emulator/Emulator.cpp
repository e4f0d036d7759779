//===- Emulator.cpp - The driver's functions, without a device ------------===//

#include "ckpt/Emulator/Emulator.h"
#include "Emulator/EmulatedModule.h"
#include "Emulator/EmulatedTensorMap.h"
#include "llvm/Support/raw_ostream.h"
#include <cstring>

using namespace ckpt;

/// Modules are loaded by constructors of the host's code, which cannot fail.
static std::string pendingMessage;

llvm::Error ckpt::takeEmulatorError() {
  std::string message = std::exchange(pendingMessage, std::string());
  if (message.empty())
    return llvm::Error::success();
  return llvm::createStringError(message);
}

static void *moduleLoad(void *image, size_t bytes) {
  auto module =
      EmulatedModule::load(StringRef(static_cast<char *>(image), bytes));
  if (module)
    return module->release();
  pendingMessage = llvm::toString(module.takeError());
  return nullptr;
}

static void moduleUnload(void *module) {
  delete static_cast<EmulatedModule *>(module);
}

static void *moduleGetFunction(void *module, const char *name) {
  return const_cast<EmulatedKernel *>(
      static_cast<EmulatedModule *>(module)->getKernel(name));
}

/// Tensor maps of the next launch.
static std::vector<const cuda::TensorMap *> addedMaps;

static void addTensorMap(const cuda::TensorMap *map) {
  addedMaps.push_back(map);
}

using EncodedMap = std::array<char, cuda::tensorMapBytes>;

/// Makes \p map from the address among the \p arguments of a launch.
static EncodedMap encode(const cuda::TensorMap &map, void **arguments) {
  auto counts = [&](const int64_t *from) {
    EmulatedTensorMap::Counts counts;
    std::copy_n(from, counts.size(), counts.begin());
    return counts;
  };
  EmulatedTensorMap made;
  std::string error = EmulatedTensorMap::make(
      *static_cast<char **>(arguments[map.operand]) + map.offset, map.rank,
      counts(map.extents), counts(map.strides), counts(map.box), made);
  if (!error.empty()) {
    llvm::errs() << "error: " << error << "\n";
    exit(1);
  }
  EncodedMap encoded;
  made.write(encoded.data());
  return encoded;
}

static void launchKernel(void *function, intptr_t gridX, intptr_t gridY,
                         intptr_t gridZ, intptr_t blockX, intptr_t blockY,
                         intptr_t blockZ, int32_t sharedBytes,
                         void * /*stream*/, void **arguments, void ** /*extra*/,
                         size_t /*count*/) {
  std::vector<const cuda::TensorMap *> maps = std::exchange(addedMaps, {});
  std::vector<EncodedMap> encoded;
  for (const cuda::TensorMap *map : maps)
    encoded.push_back(encode(*map, arguments));
  for (auto [map, bytes] : llvm::zip_equal(maps, encoded))
    arguments[map->parameter] = bytes.data();
  EmulatedLaunch launch = {
      {gridX, gridY, gridZ}, {blockX, blockY, blockZ}, sharedBytes};
  runGrid(*static_cast<EmulatedKernel *>(function), launch, arguments);
}

/// Launches are done when they return: streams have nothing to wait for.
static void *streamCreate() { return nullptr; }
static void streamIgnore(void *) {}

static void copyMemory(void *to, void *from, size_t bytes, void * /*stream*/) {
  std::memmove(to, from, bytes);
}

const cuda::DeviceFunctions ckpt::emulatorFunctions = {
    moduleLoad,
    /*mgpuModuleLoadJIT=*/nullptr,
    moduleUnload,
    moduleGetFunction,
    launchKernel,
    streamCreate,
    streamIgnore,
    streamIgnore,
    copyMemory,
    addTensorMap,
    /*ckptCudaOfferMatmul=*/nullptr,
    /*ckptCudaMark=*/nullptr};
