/* SPDX-License-Identifier: Apache-2.0
 *
 * An interrupt that may arrive at any moment of a record's samples, whatever they measure: its
 * handler wakes the most urgent thread of the image. Whoever raises it is outside: the bench of
 * instruments/rtl tries every cycle, each in a copy of the whole machine
 * (docs/explanation/worst.md). The first statements of handler and thread are marks; without an
 * interrupt neither runs.
 */
#ifndef KDZ_ARRIVALS_H
#define KDZ_ARRIVALS_H

#include "kadenz/bench.h"

/* Connects the handler, and starts the thread. KDZ_UNSUPPORTED with the sentence as the record's
 * reason: the kernel lacks what it needs, or the benchmark uses the interrupt itself. */
kdz_status kdz_arrivals_begin(struct kdz_point *point);

/* Undoes it, also after a begin that failed. */
void kdz_arrivals_end(void);

#endif
