# assay_library, assay_executable, assay_test and assay_fuzz: the functions that define all targets of the project.

# assay_library(NAME <folder> [SOURCES a.cpp ...] [HEADERS a.hpp ...] [LINK <public> ...] [PRIVATE_LINK <private> ...]
#               [SEPARATE_SOURCES] [OPTIMIZED])
#
# Defines the static library assay_<NAME>, or an interface library when it has no sources. Headers form a
# file set based at the repository's root, so includes read "folder/header.hpp", and with
# CMAKE_VERIFY_INTERFACE_HEADER_SETS the target all_verify_interface_header_sets compiles each separately.
#
# With CMAKE_UNITY_BUILD the sources of a library compile as a few large units, which takes a third of the time.
# SEPARATE_SOURCES is for libraries whose sources use the same private names by design, or are large by themselves.
# OPTIMIZED is for libraries in which a run spends its time.
function(assay_library)
  cmake_parse_arguments(PARSE_ARGV 0 arg "WITHOUT_PRECOMPILED;SEPARATE_SOURCES;OPTIMIZED" "NAME" "SOURCES;HEADERS;LINK;PRIVATE_LINK")
  assay_reject_unparsed(assay_library "${arg_NAME}" "${arg_UNPARSED_ARGUMENTS}")
  set(target "assay_${arg_NAME}")
  if(arg_SOURCES)
    add_library(${target} STATIC ${arg_SOURCES})
    set(scope PUBLIC)
    target_link_libraries(${target} PRIVATE assay_warnings ${arg_PRIVATE_LINK})
    set(precompiled assay_precompiled)
    if(arg_OPTIMIZED)
      target_compile_options(${target} PRIVATE "$<$<CONFIG:Release>:-O2>")
      set(precompiled assay_precompiled_optimized)
    endif()
    if(NOT arg_WITHOUT_PRECOMPILED)
      assay_reuse_precompiled(${target} ${precompiled})
    endif()
    if(arg_SEPARATE_SOURCES)
      set_target_properties(${target} PROPERTIES UNITY_BUILD OFF)
    endif()
  else()
    add_library(${target} INTERFACE)
    set(scope INTERFACE)
  endif()
  target_link_libraries(${target} ${scope} assay_options ${arg_LINK})
  if(arg_HEADERS)
    target_sources(${target} ${scope}
      FILE_SET HEADERS BASE_DIRS "${PROJECT_SOURCE_DIR}" FILES ${arg_HEADERS})
  else()
    target_include_directories(${target} ${scope} "${PROJECT_SOURCE_DIR}")
  endif()
endfunction()

# assay_executable(NAME <name> SOURCES a.cpp ... [LINK <libs> ...]) defines the program <name>. Its sources always compile
# separately.
function(assay_executable)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "NAME;PRECOMPILED" "SOURCES;LINK")
  assay_reject_unparsed(assay_executable "${arg_NAME}" "${arg_UNPARSED_ARGUMENTS}")
  add_executable(${arg_NAME} ${arg_SOURCES})
  set_target_properties(${arg_NAME} PROPERTIES UNITY_BUILD OFF)
  target_include_directories(${arg_NAME} PRIVATE "${PROJECT_SOURCE_DIR}")
  target_link_libraries(${arg_NAME} PRIVATE assay_options assay_warnings ${arg_LINK})
  if(arg_PRECOMPILED)
    assay_reuse_precompiled(${arg_NAME} ${arg_PRECOMPILED})
  endif()
endfunction()

# assay_test(NAME <name> SOURCES a_test.cpp ... [SEPARATE_SOURCES b_test.cpp ...] [LINK <libs> ...] [LABELS cpu ...]
#            [TIMEOUT <seconds>])
#
# Defines one GoogleTest executable and one CTest test of the same name; the label is cpu and the time
# limit 300 s by default. A test whose parts are all skipped counts as skipped. In the sources,
# ASSAY_SOURCE_DIR is the repository's root.
#
# With CMAKE_UNITY_BUILD, up to eight of SOURCES compile as one unit, which takes half of the time. Each of
# SEPARATE_SOURCES compiles separately, because it has private names that other sources have, too.
function(assay_test)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "NAME;TIMEOUT" "SOURCES;SEPARATE_SOURCES;LINK;LABELS")
  assay_reject_unparsed(assay_test "${arg_NAME}" "${arg_UNPARSED_ARGUMENTS}")
  if(NOT arg_LABELS)
    set(arg_LABELS cpu)
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 300)
  endif()
  assay_executable(NAME ${arg_NAME} SOURCES ${arg_SOURCES} ${arg_SEPARATE_SOURCES} LINK ${arg_LINK} assay_test_main
    PRECOMPILED assay_precompiled_tests)
  set_target_properties(${arg_NAME} PROPERTIES UNITY_BUILD "${CMAKE_UNITY_BUILD}" UNITY_BUILD_BATCH_SIZE 8)
  set_source_files_properties(${arg_SEPARATE_SOURCES} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  target_compile_definitions(${arg_NAME} PRIVATE "ASSAY_SOURCE_DIR=\"${PROJECT_SOURCE_DIR}\"")
  add_test(NAME ${arg_NAME} COMMAND ${arg_NAME})
  set_tests_properties(${arg_NAME} PROPERTIES
    LABELS "${arg_LABELS}" TIMEOUT ${arg_TIMEOUT} SKIP_RETURN_CODE 77)
endfunction()

# assay_fuzz(NAME <name> SOURCES a_fuzz.cpp ... CORPUS <folder> ... [LINK <libs> ...])
#
# Defines a libFuzzer target, and a CTest test of the same name that runs it once over the corpus. With ASSAY_FUZZ, which
# needs clang, the program searches with libFuzzer; otherwise it has a plain main and only the test is useful.
function(assay_fuzz)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "NAME" "SOURCES;LINK;CORPUS")
  assay_reject_unparsed(assay_fuzz "${arg_NAME}" "${arg_UNPARSED_ARGUMENTS}")
  if(ASSAY_FUZZ)
    assay_executable(NAME ${arg_NAME} SOURCES ${arg_SOURCES} LINK ${arg_LINK})
    target_link_options(${arg_NAME} PRIVATE -fsanitize=fuzzer)
    add_test(NAME ${arg_NAME} COMMAND ${arg_NAME} -runs=0 ${arg_CORPUS})
  else()
    assay_executable(NAME ${arg_NAME} SOURCES ${arg_SOURCES} "${PROJECT_SOURCE_DIR}/support/fuzz_main.cpp"
      LINK ${arg_LINK})
    add_test(NAME ${arg_NAME} COMMAND ${arg_NAME} ${arg_CORPUS})
  endif()
  set_tests_properties(${arg_NAME} PROPERTIES LABELS cpu TIMEOUT 120)
endfunction()

# Rejects unknown arguments: a misspelled keyword must not be ignored silently.
function(assay_reject_unparsed function name unparsed)
  if(unparsed)
    message(FATAL_ERROR "${function}(${name}): unknown arguments: ${unparsed}")
  endif()
endfunction()
