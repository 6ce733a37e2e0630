# assay_warnings: the warnings that every target of the project compiles with, errors with ASSAY_WERROR.

add_library(assay_warnings INTERFACE)
target_compile_options(assay_warnings INTERFACE
  -Wall -Wextra -Wpedantic
  -Wshadow -Wconversion -Wcast-qual -Wcast-align -Wold-style-cast
  -Wnon-virtual-dtor -Woverloaded-virtual -Wextra-semi -Wformat=2 -Wundef -Wvla
  # Designated initializers omit members with defaults, on purpose.
  -Wno-missing-field-initializers
  $<$<CXX_COMPILER_ID:GNU>:-Wduplicated-cond>
  $<$<CXX_COMPILER_ID:GNU>:-Wlogical-op>
  # GCC 12 falsely reports overlapping copies in std::string's operator+ (GCC bug 105651).
  $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>
  # GCC 12 reports false positives inside the precompiled standard library, because a precompiled header does not count
  # as a system header.
  $<$<CXX_COMPILER_ID:GNU>:-Wno-stringop-overflow>
  $<$<CXX_COMPILER_ID:GNU>:-Wno-stringop-overread>
  $<$<CXX_COMPILER_ID:GNU>:-Wno-array-bounds>
  $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>
  $<$<CXX_COMPILER_ID:GNU>:-Wno-free-nonheap-object>
  $<$<CXX_COMPILER_ID:GNU>:-Wno-nonnull>
  # In a unit of several sources, GCC takes a private type of a source for one of a header.
  $<$<AND:$<CXX_COMPILER_ID:GNU>,$<BOOL:${CMAKE_UNITY_BUILD}>>:-Wno-subobject-linkage>
  # The same warnings are useful in our own code: reported, but not as errors.
  $<$<AND:$<CXX_COMPILER_ID:GNU>,$<BOOL:${ASSAY_WERROR}>>:-Wno-error=uninitialized>
  $<$<AND:$<CXX_COMPILER_ID:GNU>,$<BOOL:${ASSAY_WERROR}>>:-Wno-error=use-after-free>
  $<$<AND:$<CXX_COMPILER_ID:GNU>,$<BOOL:${ASSAY_WERROR}>>:-Wno-error=dangling-pointer>
  $<$<AND:$<CXX_COMPILER_ID:GNU>,$<BOOL:${ASSAY_WERROR}>>:-Wno-error=mismatched-new-delete>
  $<$<BOOL:${ASSAY_WERROR}>:-Werror>)
