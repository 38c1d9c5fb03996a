/* SPDX-License-Identifier: Apache-2.0
 *
 * Instrument `counter` on Cortex-M: one load through a pointer chosen at start, to the DWT's cycle
 * counter or to the board's fallback timer. Both are 32 bits wide and count up.
 */
#ifndef KDZ_STAMP_H
#define KDZ_STAMP_H

#include <stdint.h>

typedef uint32_t kdz_time;

extern const volatile uint32_t *kdz_counter;

static inline kdz_time kdz_stamp(uint32_t mark)
{
    (void)mark;
    /* The two barriers keep the compiler from moving the timed operation across the read. */
    __asm__ volatile("" : : : "memory");
    const kdz_time now = *kdz_counter;
    __asm__ volatile("" : : : "memory");
    return now;
}

#endif
