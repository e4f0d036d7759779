# MLIR's headers are most of what compiling a small file costs: they are parsed
# once, for all of our libraries. Sources include what they use all the same.
file(WRITE ${PROJECT_BINARY_DIR}/CkptPrecompiled.cpp "")
add_library(CkptPrecompiled OBJECT ${PROJECT_BINARY_DIR}/CkptPrecompiled.cpp)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # Lets ccache see the header when it hashes a file that uses it.
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fpch-preprocess>)
endif()
set_target_properties(CkptPrecompiled PROPERTIES POSITION_INDEPENDENT_CODE ON)
target_precompile_headers(CkptPrecompiled PRIVATE
  <mlir/Dialect/Arith/IR/Arith.h>
  <mlir/Dialect/Func/IR/FuncOps.h>
  <mlir/Dialect/Linalg/IR/Linalg.h>
  <mlir/Dialect/SCF/IR/SCF.h>
  <mlir/Dialect/Tensor/IR/Tensor.h>
  <mlir/IR/Builders.h>
  <mlir/IR/BuiltinOps.h>
  <mlir/IR/DialectImplementation.h>
  <mlir/IR/IRMapping.h>
  <mlir/IR/Matchers.h>
  <mlir/IR/OpImplementation.h>
  <mlir/Interfaces/SideEffectInterfaces.h>
  <mlir/Pass/Pass.h>)
