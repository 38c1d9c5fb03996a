/* SPDX-License-Identifier: Apache-2.0
 *
 * Name and start: ESP-IDF runs its scheduler before it calls app_main, whose task goes on and may
 * end.
 */
#include "../freertos_port.h"

#include "kadenz/fault.h"

#define STACK_BYTES_MAIN 1280u

const char *kdz_kernel_name(void)
{
    return "FreeRTOS (ESP-IDF)";
}

void kdz_kernel_start(void (*entry)(void *), void *arg)
{
    const struct kdz_thread_spec main_thread = {
        .name = "main",
        .entry = entry,
        .arg = arg,
        .stack_bytes = STACK_BYTES_MAIN,
        .rank = KDZ_RANK_MAIN,
        .core = 0,
    };
    if (kdz_thread_create(&main_thread) < 0) {
        kdz_fault(KDZ_FAULT_OUT_OF_MEMORY, "ESP-IDF cannot create the suite's main thread", NULL,
                  0);
    }
}
