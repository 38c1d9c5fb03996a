# SPDX-License-Identifier: Apache-2.0
# FreeRTOS V10.2.0 and later, from KDZ_KERNEL_SOURCE: the tree itself, a tree that keeps the kernel
# in FreeRTOS/Source (the releases up to V10.4.3), or a package with FreeRTOS-Kernel in it.
# Differences between versions are looked up in the tree, not derived from its number.

option(KDZ_FREERTOS_CHECKS "FreeRTOS with assertions and stack checks: for finding faults, not for figures" OFF)

set(freertos "")
foreach(place "." "FreeRTOS/Source" "FreeRTOS-Kernel" "Source")
    if(NOT freertos AND EXISTS "${KDZ_KERNEL_SOURCE}/${place}/tasks.c")
        get_filename_component(freertos "${KDZ_KERNEL_SOURCE}/${place}" ABSOLUTE)
    endif()
endforeach()
if(NOT KDZ_KERNEL_SOURCE OR NOT freertos)
    message(FATAL_ERROR "no FreeRTOS kernel in '${KDZ_KERNEL_SOURCE}': tasks.c is neither there nor in "
        "FreeRTOS/Source or FreeRTOS-Kernel below it. Pass -DKDZ_KERNEL_SOURCE=<folder of the kernel>.")
endif()
foreach(needed tasks.c list.c queue.c stream_buffer.c timers.c include/FreeRTOS.h portable/MemMang/heap_4.c)
    if(NOT EXISTS "${freertos}/${needed}")
        message(FATAL_ERROR "the FreeRTOS kernel in '${freertos}' is incomplete: ${needed} is missing. "
            "Take a complete release, V10.2.0 or later.")
    endif()
endforeach()

# Compiled as its authors wrote it and optimised as the suite is; its warnings are its authors'.
add_library(freertos OBJECT
    ${freertos}/tasks.c
    ${freertos}/list.c
    ${freertos}/event_groups.c
    ${freertos}/queue.c
    ${freertos}/stream_buffer.c
    ${freertos}/timers.c
    ${freertos}/portable/MemMang/heap_4.c)
set_target_properties(freertos PROPERTIES C_STANDARD 11)
target_compile_options(freertos PRIVATE -g -O2 -ffunction-sections -fdata-sections -w)
target_link_libraries(freertos PUBLIC kadenz-board)
target_compile_definitions(freertos PUBLIC
    KDZ_FREERTOS_CHECKS=$<BOOL:${KDZ_FREERTOS_CHECKS}>)
target_include_directories(freertos SYSTEM PUBLIC ${freertos}/include)
target_include_directories(freertos PUBLIC ${CMAKE_CURRENT_LIST_DIR}/include)

target_sources(kadenz-suite PRIVATE
    ${CMAKE_CURRENT_LIST_DIR}/start.c
    ${CMAKE_CURRENT_LIST_DIR}/threads.c
    ${CMAKE_CURRENT_LIST_DIR}/objects.c
    ${CMAKE_CURRENT_LIST_DIR}/channels.c
    ${CMAKE_CURRENT_LIST_DIR}/event_flags.c
    ${CMAKE_CURRENT_LIST_DIR}/barrier.c
    ${CMAKE_CURRENT_LIST_DIR}/callback_timers.c
    ${CMAKE_CURRENT_LIST_DIR}/heap.c
    ${CMAKE_CURRENT_LIST_DIR}/settings.c
    ${CMAKE_CURRENT_LIST_DIR}/watch.c)
target_include_directories(kadenz-suite PRIVATE ${CMAKE_CURRENT_LIST_DIR})
target_link_libraries(kadenz-suite PRIVATE freertos)
target_compile_definitions(kadenz-suite PRIVATE KDZ_FREERTOS_HEAP="heap_4")

# xTaskDelayUntil, which says whether it slept, came with V10.4.2.
file(STRINGS ${freertos}/include/task.h says_whether_it_slept REGEX "xTaskDelayUntil\\(")
if(says_whether_it_slept)
    target_sources(kadenz-suite PRIVATE ${CMAKE_CURRENT_LIST_DIR}/delay.c)
    target_compile_definitions(freertos PUBLIC INCLUDE_xTaskDelayUntil=1)
else()
    target_sources(kadenz-suite PRIVATE ${CMAKE_CURRENT_LIST_DIR}/delay_before_v10_4_2.c)
    target_compile_definitions(freertos PUBLIC INCLUDE_vTaskDelayUntil=1)
endif()

# The kernel for one core, or the SMP kernel on a board with several (cores.h).
if(KDZ_BOARD_CORES)
    target_sources(kadenz-suite PRIVATE ${CMAKE_CURRENT_LIST_DIR}/several_cores.c)
    include(${CMAKE_CURRENT_LIST_DIR}/${KDZ_BOARD_ARCH}/smp/smp.cmake)
else()
    target_sources(kadenz-suite PRIVATE ${CMAKE_CURRENT_LIST_DIR}/one_core.c)
    target_include_directories(freertos PUBLIC ${CMAKE_CURRENT_LIST_DIR}/${KDZ_BOARD_ARCH})
    include(${CMAKE_CURRENT_LIST_DIR}/${KDZ_BOARD_ARCH}/${KDZ_BOARD_ARCH}.cmake)
endif()
