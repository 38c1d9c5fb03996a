/* SPDX-License-Identifier: Apache-2.0
 *
 * yoo2024, algorithm 2, for semaphores and mutexes: task 1 (A) releases, task 2 (B) has been
 * waiting for it.
 *
 * As published, the pin goes on after task 1's release and off after task 2's acquisition. That
 * makes sense only when the release itself does not run task 2: task 1 is the more urgent one (8
 * against 7), and the sample is its way into its delay, the switch, and task 2's way out of its
 * wait. The variants called -to-higher swap the ranks and time from before the release: the release
 * wakes a more urgent thread and the switch happens inside it. Across two cores only they have end
 * points in a fixed order: task 2 may get the object before the release returns.
 */
#ifndef KDZ_BENCH_HANDOVER_H
#define KDZ_BENCH_HANDOVER_H

#include "kadenz/bench.h"

enum {
    KDZ_HANDOVER_PERIOD_US,
    KDZ_HANDOVER_RANK_A,
    KDZ_HANDOVER_RANK_B,
    KDZ_HANDOVER_CORE_A,
    KDZ_HANDOVER_CORE_B,
    KDZ_HANDOVER_PARAMS
};

extern const struct kdz_param kdz_handover_params[KDZ_HANDOVER_PARAMS];           /* 8 and 7 */
extern const struct kdz_param kdz_handover_to_higher_params[KDZ_HANDOVER_PARAMS]; /* 7 and 8 */

enum kdz_handover_kind { KDZ_HANDOVER_COUNTING, KDZ_HANDOVER_BINARY, KDZ_HANDOVER_MUTEX };

kdz_status kdz_handover_setup(struct kdz_point *point, enum kdz_handover_kind kind, bool to_higher);
void kdz_handover_measure(struct kdz_point *point);
void kdz_handover_teardown(struct kdz_point *point);

#define KDZ_HANDOVER_BENCH(ident, title, needed, kind, to_higher, table, start, finish)            \
    static kdz_status ident##_setup(struct kdz_point *point)                                       \
    {                                                                                              \
        return kdz_handover_setup(point, kind, to_higher);                                         \
    }                                                                                              \
    static const struct kdz_bench ident = {                                                        \
        .name = title,                                                                             \
        .begins = start,                                                                           \
        .ends = finish,                                                                            \
        .source = "yoo2024 algorithm 2",                                                           \
        .needs = needed " threads",                                                                \
        .params = table,                                                                           \
        .param_count = KDZ_HANDOVER_PARAMS,                                                        \
        .lane_count = 1,                                                                           \
        .setup = ident##_setup,                                                                    \
        .measure = kdz_handover_measure,                                                           \
        .teardown = kdz_handover_teardown,                                                         \
    };                                                                                             \
    KDZ_BENCH(ident)

/* Both benchmarks of one kind: <title> as published, <title>-to-higher. `call` and `wait` name the
 * kernel's calls in words. */
#define KDZ_HANDOVER(ident, title, needed, kind, call, wait)                                       \
    KDZ_HANDOVER_BENCH(ident, title, needed, kind, false, kdz_handover_params,                     \
                       "return of task 1's " call, "return of task 2's " wait);                    \
    KDZ_HANDOVER_BENCH(ident##_to_higher, title "-to-higher", needed, kind, true,                  \
                       kdz_handover_to_higher_params, "before task 1's " call,                     \
                       "return of the more urgent task 2's " wait)

#endif
