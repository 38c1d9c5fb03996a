/* SPDX-License-Identifier: Apache-2.0
 *
 * The C side of RTIC: what the manifest says. RTIC makes main.
 */
#include "kadenz/kernel.h"

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
    {"backend", KDZ_RTIC_BACKEND},
    {"dispatch", KDZ_RTIC_DISPATCH},
    {"rtic", KDZ_RTIC},
    {"rtic_sync", KDZ_RTIC_SYNC},
    {"rtic_monotonics", KDZ_RTIC_MONOTONICS " (" KDZ_RTIC_TICK ")"},
    {"critical_section", KDZ_RTIC_CRITICAL_SECTION},
    {0},
};
