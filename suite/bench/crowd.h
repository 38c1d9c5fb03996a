/* SPDX-License-Identifier: Apache-2.0
 *
 * Several threads wait for one thing, and one call of a less urgent thread lets all of them go on.
 * A sample ends when the last of them, or the first, returns from its wait.
 */
#ifndef KDZ_BENCH_CROWD_H
#define KDZ_BENCH_CROWD_H

#include "kadenz/bench.h"

#define KDZ_CROWD_MAX 4u

enum { KDZ_CROWD_WAITERS, KDZ_CROWD_UNTIL, KDZ_CROWD_PARAMS };
extern const struct kdz_param kdz_crowd_params[KDZ_CROWD_PARAMS];

struct kdz_crowd {
    kdz_status (*wait)(uint32_t place);    /* of a waiter: 0 … waiters - 1 */
    kdz_status (*release)(uint32_t place); /* of the thread that lets them go: waiters */
    kdz_status (*leave)(void);             /* of a waiter that was let go; NULL: nothing to do */
    kdz_status (*prepare)(void); /* of the other thread, before they wait; NULL: nothing to do */
};

/* Waits with the number of waiters that the first parameter sets, or one where there is none. */
void kdz_crowd_measure(struct kdz_point *point, const struct kdz_crowd *crowd);

/* How many wait. */
uint32_t kdz_crowd_waiters(const struct kdz_point *point);

#endif
