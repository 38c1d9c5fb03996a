/* SPDX-License-Identifier: Apache-2.0
 *
 * Instrument `ftrace`, on Linux: a stamp reads the counter and is kept. A sample has one store more
 * than under `counter`, that of BEGIN.
 */
#ifndef KDZ_FTRACE_STAMP_H
#define KDZ_FTRACE_STAMP_H

#include <counter_stamp.h>

void kdz_ftrace_keep(uint32_t mark, kdz_time now);

static inline kdz_time kdz_stamp(uint32_t mark)
{
    const kdz_time now = kdz_counter_stamp(mark);

    if (mark != 0) { /* a constant; 0 where the kernel's port reads the clock for its ticks */
        kdz_ftrace_keep(mark, now);
    }
    return now;
}

#endif
