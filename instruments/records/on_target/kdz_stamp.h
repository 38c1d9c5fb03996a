/* SPDX-License-Identifier: Apache-2.0
 *
 * Instrument `records`: a stamp reads the counter. The marks that open and close a record are
 * stored to kdz_scope_marker, too, where the scope's plugin watches. BEGIN and END are constants,
 * so the timed region is that of the counter.
 */
#ifndef KDZ_RECORDS_STAMP_H
#define KDZ_RECORDS_STAMP_H

#include <counter_stamp.h>

extern volatile uint32_t kdz_scope_marker;

static inline kdz_time kdz_stamp(uint32_t mark)
{
    if (mark > KDZ_END) {
        kdz_scope_marker = mark;
    }
    return kdz_counter_stamp(mark);
}

#endif
