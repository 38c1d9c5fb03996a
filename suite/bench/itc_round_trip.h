/* SPDX-License-Identifier: Apache-2.0
 *
 * yoo2024 algorithm 1 for any kind of channel: task 1 sends N bytes through one channel, task 2
 * sends them back through another. Each kind gives three benchmarks, because the study starts its
 * clock only after the send, and others time one way (docs/explanation/itc.md):
 *   itc/<kind>             return of task 1's send to return of its receive: as published
 *   itc/<kind>-round-trip  before task 1's send to return of its receive
 *   itc/<kind>-one-way     before task 1's send to return of task 2's receive
 */
#ifndef KDZ_BENCH_ITC_ROUND_TRIP_H
#define KDZ_BENCH_ITC_ROUND_TRIP_H

#include "kadenz/bench.h"

enum kdz_round_trip_param {
    KDZ_ROUND_TRIP_SIZE_BYTES,
    KDZ_ROUND_TRIP_PERIOD_US,
    KDZ_ROUND_TRIP_RANK_A,
    KDZ_ROUND_TRIP_RANK_B,
    KDZ_ROUND_TRIP_CORE_A,
    KDZ_ROUND_TRIP_CORE_B,
    KDZ_ROUND_TRIP_PROCESSES,
    KDZ_ROUND_TRIP_PARAMS
};

extern const struct kdz_param kdz_round_trip_params[KDZ_ROUND_TRIP_PARAMS];

/* NULL when the kernel has this kind of channel, else the reason. */
const char *kdz_round_trip_lacks(kdz_channel_kind kind);

enum kdz_round_trip_part { KDZ_ROUND_TRIP_REPLY, KDZ_ROUND_TRIP_WHOLE, KDZ_ROUND_TRIP_ONE_WAY };

kdz_status kdz_round_trip_setup(struct kdz_point *point, kdz_channel_kind kind,
                                enum kdz_round_trip_part part);
void kdz_round_trip_measure(struct kdz_point *point);
void kdz_round_trip_teardown(struct kdz_point *point);

#define KDZ_ROUND_TRIP_BENCH(ident, title, kind, part, lacks, start, finish)                       \
    static kdz_status ident##_setup(struct kdz_point *point)                                       \
    {                                                                                              \
        return kdz_round_trip_setup(point, kind, part);                                            \
    }                                                                                              \
    static const struct kdz_bench ident = {                                                        \
        .name = title,                                                                             \
        .begins = start,                                                                           \
        .ends = finish,                                                                            \
        .source = "yoo2024 algorithm 1",                                                           \
        .params = kdz_round_trip_params,                                                           \
        .param_count = KDZ_ROUND_TRIP_PARAMS,                                                      \
        .lane_count = 1,                                                                           \
        .unavailable = lacks,                                                                      \
        .setup = ident##_setup,                                                                    \
        .measure = kdz_round_trip_measure,                                                         \
        .teardown = kdz_round_trip_teardown,                                                       \
    };                                                                                             \
    KDZ_BENCH(ident)

/* The benchmarks of one kind of channel: KDZ_ROUND_TRIP(itc_queue, "itc/queue", KIND). */
#define KDZ_ROUND_TRIP(ident, title, kind)                                                         \
    static const char *ident##_lacks(void)                                                         \
    {                                                                                              \
        return kdz_round_trip_lacks(kind);                                                         \
    }                                                                                              \
    KDZ_ROUND_TRIP_BENCH(ident, title, kind, KDZ_ROUND_TRIP_REPLY, ident##_lacks,                  \
                         "return of task 1's send", "return of task 1's receive of the reply");    \
    KDZ_ROUND_TRIP_BENCH(ident##_round_trip, title "-round-trip", kind, KDZ_ROUND_TRIP_WHOLE,      \
                         ident##_lacks, "before task 1's send",                                    \
                         "return of task 1's receive of the reply");                               \
    KDZ_ROUND_TRIP_BENCH(ident##_one_way, title "-one-way", kind, KDZ_ROUND_TRIP_ONE_WAY,          \
                         ident##_lacks, "before task 1's send", "return of task 2's receive")

#endif
