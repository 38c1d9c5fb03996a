/* SPDX-License-Identifier: Apache-2.0
 *
 * An interrupt that may arrive at any moment of a record's samples, whatever they measure: its
 * handler wakes the most urgent thread of the image. Whoever raises it is outside: the bench of
 * instruments/rtl tries every cycle, each in a copy of the whole machine
 * (docs/explanation/worst.md). The first statements of handler and thread are marks; without an
 * interrupt neither runs. A plan may have the kernel hold more threads meanwhile.
 */
#ifndef KDZ_ARRIVALS_H
#define KDZ_ARRIVALS_H

#include "kadenz/bench.h"

/* States: more threads, by what they do until the record ends. Keys of a plan (core/plan.c). */
enum kdz_state {
    KDZ_STATE_SLEEPERS, /* sleep for minutes, each until another tick */
    KDZ_STATE_WAKING,   /* sleep until the next tick, again and again */
    KDZ_STATE_READY,    /* wait for the processor at the lowest rank, and never get it */
    KDZ_STATES
};

#define KDZ_STATE_THREADS 8u /* of a state, at most */

/* Connects the handler, and starts the thread, and those of the states. KDZ_UNSUPPORTED with the
 * sentence as the record's reason: the kernel lacks what it needs, or the benchmark uses the
 * interrupt itself. */
kdz_status kdz_arrivals_begin(struct kdz_point *point, const uint8_t threads[KDZ_STATES]);

/* Undoes it, also after a begin that failed. KDZ_UNSUPPORTED with the sentence as the record's
 * reason: the benchmark let threads run that were to stay ready. */
kdz_status kdz_arrivals_end(struct kdz_point *point);

#endif
