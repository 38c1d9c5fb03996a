# SPDX-License-Identifier: Apache-2.0
# Zephyr builds its images itself: this list is what `kadenz export-suite` gives to a Zephyr module.
target_sources(kadenz-suite PRIVATE
    ${CMAKE_CURRENT_LIST_DIR}/start.c
    ${CMAKE_CURRENT_LIST_DIR}/threads.c
    ${CMAKE_CURRENT_LIST_DIR}/semaphores.c
    ${CMAKE_CURRENT_LIST_DIR}/mutexes.c
    ${CMAKE_CURRENT_LIST_DIR}/message_queue.c
    ${CMAKE_CURRENT_LIST_DIR}/event_flags.c
    ${CMAKE_CURRENT_LIST_DIR}/callback_timers.c
    ${CMAKE_CURRENT_LIST_DIR}/condition.c
    ${CMAKE_CURRENT_LIST_DIR}/memory.c
    ${CMAKE_CURRENT_LIST_DIR}/fault.c
    ${CMAKE_CURRENT_LIST_DIR}/settings.c
    ${CMAKE_CURRENT_LIST_DIR}/${KDZ_BOARD_ARCH}/interrupt.c)
target_include_directories(kadenz-suite PRIVATE ${CMAKE_CURRENT_LIST_DIR})
