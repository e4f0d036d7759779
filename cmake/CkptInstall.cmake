# Install rules of headers and the package config (find_package(Ckpt)).
include(CMakePackageConfigHelpers)

install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/ckpt ${PROJECT_SOURCE_DIR}/include/ckpt-c
                  ${PROJECT_BINARY_DIR}/include/ckpt
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT Development
        FILES_MATCHING PATTERN "*.h" PATTERN "*.td" PATTERN "*.inc"
        PATTERN CMakeFiles EXCLUDE)
install(EXPORT CkptTargets NAMESPACE ckpt::
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/ckpt COMPONENT Development)
# The same from the build folder: Ckpt_DIR=<build>/cmake.
export(EXPORT CkptTargets NAMESPACE ckpt::
       FILE ${PROJECT_BINARY_DIR}/cmake/CkptTargets.cmake)
get_property(CKPT_MLIR_TARGETS GLOBAL PROPERTY CKPT_MLIR_TARGETS)
list(JOIN CKPT_MLIR_TARGETS " " CKPT_MLIR_TARGETS)
configure_package_config_file(
  ${PROJECT_SOURCE_DIR}/cmake/CkptConfig.cmake.in
  ${PROJECT_BINARY_DIR}/cmake/CkptConfig.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/ckpt)
write_basic_package_version_file(
  ${PROJECT_BINARY_DIR}/cmake/CkptConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/cmake/CkptConfig.cmake
              ${PROJECT_BINARY_DIR}/cmake/CkptConfigVersion.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/ckpt COMPONENT Development)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE RENAME copyright
        DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/ckpt COMPONENT Runtime)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE RENAME copyright
        DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/ckpt-dev COMPONENT Development)
