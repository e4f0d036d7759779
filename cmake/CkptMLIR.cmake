# Finds Debian's MLIR 22.1 with its tools, and sets what the package leaves out.

find_program(LLVM_CONFIG NAMES llvm-config-22 REQUIRED)
execute_process(COMMAND ${LLVM_CONFIG} --prefix
                OUTPUT_VARIABLE LLVM_PREFIX OUTPUT_STRIP_TRAILING_WHITESPACE)
# The version file demands equal major.minor, so "22" alone is refused.
find_package(MLIR 22.1 REQUIRED CONFIG HINTS ${LLVM_PREFIX}/lib/cmake/mlir)
message(STATUS "ckpt: MLIR ${LLVM_PACKAGE_VERSION} in ${MLIR_DIR}")

list(APPEND CMAKE_MODULE_PATH ${MLIR_CMAKE_DIR} ${LLVM_CMAKE_DIR})
# The package has libMLIR.so but does not say so; one rule, shared everywhere.
set(MLIR_LINK_MLIR_DYLIB ON)

include(TableGen)
include(AddLLVM)
include(AddMLIR)
include(HandleLLVMOptions)

include_directories(SYSTEM ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
separate_arguments(LLVM_DEFINITIONS_LIST NATIVE_COMMAND ${LLVM_DEFINITIONS})
add_definitions(${LLVM_DEFINITIONS_LIST})

find_program(LLVM_LIT NAMES lit-22 lit HINTS ${LLVM_PREFIX}/bin REQUIRED)
find_package(ZLIB REQUIRED)
find_package(GTest REQUIRED)
