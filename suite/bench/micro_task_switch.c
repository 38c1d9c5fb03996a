/* SPDX-License-Identifier: Apache-2.0
 *
 * micro/task-switch: mazzi2021, section 4.1.1, figure 3. Two tasks of one rank hand the core to
 * each other by yielding. An iteration is one switch: each task yields iterations / 2 times.
 */
#include "micro.h"

enum { ITERATIONS, RANK, PARAMS };
static const struct kdz_param batch_params[PARAMS] = {
    [ITERATIONS] = {"iterations", KDZ_ITERATIONS, 2, KDZ_ITERATIONS_MAX},
    [RANK] = {"rank", 7, 1, KDZ_RANK_MAIN - 1u},
};
static const struct kdz_param sampled_params[] = {{"rank", 7, 1, KDZ_RANK_MAIN - 1u}};

static struct {
    uint32_t turns; /* yields of each task in a batch */
    volatile uint32_t turn_a;
    volatile uint32_t turn_b;
    volatile kdz_time end;
    volatile uint32_t switched;
    volatile uint32_t limit;
} s;

/* ---- batch ------------------------------------------------------------------------------------
 */
static void batch_b(void *arg)
{
    const struct kdz_point *point = (const struct kdz_point *)arg;

    kdz_thread_yield(); /* A starts the first batch */
    for (uint32_t n = 0; n < point->samples; n++) {
        for (s.turn_b = 0; s.turn_b < s.turns; s.turn_b++) {
            kdz_thread_yield();
        }
    }
}

static void batch_a(void *arg)
{
    struct kdz_point *point = (struct kdz_point *)arg;

    kdz_micro_start();
    for (uint32_t n = 0; n < point->samples; n++) {
        const kdz_time begin = kdz_stamp(KDZ_BEGIN);
        for (s.turn_a = 0; s.turn_a < s.turns; s.turn_a++) {
            kdz_thread_yield();
        }
        const kdz_time end = kdz_stamp(KDZ_END);

        /* B is inside its last yield of this batch, which gave the core back to A. */
        kdz_prove(&point->record, s.turn_b == s.turns - 1,
                  "the other task did not yield as often as this one");
        kdz_micro_keep_batch(&point->record, kdz_span(begin, end));
        kdz_micro_empty(&point->record, 2, s.turns);
    }
}

static kdz_status batch_setup(struct kdz_point *point)
{
    s.turns = KDZ_PARAM(point, ITERATIONS) / 2u;
    if (KDZ_PARAM(point, ITERATIONS) % 2u != 0) {
        point->record.proof.reason = "iterations must be even: the two tasks take turns";
        return KDZ_INVALID;
    }
    return KDZ_OK;
}

static void batch_measure(struct kdz_point *point)
{
    const struct kdz_party a = {"A", batch_a, (uint8_t)KDZ_PARAM(point, RANK), 0};
    const struct kdz_party b = {"B", batch_b, (uint8_t)KDZ_PARAM(point, RANK), 0};

    kdz_pair_run(point, &b, &a);
}

static const struct kdz_bench micro_task_switch = {
    .name = "micro/task-switch",
    .begins = "before the first yield",
    .ends = "after `iterations` switches between two tasks of one rank",
    .source = "mazzi2021 section 4.1.1",
    .needs = "yield policy-fifo threads",
    .params = batch_params,
    .param_count = PARAMS,
    .lane_count = KDZ_BATCH_LANES,
    .lanes = kdz_batch_lanes,
    .setup = batch_setup,
    .measure = batch_measure,
};
KDZ_BENCH(micro_task_switch);

/* ---- sample by sample -------------------------------------------------------------------------
 */
static void sampled_b(void *arg)
{
    (void)arg;
    do {
        kdz_thread_yield();
        s.end = kdz_stamp(KDZ_END);
        s.switched++;
    } while (s.switched < s.limit);
}

static void sampled_a(void *arg)
{
    struct kdz_point *point = (struct kdz_point *)arg;

    for (uint32_t n = 0; n < point->samples; n++) {
        const kdz_time begin = kdz_stamp(KDZ_BEGIN);
        kdz_thread_yield();

        kdz_prove(&point->record, s.switched == n + 1, "the other task did not run once");
        kdz_keep(&point->record, 0, kdz_span(begin, s.end));
    }
}

static void sampled_measure(struct kdz_point *point)
{
    const struct kdz_party a = {"A", sampled_a, (uint8_t)KDZ_PARAM(point, 0), 0};
    const struct kdz_party b = {"B", sampled_b, (uint8_t)KDZ_PARAM(point, 0), 0};

    s.switched = 0;
    s.limit = point->samples;
    kdz_pair_run(point, &b, &a);
}

static const struct kdz_bench micro_task_switch_sampled = {
    .name = "micro/task-switch-sampled",
    .begins = "before a task's yield",
    .ends = "return of the yield of the other task of the same rank",
    .source = "mazzi2021 section 4.1.1, sample by sample",
    .needs = "yield policy-fifo threads",
    .params = sampled_params,
    .param_count = 1,
    .lane_count = 1,
    .measure = sampled_measure,
};
KDZ_BENCH(micro_task_switch_sampled);
