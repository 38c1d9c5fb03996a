/* SPDX-License-Identifier: Apache-2.0
 *
 * What most benchmarks share: two threads, A that measures and B that answers, bound to one core.
 */
#ifndef KDZ_BENCH_PAIR_H
#define KDZ_BENCH_PAIR_H

#include "kadenz/bench.h"

/* A thread that fills the record also drains it, and a drain needs room for the frames. */
#define KDZ_STACK_RECORDING 896u

struct kdz_party {
    void (*entry)(void *arg);
    uint8_t rank;
    uint32_t stack_bytes; /* 0: the port's default */
};

/* Runs B and A with `point` as argument and waits for both. B is created first; of equals it runs
 * first too. A thread that cannot be created fails the record's proof. */
void kdz_pair_run(struct kdz_point *point, const struct kdz_party *a, const struct kdz_party *b);

/* Runs one thread alone, as above. */
void kdz_party_run(struct kdz_point *point, const struct kdz_party *a);

/* The number of ticks nearest to a time, at least one. */
uint32_t kdz_ticks_near(uint32_t time_us);

/* Adds a sample; drains when the lane became full. Outside timed regions, by one thread. */
void kdz_keep(struct kdz_record *record, uint8_t lane, uint32_t value);

#endif
