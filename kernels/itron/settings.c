/* SPDX-License-Identifier: Apache-2.0
 *
 * Who this kernel is and how it is configured, as far as that changes figures.
 */
#include "itron_port.h"

#include <picolibc.h>

/* The name changed between picolibc 1.8 (Debian 12) and 1.8.10 (Debian 13). */
#ifdef __PICOLIBC_VERSION__
#define C_LIBRARY_VERSION __PICOLIBC_VERSION__
#else
#define C_LIBRARY_VERSION _PICOLIBC_VERSION
#endif

#define TEXT(value) TEXT_OF(value)
#define TEXT_OF(value) #value

/* <target_kernel.h> of the architecture has the timer's step. */
const char *kdz_kernel_name(void)
{
    return "TOPPERS/ASP3";
}

/* The kernel says 0x3072 for 3.7.2. Its second part has one digit so far. */
const char *kdz_kernel_version(void)
{
    static char text[] = "0.0.0";

    text[0] = (char)('0' + (TKERNEL_PRVER >> 12 & 0xfu));
    text[2] = (char)('0' + (TKERNEL_PRVER >> 4 & 0xfu));
    text[4] = (char)('0' + (TKERNEL_PRVER & 0xfu));
    return text;
}

const struct kdz_setting *kdz_kernel_settings(size_t *count)
{
    static const struct kdz_setting settings[] = {
        {"timer_step", KDZ_ITRON_TIMER_STEP},
        {"priorities", TEXT(TMAX_TPRI)},
        {"wait_queues", "by priority"},
        {"asserts", "off"},
        {"stack_check", "at join"},
        {"system_log", "off"},
        {"trace", "off"},
        {"allocation", "static"},
        {"c_library", "picolibc " C_LIBRARY_VERSION " (release)"},
        {"compiler", "GCC " __VERSION__},
    };
    *count = sizeof settings / sizeof settings[0];
    return settings;
}
