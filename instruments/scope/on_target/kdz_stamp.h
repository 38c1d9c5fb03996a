/* SPDX-License-Identifier: Apache-2.0
 *
 * Instrument `scope`: a stamp is one store of the mark; whoever watches the address from outside
 * takes the time. Nothing of a clock runs on the target, and the value returned means nothing.
 */
#ifndef KDZ_STAMP_H
#define KDZ_STAMP_H

#include <stdint.h>

typedef uint32_t kdz_time;

extern volatile uint32_t kdz_scope_marker;

static inline kdz_time kdz_stamp(uint32_t mark)
{
    /* The barriers keep the compiler from moving the timed operation across the store: volatile
     * alone orders only other volatile accesses. They produce no instruction. */
    __asm__ volatile("" : : : "memory");
    kdz_scope_marker = mark;
    __asm__ volatile("" : : : "memory");
    return 0;
}

#endif
