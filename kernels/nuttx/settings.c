/* SPDX-License-Identifier: Apache-2.0
 *
 * Who this kernel is and how its config.h configures it, as far as that changes figures.
 */
#include "nuttx_port.h"

#include <kdz_nuttx_arch.h>

#define TEXT(value) TEXT_OF(value)
#define TEXT_OF(value) #value

#ifdef CONFIG_PRIORITY_PROTECT
#define CEILINGS "on"
#else
#define CEILINGS "off"
#endif
#ifdef CONFIG_PTHREAD_MUTEX_TYPES
#define MUTEX_TYPES "on"
#else
#define MUTEX_TYPES "off"
#endif
#if defined(CONFIG_PTHREAD_MUTEX_BOTH)
#define ROBUST_MUTEXES "each as created"
#elif defined(CONFIG_PTHREAD_MUTEX_UNSAFE)
#define ROBUST_MUTEXES "none"
#else
#define ROBUST_MUTEXES "all"
#endif
#ifdef CONFIG_CANCELLATION_POINTS
#define CANCELLATION_POINTS "on"
#else
#define CANCELLATION_POINTS "off"
#endif
#ifdef CONFIG_ENABLE_ALL_SIGNALS
#define SIGNALS "all"
#else
#define SIGNALS "not all"
#endif
#ifdef CONFIG_SCHED_TICKLESS
#define TICKLESS "on"
#else
#define TICKLESS "off"
#endif
#ifdef CONFIG_DEBUG_FEATURES
#define DEBUG_FEATURES "on"
#else
#define DEBUG_FEATURES "off"
#endif
#ifdef CONFIG_DEBUG_ASSERTIONS
#define ASSERTIONS "on"
#else
#define ASSERTIONS "off"
#endif
#if CONFIG_ARCH_INTERRUPTSTACK > 7
#define INTERRUPT_STACK TEXT(CONFIG_ARCH_INTERRUPTSTACK)
#else
#define INTERRUPT_STACK "the thread's"
#endif

const char *kdz_kernel_name(void)
{
    return "NuttX";
}

const char *kdz_kernel_version(void)
{
    return KDZ_NUTTX_VERSION;
}

const struct kdz_setting *kdz_kernel_settings(size_t *count)
{
    static const struct kdz_setting settings[] = {
        {"port", NUTTX_PORT},
        {"build", "flat"},
        {"time_slicing", "off"},
        {"tickless", TICKLESS},
        {"priority_inheritance", "on"},
        {"priority_ceilings", CEILINGS},
        {"mutex_types", MUTEX_TYPES},
        {"robust_mutexes", ROBUST_MUTEXES},
        {"cancellation_points", CANCELLATION_POINTS},
        {"signals", SIGNALS},
        {"assertions", ASSERTIONS},
        {"debug_features", DEBUG_FEATURES},
        {"interrupt_stack", INTERRUPT_STACK},
        {"interrupt_lock", NUTTX_INTERRUPT_LOCK},
        {"fpu_context", NUTTX_FPU},
        {"idle", "wfi"},
        {"allocation", "heap"},
        {"compiler", "GCC " __VERSION__},
    };
    *count = sizeof settings / sizeof settings[0];
    return settings;
}
