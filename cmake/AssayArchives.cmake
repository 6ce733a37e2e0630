# Static libraries for which CMake's own find modules cannot be used on Debian.

# assay_find_archive(<target> <archive> <header>) defines the imported static library <target>.
function(assay_find_archive target archive header)
  string(MAKE_C_IDENTIFIER "${target}" stem)
  find_library(${stem}_ARCHIVE NAMES ${archive})
  find_path(${stem}_INCLUDE_DIR NAMES ${header})
  mark_as_advanced(${stem}_ARCHIVE ${stem}_INCLUDE_DIR)
  if(NOT ${stem}_ARCHIVE OR NOT ${stem}_INCLUDE_DIR)
    message(FATAL_ERROR "${archive} with <${header}> not found; run ci/setup")
  endif()
  add_library(${target} STATIC IMPORTED GLOBAL)
  set_target_properties(${target} PROPERTIES
    IMPORTED_LOCATION "${${stem}_ARCHIVE}"
    INTERFACE_INCLUDE_DIRECTORIES "${${stem}_INCLUDE_DIR}")
endfunction()

assay_find_archive(assay_zlib libz.a zlib.h)
assay_find_archive(assay_zstd libzstd.a zstd.h)
assay_find_archive(assay_tree_sitter libtree-sitter.a tree_sitter/api.h)
