/* SPDX-License-Identifier: Apache-2.0
 *
 * Who this kernel is and how its tx_user.h configures it, as far as that changes figures.
 */
#include "threadx_port.h"

#include <threadx_arch.h>

#include <picolibc.h>

/* The name changed between picolibc 1.8 (Debian 12) and 1.8.10 (Debian 13). */
#ifdef __PICOLIBC_VERSION__
#define C_LIBRARY_VERSION __PICOLIBC_VERSION__
#else
#define C_LIBRARY_VERSION _PICOLIBC_VERSION
#endif

#define TEXT(value) TEXT_OF(value)
#define TEXT_OF(value) #value

#ifdef TX_DISABLE_ERROR_CHECKING
#define ERROR_CHECKING "off"
#else
#define ERROR_CHECKING "on"
#endif
#ifdef TX_DISABLE_NOTIFY_CALLBACKS
#define NOTIFY_CALLBACKS "off"
#else
#define NOTIFY_CALLBACKS "on"
#endif
#ifdef TX_DISABLE_PREEMPTION_THRESHOLD
#define PREEMPTION_THRESHOLD "off"
#else
#define PREEMPTION_THRESHOLD "on"
#endif
#ifdef TX_ENABLE_STACK_CHECKING
#define STACK_CHECK "every switch"
#else
#define STACK_CHECK "end of a thread"
#endif
#ifdef TX_TIMER_PROCESS_IN_ISR
#define TIMERS "in the interrupt"
#else
#define TIMERS "in a thread"
#endif
#ifdef TX_INLINE_THREAD_RESUME_SUSPEND
#define INLINE_RESUME "on"
#else
#define INLINE_RESUME "off"
#endif
#ifdef TX_NOT_INTERRUPTABLE
#define INTERRUPTIBLE_CALLS "off"
#else
#define INTERRUPTIBLE_CALLS "on"
#endif
#ifdef TX_ENABLE_EVENT_TRACE
#define EVENT_TRACE "on"
#else
#define EVENT_TRACE "off"
#endif

const char *kdz_kernel_name(void)
{
    return "ThreadX";
}

const char *kdz_kernel_version(void)
{
    return TEXT(THREADX_MAJOR_VERSION) "." TEXT(THREADX_MINOR_VERSION) "." TEXT(
        THREADX_PATCH_VERSION);
}

const struct kdz_setting *kdz_kernel_settings(size_t *count)
{
    static const struct kdz_setting settings[] = {
        {"port", THREADX_PORT},
        {"priorities", TEXT(TX_MAX_PRIORITIES)},
        {"time_slicing", "off"},
        {"error_checking", ERROR_CHECKING},
        {"notify_callbacks", NOTIFY_CALLBACKS},
        {"preemption_threshold", PREEMPTION_THRESHOLD},
        {"stack_check", STACK_CHECK},
        {"timers", TIMERS},
        {"inline_resume", INLINE_RESUME},
        {"interruptible_calls", INTERRUPTIBLE_CALLS},
        {"event_trace", EVENT_TRACE},
        {"interrupt_lock", THREADX_INTERRUPT_LOCK},
        {"idle", THREADX_IDLE},
        {"allocation", "byte pool"},
        {"c_library", "picolibc " C_LIBRARY_VERSION " (release)"},
        {"compiler", "GCC " __VERSION__},
    };
    *count = sizeof settings / sizeof settings[0];
    return settings;
}
