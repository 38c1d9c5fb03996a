/* SPDX-License-Identifier: Apache-2.0
 *
 * The C side of lilos: what the manifest says. src/machine.rs starts it.
 */
#include "kadenz/kernel.h"

const char *kdz_kernel_name(void)
{
    return "lilos";
}

const char *kdz_kernel_version(void)
{
    return KDZ_LILOS;
}

/* suite/rust/port.c adds the compiler's. */
extern const struct kdz_setting kdz_rust_kernel_settings[];
const struct kdz_setting kdz_rust_kernel_settings[] = {
    {"executor", "one, in thread mode"},
    {"scheduler", "rounds over the tasks, in the order of their array"},
    {"interrupts", "masked while tasks run (lilos's run_tasks)"},
    {"lilos", KDZ_LILOS},
    {"critical_section", "PRIMASK (cortex-m " KDZ_CORTEX_M ")"},
    {0},
};
