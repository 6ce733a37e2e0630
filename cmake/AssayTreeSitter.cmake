# assay_tree_sitter_python: the Python grammar for tree-sitter, compiled from the C source that ci/setup
# unpacks. Users declare its entry point: extern "C" const TSLanguage* tree_sitter_python();

set(grammar "${PROJECT_SOURCE_DIR}/third_party/tree-sitter-python")
if(NOT EXISTS "${grammar}/src/parser.c")
  message(FATAL_ERROR "third_party/tree-sitter-python is missing; run ci/setup")
endif()

add_library(assay_tree_sitter_python STATIC "${grammar}/src/parser.c" "${grammar}/src/scanner.c")
# Its own <tree_sitter/parser.h> goes before the library's, which is older than the generated parser.
target_include_directories(assay_tree_sitter_python BEFORE PRIVATE "${grammar}/src")
target_compile_options(assay_tree_sitter_python PRIVATE -w)
target_link_libraries(assay_tree_sitter_python PUBLIC assay_tree_sitter)
