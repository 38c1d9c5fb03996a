/* SPDX-License-Identifier: Apache-2.0
 *
 * Name and start of FreeRTOS.
 */
#include "freertos_port.h"

#include "kadenz/fault.h"

KDZ_NEEDED(configUSE_TIME_SLICING == 0, "configUSE_TIME_SLICING 0",
           "equals take turns by their own calls, never by the tick");
KDZ_NEEDED(configUSE_IDLE_HOOK == 1, "configUSE_IDLE_HOOK 1",
           "the port's vApplicationIdleHook waits for an interrupt");

#define STACK_BYTES_MAIN 1280u /* the suite uses about 720 of it, measured on both boards */

const char *kdz_kernel_name(void)
{
    return "FreeRTOS";
}

void kdz_kernel_start(void (*entry)(void *), void *arg)
{
    const struct kdz_thread_spec main_thread = {
        .name = "main",
        .entry = entry,
        .arg = arg,
        .stack_bytes = STACK_BYTES_MAIN,
        .rank = KDZ_RANK_MAIN,
        /* Threads that it creates there do not run before it waits, as on one core. */
        .core = 0,
    };
    kdz_freertos_arch_start();
    if (kdz_thread_create(&main_thread) >= 0) {
        vTaskStartScheduler();
    }
    kdz_fault(KDZ_FAULT_OUT_OF_MEMORY,
              "FreeRTOS cannot create its first threads: raise KDZ_BOARD_HEAP_BYTES in board.cmake",
              NULL, 0);
}
