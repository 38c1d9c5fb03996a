/* SPDX-License-Identifier: Apache-2.0
 *
 * Who this kernel is, as it says itself, and how it is configured, as far as that changes figures:
 * <kdz_cmsis_settings.h> of the implementation has the latter.
 */
#include "cmsis_port.h"

#include <kdz_cmsis_settings.h>
#include <picolibc.h>

/* The name changed between picolibc 1.8 (Debian 12) and 1.8.10 (Debian 13). */
#ifdef __PICOLIBC_VERSION__
#define C_LIBRARY_VERSION __PICOLIBC_VERSION__
#else
#define C_LIBRARY_VERSION _PICOLIBC_VERSION
#endif

const char *kdz_kernel_name(void)
{
    return "CMSIS-RTOS2";
}

const char *kdz_kernel_version(void)
{
    static char identity[32]; /* "RTX V5.9.1" */
    osVersion_t version;

    if (osKernelGetInfo(&version, identity, sizeof identity - 1u) != osOK) {
        return "unknown";
    }
    return identity;
}

const struct kdz_setting *kdz_kernel_settings(size_t *count)
{
    static const struct kdz_setting settings[] = {
        KDZ_CMSIS_SETTINGS{"allocation", "by the kernel"},
        {"c_library", "picolibc " C_LIBRARY_VERSION " (release)"},
        {"compiler", "GCC " __VERSION__},
    };
    *count = sizeof settings / sizeof settings[0];
    return settings;
}
