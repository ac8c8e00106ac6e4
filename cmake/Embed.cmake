# memwall_embed(TARGET FUNCTION GLOB): the files that match GLOB become `std::span<const EmbeddedFile> sim::FUNCTION()`
# (declared in sim/embedded.hpp), sorted by name, and are embedded again when one changes, comes or goes.
function(memwall_embed target function glob)
    file(GLOB files CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/${glob}")
    set(source "${PROJECT_BINARY_DIR}/${function}.cpp")
    add_custom_command(
        OUTPUT "${source}"
        COMMAND "${CMAKE_COMMAND}" -DOUT=${source} -DFUNCTION=${function} "-DFILES=${files}"
                -P "${PROJECT_SOURCE_DIR}/cmake/write_embedded.cmake"
        DEPENDS ${files} "${PROJECT_SOURCE_DIR}/cmake/write_embedded.cmake"
        COMMENT "Embedding ${glob}"
        VERBATIM)
    target_sources(${target} PRIVATE "${source}")
endfunction()
