/* SPDX-License-Identifier: Apache-2.0
 *
 * yoo2024 algorithm 1 for any channel: task 1 sends N bytes through one channel, task 2 sends
 * them back through another. Each channel gives three benchmarks, because the study starts its
 * clock only after the send, and others time one way (docs/explanation/itc.md):
 *
 *   itc/<channel>             return of task 1's send to return of its receive: as published
 *   itc/<channel>-round-trip  before task 1's send to return of its receive
 *   itc/<channel>-one-way     before task 1's send to return of task 2's receive
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

enum kdz_round_trip_part { KDZ_ROUND_TRIP_REPLY, KDZ_ROUND_TRIP_WHOLE, KDZ_ROUND_TRIP_ONE_WAY };

kdz_status kdz_round_trip_setup(struct kdz_point *point, const char *channel,
                                enum kdz_round_trip_part part);
void kdz_round_trip_measure(struct kdz_point *point);
void kdz_round_trip_teardown(struct kdz_point *point);

#define KDZ_ROUND_TRIP_BENCH(ident, title, channel, part, start, finish)                           \
    static kdz_status ident##_setup(struct kdz_point *point)                                       \
    {                                                                                              \
        return kdz_round_trip_setup(point, channel, part);                                         \
    }                                                                                              \
    static const struct kdz_bench ident = {                                                        \
        .name = title,                                                                             \
        .begins = start,                                                                           \
        .ends = finish,                                                                            \
        .source = "yoo2024 algorithm 1",                                                           \
        .needs = channel " threads",                                                               \
        .params = kdz_round_trip_params,                                                           \
        .param_count = KDZ_ROUND_TRIP_PARAMS,                                                      \
        .lane_count = 1,                                                                           \
        .setup = ident##_setup,                                                                    \
        .measure = kdz_round_trip_measure,                                                         \
        .teardown = kdz_round_trip_teardown,                                                       \
    };                                                                                             \
    KDZ_BENCH(ident)

/* The benchmarks of one channel: KDZ_ROUND_TRIP(itc_queue, "queue"). */
#define KDZ_ROUND_TRIP(ident, channel)                                                             \
    KDZ_ROUND_TRIP_BENCH(ident, "itc/" channel, channel, KDZ_ROUND_TRIP_REPLY,                     \
                         "return of task 1's send", "return of task 1's receive of the reply");    \
    KDZ_ROUND_TRIP_BENCH(ident##_round_trip, "itc/" channel "-round-trip", channel,                \
                         KDZ_ROUND_TRIP_WHOLE, "before task 1's send",                             \
                         "return of task 1's receive of the reply");                               \
    KDZ_ROUND_TRIP_BENCH(ident##_one_way, "itc/" channel "-one-way", channel,                      \
                         KDZ_ROUND_TRIP_ONE_WAY, "before task 1's send",                           \
                         "return of task 2's receive")

#endif
