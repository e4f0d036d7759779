# `cpack --config build/release/CPackConfig.cmake` makes two packages for the
# Debian that it runs on (docs/Rationale/Build.md): `ckpt`, the tools with all
# that they take, and `ckpt-dev`, for projects that build with ckpt.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME ckpt)
set(CPACK_PACKAGE_VENDOR ckpt)
set(CPACK_PACKAGE_CONTACT "the developers of ckpt <ckpt@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Plans and runs training steps within a memory budget")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)

set(CPACK_COMPONENTS_ALL Runtime Development)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)

set(CPACK_DEBIAN_RUNTIME_PACKAGE_NAME ckpt)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SECTION science)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SHLIBDEPS ON)
# dpkg-shlibdeps meets libLLVM.so first by a link in llvm-22-dev, a package that
# does not say which one its programs need.
set(CPACK_DEBIAN_RUNTIME_PACKAGE_DEPENDS libllvm${LLVM_VERSION_MAJOR})
# For `ckpt-runner --emit=executable`, and for the plugin's host.
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SUGGESTS "gcc, zlib1g-dev, mlir-22-tools")
set(CPACK_COMPONENT_RUNTIME_DESCRIPTION
    "Tools that plan, rewrite, run and measure training steps given as MLIR.")

set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME ckpt-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS
    "ckpt (= ${PROJECT_VERSION}), libmlir-22-dev, mlir-22-tools, llvm-22-dev, llvm-22-tools, libomp-22-dev, zlib1g-dev")
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION
    "Headers, libraries and CMake files for projects that build with ckpt.")
include(CPack)
