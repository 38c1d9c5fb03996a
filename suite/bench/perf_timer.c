/* SPDX-License-Identifier: Apache-2.0
 *
 * perf/activate-from-timer (perf4): the callback of a timer that repeats releases the next job of a
 * task, by giving the semaphore that it waits for between two jobs. What is timed is the release
 * alone, as the study times iact_tsk in a cyclic handler: the task runs later.
 */
#include "perf.h"

#include "kadenz/suite.h"

#include "kadenz/period.h"

#define RANK 7u

enum { PERIOD_US, PARAMS };
static const struct kdz_param params[PARAMS] = {[PERIOD_US] = {"period_us", 10000, 1000, 1000000}};

static struct {
    const struct kdz_callback_timer_ops *ops;
    kdz_handle timer;
    kdz_handle job;       /* given for the task's next job */
    volatile bool wanted; /* the task is about to wait */
    volatile uint32_t since;
    volatile kdz_time begin;
    volatile kdz_time end;
    volatile uint32_t released;
} t;

/* `give` is the kernel's call for the context that the callback runs in. */
#define RELEASES(word, give)                                                                       \
    static void release_in_##word(void *unused, struct kdz_isr *isr)                               \
    {                                                                                              \
        const kdz_handle job = t.job;                                                              \
                                                                                                   \
        (void)unused;                                                                              \
        (void)isr;                                                                                 \
        if (!t.wanted) {                                                                           \
            return; /* the task is still busy with its last job */                                 \
        }                                                                                          \
        t.wanted = false;                                                                          \
        t.since = kdz_tick_now();                                                                  \
        const kdz_time begin = kdz_stamp(KDZ_BEGIN);                                               \
        (void)give;                                                                                \
        t.end = kdz_stamp(KDZ_END);                                                                \
        t.begin = begin;                                                                           \
        t.released++;                                                                              \
    }
RELEASES(thread, kdz_sem_give(job))
RELEASES(interrupt, kdz_sem_give_from_isr(job, isr))

static void jobs(void *arg)
{
    struct kdz_point *const point = (struct kdz_point *)arg;
    const uint32_t patience = kdz_period_ticks(KDZ_PARAM(point, PERIOD_US)) + kdz_tick_hz();

    if (t.ops->start(t.timer) != KDZ_OK) {
        kdz_prove(&point->record, false, "the timer could not be started");
        return;
    }
    for (uint32_t n = 0; n < point->samples && !kdz_stop_requested; n++) {
        t.wanted = true;
        if (kdz_sem_take(t.job, patience) != KDZ_OK) {
            kdz_prove(&point->record, false, "the timer's callback did not release the job");
            break;
        }
        kdz_prove(&point->record, t.released == n + 1u,
                  "the job ran before its release had returned");
        kdz_perf_keep(&point->record, kdz_span(t.begin, t.end), t.since);
    }
    (void)t.ops->stop(t.timer);
}

static kdz_status setup(struct kdz_point *point)
{
    const kdz_status status = kdz_perf_check(&point->record);

    t.ops = kdz_mechanism("callback-timer")->callback_timer;
    t.timer = t.job = KDZ_FAILED;
    t.wanted = false;
    t.released = 0;
    if (status != KDZ_OK) {
        return status;
    }
    t.job = kdz_sem_create(kdz_pair_semaphore(), 1, 0);
    t.timer = t.ops->create(kdz_period_ticks(KDZ_PARAM(point, PERIOD_US)), true,
                            t.ops->in_interrupt ? release_in_interrupt : release_in_thread, NULL);
    return t.job < 0 ? (kdz_status)t.job : t.timer < 0 ? (kdz_status)t.timer : KDZ_OK;
}

static void measure(struct kdz_point *point)
{
    const struct kdz_party alone = {"job", jobs, RANK, 0};

    kdz_party_run(point, &alone);
}

static void teardown(struct kdz_point *point)
{
    (void)point;
    if (t.timer >= 0) {
        t.ops->destroy(t.timer);
    }
    if (t.job >= 0) {
        kdz_sem_destroy(t.job);
    }
}

static const struct kdz_bench perf_activate_from_timer = {
    .name = "perf/activate-from-timer",
    .begins = "before the callback of a timer releases the next job of a task",
    .ends = "return of the release, in the callback",
    .source = "kioxia2019 perf4, iact_tsk from a cyclic handler",
    .needs = "callback-timer sem-counting threads",
    .params = params,
    .param_count = PARAMS,
    .lane_count = 1,
    .shape = kdz_perf_shape,
    .setup = setup,
    .measure = measure,
    .teardown = teardown,
};
KDZ_BENCH(perf_activate_from_timer);
