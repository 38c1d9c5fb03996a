/* SPDX-License-Identifier: Apache-2.0
 *
 * Periods of a benchmark in ticks of the kernel.
 */
#ifndef KADENZ_PERIOD_H
#define KADENZ_PERIOD_H

#include "kadenz/kernel.h"

/* A period in ticks of the kernel, rounded to the nearest; 0 stays 0 and means no pause. Where
 * the tick does not divide it (1024 Hz: 10 ms are 10.24 ticks), HELLO's tick_hz tells. */
static inline uint32_t kdz_period_ticks(uint32_t period_us)
{
    const uint64_t ticks = ((uint64_t)period_us * kdz_tick_hz() + 500000u) / 1000000u;

    return period_us != 0 && ticks == 0 ? 1u : (uint32_t)ticks;
}

/* Whether a thread can see the kernel's ticks pass: where they are finer than this, they are units
 * of a clock and no interrupts. A port without time has none (0). */
#define KDZ_TICK_HZ_MAX 20000u

static inline bool kdz_ticks_tell(void)
{
    return kdz_tick_hz() != 0 && kdz_tick_hz() <= KDZ_TICK_HZ_MAX;
}

#endif
