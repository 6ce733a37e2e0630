# assay_allocator: tcmalloc, as the allocator of the program and of NVRTC, which the program loads. Linked statically, so
# that the program has no run-time dependency. Without it, and with sanitizers, which need their own allocator, the
# target is empty, and the C library allocates.

find_library(ASSAY_TCMALLOC_ARCHIVE NAMES libtcmalloc_minimal.a DOC "tcmalloc as an archive; optional")
mark_as_advanced(ASSAY_TCMALLOC_ARCHIVE)

add_library(assay_allocator INTERFACE)
if(ASSAY_TCMALLOC_ARCHIVE AND NOT ASSAY_SANITIZE)
  target_link_libraries(assay_allocator INTERFACE "${ASSAY_TCMALLOC_ARCHIVE}" Threads::Threads)
elseif(NOT ASSAY_TCMALLOC_ARCHIVE)
  message(STATUS "tcmalloc: none; runs on the device ptx take longer (run ci/setup)")
endif()
