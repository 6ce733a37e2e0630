# assay_carry(<program>): with ASSAY_CARRIED, links the program statically but for libc, for machines that have nothing
# but a driver and NVRTC; ci/check_carried holds it to that. OpenSSL is made static where it is found.

if(ASSAY_CARRIED)
  set_target_properties(pugixml::pugixml PROPERTIES INTERFACE_LINK_LIBRARIES pugixml::static)
endif()

function(assay_carry program)
  if(ASSAY_CARRIED)
    # fmt comes without an archive. Its headers hold all that its library does: one file compiles it, and what it defines
    # leaves nothing to ask the library for.
    set(fmt "${PROJECT_SOURCE_DIR}/cmake/fmt.cpp")
    target_sources(${program} PRIVATE "${fmt}")
    set_source_files_properties("${fmt}" PROPERTIES
      COMPILE_DEFINITIONS FMT_HEADER_ONLY=1 COMPILE_OPTIONS -fkeep-inline-functions)
    target_link_options(${program} PRIVATE -static-libstdc++ -static-libgcc LINKER:--as-needed LINKER:--strip-all)
  endif()
endfunction()
