//===- OpenMP.cpp - The library that runs compiled threads ----------------===//

#include "OpenMP.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/ErrorHandling.h"

#include <dlfcn.h>

using namespace ckpt;

/// Only LLVM's library has it, unlike the names that begin with omp.
extern "C" int __kmpc_global_thread_num(void *place);

static OpenMP findOpenMP() {
  Dl_info library = {};
  if (!dladdr(reinterpret_cast<void *>(&__kmpc_global_thread_num), &library))
    llvm::report_fatal_error("expected libomp in the process, but got none");
  void *handle = dlopen(library.dli_fname, RTLD_NOW | RTLD_LOCAL);
  void *function = handle ? dlsym(handle, "omp_set_num_threads") : nullptr;
  if (!function)
    llvm::report_fatal_error("expected omp_set_num_threads in libomp");
  return {library.dli_fname, llvm::bit_cast<void (*)(int)>(function)};
}

const OpenMP &OpenMP::get() {
  static const OpenMP openMP = findOpenMP();
  return openMP;
}
