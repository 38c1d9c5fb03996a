/* SPDX-License-Identifier: Apache-2.0
 *
 * yoo2024, algorithm 1, over any kind of channel: task 1 (A) sends, task 2 (B) receives and sends
 * back over a second channel, task 1 receives, and waits for its next period.
 *
 * As published, the pin goes on after task 1's send has returned and off after its receive has. With
 * task 1 as the more urgent one (8 against 7) that holds: A blocks, B's receive, B's send, A's
 * receive; the first send is not in it. A round trip "from before the send" is offered beside it.
 */
#ifndef KDZ_BENCH_EXCHANGE_H
#define KDZ_BENCH_EXCHANGE_H

#include "kadenz/bench.h"

enum { KDZ_EXCHANGE_SIZE_BYTES, KDZ_EXCHANGE_PERIOD_US, KDZ_EXCHANGE_RANK_A, KDZ_EXCHANGE_RANK_B };

#define KDZ_EXCHANGE_PARAMS 4
extern const struct kdz_param kdz_exchange_params[KDZ_EXCHANGE_PARAMS];

#define KDZ_EXCHANGE_AFTER_SEND "A's send has returned"
#define KDZ_EXCHANGE_BEFORE_SEND "A calls send"
#define KDZ_EXCHANGE_ENDS "A's receive of the reply has returned"

/* Two channels of this kind; KDZ_UNSUPPORTED where the kernel has none. */
kdz_status kdz_exchange_setup(struct kdz_point *point, kdz_channel_kind kind);
void kdz_exchange_teardown(struct kdz_point *point);

void kdz_exchange_measure_after_send(struct kdz_point *point);  /* as published */
void kdz_exchange_measure_round_trip(struct kdz_point *point);

/* "" or why kinds are missing: for kdz_bench.unavailable. */
const char *kdz_exchange_lacks(kdz_channel_kind kind);

/* The two benchmarks of one kind: itc/<name> as published, itc/<name>-round-trip. */
#define KDZ_EXCHANGE_BENCHES(ident, text, kind)                                                    \
    static const char *ident##_unavailable(void)                                                   \
    {                                                                                              \
        return kdz_exchange_lacks(kind);                                                           \
    }                                                                                              \
    static kdz_status ident##_setup(struct kdz_point *point)                                       \
    {                                                                                              \
        return kdz_exchange_setup(point, kind);                                                    \
    }                                                                                              \
    static const struct kdz_bench ident = {                                                        \
        .name = "itc/" text,                                                                       \
        .begins = KDZ_EXCHANGE_AFTER_SEND,                                                         \
        .ends = KDZ_EXCHANGE_ENDS,                                                                 \
        .source = "yoo2024 algorithm 1",                                                           \
        .params = kdz_exchange_params,                                                             \
        .param_count = KDZ_EXCHANGE_PARAMS,                                                        \
        .lane_count = 1,                                                                           \
        .unavailable = ident##_unavailable,                                                        \
        .setup = ident##_setup,                                                                    \
        .measure = kdz_exchange_measure_after_send,                                                \
        .teardown = kdz_exchange_teardown,                                                         \
    };                                                                                             \
    KDZ_BENCH(ident);                                                                              \
    static const struct kdz_bench ident##_round_trip = {                                           \
        .name = "itc/" text "-round-trip",                                                         \
        .begins = KDZ_EXCHANGE_BEFORE_SEND,                                                        \
        .ends = KDZ_EXCHANGE_ENDS,                                                                 \
        .source = "yoo2024 algorithm 1, timed from before the send",                               \
        .params = kdz_exchange_params,                                                             \
        .param_count = KDZ_EXCHANGE_PARAMS,                                                        \
        .lane_count = 1,                                                                           \
        .unavailable = ident##_unavailable,                                                        \
        .setup = ident##_setup,                                                                    \
        .measure = kdz_exchange_measure_round_trip,                                                \
        .teardown = kdz_exchange_teardown,                                                         \
    };                                                                                             \
    KDZ_BENCH(ident##_round_trip)

#endif
