/* SPDX-License-Identifier: Apache-2.0
 *
 * A clock that tests set by hand. FAKE_TIME is its width.
 */
#ifndef KDZ_STAMP_H
#define KDZ_STAMP_H

#include <stdint.h>

#ifndef FAKE_TIME
#define FAKE_TIME uint32_t
#endif
typedef FAKE_TIME kdz_time;

extern kdz_time fake_now;
extern uint32_t fake_mark; /* the last mark that was not KDZ_BEGIN or KDZ_END */

static inline kdz_time kdz_stamp(uint32_t mark)
{
    if (mark > 2) {
        fake_mark = mark;
    }
    return fake_now;
}

#endif
