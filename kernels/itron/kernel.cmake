# SPDX-License-Identifier: Apache-2.0
# TOPPERS/ASP3 3.7, from KDZ_KERNEL_SOURCE: a tree with the build rules of asp3_core. They run the
# configurator over objects.cfg and build the kernel as a library; the files that the kernel asks of
# a target are ours, in the folder of the architecture.
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

# Its headers' warnings are its authors'.
target_link_libraries(asp3 PUBLIC kadenz-board)
get_target_property(asp3_headers asp3 INTERFACE_INCLUDE_DIRECTORIES)
set_property(TARGET asp3 PROPERTY INTERFACE_SYSTEM_INCLUDE_DIRECTORIES ${asp3_headers})
target_link_libraries(kadenz-suite PRIVATE asp3)
add_dependencies(kadenz-suite generate_cfg_gen_files) # kernel_cfg.h

target_sources(kadenz-suite PRIVATE
    ${CMAKE_CURRENT_LIST_DIR}/threads.c
    ${CMAKE_CURRENT_LIST_DIR}/semaphores.c
    ${CMAKE_CURRENT_LIST_DIR}/mutexes.c
    ${CMAKE_CURRENT_LIST_DIR}/data_queue.c
    ${CMAKE_CURRENT_LIST_DIR}/event_flags.c
    ${CMAKE_CURRENT_LIST_DIR}/unexpected.c
    ${kdz_root}/kernels/shared/interrupt.c
    ${CMAKE_CURRENT_LIST_DIR}/settings.c)
target_include_directories(kadenz-suite PRIVATE ${CMAKE_CURRENT_LIST_DIR})
include(${CMAKE_CURRENT_LIST_DIR}/${KDZ_BOARD_ARCH}/${KDZ_BOARD_ARCH}.cmake)

# The configurator's third pass checks the linked image. The tree's own function for this works only
# for its own targets.
get_directory_property(check DIRECTORY ${KDZ_KERNEL_SOURCE} DEFINITION PASS3_ARGS)
get_directory_property(generated DIRECTORY ${KDZ_KERNEL_SOURCE} DEFINITION CFG_GEN_DIR)
add_custom_command(TARGET kadenz-suite POST_BUILD
    WORKING_DIRECTORY ${generated}
    COMMAND ${CMAKE_NM} -n $<TARGET_FILE:kadenz-suite> > kadenz-suite.syms
    COMMAND ${CMAKE_OBJCOPY} -O srec -S $<TARGET_FILE:kadenz-suite> kadenz-suite.srec
    COMMAND ${check} --rom-symbol kadenz-suite.syms --rom-image kadenz-suite.srec
    VERBATIM)
