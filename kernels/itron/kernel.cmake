# SPDX-License-Identifier: Apache-2.0
include(${CMAKE_CURRENT_LIST_DIR}/asp3.cmake)
target_link_libraries(kadenz-suite PRIVATE kadenz-kernel)
add_dependencies(kadenz-suite generate_cfg_gen_files) # kernel_cfg.h
kdz_kernel_program(kadenz-suite)

target_sources(kadenz-suite PRIVATE
    ${CMAKE_CURRENT_LIST_DIR}/threads.c
    ${CMAKE_CURRENT_LIST_DIR}/semaphores.c
    ${CMAKE_CURRENT_LIST_DIR}/mutexes.c
    ${CMAKE_CURRENT_LIST_DIR}/data_queue.c
    ${CMAKE_CURRENT_LIST_DIR}/event_flags.c
    ${CMAKE_CURRENT_LIST_DIR}/memory_pool.c
    ${CMAKE_CURRENT_LIST_DIR}/callback_timers.c
    ${CMAKE_CURRENT_LIST_DIR}/unexpected.c
    ${kdz_root}/kernels/shared/interrupt.c
    ${CMAKE_CURRENT_LIST_DIR}/settings.c)
target_include_directories(kadenz-suite PRIVATE ${CMAKE_CURRENT_LIST_DIR})
include(${CMAKE_CURRENT_LIST_DIR}/${KDZ_BOARD_ARCH}/${KDZ_BOARD_ARCH}.cmake)
