# SPDX-License-Identifier: Apache-2.0
# TOPPERS/ASP3 3.7 by its own rules, from KDZ_KERNEL_SOURCE: a tree of asp3_core. They run the
# configurator over objects.cfg and build the library kadenz-kernel; the files that the kernel asks of
# a target are ours, in the folder of the architecture, KDZ_BOARD_ARCH. The values of the board come
# with the target kadenz-board. An exported suite has this file, too.
if(NOT EXISTS "${KDZ_KERNEL_SOURCE}/asp3_core.cmake")
    message(FATAL_ERROR "no asp3_core.cmake in '${KDZ_KERNEL_SOURCE}'. "
        "Pass -DKDZ_KERNEL_SOURCE=<tree of asp3_core>.")
endif()

set(ASP3_TARGET kadenz)
set(ASP3_TARGET_DIR ${CMAKE_CURRENT_LIST_DIR}/${KDZ_BOARD_ARCH})
set(ASP3_APPLDIR ${CMAKE_CURRENT_LIST_DIR})
set(ASP3_APPCFGNAME objects)
set(ASP3_LIBRARY_ONLY ON)
add_subdirectory(${KDZ_KERNEL_SOURCE} asp3 EXCLUDE_FROM_ALL)
add_library(kadenz-kernel ALIAS asp3)
# The configurator reads values from this program, which nothing calls: whatever the project sets.
target_link_options(cfg1_out PRIVATE -Wl,--no-gc-sections)

# Its headers' warnings are its authors'.
target_link_libraries(asp3 PUBLIC kadenz-board)
get_target_property(asp3_headers asp3 INTERFACE_INCLUDE_DIRECTORIES)
set_property(TARGET asp3 PROPERTY INTERFACE_SYSTEM_INCLUDE_DIRECTORIES ${asp3_headers})

# Links a program as the kernel wants it. The configurator's third pass checks the linked image; the
# tree's own function for this works only for its own targets.
function(kdz_kernel_program program)
    get_target_property(tree asp3 SOURCE_DIR)
    get_directory_property(check DIRECTORY ${tree} DEFINITION PASS3_ARGS)
    get_directory_property(generated DIRECTORY ${tree} DEFINITION CFG_GEN_DIR)
    get_directory_property(target DIRECTORY ${tree} DEFINITION ASP3_TARGET_DIR)
    if(EXISTS ${target}/vectors.ld)
        target_link_options(${program} BEFORE PRIVATE -T${target}/vectors.ld)
        set_property(TARGET ${program} APPEND PROPERTY LINK_DEPENDS ${target}/vectors.ld)
    endif()
    add_custom_command(TARGET ${program} POST_BUILD
        WORKING_DIRECTORY ${generated}
        COMMAND ${CMAKE_NM} -n $<TARGET_FILE:${program}> > ${program}.syms
        COMMAND ${CMAKE_OBJCOPY} -O srec -S $<TARGET_FILE:${program}> ${program}.srec
        COMMAND ${check} --rom-symbol ${program}.syms --rom-image ${program}.srec
        VERBATIM)
endfunction()
