// Describes shapes to the real library, which takes no device; only the handle
// and the proposals do.

#include "Cuda/MatmulLibrary.h"
#include "ckpt/Cuda/Device.h"
#include <cstdio>
#include <cstring>
#include <dlfcn.h>
#include <initializer_list>

using namespace ckpt::cuda;

static void *file = dlopen("libcublasLt.so.13", RTLD_NOW | RTLD_LOCAL);

template <typename FunctionType>
static void find(const char *symbol, FunctionType &function) {
  void *address = dlsym(file, symbol);
  std::memcpy(&function, &address, sizeof(function));
}

int main() {
  if (!file)
    return std::fprintf(stderr, "%s\n", dlerror());
  MatmulLibrary library;
#define CKPT_LIBRARY_FUNCTION(name, symbol, parameters)                        \
  find(#symbol, library.name);
#include "Cuda/MatmulLibraryFunctions.def"
  find("cublasLtGetStatusName", library.statusName);
  library.findAlgorithms = [](auto...) { return libraryNotSupported; };
  for (int64_t type : {float32, float16, bfloat16})
    for (int64_t isTransposed : {0, 1}) {
      int64_t leadingDimension = isTransposed ? 41 : 53;
      MatmulOperand matrix = {0, 0, 0, type, isTransposed, leadingDimension,
                              0, 0};
      MatmulOperand out = {1, 0, 0, float32, 0, 41, 41 * 41, 0};
      LibraryMatmul matmul;
      if (!findAlgorithms(library, {41, 41, 53, 3, 1, matrix, matrix, out},
                          "any", matmul))
        return std::fprintf(stderr, "%s\n", failure());
    }
  return 0;
}
