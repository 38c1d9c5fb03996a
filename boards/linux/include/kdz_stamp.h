/* SPDX-License-Identifier: Apache-2.0
 *
 * Instrument `counter` on Linux: CLOCK_MONOTONIC in nanoseconds, the clock of yoo2024 (section
 * 4.1) and of cyclictest. It comes from the vDSO: no system call where the clock source allows.
 */
#ifndef KDZ_STAMP_H
#define KDZ_STAMP_H

#include <stdint.h>
#include <time.h>

typedef uint64_t kdz_time;

static inline kdz_time kdz_stamp(uint32_t mark)
{
    struct timespec now;

    (void)mark;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (kdz_time)now.tv_sec * 1000000000u + (kdz_time)now.tv_nsec;
}

#endif
