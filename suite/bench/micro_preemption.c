/* SPDX-License-Identifier: Apache-2.0
 *
 * micro/preemption: mazzi2021, section 4.1.2, figure 4. The task of higher rank suspends itself,
 * the one of lower rank resumes it. An iteration is one turn of the lower task's loop: resume, the
 * higher task's return from its suspend, its next suspend, return of resume. The sampled variant
 * times the way up alone, on one core or from one to another: then the lower task waits a tick
 * before each resume, because the higher one suspends itself at the same time on its own core.
 */
#include "micro.h"

#include "kadenz/suite.h"
#include "kadenz/thread_options.h"

#include "kadenz/placement.h"

enum { ITERATIONS, RANK_LOW, RANK_HIGH, CORE_LOW, CORE_HIGH, PARAMS };
static const struct kdz_param batch_params[PARAMS] = {
    [ITERATIONS] = {"iterations", KDZ_ITERATIONS, 1, KDZ_ITERATIONS_MAX},
    [RANK_LOW] = {"rank_low", 7, 1, KDZ_RANK_MAIN - 1u},
    [RANK_HIGH] = {"rank_high", 8, 1, KDZ_RANK_MAIN - 1u},
    [CORE_LOW] = {"core_low", 0, 0, KDZ_ANY_CORE - 1u},
    [CORE_HIGH] = {"core_high", 0, 0, KDZ_ANY_CORE - 1u},
};
#define SAMPLED_PARAMS (&batch_params[RANK_LOW])
/* A parameter of the sampled variant, by its place in the table of the batch. */
#define SAMPLED(point, i) KDZ_PARAM(point, (i)-RANK_LOW)

static struct {
    uint32_t iterations;
    volatile kdz_handle high;
    volatile uint32_t turn_low;
    volatile uint32_t turn_high;
    volatile kdz_time end;
    volatile uint8_t ended_on; /* the core of that stamp */
    volatile uint32_t resumed;
    volatile uint32_t limit;
} p;

/* ---- batch ------------------------------------------------------------------------------------
 */
static void batch_high(void *arg)
{
    const struct kdz_point *point = (const struct kdz_point *)arg;

    p.high = kdz_thread_self();
    for (uint32_t n = 0; n < point->samples; n++) {
        for (p.turn_high = 0; p.turn_high < p.iterations; p.turn_high++) {
            (void)kdz_thread_suspend();
        }
    }
}

static void batch_low(void *arg)
{
    struct kdz_point *point = (struct kdz_point *)arg;
    const kdz_handle high = p.high;

    kdz_micro_start();
    for (uint32_t n = 0; n < point->samples; n++) {
        const bool last = n + 1 == point->samples;

        const kdz_time begin = kdz_stamp(KDZ_BEGIN);
        for (p.turn_low = 0; p.turn_low < p.iterations; p.turn_low++) {
            (void)kdz_thread_resume(high);
        }
        const kdz_time end = kdz_stamp(KDZ_END);

        /* The last resume of a batch lets the higher task leave its loop; it enters the next one
         * and suspends itself there, or ends. */
        kdz_prove(&point->record, p.turn_high == (last ? p.iterations : 0),
                  "the task of higher rank did not run as often as it was resumed");
        kdz_micro_keep_batch(&point->record, kdz_span(begin, end));
        kdz_micro_empty(&point->record, 2, p.iterations);
    }
}

static kdz_status check(struct kdz_point *point, const uint32_t *value)
{
    uint8_t core;
    kdz_status bound;

    if (value[RANK_HIGH - RANK_LOW] <= value[0]) {
        point->record.proof.reason = "preemption asks for rank_high above rank_low";
        return KDZ_INVALID;
    }
    bound = kdz_core_for(value[CORE_LOW - RANK_LOW], &point->record, &core);
    return bound == KDZ_OK ? kdz_core_for(value[CORE_HIGH - RANK_LOW], &point->record, &core)
                           : bound;
}

static kdz_status batch_setup(struct kdz_point *point)
{
    p.iterations = KDZ_PARAM(point, ITERATIONS);
    if (kdz_side_by_side(KDZ_PARAM(point, CORE_LOW), KDZ_PARAM(point, CORE_HIGH))) {
        point->record.proof.reason = "in a batch across cores both tasks run at once, and an "
                                     "iteration has no end: micro/preemption-sampled has one";
        return KDZ_UNSUPPORTED;
    }
    return check(point, &point->value[RANK_LOW]);
}

