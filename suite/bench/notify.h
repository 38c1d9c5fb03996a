/* SPDX-License-Identifier: Apache-2.0
 *
 * One thread wakes another without passing bytes, by any notification of mechanism.h. Task 1
 * notifies task 2 through one object, task 2 answers through another: algorithm 1 of yoo2024 with
 * empty messages.
 *
 *   itc/<name>-one-way     before task 1's notify to return of task 2's wait
 *   itc/<name>-round-trip  before task 1's notify to return of its wait for the answer
 *
 * With equal ranks on one core the first is what ptsematest and svsematest time.
 */
#ifndef KDZ_BENCH_NOTIFY_H
#define KDZ_BENCH_NOTIFY_H

#include "kadenz/bench.h"

enum kdz_notify_param {
    KDZ_NOTIFY_PERIOD_US,
    KDZ_NOTIFY_RANK_A,
    KDZ_NOTIFY_RANK_B,
    KDZ_NOTIFY_CORE_A,
    KDZ_NOTIFY_CORE_B,
    KDZ_NOTIFY_PROCESSES,
    KDZ_NOTIFY_PARAMS
};

extern const struct kdz_param kdz_notify_params[KDZ_NOTIFY_PARAMS];

kdz_status kdz_notify_setup(struct kdz_point *point, const char *notification, bool one_way);
void kdz_notify_measure(struct kdz_point *point);
void kdz_notify_teardown(struct kdz_point *point);

#define KDZ_NOTIFY_BENCH(ident, title, notification, one_way, finish)                              \
    static kdz_status ident##_setup(struct kdz_point *point)                                       \
    {                                                                                              \
        return kdz_notify_setup(point, notification, one_way);                                     \
    }                                                                                              \
    static const struct kdz_bench ident = {                                                        \
        .name = title,                                                                             \
        .begins = "before task 1's notify",                                                        \
        .ends = finish,                                                                            \
        .source = "yoo2024 algorithm 1, without bytes",                                            \
        .needs = notification " threads",                                                          \
        .params = kdz_notify_params,                                                               \
        .param_count = KDZ_NOTIFY_PARAMS,                                                          \
        .lane_count = 1,                                                                           \
        .setup = ident##_setup,                                                                    \
        .measure = kdz_notify_measure,                                                             \
        .teardown = kdz_notify_teardown,                                                           \
    };                                                                                             \
    KDZ_BENCH(ident)

/* Both benchmarks of one notification: KDZ_NOTIFY(itc_futex, "futex"). */
#define KDZ_NOTIFY(ident, notification)                                                            \
    KDZ_NOTIFY_BENCH(ident##_one_way, "itc/" notification "-one-way", notification, true,          \
                     "return of task 2's wait");                                                   \
    KDZ_NOTIFY_BENCH(ident##_round_trip, "itc/" notification "-round-trip", notification, false,   \
                     "return of task 1's wait for the answer")

#endif
