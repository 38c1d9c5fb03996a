/* SPDX-License-Identifier: Apache-2.0
 *
 * mix/: what an operation of the kernel costs a program that works between two of them, as McRae's
 * scenarios around Dhrystone (arm2022, section 2.5). `iterations` operations with the workload
 * behind each are timed as a batch, then the workload alone as often: the lanes and the statistic
 * of micro/. Unlike there, the operation finds registers, caches and the pipeline as work left
 * them.
 *
 * The workload is the suite's own, of the kinds of statements that Weicker counted for Dhrystone:
 * assignments of records, comparisons of strings, integer arithmetic with a division, a choice
 * among four, indexed words, calls with up to three arguments.
 */
#ifndef KDZ_BENCH_MIX_H
#define KDZ_BENCH_MIX_H

#include "micro.h"

enum { KDZ_MIX_ITERATIONS, KDZ_MIX_RANK, KDZ_MIX_OWN };
#define KDZ_MIX_PARAMS                                                                             \
    [KDZ_MIX_ITERATIONS] = {"iterations", 500, 2, 1000000}, [KDZ_MIX_RANK] = {"rank", 7, 1,        \
                                                                              KDZ_RANK_MAIN - 2u}

/* The workload once. Every call answers the same. */
uint32_t kdz_mix_work(void);

/* Takes both lanes in a thread of its own; `operation` is called `iterations` times in each batch,
 * and `done` tells how often it has had its effect since the benchmark began. */
struct kdz_mix {
    void (*operation)(void);
    uint32_t (*done)(void);
    void (*end)(void);               /* NULL, or lets the partner end, after the last batch */
    const struct kdz_party *partner; /* NULL: none. It is more urgent, and created before */
};
void kdz_mix_measure(struct kdz_point *point, const struct kdz_mix *mix);

#endif
