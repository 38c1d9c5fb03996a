/* SPDX-License-Identifier: Apache-2.0
 *
 * The C side of RTIC: what the manifest says, and the tick's vector under the name that RTIC's
 * SysTick monotonic gives its handler. RTIC makes main.
 */
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

/* suite/rust/port.c adds the compiler's. */
extern const struct kdz_setting kdz_rust_kernel_settings[];
const struct kdz_setting kdz_rust_kernel_settings[] = {
    {"backend", "thumbv7 (BASEPRI)"},
    {"dispatch", "one interrupt a priority"},
    {"rtic", KDZ_RTIC},
    {"rtic_sync", KDZ_RTIC_SYNC},
    {"rtic_monotonics", KDZ_RTIC_MONOTONICS " (SysTick)"},
    {"critical_section", "PRIMASK (cortex-m " KDZ_CORTEX_M ")"},
    {0},
};
