/* SPDX-License-Identifier: Apache-2.0
 *
 * Which version this kernel is and how it is configured, as far as that changes figures.
 */
#include "freertos_port.h"

/* A build that is not kadenz's may have another C library. Its name changed between picolibc 1.8
 * (Debian 12) and 1.8.10 (Debian 13). */
#if __has_include(<picolibc.h>)
#include <picolibc.h>
#elif __has_include(<_newlib_version.h>)
#include <_newlib_version.h>
#endif
#if defined __PICOLIBC_VERSION__
#define C_LIBRARY "picolibc " __PICOLIBC_VERSION__
#elif defined _PICOLIBC_VERSION
#define C_LIBRARY "picolibc " _PICOLIBC_VERSION
#elif defined _NEWLIB_VERSION
#define C_LIBRARY "newlib " _NEWLIB_VERSION
#else
#define C_LIBRARY "unknown"
#endif

#define TEXT(value) TEXT_OF(value)
#define TEXT_OF(value) #value

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
        {"asserts", configASSERT_DEFINED ? "on" : "off"},
        {"stack_check", configCHECK_FOR_STACK_OVERFLOW ? "every switch" : "at join"},
        {"tickless_idle", configUSE_TICKLESS_IDLE ? "on" : "off"},
        {"queue_sets", configUSE_QUEUE_SETS ? "on" : "off"},
        {"timers", configUSE_TIMERS ? "in a task" : "off"},
        {"allocation", KDZ_FREERTOS_HEAP},
        {"c_library", C_LIBRARY},
        {"compiler", "GCC " __VERSION__},
    };
    *count = sizeof settings / sizeof settings[0];
    return settings;
}
