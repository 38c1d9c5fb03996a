/* SPDX-License-Identifier: Apache-2.0
 *
 * Instrument `pins`: a stamp reads the counter and raises a pin, BEGIN one and END the other; each
 * lowers the other's. The counter is read outside the two stores, so that nothing but the timed
 * operation is between the edges. Marks of records raise none. All marks of a benchmark are
 * constants: the compiler leaves no branch in the timed region.
 */
#ifndef KDZ_PINS_STAMP_H
#define KDZ_PINS_STAMP_H

#include <counter_stamp.h>
#include <kdz_board_marks.h>

static inline kdz_time kdz_stamp(uint32_t mark)
{
    volatile uint32_t *const pins = (volatile uint32_t *)KDZ_BOARD_MARK_REGISTER;
    kdz_time now;

    __asm__ volatile("" : : : "memory");
    if (mark == KDZ_END) {
        *pins = KDZ_BOARD_MARK_END;
    }
    now = kdz_counter_stamp(mark);
    if (mark == KDZ_BEGIN) {
        *pins = KDZ_BOARD_MARK_BEGIN;
    }
    __asm__ volatile("" : : : "memory");
    return now;
}

#endif
