# MLIR's headers are most of what compiling a small file costs: they are parsed
# once, for all of our libraries. Sources include what they use all the same.
file(WRITE ${PROJECT_BINARY_DIR}/CkptPrecompiled.cpp "")
add_library(CkptPrecompiled OBJECT ${PROJECT_BINARY_DIR}/CkptPrecompiled.cpp)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # Lets ccache see the header when it hashes a file that uses it.
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fpch-preprocess>)
else()
  # ccache may hand out the header of an earlier build; clang would refuse it for its times.
  add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:SHELL:-Xclang -fno-pch-timestamp>")
  # Templates of the header forget that libstdc++ silences this warning in itself.
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-Wno-deprecated-declarations>)
endif()
set_target_properties(CkptPrecompiled PROPERTIES POSITION_INDEPENDENT_CODE ON)
target_precompile_headers(CkptPrecompiled PRIVATE
  <mlir/Dialect/Arith/IR/Arith.h>
  <mlir/Dialect/Bufferization/IR/Bufferization.h>
  <mlir/Dialect/Func/IR/FuncOps.h>
  <mlir/Dialect/GPU/IR/GPUDialect.h>
  <mlir/Dialect/LLVMIR/LLVMDialect.h>
  <mlir/Dialect/LLVMIR/NVVMDialect.h>
  <mlir/Dialect/Linalg/IR/Linalg.h>
  <mlir/Dialect/Math/IR/Math.h>
  <mlir/Dialect/MemRef/IR/MemRef.h>
  <mlir/Dialect/NVGPU/IR/NVGPUDialect.h>
  <mlir/Dialect/SCF/IR/SCF.h>
  <mlir/Dialect/Tensor/IR/Tensor.h>
  <mlir/Dialect/Vector/IR/VectorOps.h>
  <mlir/IR/Builders.h>
  <mlir/IR/BuiltinOps.h>
  <mlir/IR/DialectImplementation.h>
  <mlir/IR/IRMapping.h>
  <mlir/IR/Matchers.h>
  <mlir/IR/OpImplementation.h>
  <mlir/Interfaces/SideEffectInterfaces.h>
  <mlir/Pass/Pass.h>)
