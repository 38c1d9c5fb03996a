# SPDX-License-Identifier: Apache-2.0
# FreeRTOS on Armv7-M as the library freertos: what an adapter puts another kernel's interface on. It
# has the configuration of kernels/freertos. KDZ_TEST_FREERTOS is the kernel's folder.
set(KDZ_TEST_FREERTOS "" CACHE PATH "Folder of FreeRTOS")
set(port ${KDZ_TEST_FREERTOS}/portable/GCC/ARM_CM4F)
set(ours ${CMAKE_CURRENT_LIST_DIR}/../../kernels/freertos)

add_library(freertos STATIC
    ${KDZ_TEST_FREERTOS}/tasks.c
    ${KDZ_TEST_FREERTOS}/list.c
    ${KDZ_TEST_FREERTOS}/queue.c
    ${KDZ_TEST_FREERTOS}/timers.c
    ${KDZ_TEST_FREERTOS}/portable/MemMang/heap_4.c
    ${port}/port.c)
target_compile_options(freertos PRIVATE -w)
target_compile_definitions(freertos PUBLIC KDZ_FREERTOS_CHECKS=0 INCLUDE_xTaskDelayUntil=1)
target_include_directories(freertos SYSTEM PUBLIC
    ${KDZ_TEST_FREERTOS}/include ${port} ${ours}/include ${ours}/armv7m)
target_link_libraries(freertos PUBLIC kadenz-board)
