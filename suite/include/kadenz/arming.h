/* SPDX-License-Identifier: Apache-2.0
 *
 * Arrivals that a timer of the board raises: a sample is armed, the next is not, and the request
 * comes later from one armed sample to the next, until it is behind END. Only an image whose stamps
 * arm (KDZ_STAMP_ARMS) has these; instruments/timer implements them.
 */
#ifndef KADENZ_ARMING_H
#define KADENZ_ARMING_H

#include "kadenz/bench.h"

/* Of a plan's line: the first samples that have no arrival, and by how many ticks of the timer the
 * request comes later each time. */
struct kdz_arming {
    uint32_t undisturbed;
    uint32_t step;
};
#define KDZ_ARMING_INITIAL                                                                         \
    {                                                                                              \
        4, 1                                                                                       \
    }
extern struct kdz_arming kdz_arming;

/* Adds what each sample of the record has: companions `phase`, `handler` and `task`, in ticks of
 * the clock; 0 each in a sample without an arrival. A record of several lanes, or with companions,
 * is left as it is, and kdz_arming_begin refuses it. */
void kdz_arming_shape(struct kdz_shape *shape);

/* From now on BEGIN arms. KDZ_UNSUPPORTED with the sentence as the record's reason. */
kdz_status kdz_arming_begin(struct kdz_point *point);

/* BEGIN arms no more; the last sample has its companions. */
void kdz_arming_end(void);

/* After the record's verdict: who ended the samples was this, and nobody who asked the run to end.
 */
void kdz_arming_close(void);

#endif
