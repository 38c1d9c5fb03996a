/* SPDX-License-Identifier: Apache-2.0
 *
 * Who this kernel is and how its Kconfig configures it, as far as that changes figures.
 */
#include "zephyr_port.h"

#include <zephyr/kernel_version.h>

#define TEXT(value) TEXT_OF(value)
#define TEXT_OF(value) #value

#if defined(CONFIG_SCHED_MULTIQ)
#define SCHEDULER "a list for each priority"
#elif defined(CONFIG_SCHED_SCALABLE)
#define SCHEDULER "balanced tree"
#else
#define SCHEDULER "one list"
#endif
#ifdef CONFIG_WAITQ_SCALABLE
#define WAIT_QUEUES "balanced tree"
#else
#define WAIT_QUEUES "one list"
#endif
#ifdef CONFIG_TIMESLICING
#define TIME_SLICING "on"
#else
#define TIME_SLICING "off"
#endif
#ifdef CONFIG_TICKLESS_KERNEL
#define TICKLESS "on"
#else
#define TICKLESS "off"
#endif
#ifdef CONFIG_ASSERT
#define ASSERTIONS "on"
#else
#define ASSERTIONS "off"
#endif
#if defined(CONFIG_STACK_SENTINEL)
#define STACK_CHECK "a word, every switch"
#elif defined(CONFIG_HW_STACK_PROTECTION)
#define STACK_CHECK "by the processor"
#else
#define STACK_CHECK "off"
#endif
#ifdef CONFIG_USERSPACE
#define USER_MODE "on"
#else
#define USER_MODE "off"
#endif
#ifdef CONFIG_TRACING
#define TRACING "on"
#else
#define TRACING "off"
#endif
#if defined(CONFIG_SPEED_OPTIMIZATIONS)
#define OPTIMISATION "speed"
#elif defined(CONFIG_SIZE_OPTIMIZATIONS)
#define OPTIMISATION "size"
#else
#define OPTIMISATION "debug or none"
#endif

/* Three numbers below 256, from the kernel itself. */
static const char *version(uint32_t number)
{
    static char text[12];
    char *at = text;

    for (unsigned int shift = 24; shift >= 8; shift -= 8) {
        const uint32_t part = (number >> shift) & 0xffu;

        if (part >= 100) {
            *at++ = (char)('0' + part / 100);
        }
        if (part >= 10) {
            *at++ = (char)('0' + part / 10 % 10);
        }
        *at++ = (char)('0' + part % 10);
        *at++ = shift > 8 ? '.' : '\0';
    }
    return text;
}

const char *kdz_kernel_name(void)
{
    return "Zephyr";
}

const char *kdz_kernel_version(void)
{
    return version(sys_kernel_version_get());
}

const struct kdz_setting *kdz_kernel_settings(size_t *count)
{
    static const struct kdz_setting settings[] = {
        {"board", CONFIG_BOARD},
        {"priorities", TEXT(CONFIG_NUM_PREEMPT_PRIORITIES)},
        {"ready_queue", SCHEDULER},
        {"wait_queues", WAIT_QUEUES},
        {"time_slicing", TIME_SLICING},
        {"tickless", TICKLESS},
        {"assertions", ASSERTIONS},
        {"stack_check", STACK_CHECK},
        {"user_mode", USER_MODE},
        {"tracing", TRACING},
        {"kernel_optimisation", OPTIMISATION},
        {"compiler", "GCC " __VERSION__},
    };
    *count = sizeof settings / sizeof settings[0];
    return settings;
}
