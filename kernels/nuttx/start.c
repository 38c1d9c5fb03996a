/* SPDX-License-Identifier: Apache-2.0
 *
 * Start, memory and time.
 */
#include "nuttx_port.h"

#include "kadenz/board.h"

#include <nuttx/arch.h>
#include <nuttx/clock.h>
#include <nuttx/init.h>

#include <pthread.h>

#define NS_PER_TICK (1000000000u / KDZ_BOARD_TICK_HZ)

static uint64_t memory[KDZ_BOARD_HEAP_BYTES / sizeof(uint64_t)];
static void (*main_entry)(void *arg);
static void *main_arg;

/* The stack that is left to NuttX's idle thread: what main ran on. */
extern char kdz_stack_top[];
const uintptr_t g_idle_topstack = (uintptr_t)kdz_stack_top;

void up_allocate_heap(void **start, size_t *size)
{
    *start = memory;
    *size = sizeof memory;
}

int kdz_nuttx_main(int argc, char *argv[])
{
    (void)argc;
    (void)argv;
    kdz_nuttx_name_main();
    main_entry(main_arg);
    return 0;
}

void kdz_kernel_start(void (*entry)(void *), void *arg)
{
    main_entry = entry;
    main_arg = arg;
    kdz_nuttx_prepare();
    nx_start();
}

uint32_t kdz_tick_hz(void)
{
    return KDZ_BOARD_TICK_HZ;
}

uint32_t kdz_tick_now(void)
{
    return (uint32_t)clock_systime_ticks();
}

static struct timespec of_ticks(uint64_t ticks)
{
    return (struct timespec){
        .tv_sec = (time_t)(ticks / KDZ_BOARD_TICK_HZ),
        .tv_nsec = (long)(ticks % KDZ_BOARD_TICK_HZ * NS_PER_TICK),
    };
}

struct timespec kdz_nuttx_deadline(clockid_t clock, uint32_t timeout_ticks)
{
    struct timespec now;
    struct timespec after = of_ticks(timeout_ticks);

    (void)clock_gettime(clock, &now);
    clock_timespec_add(&now, &after, &after);
    return after;
}

kdz_status kdz_delay_until(uint32_t *wake, uint32_t period_ticks)
{
    const clock_t now = clock_systime_ticks();

    *wake += period_ticks;
    const int32_t left = (int32_t)(*wake - (uint32_t)now);
    if (left <= 0) {
        return KDZ_TIMEOUT;
    }
    const struct timespec until = of_ticks((uint64_t)now + (uint64_t)left);
    return kdz_nuttx_done(clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL));
}
