/* SPDX-License-Identifier: Apache-2.0
 *
 * Instrument `counter` on RISC-V: the low word of mcycle, one instruction.
 */
#ifndef KDZ_STAMP_H
#define KDZ_STAMP_H

#include <stdint.h>

typedef uint32_t kdz_time;

static inline kdz_time kdz_stamp(uint32_t mark)
{
    kdz_time now;
    (void)mark;
    /* The memory clobber keeps the compiler from moving the timed operation across the read. */
    __asm__ volatile("csrr %0, mcycle" : "=r"(now) : : "memory");
    return now;
}

#endif
