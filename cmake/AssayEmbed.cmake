# assay_embed(OUTPUT <file.cpp> NAMESPACE <assay::folder> TEXTS kName=path ...)
#
# At build time writes <file.cpp>, which defines a `const std::string_view kName` with each file's text, so that
# the program needs no path at run time. A header of the folder declares the names. Run as a script, it is the
# generator itself.

if(CMAKE_SCRIPT_MODE_FILE)
  set(code "// Generated from the files named below; edit those.\n#include <string_view>\n\nnamespace ${NAMESPACE} {\n")
  string(REPLACE "|" ";" texts "${TEXTS}")
  foreach(pair IN LISTS texts)
    string(REGEX MATCH "^([^=]+)=(.+)$" matched "${pair}")
    set(symbol "${CMAKE_MATCH_1}")
    file(READ "${CMAKE_MATCH_2}" text)
    get_filename_component(name "${CMAKE_MATCH_2}" NAME)
    string(APPEND code "\n// ${name}\nextern const std::string_view ${symbol};\n"
      "const std::string_view ${symbol} = R\"assay_text(${text})assay_text\";\n")
  endforeach()
  string(APPEND code "\n}  // namespace ${NAMESPACE}\n")
  file(WRITE "${OUTPUT}" "${code}")
  return()
endif()

set(ASSAY_EMBED_SCRIPT "${CMAKE_CURRENT_LIST_FILE}")

function(assay_embed)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "OUTPUT;NAMESPACE" "TEXTS")
  assay_reject_unparsed(assay_embed "${arg_OUTPUT}" "${arg_UNPARSED_ARGUMENTS}")
  set(pairs)
  set(files)
  foreach(pair IN LISTS arg_TEXTS)
    string(REGEX MATCH "^([^=]+)=(.+)$" matched "${pair}")
    list(APPEND pairs "${CMAKE_MATCH_1}=${CMAKE_CURRENT_SOURCE_DIR}/${CMAKE_MATCH_2}")
    list(APPEND files "${CMAKE_CURRENT_SOURCE_DIR}/${CMAKE_MATCH_2}")
  endforeach()
  list(JOIN pairs "|" joined)
  add_custom_command(OUTPUT "${arg_OUTPUT}"
    COMMAND "${CMAKE_COMMAND}" "-DOUTPUT=${arg_OUTPUT}" "-DNAMESPACE=${arg_NAMESPACE}" "-DTEXTS=${joined}"
      -P "${ASSAY_EMBED_SCRIPT}"
    DEPENDS ${files} "${ASSAY_EMBED_SCRIPT}"
    COMMENT "Embedding ${arg_NAMESPACE} texts"
    VERBATIM)
endfunction()
