# assay_seccomp: libseccomp, with which workers filter their system calls. Linked statically, so that the program
# has no run-time dependency. Without it the target is empty, and `assay doctor` reports the missing protection.

find_library(ASSAY_SECCOMP_ARCHIVE NAMES libseccomp.a DOC "libseccomp as an archive; optional")
find_path(ASSAY_SECCOMP_INCLUDE_DIR NAMES seccomp.h DOC "Folder of seccomp.h; optional")
mark_as_advanced(ASSAY_SECCOMP_ARCHIVE ASSAY_SECCOMP_INCLUDE_DIR)

add_library(assay_seccomp INTERFACE)
if(ASSAY_SECCOMP_ARCHIVE AND ASSAY_SECCOMP_INCLUDE_DIR)
  target_include_directories(assay_seccomp SYSTEM INTERFACE "${ASSAY_SECCOMP_INCLUDE_DIR}")
  target_link_libraries(assay_seccomp INTERFACE "${ASSAY_SECCOMP_ARCHIVE}")
  target_compile_definitions(assay_seccomp INTERFACE ASSAY_HAVE_LIBSECCOMP=1)
else()
  target_compile_definitions(assay_seccomp INTERFACE ASSAY_HAVE_LIBSECCOMP=0)
  message(STATUS "libseccomp: none; workers will not filter their system calls (run ci/setup)")
endif()
