# SPDX-License-Identifier: Apache-2.0
# FreeRTOS's port for the Cortex-M4 with its FPU.
set(freertos_port ${freertos}/portable/GCC/ARM_CM4F)
target_sources(freertos PRIVATE ${freertos_port}/port.c)
target_include_directories(freertos SYSTEM PUBLIC ${freertos_port})
target_sources(kadenz-suite PRIVATE
    ${CMAKE_CURRENT_LIST_DIR}/../cortexm/interrupt.c
    ${KDZ_ARCH_TICK_DUE}) # SysTick drives the tick
target_compile_definitions(kadenz-suite PRIVATE KDZ_FREERTOS_PORT="GCC/ARM_CM4F")
