/* SPDX-License-Identifier: Apache-2.0
 *
 * Thread-Metric: eight workloads with which vendors compare kernels. Written from their
 * description; docs/explanation/thread-metric.md.
 *
 * thread-metric/<name>          its rule: how often the operation is done while a thread above all
 *                               others sleeps. A sample is the true length of one such window,
 *                               its companion `operations` the count. `samples` windows in a row.
 * thread-metric/<name>-sampled  one sample per operation, with nothing else between the two stamps.
 */
#ifndef KDZ_BENCH_THREAD_METRIC_H
#define KDZ_BENCH_THREAD_METRIC_H

#include "kadenz/bench.h"

#include "kadenz/pair.h"

#define KDZ_TM_THREADS_MAX 5u
#define KDZ_TM_SOURCE "Thread-Metric"
#define KDZ_TM_WINDOW_BEGINS "before the sleep of the most urgent thread"
#define KDZ_TM_WINDOW_ENDS "its return, a window later; `operations`: "

/* Of the counted benchmarks; a workload's own parameters follow, and are all that the sampled ones
 * have. */
enum { KDZ_TM_WINDOW_US, KDZ_TM_OWN };
#define KDZ_TM_PARAMS                                                                              \
    {                                                                                              \
        "window_us", 1000000, 1000, 4000000                                                        \
    }

struct kdz_tm {
    volatile uint32_t count[KDZ_TM_THREADS_MAX]; /* operations of each thread */
    volatile bool stop;
    volatile uint32_t failed; /* operations that did not do what they should */
    uint32_t threads;         /* that count */
};
extern struct kdz_tm kdz_tm;

/* Begins anew with a number of threads that count. */
void kdz_tm_clear(uint32_t threads);

/* Lets the parties end, once `stop` is set and the first of them has left its loop. NULL: they end
 * by themselves. */
typedef void (*kdz_tm_release)(const kdz_handle *threads);

/* Runs the parties, the first of which leads, and fills the record with windows. */
void kdz_tm_windows(struct kdz_point *point, const struct kdz_party *parties,
                    kdz_tm_release release);

/* Runs the parties, and the leader fills the record with samples. */
void kdz_tm_samples(struct kdz_point *point, const struct kdz_party *parties,
                    kdz_tm_release release);

/* For the leader of a sampled benchmark, after each operation. */
void kdz_tm_keep(struct kdz_point *point, uint32_t span, bool holds);

/* A record's companion of the counted benchmarks. */
void kdz_tm_shape(const struct kdz_point *point, struct kdz_shape *shape);

/* The loops of the thread that leads: `before` fetches what the operation needs, `operation` is all
 * that is timed, and `holds` says afterwards whether it did what it should. */
#define KDZ_TM_LEADER(before, operation, holds)                                                    \
    static void lead_windows(void *unused)                                                         \
    {                                                                                              \
        (void)unused;                                                                              \
        before while (!kdz_tm.stop)                                                                \
        {                                                                                          \
            operation kdz_tm.count[0]++;                                                           \
            if (!(holds)) {                                                                        \
                kdz_tm.failed++;                                                                   \
            }                                                                                      \
        }                                                                                          \
    }                                                                                              \
                                                                                                   \
    static void lead_samples(void *arg)                                                            \
    {                                                                                              \
        struct kdz_point *const point = (struct kdz_point *)arg;                                   \
        before for (uint32_t n = 0; n < point->samples && !kdz_stop_requested; n++)                \
        {                                                                                          \
            const kdz_time begin = kdz_stamp(KDZ_BEGIN);                                           \
            operation const kdz_time end = kdz_stamp(KDZ_END);                                     \
                                                                                                   \
            kdz_tm.count[0]++;                                                                     \
            kdz_tm_keep(point, kdz_span(begin, end), (holds));                                     \
        }                                                                                          \
    }

/* Both benchmarks of one workload: counted in windows, <title>, and operation by operation,
 * <title>-sampled. `operations` are those of a window in words, `from` and `to` the end points of
 * one. The file has `params`, PARAMS, `setup`, `windows` and `samples`. */
#define KDZ_TM_BENCHES(word, title, needed, operations, from, to, setup_of_samples, undo)          \
    static const struct kdz_bench thread_metric_##word = {                                         \
        .name = title,                                                                             \
        .begins = KDZ_TM_WINDOW_BEGINS,                                                            \
        .ends = KDZ_TM_WINDOW_ENDS operations,                                                     \
        .source = KDZ_TM_SOURCE,                                                                   \
        .needs = needed,                                                                           \
        .params = params,                                                                          \
        .param_count = PARAMS,                                                                     \
        .lane_count = 1,                                                                           \
        .shape = kdz_tm_shape,                                                                     \
        .setup = setup,                                                                            \
        .measure = windows,                                                                        \
        .teardown = undo,                                                                          \
    };                                                                                             \
    KDZ_BENCH(thread_metric_##word);                                                               \
                                                                                                   \
    static const struct kdz_bench thread_metric_##word##_sampled = {                               \
        .name = title "-sampled",                                                                  \
        .begins = from,                                                                            \
        .ends = to,                                                                                \
        .source = KDZ_TM_SOURCE ", operation by operation",                                        \
        .needs = needed,                                                                           \
        .params = &params[KDZ_TM_OWN],                                                             \
        .param_count = PARAMS - KDZ_TM_OWN,                                                        \
        .lane_count = 1,                                                                           \
        .setup = setup_of_samples,                                                                 \
        .measure = samples,                                                                        \
        .teardown = undo,                                                                          \
    };                                                                                             \
    KDZ_BENCH(thread_metric_##word##_sampled)

#endif
