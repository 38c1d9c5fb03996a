/* SPDX-License-Identifier: Apache-2.0
 *
 * What another core does while an interrupt may arrive: a thread that is bound to it and more
 * urgent than those of a benchmark, so that these run on the main thread's core. Only an image with
 * KDZ_WORKS_BESIDE has it; instruments/beside implements it.
 */
#ifndef KADENZ_BESIDE_H
#define KADENZ_BESIDE_H

#include "kadenz/bench.h"

/* Keys of a plan's line, and their values there: what the thread does, and after how many turns of
 * a loop, from the meeting of both cores on; BEGIN is 300 turns behind that. */
#define KDZ_BESIDE_PARAMS 2u
extern const struct kdz_param kdz_beside_params[KDZ_BESIDE_PARAMS];
extern uint32_t kdz_beside_value[KDZ_BESIDE_PARAMS];

/* The thread has begun when this returns. KDZ_UNSUPPORTED with the sentence as the record's reason:
 * the board has one core, or the benchmark a thread of its own on the other one. */
kdz_status kdz_beside_begin(struct kdz_point *point);

/* Ends the thread, also after a begin that failed, and proves what it did. */
void kdz_beside_end(struct kdz_point *point);

#endif
