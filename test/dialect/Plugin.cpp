//===- Plugin.cpp - The dialect and its pass for ckpt-opt -----------------===//

#include "Act.h"
#include "mlir/Tools/Plugins/DialectPlugin.h"
#include "mlir/Tools/Plugins/PassPlugin.h"
#include "llvm/Config/llvm-config.h"

extern "C" mlir::DialectPluginLibraryInfo mlirGetDialectPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "Act", LLVM_VERSION_STRING,
          [](mlir::DialectRegistry *registry) {
            registry->insert<act::ActDialect>();
          }};
}

extern "C" mlir::PassPluginLibraryInfo mlirGetPassPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "Act", LLVM_VERSION_STRING,
          act::registerLowering};
}
