# SPDX-License-Identifier: Apache-2.0
# Eclipse ThreadX 6.x, built by the CMake project in KDZ_KERNEL_SOURCE: upstream's own, which reads the
# three variables, or the user's, which may set them itself or ignore them.
include(${CMAKE_CURRENT_LIST_DIR}/${KDZ_BOARD_ARCH}/${KDZ_BOARD_ARCH}.cmake)
set(THREADX_TOOLCHAIN gnu)
set(TX_USER_FILE ${CMAKE_CURRENT_LIST_DIR}/tx_user.h)

target_sources(kadenz-suite PRIVATE
    ${CMAKE_CURRENT_LIST_DIR}/start.c
    ${CMAKE_CURRENT_LIST_DIR}/threads.c
    ${CMAKE_CURRENT_LIST_DIR}/semaphores.c
    ${CMAKE_CURRENT_LIST_DIR}/mutexes.c
    ${CMAKE_CURRENT_LIST_DIR}/queue.c
    ${CMAKE_CURRENT_LIST_DIR}/event_flags.c
    ${CMAKE_CURRENT_LIST_DIR}/memory.c
    ${CMAKE_CURRENT_LIST_DIR}/callback_timers.c
    ${CMAKE_CURRENT_LIST_DIR}/settings.c)
target_include_directories(kadenz-suite PRIVATE ${CMAKE_CURRENT_LIST_DIR})
