/* SPDX-License-Identifier: Apache-2.0
 *
 * Instrument `timer`: a stamp reads the counter. BEGIN arms a timer of the board before it; the
 * handler of core/arrivals.c asks the timer how long ago it raised the interrupt.
 * Marks are constants: a timed region has one store of the counter more than that of the counter.
 */
#ifndef KDZ_TIMER_STAMP_H
#define KDZ_TIMER_STAMP_H

#include <counter_stamp.h>

#define KDZ_STAMP_ARMS 1

extern volatile kdz_time kdz_arming_began;
extern uint32_t (*kdz_arming_since)(void); /* of the timer */

void kdz_arming_before(void);
void kdz_arming_ended(kdz_time at);
void kdz_arming_handled(kdz_time at, uint32_t since);
void kdz_arming_responded(kdz_time at);

static inline kdz_time kdz_stamp(uint32_t mark)
{
    kdz_time now;

    if (mark == KDZ_BEGIN) {
        kdz_arming_before();
    }
    now = kdz_counter_stamp(mark);
    if (mark == KDZ_BEGIN) {
        kdz_arming_began = now;
    } else if (mark == KDZ_END) {
        kdz_arming_ended(now);
    } else if (mark == KDZ_HANDLED) {
        kdz_arming_handled(now, kdz_arming_since());
    } else if (mark == KDZ_RESPONDED) {
        kdz_arming_responded(now);
    }
    return now;
}

#endif
