/* SPDX-License-Identifier: Apache-2.0
 *
 * The C side of RTIC: what the manifest says, and the tick's vector under the name that RTIC's
 * SysTick monotonic gives its handler. RTIC makes main.
 */
#include "kadenz/fault.h"
#include "kadenz/kernel.h"

void SysTick(void);
void SysTick_Handler(void);

void SysTick_Handler(void)
{
    SysTick();
}

const char *kdz_kernel_name(void)
{
    return "RTIC";
}

const char *kdz_kernel_version(void)
{
    return KDZ_RTIC;
}

const struct kdz_setting *kdz_kernel_settings(size_t *count)
{
    static const struct kdz_setting settings[] = {
        {"backend", "thumbv7 (BASEPRI)"},
        {"dispatch", "one interrupt a priority"},
        {"rtic", KDZ_RTIC},
        {"rtic_sync", KDZ_RTIC_SYNC},
        {"rtic_monotonics", KDZ_RTIC_MONOTONICS " (SysTick)"},
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
    return ""; /* RTIC does not say which task runs */
}
