# assay_carry(<program>): with ASSAY_CARRIED, links the program statically except for libc, for machines with only a
# driver and NVRTC; checked by ci/check_carried. OpenSSL is linked statically where it is found.

if(ASSAY_CARRIED)
  set_target_properties(pugixml::pugixml PROPERTIES INTERFACE_LINK_LIBRARIES pugixml::static)
endif()

function(assay_carry program)
  if(ASSAY_CARRIED)
    # fmt has no static library here. One file compiles its header-only form, which defines all symbols of the library.
    set(fmt "${PROJECT_SOURCE_DIR}/cmake/fmt.cpp")
    target_sources(${program} PRIVATE "${fmt}")
    set_source_files_properties("${fmt}" PROPERTIES
      COMPILE_DEFINITIONS FMT_HEADER_ONLY=1 COMPILE_OPTIONS -fkeep-inline-functions)
    target_link_options(${program} PRIVATE -static-libstdc++ -static-libgcc LINKER:--as-needed LINKER:--strip-all)
  endif()
endfunction()
