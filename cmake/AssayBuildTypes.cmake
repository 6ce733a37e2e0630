# The build type Dev, the default of single-configuration builds, and settings shared by all build types.

get_property(multi_config GLOBAL PROPERTY GENERATOR_IS_MULTI_CONFIG)
if(NOT multi_config AND NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Dev, Release, Debug, RelWithDebInfo or MinSizeRel" FORCE)
endif()

# Dev compiles fast and keeps assertions; Release keeps assertions too, because a conformance suite
# must not continue after a broken invariant.
set(CMAKE_C_FLAGS_DEV "-O1 -g1" CACHE STRING "C flags of the build type Dev" FORCE)
set(CMAKE_CXX_FLAGS_DEV "-O1 -g1" CACHE STRING "C++ flags of the build type Dev" FORCE)
# Release has no debug information, which takes 6 % of the compile time.
set(CMAKE_C_FLAGS_RELEASE "-O2" CACHE STRING "C flags of the build type Release" FORCE)
# -O1 compiles a quarter faster than -O2. Libraries that compute much are OPTIMIZED (AssayTargets.cmake).
set(CMAKE_CXX_FLAGS_RELEASE "-O1" CACHE STRING "C++ flags of the build type Release" FORCE)

add_library(assay_options INTERFACE)
target_compile_features(assay_options INTERFACE cxx_std_20)
# The oracle's error bounds assume that each operation rounds once: the compiler must not fuse.
target_compile_options(assay_options INTERFACE -ffp-contract=off)
# An index outside of a vector or span ends the program instead of changing other memory.
target_compile_definitions(assay_options INTERFACE _GLIBCXX_ASSERTIONS)
if(ASSAY_SANITIZE)
  set(sanitizer_flags "-fsanitize=${ASSAY_SANITIZE}" -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_compile_options(assay_options INTERFACE ${sanitizer_flags})
  target_link_options(assay_options INTERFACE ${sanitizer_flags})
endif()
if(ASSAY_FUZZ)
  target_compile_options(assay_options INTERFACE -fsanitize=fuzzer-no-link)
endif()
