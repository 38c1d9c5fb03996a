/* SPDX-License-Identifier: Apache-2.0
 *
 * What is the same for every kernel in Rust.
 */
#include "kadenz/fault.h"
#include "kadenz/kernel.h"

#define COUNT(list) (sizeof(list) / sizeof(list)[0])

/* The kernel's own settings, in its port.c; the last one has no name. */
extern const struct kdz_setting kdz_rust_kernel_settings[];

static const struct kdz_setting common[] = {
    {"tick_priority", "above all"},
    {"rust_target", KDZ_RUST_TARGET},
    {"rust_profile", "opt-level 2, LTO fat, 1 codegen unit, panic abort"},
    {"rust_compiler", KDZ_RUST_COMPILER},
    {"compiler", "GCC " __VERSION__},
};

const struct kdz_setting *kdz_kernel_settings(size_t *count)
{
    static struct kdz_setting settings[16];
    size_t own = 0;

    while (own < COUNT(settings) - COUNT(common) && kdz_rust_kernel_settings[own].name != NULL) {
        settings[own] = kdz_rust_kernel_settings[own];
        own++;
    }
    for (size_t i = 0; i < COUNT(common); i++) {
        settings[own + i] = common[i];
    }
    *count = own + COUNT(common);
    return settings;
}

uint32_t kdz_tick_hz(void)
{
    return KDZ_BOARD_TICK_HZ;
}

const char *kdz_fault_thread(void)
{
    return ""; /* tasks of a framework have no names */
}
