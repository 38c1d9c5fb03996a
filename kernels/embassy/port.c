/* SPDX-License-Identifier: Apache-2.0
 *
 * The C side of Embassy: its start below the suite's main thread, and what the manifest says.
 */
#include "kadenz/fault.h"
#include "kadenz/kernel.h"

void kdz_embassy_start(void); /* src/machine.rs */

/* The suite runs in thread mode: every executor interrupts it. */
void kdz_kernel_start(void (*entry)(void *), void *arg)
{
    kdz_embassy_start();
    entry(arg);
}

const char *kdz_kernel_name(void)
{
    return "Embassy";
}

const char *kdz_kernel_version(void)
{
    return KDZ_EMBASSY_EXECUTOR;
}

const struct kdz_setting *kdz_kernel_settings(size_t *count)
{
    static const struct kdz_setting settings[] = {
        {"executor", "one interrupt executor a level"},
        {"scheduler", "the executor's own order"},
        {"embassy_executor", KDZ_EMBASSY_EXECUTOR},
        {"embassy_sync", KDZ_EMBASSY_SYNC},
        {"embassy_time", KDZ_EMBASSY_TIME},
        {"critical_section", "PRIMASK (cortex-m " KDZ_CORTEX_M ")"},
        {"tick_priority", "above all"},
        {"rust_target", KDZ_RUST_TARGET},
        {"rust_profile", "opt-level 2, LTO fat, 1 codegen unit, panic abort"},
        {"rust_compiler", KDZ_RUST_COMPILER},
        {"compiler", "GCC " __VERSION__},
    };
    *count = sizeof settings / sizeof settings[0];
    return settings;
}

uint32_t kdz_tick_hz(void)
{
    return KDZ_BOARD_TICK_HZ;
}

const char *kdz_fault_thread(void)
{
    return ""; /* a task of an executor has no name */
}
