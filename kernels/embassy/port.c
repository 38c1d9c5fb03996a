/* SPDX-License-Identifier: Apache-2.0
 *
 * The C side of Embassy: its start below the suite's main thread, and what the manifest says.
 */
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

/* suite/rust/port.c adds the compiler's. */
extern const struct kdz_setting kdz_rust_kernel_settings[];
const struct kdz_setting kdz_rust_kernel_settings[] = {
    {"executor", "one interrupt executor a level"},
    {"scheduler", "the executor's own order"},
    {"embassy_executor", KDZ_EMBASSY_EXECUTOR},
    {"embassy_sync", KDZ_EMBASSY_SYNC},
    {"embassy_time", KDZ_EMBASSY_TIME},
    {"critical_section", "PRIMASK (cortex-m " KDZ_CORTEX_M ")"},
    {0},
};
