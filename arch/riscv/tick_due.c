/* SPDX-License-Identifier: Apache-2.0
 *
 * When a tick was due: the port keeps the moment of the next tick in mtimecmp. mtime counts slowly
 * (32768 Hz on the FE310) beside the stamps of mcycle, but its steps are sharp: the stamps of the
 * next two give the moment of any other. Takes up to three counts of mtime.
 */
#include "kadenz/board.h"
#include "kadenz/clock.h"
#include "kadenz/mechanism.h"

KDZ_HAS(tick_due, "tick-due");

/* SiFive's CLINT. */
#define MTIME (*(volatile uint32_t *)(KDZ_CLINT_ADDRESS + 0xbff8u))
#define MTIMECMP (*(volatile uint32_t *)(KDZ_CLINT_ADDRESS + 0x4000u))

/* Waits for the next count; the stamp taken as it comes. */
static kdz_time step(uint32_t *count)
{
    const uint32_t before = MTIME;
    kdz_time stamp;

    do {
        *count = MTIME;
        stamp = kdz_stamp(0);
    } while (*count == before);
    return stamp;
}

bool kdz_clock_at_tick(uint32_t tick, kdz_time *due)
{
    const uint32_t period = kdz_board_timer_hz() / kdz_tick_hz();
    uint32_t ticks;
    uint32_t next;
    uint32_t count;
    uint32_t following;
    kdz_time stamp;
    kdz_time a_count;

    if (!kdz_clock()->on_target) {
        return false; /* under the scope a stamp is a mark, and reads no clock */
    }
    do { /* both of one tick, which may be under way on another core */
        ticks = kdz_tick_now();
        next = MTIMECMP;
    } while (kdz_tick_now() != ticks || (int32_t)(next - MTIME) <= 0);
    stamp = step(&count);
    a_count = step(&following) - stamp;
    if (following != count + 1u) {
        a_count /= (kdz_time)(following - count); /* an interrupt made us miss one */
    }
    *due = stamp - (kdz_time)(count - (next - (ticks + 1u - tick) * period)) * a_count;
    return true;
}
