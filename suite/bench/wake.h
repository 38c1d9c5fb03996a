/* SPDX-License-Identifier: Apache-2.0
 *
 * One thread wakes another without passing bytes, by any kind of kdz_notify. Task 1 notifies task 2
 * through one object, task 2 answers through another: algorithm 1 of yoo2024 with empty messages.
 *   itc/<kind>-one-way     before task 1's notify to return of task 2's wait
 *   itc/<kind>-round-trip  before task 1's notify to return of its wait for the answer
 * With equal ranks on one core the first is what ptsematest and svsematest time.
 */
#ifndef KDZ_BENCH_WAKE_H
#define KDZ_BENCH_WAKE_H

#include "kadenz/bench.h"

enum kdz_wake_param {
    KDZ_WAKE_PERIOD_US,
    KDZ_WAKE_RANK_A,
    KDZ_WAKE_RANK_B,
    KDZ_WAKE_CORE_A,
    KDZ_WAKE_CORE_B,
    KDZ_WAKE_PROCESSES,
    KDZ_WAKE_PARAMS
};

extern const struct kdz_param kdz_wake_params[KDZ_WAKE_PARAMS];

/* NULL when the kernel has this kind of notification, else the reason. */
const char *kdz_wake_lacks(kdz_notify_kind kind);

kdz_status kdz_wake_setup(struct kdz_point *point, kdz_notify_kind kind, bool one_way);
void kdz_wake_measure(struct kdz_point *point);
void kdz_wake_teardown(struct kdz_point *point);

#define KDZ_WAKE_BENCH(ident, title, kind, one_way, lacks, finish)                                 \
    static kdz_status ident##_setup(struct kdz_point *point)                                       \
    {                                                                                              \
        return kdz_wake_setup(point, kind, one_way);                                               \
    }                                                                                              \
    static const struct kdz_bench ident = {                                                        \
        .name = title,                                                                             \
        .begins = "before task 1's notify",                                                        \
        .ends = finish,                                                                            \
        .source = "yoo2024 algorithm 1, without bytes",                                            \
        .params = kdz_wake_params,                                                                 \
        .param_count = KDZ_WAKE_PARAMS,                                                            \
        .lane_count = 1,                                                                           \
        .unavailable = lacks,                                                                      \
        .setup = ident##_setup,                                                                    \
        .measure = kdz_wake_measure,                                                               \
        .teardown = kdz_wake_teardown,                                                             \
    };                                                                                             \
    KDZ_BENCH(ident)

/* Both benchmarks of one kind: KDZ_WAKE(itc_futex, "itc/futex", KIND). */
#define KDZ_WAKE(ident, title, kind)                                                               \
    static const char *ident##_lacks(void)                                                         \
    {                                                                                              \
        return kdz_wake_lacks(kind);                                                               \
    }                                                                                              \
    KDZ_WAKE_BENCH(ident##_one_way, title "-one-way", kind, true, ident##_lacks,                   \
                   "return of task 2's wait");                                                     \
    KDZ_WAKE_BENCH(ident##_round_trip, title "-round-trip", kind, false, ident##_lacks,            \
                   "return of task 1's wait for the answer")

#endif
