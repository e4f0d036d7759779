//===- Plugin.cpp - ckpt in another project's mlir-opt --------------------===//
//
// The two entry points of MLIR's plugins. The host has the upstream dialects
// and passes already. A host that links ckpt, or loads the plugin twice, has
// the passes of ckpt as well: MLIR ends a process that registers a pipeline
// twice.
//
//===----------------------------------------------------------------------===//

#include "ckpt/InitAll.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Tools/Plugins/DialectPlugin.h"
#include "mlir/Tools/Plugins/PassPlugin.h"
#include "llvm/Config/llvm-config.h"

extern "C" mlir::DialectPluginLibraryInfo mlirGetDialectPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "Ckpt", LLVM_VERSION_STRING,
          [](mlir::DialectRegistry *registry) {
            ckpt::registerDialects(*registry);
          }};
}

extern "C" mlir::PassPluginLibraryInfo mlirGetPassPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "Ckpt", LLVM_VERSION_STRING,
          [] {
            if (!mlir::PassPipelineInfo::lookup("ckpt-lower-to-cpu-pipeline"))
              ckpt::registerPasses();
          }};
}
