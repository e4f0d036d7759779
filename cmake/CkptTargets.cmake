# Our own wrappers of MLIR's CMake functions. They keep our libraries out of
# MLIR's export set and in ours (docs/Rationale/Build.md).

# ckpt_export_target(target exported [component of its archive])
function(ckpt_export_target name exported)
  set(component ${ARGN})
  if(NOT component)
    set(component Development)
  endif()
  set_target_properties(${name} PROPERTIES EXPORT_NAME ${exported})
  target_compile_features(${name} INTERFACE cxx_std_17)
  target_include_directories(${name} INTERFACE
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
    $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  install(TARGETS ${name} EXPORT CkptTargets
          ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT ${component}
          LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT Runtime
                  NAMELINK_COMPONENT Development
          RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT Runtime)
endfunction()

# add_ckpt_library(CkptX sources... [DEPENDS ...] [LINK_LIBS ...])
# A library that uses MLIR; exported as ckpt::X.
function(add_ckpt_library name)
  cmake_parse_arguments(ARG "" "" "DEPENDS;LINK_LIBS" ${ARGN})
  string(REGEX REPLACE "^Ckpt" "" exported ${name})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_link_libraries(${name} PUBLIC ${ARG_LINK_LIBS} MLIR LLVM)
  target_precompile_headers(${name} REUSE_FROM CkptPrecompiled)
  add_dependencies(${name} ckpt-headers ${ARG_DEPENDS})
  ckpt_export_target(${name} ${exported})
  # CkptConfig.cmake gives these the include folders of MLIR.
  set_property(GLOBAL APPEND PROPERTY CKPT_MLIR_TARGETS ${exported})
endfunction()

# add_ckpt_plain_library(CkptX sources... [COMPONENT name] [LINK_LIBS ...])
# A library that knows nothing of MLIR or LLVM.
function(add_ckpt_plain_library name)
  cmake_parse_arguments(ARG "" "COMPONENT" "LINK_LIBS" ${ARGN})
  string(REGEX REPLACE "^Ckpt" "" exported ${name})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_link_libraries(${name} PUBLIC ${ARG_LINK_LIBS})
  ckpt_export_target(${name} ${exported} ${ARG_COMPONENT})
endfunction()

# ckpt_precompile_headers(target libraries...)
# The target parses MLIR's headers no more where one of the libraries uses MLIR.
function(ckpt_precompile_headers name)
  get_property(of_mlir GLOBAL PROPERTY CKPT_MLIR_TARGETS)
  list(TRANSFORM of_mlir PREPEND Ckpt)
  foreach(library IN LISTS ARGN)
    if(library IN_LIST of_mlir)
      target_precompile_headers(${name} REUSE_FROM CkptPrecompiled)
      return()
    endif()
  endforeach()
endfunction()

# add_ckpt_tool(ckpt-x sources... LINK_LIBS ...)
function(add_ckpt_tool name)
  cmake_parse_arguments(ARG "" "" "LINK_LIBS" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE ${ARG_LINK_LIBS})
  ckpt_precompile_headers(${name} ${ARG_LINK_LIBS})
  install(TARGETS ${name} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR}
          COMPONENT Runtime)
endfunction()

# add_ckpt_unittest(CkptXTests sources... LINK_LIBS ...): gtest, run by lit.
# Without MLIR, compiling tests takes longer than running what is theirs alone.
set(CKPT_UNITTEST_OPTIONS $<$<CONFIG:Release>:-O1>)
function(add_ckpt_unittest name)
  cmake_parse_arguments(ARG "" "" "LINK_LIBS" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE ${ARG_LINK_LIBS} GTest::gtest_main)
  ckpt_precompile_headers(${name} ${ARG_LINK_LIBS})
  get_target_property(precompiled ${name} PRECOMPILE_HEADERS_REUSE_FROM)
  if(NOT precompiled)
    target_compile_options(${name} PRIVATE ${CKPT_UNITTEST_OPTIONS})
    target_precompile_headers(${name} REUSE_FROM CkptTestPrecompiled)
  endif()
  set_target_properties(${name} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR})
  add_dependencies(ckpt-unittests ${name})
endfunction()