static void batch_measure(struct kdz_point *point)
{
    const uint8_t core = (uint8_t)KDZ_PARAM(point, CORE_LOW);
    const struct kdz_party low = {"low", batch_low, (uint8_t)KDZ_PARAM(point, RANK_LOW), core};
    const struct kdz_party high = {"high", batch_high, (uint8_t)KDZ_PARAM(point, RANK_HIGH), core};

    kdz_pair_run(point, &high, &low);
}

static const struct kdz_bench micro_preemption = {
    .name = "micro/preemption",
    .begins = "before the first resume of the task of higher rank",
    .ends = "after `iterations` turns: resume, the higher task runs and suspends itself again",
    .source = "mazzi2021 section 4.1.2",
    .needs = "suspend threads",
    .params = batch_params,
    .param_count = PARAMS,
    .lane_count = KDZ_BATCH_LANES,
    .lanes = kdz_batch_lanes,
    .setup = batch_setup,
    .measure = batch_measure,
};
KDZ_BENCH(micro_preemption);

/* Ticks after which a task that does not run when resumed is given up. */
#define PATIENCE_TICKS 100

/* ---- sample by sample -------------------------------------------------------------------------
 */
static void sampled_high(void *arg)
{
    (void)arg;
    p.high = kdz_thread_self();
    do {
        (void)kdz_thread_suspend();
        p.end = kdz_stamp(KDZ_END);
        p.ended_on = kdz_thread_core();
        p.resumed++;
    } while (p.resumed < p.limit);
}

static void keep(struct kdz_point *point, kdz_time begin, uint8_t began_on)
{
    kdz_prove_core(&point->record, SAMPLED(point, CORE_LOW), began_on);
    kdz_prove_core(&point->record, SAMPLED(point, CORE_HIGH), p.ended_on);
    kdz_keep(&point->record, 0, kdz_span(begin, p.end));
}

static void sampled_low(void *arg)
{
    struct kdz_point *point = (struct kdz_point *)arg;
    const kdz_handle high = p.high;

    for (uint32_t n = 0; n < point->samples; n++) {
        const uint8_t began_on = kdz_thread_core();
        const kdz_time begin = kdz_stamp(KDZ_BEGIN);
        (void)kdz_thread_resume(high);

        kdz_prove(&point->record, p.resumed == n + 1, "the task of higher rank did not run once");
        keep(point, begin, began_on);
    }
}

/* From one core to another. */
static void sampled_low_apart(void *arg)
{
    struct kdz_point *point = (struct kdz_point *)arg;
    uint32_t wake = kdz_tick_now();
    bool ended = false;

    for (uint32_t n = 0; n < point->samples && !ended; n++) {
        (void)kdz_delay_until(&wake, 1);
        const kdz_handle high = p.high;
        const uint8_t began_on = kdz_thread_core();
        const kdz_time begin = kdz_stamp(KDZ_BEGIN);
        (void)kdz_thread_resume(high);
        const bool ran = kdz_quietly_until(&p.resumed, n + 1);

        kdz_prove(&point->record, ran, "the task of higher rank did not run once");
        keep(point, begin, began_on);
        wake = kdz_tick_now();
        if (n + 1 < point->samples && (kdz_stop_requested || !ran)) {
            p.limit = p.resumed + 1;
            ended = true;
        }
    }
    for (int more = 0; p.resumed < p.limit && more < PATIENCE_TICKS; more++) {
        (void)kdz_thread_resume(p.high); /* it may not have been suspended yet */
        (void)kdz_delay_until(&wake, 1);
    }
}

static kdz_status sampled_setup(struct kdz_point *point)
{
    p.resumed = 0;
    p.limit = point->samples;
    return check(point, point->value);
}

static void sampled_measure(struct kdz_point *point)
{
    const uint8_t core_low = (uint8_t)SAMPLED(point, CORE_LOW);
    const uint8_t core_high = (uint8_t)SAMPLED(point, CORE_HIGH);
    const struct kdz_party low = {
        "low", kdz_side_by_side(core_low, core_high) ? sampled_low_apart : sampled_low,
        (uint8_t)SAMPLED(point, RANK_LOW), core_low};
    const struct kdz_party high = {"high", sampled_high, (uint8_t)SAMPLED(point, RANK_HIGH),
                                   core_high};

    kdz_pair_run(point, &high, &low);
}

static const struct kdz_bench micro_preemption_sampled = {
    .name = "micro/preemption-sampled",
    .begins = "before the resume of the task of higher rank",
    .ends = "return of that task's suspend",
    .source = "mazzi2021 section 4.1.2, sample by sample",
    .needs = "suspend threads",
    .params = SAMPLED_PARAMS,
    .param_count = PARAMS - RANK_LOW,
    .lane_count = 1,
    .setup = sampled_setup,
    .measure = sampled_measure,
};
KDZ_BENCH(micro_preemption_sampled);
