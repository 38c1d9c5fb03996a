/* SPDX-License-Identifier: Apache-2.0
 *
 * When a tick was due: SysTick counts down from its reload value and interrupts as it reaches zero
 * (Armv7-M ARM, B3.3; Armv6-M ARM, B3.3), so its value shows how long ago that was. A kernel whose
 * ticks are finer than its interrupts advances by many ticks at once.
 */
#include "kadenz/board.h"
#include "kadenz/clock.h"
#include "kadenz/mechanism.h"

KDZ_HAS(tick_due, "tick-due");

#define SYST_RVR (*(volatile uint32_t *)0xe000e014u)
#define SYST_CVR (*(volatile uint32_t *)0xe000e018u)

bool kdz_clock_at_tick(uint32_t tick, kdz_time *due)
{
    const uint32_t period = SYST_RVR + 1u;
    uint32_t count;
    uint32_t left;
    kdz_time now;
    uint64_t since;

    if (!kdz_clock()->on_target) {
        return false; /* under the scope a stamp is a mark, and reads no clock */
    }
    do { /* until all three are of one period */
        count = kdz_tick_now();
        left = SYST_CVR;
        now = kdz_stamp(0);
    } while (kdz_tick_now() != count);
    since = (uint64_t)(left == 0 ? 0 : period - left) +
            (uint64_t)(count - tick) * (kdz_board_timer_hz() / kdz_tick_hz());
    /* SysTick counts the core clock; the counter may have another rate (stm32/f4/timer.c). */
    *due = now - (kdz_time)(since * kdz_clock()->hz / kdz_board_timer_hz());
    return true;
}
