# assay_warnings: the warnings that every target of the project compiles with, errors with ASSAY_WERROR.

add_library(assay_warnings INTERFACE)
target_compile_options(assay_warnings INTERFACE
  -Wall -Wextra -Wpedantic
  -Wshadow -Wconversion -Wcast-qual -Wcast-align -Wold-style-cast
  -Wnon-virtual-dtor -Woverloaded-virtual -Wextra-semi -Wformat=2 -Wundef -Wvla
  # Designated initialisers leave out what has a default, on purpose.
  -Wno-missing-field-initializers
  $<$<CXX_COMPILER_ID:GNU>:-Wduplicated-cond>
  $<$<CXX_COMPILER_ID:GNU>:-Wlogical-op>
  # GCC 12 reports overlapping copies in std::string's operator+ that are none (GCC bug 105651).
  $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>
  # GCC 12 reports what its optimiser suspects inside the standard library as soon as that is precompiled, because a
  # precompiled header does not count as a system header; all of these reports were false.
  $<$<CXX_COMPILER_ID:GNU>:-Wno-stringop-overflow>
  $<$<CXX_COMPILER_ID:GNU>:-Wno-stringop-overread>
  $<$<CXX_COMPILER_ID:GNU>:-Wno-array-bounds>
  $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>
  $<$<CXX_COMPILER_ID:GNU>:-Wno-free-nonheap-object>
  $<$<CXX_COMPILER_ID:GNU>:-Wno-nonnull>
  # The same suspicions that are worth reading in our own code: reported, but not errors.
  $<$<AND:$<CXX_COMPILER_ID:GNU>,$<BOOL:${ASSAY_WERROR}>>:-Wno-error=uninitialized>
  $<$<AND:$<CXX_COMPILER_ID:GNU>,$<BOOL:${ASSAY_WERROR}>>:-Wno-error=use-after-free>
  $<$<AND:$<CXX_COMPILER_ID:GNU>,$<BOOL:${ASSAY_WERROR}>>:-Wno-error=dangling-pointer>
  $<$<AND:$<CXX_COMPILER_ID:GNU>,$<BOOL:${ASSAY_WERROR}>>:-Wno-error=mismatched-new-delete>
  $<$<BOOL:${ASSAY_WERROR}>:-Werror>)
