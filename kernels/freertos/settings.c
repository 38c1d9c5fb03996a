/* SPDX-License-Identifier: Apache-2.0
 *
 * Who this kernel is and how it is configured, as far as that changes figures.
 */
#include "freertos_port.h"

#include <picolibc.h>

/* The name changed between picolibc 1.8 (Debian 12) and 1.8.10 (Debian 13). */
#ifdef __PICOLIBC_VERSION__
#define C_LIBRARY_VERSION __PICOLIBC_VERSION__
#else
#define C_LIBRARY_VERSION _PICOLIBC_VERSION
#endif

#define TEXT(value) TEXT_OF(value)
#define TEXT_OF(value) #value

const char *kdz_kernel_name(void)
{
    return "FreeRTOS";
}

const char *kdz_kernel_version(void)
{
    return tskKERNEL_VERSION_NUMBER;
}

const struct kdz_setting *kdz_kernel_settings(size_t *count)
{
    static const struct kdz_setting settings[] = {
        {"port", KDZ_FREERTOS_PORT},
        {"preemption", configUSE_PREEMPTION ? "on" : "off"},
        {"time_slicing", configUSE_TIME_SLICING ? "on" : "off"},
        {"task_selection", configUSE_PORT_OPTIMISED_TASK_SELECTION ? "optimised" : "generic"},
        {"priorities", TEXT(configMAX_PRIORITIES)},
        {"asserts", KDZ_FREERTOS_CHECKS ? "on" : "off"},
        {"stack_check", KDZ_FREERTOS_CHECKS ? "every switch" : "idle thread"},
        {"tickless_idle", configUSE_TICKLESS_IDLE ? "on" : "off"},
        {"queue_sets", configUSE_QUEUE_SETS ? "on" : "off"},
        {"allocation", "heap_4"},
        {"c_library", "picolibc " C_LIBRARY_VERSION " (release)"},
        {"compiler", "GCC " __VERSION__},
    };
    *count = sizeof settings / sizeof settings[0];
    return settings;
}
