/* SPDX-License-Identifier: Apache-2.0
 *
 * Two threads: A, which measures, and B, which answers.
 */
#ifndef KDZ_BENCH_PAIR_H
#define KDZ_BENCH_PAIR_H

#include "kadenz/bench.h"

struct kdz_party {
    void (*entry)(void *arg);
    uint8_t rank;
    uint8_t core; /* or KDZ_ANY_CORE: see cores.h */
};

/* Runs both with `point` as argument and waits for their ends. B is created first; of equals it
 * runs first too. A thread that cannot be created fails the record's proof. */
void kdz_pair_run(struct kdz_point *point, const struct kdz_party *a, const struct kdz_party *b);

/* Adds a sample and drains when the lane is full. Outside timed regions. */
void kdz_keep(struct kdz_record *record, uint8_t lane, uint32_t value);

#endif
