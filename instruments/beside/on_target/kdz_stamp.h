/* SPDX-License-Identifier: Apache-2.0
 *
 * Instrument `beside`: the stamp of the scope, whose folder comes later on the include path. Before
 * BEGIN both cores meet, so that the other one begins to work at a moment that a plan chooses.
 */
#ifndef KDZ_BESIDE_STAMP_H
#define KDZ_BESIDE_STAMP_H

#define kdz_stamp kdz_scope_stamp
#include_next <kdz_stamp.h>
#undef kdz_stamp

#define KDZ_WORKS_BESIDE 1

void kdz_beside_meet(void);

static inline kdz_time kdz_stamp(uint32_t mark)
{
    if (mark == KDZ_BEGIN) {
        kdz_beside_meet();
    }
    return kdz_scope_stamp(mark);
}

#endif
