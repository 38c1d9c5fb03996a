# SPDX-License-Identifier: Apache-2.0
# Calls CMSIS-RTOS2. RTX5 is compiled from its trees; any other implementation, and RTX5 with a
# configuration of its own, comes as a folder that builds itself (KDZ_KERNEL_TARGET).
if(KDZ_KERNEL_TARGET)
    target_include_directories(kadenz-suite PRIVATE ${CMAKE_CURRENT_LIST_DIR}/built_elsewhere)
    target_sources(kadenz-suite PRIVATE ${CMAKE_CURRENT_LIST_DIR}/built_elsewhere/watch.c)
else()
    include(${CMAKE_CURRENT_LIST_DIR}/rtx5/rtx5.cmake)
endif()

target_sources(kadenz-suite PRIVATE
    ${CMAKE_CURRENT_LIST_DIR}/threads.c
    ${CMAKE_CURRENT_LIST_DIR}/objects.c
    ${CMAKE_CURRENT_LIST_DIR}/locks.c
    ${CMAKE_CURRENT_LIST_DIR}/message_queue.c
    ${CMAKE_CURRENT_LIST_DIR}/event_flags.c
    ${CMAKE_CURRENT_LIST_DIR}/memory_pool.c
    ${CMAKE_CURRENT_LIST_DIR}/callback_timers.c
    ${CMAKE_CURRENT_LIST_DIR}/thread_flags.c
    ${CMAKE_CURRENT_LIST_DIR}/settings.c
    ${kdz_root}/kernels/shared/interrupt.c
    ${KDZ_ARCH_TICK_DUE}) # SysTick drives the tick
target_include_directories(kadenz-suite PRIVATE ${CMAKE_CURRENT_LIST_DIR})
