# SPDX-License-Identifier: Apache-2.0
include(${CMAKE_CURRENT_LIST_DIR}/nuttx.cmake)

# NuttX's headers are a C library of their own, in place of the image's: only this port's files see
# them, and are compiled apart from the suite.
get_target_property(options kadenz-suite COMPILE_OPTIONS)
get_target_property(include kadenz-suite INCLUDE_DIRECTORIES)
add_library(nuttx-port OBJECT
    ${CMAKE_CURRENT_LIST_DIR}/start.c
    ${CMAKE_CURRENT_LIST_DIR}/threads.c
    ${CMAKE_CURRENT_LIST_DIR}/semaphores.c
    ${CMAKE_CURRENT_LIST_DIR}/mutexes.c
    ${CMAKE_CURRENT_LIST_DIR}/message_queue.c
    ${CMAKE_CURRENT_LIST_DIR}/event_flags.c
    ${CMAKE_CURRENT_LIST_DIR}/condition.c
    ${CMAKE_CURRENT_LIST_DIR}/barrier.c
    ${CMAKE_CURRENT_LIST_DIR}/read_write_lock.c
    ${kdz_root}/kernels/shared/c_heap.c
    ${CMAKE_CURRENT_LIST_DIR}/callback_timers.c
    ${CMAKE_CURRENT_LIST_DIR}/interrupt.c
    ${CMAKE_CURRENT_LIST_DIR}/library.c
    ${CMAKE_CURRENT_LIST_DIR}/settings.c)
set_target_properties(nuttx-port PROPERTIES C_STANDARD 11)
target_compile_options(nuttx-port PRIVATE ${options})
target_include_directories(nuttx-port PRIVATE ${include} ${CMAKE_CURRENT_LIST_DIR})
target_link_libraries(nuttx-port PRIVATE nuttx-tree)
target_link_libraries(kadenz-suite PRIVATE nuttx-port nuttx)
include(${CMAKE_CURRENT_LIST_DIR}/${KDZ_BOARD_ARCH}/${KDZ_BOARD_ARCH}.cmake)
