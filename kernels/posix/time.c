/* SPDX-License-Identifier: Apache-2.0
 *
 * The tick is one microsecond of CLOCK_MONOTONIC. Linux has no tick that wakes: absolute sleeps
 * end at their own time.
 */
#include "posix_port.h"

#include "kadenz/clock.h"
#include "kadenz/mechanism.h"

#include <errno.h>

KDZ_HAS(tick_due, "tick-due");

#define NS_PER_S 1000000000u

uint32_t kdz_tick_hz(void)
{
    return POSIX_TICK_HZ;
}

static uint64_t ticks_now(void)
{
    return kdz_stamp(0) / POSIX_TICK_NS;
}

uint32_t kdz_tick_now(void)
{
    return (uint32_t)ticks_now();
}

/* The tick among all 64-bit ones that lies nearest to now: ticks wrap after 71 minutes. */
static uint64_t unwrap(uint32_t tick, uint64_t now)
{
    return now + (uint64_t)(int64_t)(int32_t)(tick - (uint32_t)now);
}

static struct timespec at_ns(uint64_t ns)
{
    return (struct timespec){
        .tv_sec = (time_t)(ns / NS_PER_S),
        .tv_nsec = (long)(ns % NS_PER_S),
    };
}

/* The moment this thread waited for last, in 64-bit ticks: its next question is about that moment.
 */
static _Thread_local uint64_t last_due;

kdz_status kdz_delay_until(uint32_t *wake, uint32_t period_ticks)
{
    const uint64_t now = ticks_now();
    uint64_t due;
    struct timespec until;

    *wake += period_ticks;
    due = last_due = unwrap(*wake, now);
    if (due <= now) {
        return KDZ_TIMEOUT;
    }
    until = at_ns(due * POSIX_TICK_NS);
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR) {
    }
    return KDZ_OK;
}

bool kdz_clock_at_tick(uint32_t tick, kdz_time *due)
{
    *due = (tick == (uint32_t)last_due ? last_due : unwrap(tick, ticks_now())) * POSIX_TICK_NS;
    return true;
}

struct timespec posix_at_tick(uint32_t tick)
{
    return at_ns(unwrap(tick, ticks_now()) * POSIX_TICK_NS);
}

struct timespec posix_deadline(clockid_t clock, uint32_t timeout_ticks)
{
    struct timespec now;

    (void)clock_gettime(clock, &now);
    return at_ns((uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec +
                 (uint64_t)timeout_ticks * POSIX_TICK_NS);
}
