# assay_precompiled, assay_precompiled_optimized and assay_precompiled_tests: the heavy headers that most sources include,
# parsed once. Targets reuse them through assay_reuse_precompiled. Turn ASSAY_PRECOMPILE off to see whether each source includes what it uses.

option(ASSAY_PRECOMPILE "Parse the standard library, fmt and GoogleTest once" ON)

set(assay_precompiled_headers
  <algorithm> <array> <bit> <charconv> <chrono> <cmath> <cstddef> <cstdint> <cstdlib> <cstring> <filesystem> <fstream>
  <functional> <limits> <map> <memory> <optional> <set> <span> <sstream> <string> <string_view> <system_error>
  <unordered_map> <utility> <variant> <vector> <fmt/format.h> <fmt/ranges.h> <nlohmann/json.hpp>)

function(assay_precompiled_target name)
  set(source "${PROJECT_BINARY_DIR}/${name}.cpp")
  file(CONFIGURE OUTPUT "${source}" CONTENT "// Carries the precompiled headers of ${name}.\n")
  add_library(${name} OBJECT "${source}")
  target_link_libraries(${name} PRIVATE assay_options assay_warnings fmt::fmt nlohmann_json::nlohmann_json ${ARGN})
  target_precompile_headers(${name} PRIVATE ${assay_precompiled_headers})
endfunction()

if(ASSAY_PRECOMPILE)
  assay_precompiled_target(assay_precompiled)
  assay_precompiled_target(assay_precompiled_optimized)
  # GCC crashes if a source is optimized and the headers were precompiled for -O1.
  target_compile_options(assay_precompiled_optimized PRIVATE "$<$<CONFIG:Release>:-O2>")
  assay_precompiled_target(assay_precompiled_tests GTest::gtest GTest::gmock)
  target_precompile_headers(assay_precompiled_tests PRIVATE <gtest/gtest.h> <gmock/gmock.h>)
endif()

# assay_reuse_precompiled(<target> <one of the targets above>)
function(assay_reuse_precompiled target precompiled)
  if(ASSAY_PRECOMPILE)
    target_link_libraries(${target} PRIVATE fmt::fmt nlohmann_json::nlohmann_json)
    target_precompile_headers(${target} REUSE_FROM ${precompiled})
  endif()
endfunction()
